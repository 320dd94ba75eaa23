"""Simulated worlds for `arena variance`: boards whose seats and shares of variance are known.

`python -m tests.support.variance_worlds` (`make stats`) plays 300 of each kind, prints a table, and exits with 1 when a
promise fails.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
from tabulate import tabulate

from arena.stats.variance import VARIANCE_SOURCES, seat_advantage, variance_shares

BOTS = 5
TIMES = 300
Spread = tuple[float, float, float, float, float]


def centred(values: np.ndarray, *axes: int) -> np.ndarray:
    """Without the means along axes."""
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def world(
    players: int, rounds: int, spread: Spread, seed: int, permutations: bool = False, bots: int = BOTS
) -> pd.DataFrame:
    """A board whose returns are sums of effects with the spreads (bots, seats, bot in block, seat in block, rest).

    Bots' and seats' effects are the same numbers in each world, the others drawn anew.
    """
    rng = np.random.default_rng(seed)
    tables = list(itertools.combinations(range(bots), players)) * rounds
    orders = np.array(
        list(itertools.permutations(range(players)))
        if permutations
        else [np.roll(np.arange(players), -turn) for turn in range(players)]
    )
    blocks, lineups = len(tables), len(orders)
    shape = (blocks, players)
    strength = spread[0] * np.linspace(-1, 1, bots)
    bot = centred(strength[np.array(tables)], 1) + centred(spread[2] * rng.normal(size=shape), 1)
    seat = spread[1] * np.linspace(-1, 1, players) + centred(spread[3] * rng.normal(size=shape), 1)
    returns = bot[:, orders] + seat[:, None, :] + centred(spread[4] * rng.normal(size=(blocks, lineups, players)), 2)
    who = np.array(tables)[:, orders]
    block, lineup, place = np.indices(who.shape)
    names = np.array([f"bot {number}" for number in range(bots)], dtype=object)
    columns = {"block": block, "lineup": lineup, "seat": place, "bot": names[who], "return_": returns}
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def true_shares(players: int, spread: Spread, bots: int = BOTS) -> np.ndarray:
    """What `world` was made with; sets of bots are all alike in number, so their mean square is the bots' part."""
    tables = np.array(list(itertools.combinations(np.linspace(-1, 1, bots), players)))
    random = (players - 1) / players
    variance = [
        spread[0] ** 2 * (centred(tables, 1) ** 2).mean(),
        spread[1] ** 2 * (np.linspace(-1, 1, players) ** 2).mean(),
        0.0,
        (spread[2] ** 2 + spread[3] ** 2) * random,
        spread[4] ** 2 * random,
    ]
    return np.array(variance) / max(sum(variance), 1e-12)


KINDS: list[tuple[int, int, int, Spread]] = [
    (5, 2, 2, (0.0, 0.0, 0.0, 0.0, 1.0)),
    (5, 2, 6, (0.3, 0.03, 0.0, 0.1, 1.0)),
    (5, 2, 20, (0.1, 0.1, 0.0, 0.3, 1.0)),
    (2, 2, 6, (0.0, 0.0, 0.0, 0.0, 1.0)),
    (2, 2, 30, (0.1, 0.1, 0.0, 0.2, 1.0)),
    (5, 3, 2, (0.0, 0.0, 0.0, 0.0, 1.0)),
    (5, 3, 6, (0.3, 0.1, 0.1, 0.3, 1.0)),
    (3, 3, 30, (0.1, 0.1, 0.1, 0.2, 1.0)),
    (5, 4, 10, (0.5, 0.05, 0.1, 0.1, 1.0)),
]
"""Bots, players, blocks of a table, and spreads as in `world`."""


def judge(kind: tuple[int, int, int, Spread], seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Of one board: errors of shares, whether intervals hold the truth, whether seats in both tables disagree."""
    bots, players, rounds, spread = kind
    matches = world(players, rounds, spread, seed, bots=bots)
    truth = true_shares(players, spread, bots)
    shares, seats = variance_shares(matches, players), seat_advantage(matches, players)
    value, low, high = (shares[name].to_numpy() for name in ("value", "value_ci_low", "value_ci_high"))
    told = bool(((seats["value_ci_low"] > 0) | (seats["value_ci_high"] < 0)).any())
    held = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    return value - truth, held, told != (low[VARIANCE_SOURCES.index("seats")] > 0)


def main() -> int:
    """Play all worlds, print how shares were told, and say whether the promises hold."""
    rows, failed = [], []
    for kind in KINDS:
        bots, players, rounds, spread = kind
        errors, held, apart = (np.array(each) for each in zip(*(judge(kind, seed) for seed in range(TIMES))))
        truth, covered = true_shares(players, spread, bots), held.mean(axis=0)
        bias, doubt = errors.mean(axis=0), errors.std(axis=0) / TIMES**0.5
        cells = zip(truth, bias, doubt, covered, strict=True)
        name = f"{bots} bots, {players} players, {rounds} blocks"
        rows.append([name, *(f"{100 * t:.1f} {100 * b:+.1f} ± {100 * d:.1f}, {100 * c:.0f}" for t, b, d, c in cells)])
        failed += [f"{name}: intervals hold the truth in 88 % at least"] if covered.min() < 0.88 else []
        failed += [f"{name}: estimates are unbiased"] if (np.abs(bias) > 4 * doubt + 0.005).any() else []
        failed += [f"{name}: seats agree with their share"] if players == 2 and apart.any() else []
    print(f"Shares of variance, {TIMES} boards each: truth, bias ± error in %, intervals that hold the truth in %.\n")
    print(tabulate(rows, ["", *VARIANCE_SOURCES], disable_numparse=True))
    print("\n" + ("; ".join(f"BROKEN: {each}" for each in failed) or "all promises hold"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
