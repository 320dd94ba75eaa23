"""Simulated worlds: bots of known strength play boards, and what ratings say of them is held against the truth.

`python -m tests.support.worlds` (`make stats`) plays 400 of them, prints a table, and exits with 1 if a promise fails.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from tabulate import tabulate

from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.fit import BETA, MU

PLAYERS = (2, 3, 4, 5)
BLOCKS = (5, 15, 50, 150)
"""Blocks that a bot plays in, about."""
MARGINS = (0.0, 0.1, 0.3, 0.6, 1.0)
"""Draw margins in units of beta; at 1 half (2 players) to three fourths (5) of neighbours tie."""
SEATS = (0.0, 0.05, 0.1, 0.15, 0.2)
"""What one seat is worth in units of beta, and another costs; 0.125 makes returns of +-0.14 between two equal bots."""


@dataclass(frozen=True)
class World:
    """A world's settings; `seed` draws the rest."""

    seed: int
    players: int
    blocks: int
    margin: float
    seat: float


def mixture() -> list[World]:
    """400 worlds, each combination of players, blocks, margin and seat effect once."""
    settings = itertools.product(PLAYERS, BLOCKS, MARGINS, SEATS)
    return [World(seed, *setting) for seed, setting in enumerate(settings)]


def board_of(world: World) -> tuple[np.ndarray, MatchArrays]:
    """True skills, and the board that was played.

    A performance is the skill, plus what the seat is worth, plus luck of variance beta^2, of which a part is the bot's
    own in all matches of a block and a part its seat's. Tables are all sets of bots, or a sample of them.
    """
    rng = np.random.default_rng([2024, world.seed])
    players = world.players
    bots = players + int(rng.integers(1, 8))
    skill = rng.normal(MU, rng.uniform(0.2, 1.5) * BETA, bots)
    tables = tables_of(rng, bots, players, world.blocks)
    rotations = (np.arange(players)[:, None] + np.arange(players)) % players
    entries = tables[:, rotations]  # blocks, line-ups, seats
    own, shared = rng.dirichlet([1, 1, 4])[:2]
    luck = np.take_along_axis(
        rng.normal(0, BETA * math.sqrt(own), (len(tables), 1, bots)).repeat(players, axis=1), entries, axis=2
    )
    luck += rng.normal(0, BETA * math.sqrt(shared), (len(tables), 1, players))
    luck += rng.normal(0, BETA * math.sqrt(1 - own - shared), entries.shape)
    worth = rng.permutation(np.linspace(world.seat, -world.seat, players)) * BETA
    performance = (skill[entries] + luck + worth).reshape(-1, players)
    block = np.repeat(np.arange(len(tables)), players)
    return skill, MatchArrays(entries.reshape(-1, players), ranks_of(performance, world.margin * BETA), block, None)


def round_robin(
    seed: int,
    players: int,
    blocks: int,
    *,
    bots: int = 6,
    spread: float = 1.0,
    margin: float = 0.0,
    shared: float = 0.0,
) -> tuple[np.ndarray, MatchArrays]:
    """True skills, and a board on which every set of bots played so many blocks; spread and margin in units of beta.

    `shared` is the share of luck's variance that a seat has alike in all matches of a block, as common dice make it.
    """
    rng = np.random.default_rng([99, seed])
    skill = rng.normal(MU, spread * BETA, bots)
    tables = np.array(list(itertools.combinations(range(bots), players)) * blocks)
    entries = tables[:, (np.arange(players)[:, None] + np.arange(players)) % players]
    luck = rng.normal(0, math.sqrt(shared), (len(tables), 1, players))
    luck = luck + rng.normal(0, math.sqrt(1 - shared), entries.shape)
    ranks = ranks_of((skill[entries] + BETA * luck).reshape(-1, players), margin * BETA)
    return skill, MatchArrays(entries.reshape(-1, players), ranks, np.repeat(np.arange(len(tables)), players), None)


def tables_of(rng: np.random.Generator, bots: int, players: int, blocks: int) -> np.ndarray:
    """(blocks, players): every set of bots as often as fills the blocks, or a sample that shows every bot."""
    every = np.array(list(itertools.combinations(range(bots), players)))
    wanted = math.ceil(blocks * bots / players)
    rounds = max(1, round(wanted / len(every)))
    if wanted >= len(every):
        return np.tile(every, (rounds, 1))
    turns = np.concatenate([rng.permutation(bots) for _ in range(math.ceil(wanted * players / bots) + 1)])
    rows = turns[: len(turns) // players * players].reshape(-1, players)
    return np.array([row for row in rows if len(set(row)) == players])


def ranks_of(performance: np.ndarray, margin: float) -> np.ndarray:
    """Ranks from 0 by performance; neighbours within the margin tie."""
    order = np.argsort(-performance, axis=1)
    ordered = np.take_along_axis(performance, order, axis=1)
    apart = ordered[:, :-1] - ordered[:, 1:] > margin
    places = np.arange(1, performance.shape[1]) * apart
    ordered_ranks = np.concatenate([np.zeros((len(places), 1), int), np.maximum.accumulate(places, axis=1)], axis=1)
    ranks = np.empty_like(ordered_ranks)
    np.put_along_axis(ranks, order, ordered_ranks, axis=1)
    return ranks


def judge(world: World) -> dict[str, float]:
    """How well ratings tell what is true in a world."""
    skill, board = board_of(world)
    table = rating_columns(ratings_of(board))
    skill = skill[table.index]
    true, found = skill - skill.mean(), (table["rating"] - table["rating"].mean()).to_numpy()
    rank = 1 + (skill[:, None] < skill).sum(axis=1)
    half_width = (table["rating_ci_high"] - table["rating"]).to_numpy()
    return {
        "players": world.players,
        "blocks": world.blocks,
        "margin": world.margin,
        "order": spearmanr(true, found).statistic,
        "along": float(found @ true),
        "square": float(true @ true),
        "interval": float(np.mean(np.abs(found - true) <= half_width)),
        "range": float(((table["rank_ci_low"] <= rank) & (rank <= table["rank_ci_high"])).mean()),
        "ranks": float((table["rank_ci_high"] - table["rank_ci_low"] + 1).mean() / len(table)),
    }


def summary(judged: pd.DataFrame) -> dict[str, float]:
    """Means over worlds; `slope` is the regression of estimated on true differences to the mean, through 0."""
    slope = judged["along"].sum() / judged["square"].sum()
    return {
        "worlds": len(judged),
        "order": judged["order"].mean(),
        "slope": slope,
        "slope +-": ((judged["along"] - slope * judged["square"]) ** 2).sum() ** 0.5 / judged["square"].sum(),
        "interval": 100 * judged["interval"].mean(),
        "interval +-": 100 * judged["interval"].std() / len(judged) ** 0.5,
        "range": 100 * judged["range"].mean(),
        "range +-": 100 * judged["range"].std() / len(judged) ** 0.5,
        "width": 100 * judged["ranks"].mean(),
    }


def broken(judged: pd.DataFrame) -> list[str]:
    """The promises that do not hold."""
    found = summary(judged)
    sure = summary(judged[judged["blocks"] == BLOCKS[-1]])
    promises = {
        "95 % intervals cover 93 to 97 %": 93 <= found["interval"] <= 97,
        "rank ranges cover at least 93 %": found["range"] >= 93,
        "gaps are recovered: slope 0.95 to 1.05": 0.95 <= found["slope"] <= 1.05,
        f"order is recovered: mean rank correlation of at least 0.95 with {BLOCKS[-1]} blocks": sure["order"] >= 0.95,
    }
    return [promise for promise, holds in promises.items() if not holds]


def rows_of(judged: pd.DataFrame) -> Iterator[dict[str, object]]:
    """The table's rows: all worlds, then those of each number of players and of blocks."""
    yield {"": "all", **in_words(summary(judged))}
    for name in ("players", "blocks", "margin"):
        for value, part in judged.groupby(name):
            yield {"": f"{value} {name}", **in_words(summary(part))}


def in_words(found: dict[str, float]) -> dict[str, str]:
    """A summary's numbers, each with its Monte-Carlo error where it has one."""
    errors = {
        name: f" ± {found[f'{name} +-']:.{digits}f}" for name, digits in (("slope", 3), ("interval", 1), ("range", 1))
    }
    digits = {"worlds": 0, "order": 2, "slope": 3, "interval": 1, "range": 1, "width": 0}
    return {name: f"{found[name]:.{count}f}{errors.get(name, '')}" for name, count in digits.items()}


def main() -> int:
    """Play all worlds, print how they went, and say whether the promises hold."""
    began = time.monotonic()
    judged = pd.DataFrame([judge(world) for world in mixture()])
    print(
        "Ratings against the truth in simulated worlds.\n"
        "order: rank correlation; slope: of estimated on true gaps; interval, range: % of\n"
        "bots whose 95 % interval or range of ranks holds the truth; width: of a range of\n"
        "ranks, % of all ranks; ± Monte-Carlo error.\n"
    )
    print(tabulate(list(rows_of(judged)), headers="keys", disable_numparse=True))
    failed = broken(judged)
    print(
        f"\n{time.monotonic() - began:.0f} s;", "; ".join(f"BROKEN: {each}" for each in failed) or "all promises hold"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
