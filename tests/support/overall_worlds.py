"""Simulated worlds for the overall standing: how often its intervals and possible ranks hold the truth.

`python -m tests.support.overall_worlds` (`make stats`) plays all, prints a table, and exits with 1 if a promise fails.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
from scipy.special import ndtr
from tabulate import tabulate

from arena.stats.board import ratings_of
from arena.stats.fit import BETA
from arena.stats.overall import BoardField, Overall, overall
from tests.support.worlds import round_robin

BLOCKS = (6, 24, 100)
"""Of each set of bots."""
BOARDS = ((2,), (2, 3), (2, 2, 3, 4))
"""Numbers of players."""
SPREADS = (0.5, 1.0, 1.5)
BOTS = 6
TIMES = 48
ERRORS = 3
"""Monte-Carlo standard errors that the promise for single settings allows for."""


def true_scores(skill: np.ndarray) -> np.ndarray:
    """Return the probability with which each bot finishes ahead of another one, in the mean over the others."""
    ahead = ndtr((skill[:, None] - skill[None, :]) / (BETA * 2**0.5))
    return np.asarray((ahead.sum(axis=1) - 0.5) / (len(skill) - 1))


def standing(seed: int, players: tuple[int, ...], blocks: int) -> tuple[np.ndarray, Overall]:
    """Return true overall scores, and the standing after as many blocks on each board; skills differ by board."""
    truth, fields = np.zeros(BOTS), []
    for number, count in enumerate(players):
        spread = SPREADS[(seed + number) % len(SPREADS)]
        skill, board = round_robin(100 * seed + number, count, blocks, bots=BOTS, spread=spread)
        truth += true_scores(skill) / len(players)
        fields.append(BoardField.of(np.arange(BOTS), ratings_of(board)))
    return truth, overall(fields, BOTS)


def judge(seed: int, players: tuple[int, ...], blocks: int) -> tuple[float, float, float]:
    """Return the share of intervals that hold the truth, that of possible ranks, and half of the mean width."""
    truth, found = standing(seed, players, blocks)
    held = (found.low <= truth) & (truth <= found.high)
    rank = 1 + np.searchsorted(np.sort(-truth), -truth)
    ranks = (found.best_rank <= rank) & (rank <= found.worst_rank)
    return float(held.mean()), float(ranks.mean()), float((found.high - found.low).mean() / 2)


def judged(times: int = TIMES) -> pd.DataFrame:
    """Return a row for each combination of settings."""
    rows = []
    for blocks, players in itertools.product(BLOCKS, BOARDS):
        held, ranks, half = zip(*(judge(seed, players, blocks) for seed in range(times)), strict=True)
        error = np.std(held, ddof=1) / times**0.5
        rows.append((blocks, len(players), np.mean(held), error, np.mean(ranks), np.mean(half)))
    return pd.DataFrame(rows, columns=["blocks", "boards", "held", "error", "ranks held", "half width"])


def broken(found: pd.DataFrame) -> list[str]:
    """Return the promises that do not hold."""
    low = found["held"] + ERRORS * found["error"] < 0.93
    failed = [f"{row.blocks} blocks, {row.boards} boards: 0.93 at least" for row in found[low].itertuples()]
    mean, ranks = found["held"].mean(), found["ranks held"].min()
    failed += [] if 0.94 <= mean <= 0.98 else [f"all: 0.94 to 0.98, not {mean:.3f}"]
    return failed + ([] if ranks >= 0.95 else [f"possible ranks: 0.95 at least, not {ranks:.3f}"])


def main() -> int:
    """Print the table; return 1 if a promise fails."""
    found = judged()
    print(tabulate(found, headers="keys", showindex=False, floatfmt=".3f"))
    failed = broken(found)
    print("\n".join(failed) or "all promises hold")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
