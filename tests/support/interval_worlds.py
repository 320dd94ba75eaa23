"""Simulated worlds for the intervals of ratings: how often they hold the truth, table by table of settings.

`python -m tests.support.interval_worlds` (`make stats`) plays all, prints a table, and exits with 1 if a promise fails.
It rates boards as `arena.results.leaderboards.leaderboard` does, which adds nothing to intervals but rounding.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
from tabulate import tabulate

from arena.stats.board import ratings_of
from tests.support.worlds import PLAYERS, round_robin

BLOCKS = (6, 24, 100)
"""Of each set of bots."""
MARGINS = (0.0, 0.5)
SHARED = (0.0, 1.0)
"""Share of luck that belongs to the seats of a block; all of it, where performances are drawn by common dice."""
SPREADS = (0.5, 1.0, 1.5)
"""Of skills in units of beta, by turns."""
TIMES = 48
ERRORS = 3
"""Monte-Carlo standard errors that the promise for single settings allows for."""


def judge(players: int, blocks: int, margin: float, shared: float, seed: int) -> tuple[float, float]:
    """Of one board: the share of intervals that hold the truth, and half of their mean width."""
    spread = SPREADS[seed % len(SPREADS)]
    skill, board = round_robin(seed, players, blocks, spread=spread, margin=margin, shared=shared)
    found = ratings_of(board).spread
    error = (found.mu - found.mu.mean()) - (skill - skill.mean())
    half = found.high - found.mu
    return float(np.mean(np.abs(error) <= half)), float(half.mean())


def judged(times: int = TIMES) -> pd.DataFrame:
    """Return a row for each combination of settings."""
    rows = []
    for blocks, players, margin, shared in itertools.product(BLOCKS, PLAYERS, MARGINS, SHARED):
        held, half = zip(*(judge(players, blocks, margin, shared, seed) for seed in range(times)), strict=True)
        error = np.std(held, ddof=1) / times**0.5
        rows.append((blocks, players, margin, shared, np.mean(held), error, np.mean(half)))
    return pd.DataFrame(rows, columns=["blocks", "players", "margin", "shared", "held", "error", "half width"])


def broken(found: pd.DataFrame) -> list[str]:
    """The promises that do not hold."""
    low = found["held"] + ERRORS * found["error"] < 0.93
    failed = [f"{row.blocks} blocks, {row.players} players: 0.93 at least" for row in found[low].itertuples()]
    for name in ("blocks", "players", "margin", "shared"):
        for value, held in found.groupby(name)["held"].mean().items():
            failed += [] if 0.94 <= held <= 0.97 else [f"{name} {value}: 0.94 to 0.97, not {held:.3f}"]
    return failed


def main() -> int:
    """Play all worlds, print how often intervals held, and say whether the promises hold."""
    found = judged()
    print(
        f"95 % intervals of ratings, 6 bots, {TIMES} boards a row: share that holds the truth, its error, half width.\n"
    )
    print(tabulate(found.round(3).values.tolist(), list(found), disable_numparse=True))
    for name in ("blocks", "players", "margin", "shared"):
        means = found.groupby(name)["held"].mean()
        print(f"{name}: " + ", ".join(f"{value:g} {held:.3f}" for value, held in means.items()))
    failed = broken(found)
    print("\n" + ("; ".join(f"BROKEN: {each}" for each in failed) or "all promises hold"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
