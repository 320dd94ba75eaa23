"""Block bootstrap: how ratings vary if the tournament is repeated with other dice.

Efron and Tibshirani, "An Introduction to the Bootstrap" (1993). The matches of a block share dice and opening, so
blocks are drawn, never matches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from arena.core.machine import cores
from arena.stats import kernels
from arena.stats.factors import BlockKinds
from arena.stats.fit import Fit, Results

REPLICATES = 1000
BATCH = 25
"""Replicates that one thread takes at a time."""
SEED = 1 << 32
ACCURACY = 0.01
"""Accuracy of refits, in sigmas."""
MOST_ROUNDS = 30
MOST_WORK = 40_000_000
"""Results times replicates from which replicates are single Newton steps from the fit of the whole board."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of a board by kind; blocks with equal results of the same bots are of one kind."""

    kind: np.ndarray
    """(blocks,) kind of each block."""
    results: np.ndarray
    """(kinds, matches in a block) numbers of results."""
    distinct_share: np.ndarray
    """(kinds,) distinct blocks of the table as a share of all."""

    @property
    def effective(self) -> float:
        """Number of distinct blocks."""
        return float(self.distinct_share[self.kind].sum())

    def weights(self, results: Results) -> np.ndarray:
        """Return (results,) how often each result counts if repeated blocks count once."""
        counts = np.bincount(self.kind, minlength=len(self.distinct_share)) * self.distinct_share
        return np.bincount(self.results.ravel(), np.repeat(counts, self.results.shape[1]), len(results.times))


def blocks_of(results: Results, block: np.ndarray, share: np.ndarray | None = None) -> Blocks:
    """Group the blocks of a board; `block` (matches,) numbers them, `share` (matches,) is `distinct_share` of each.

    A table with b blocks, d of them distinct, counts as d blocks. Without `share` every block is distinct.
    """
    order = np.lexsort((results.number, block))
    first = np.unique(block, return_index=True)[1]
    kinds, kind = np.unique(results.number[order].reshape(len(first), -1), axis=0, return_inverse=True)
    kind = kind.ravel()
    by_kind = np.ones(len(kinds))
    if share is not None:
        by_kind[kind] = share[first]
    return Blocks(kind, kinds, by_kind)


def distinct_share(block: np.ndarray, entries: np.ndarray, moves_hash: np.ndarray) -> np.ndarray:
    """Return (matches,) the distinct blocks of each match's table as a share of all.

    `block` (matches,) numbers them; `entries` (matches, seats) are by seat; `moves_hash` (matches,) is equal for equal
    moves. A block that repeats another one of its table move by move is not distinct.
    """
    _, first, number = np.unique(block, return_index=True, return_inverse=True)
    _, table = np.unique(np.sort(entries[first], axis=1), axis=0, return_inverse=True)
    match = np.unique(np.column_stack([entries, moves_hash]), axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((match, block))
    _, content = np.unique(match[order].reshape(len(first), -1), axis=0, return_inverse=True)
    pairs = np.unique(np.stack([table.ravel(), content.ravel()], axis=1), axis=0)
    return (np.bincount(pairs[:, 0]) / np.bincount(table.ravel()))[table.ravel()][number.ravel()]


def replicates(fitted: Fit, results: Results, blocks: Blocks, count: int = REPLICATES) -> np.ndarray:
    """Return (count, bots) ratings refitted to blocks drawn with replacement.

    Replicate r is always drawn with the same chance, whatever the number of threads.
    """
    found = np.empty((count, len(fitted.mu)))
    kinds = BlockKinds(
        np.sort(blocks.kind), blocks.distinct_share, blocks.results
    )  # sorted, as blocks' numbers mean nothing
    beliefs = fitted.beliefs
    rounds = MOST_ROUNDS if len(results.times) * count <= MOST_WORK else 0
    draws = max(1, round(blocks.effective))

    def refit(first: int) -> None:
        here = found[first : first + BATCH]
        kernels.bootstrap(SEED + first, kinds, draws, results.orders, fitted.model, beliefs, ACCURACY, rounds, here)

    with ThreadPoolExecutor(cores()) as pool:
        for _ in pool.map(refit, range(0, count, BATCH)):
            pass
    return found
