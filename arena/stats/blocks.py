"""Blocks of a board: the matches of one share dice and opening."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from arena.stats.grouping import group_rows

if TYPE_CHECKING:
    from arena.stats.fit import Results  # slow to import


@dataclass(frozen=True)
class Blocks:
    """Blocks of a board by kind; blocks with equal results of the same bots are of one kind."""

    kind: np.ndarray
    """(blocks,) kind of each block."""
    results: np.ndarray
    """(kinds, most matches of a block) numbers of results; -1 where a block has fewer matches than the largest."""
    distinct_share: np.ndarray
    """(kinds,) distinct blocks of the table as a share of all."""

    @property
    def times(self) -> np.ndarray:
        """(kinds,) number of distinct blocks of each kind."""
        return np.bincount(self.kind, minlength=len(self.distinct_share)) * self.distinct_share

    def weights(self, results: Results) -> np.ndarray:
        """Return (results,) how often each result counts if repeated blocks count once."""
        kind, result = self.members
        return np.bincount(result, self.times[kind], len(results.times))

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """(matches of all kinds,) the kind, and the result, of each."""
        kind, place = np.nonzero(self.results >= 0)
        return kind, self.results[kind, place]


def blocks_of(results: Results, block: np.ndarray, share: np.ndarray | None = None) -> Blocks:
    """Group the blocks of a board; `block` (matches,) numbers them, `share` (matches,) is `distinct_share` of each.

    A table with b blocks, d of them distinct, counts as d blocks. Without `share` every block is distinct.
    """
    first, rows = by_block(block, results.number)
    kinds = group_rows(rows)
    return Blocks(
        kinds.number, rows[kinds.first], np.ones(len(kinds.first)) if share is None else share[first[kinds.first]]
    )


def by_block(block: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (blocks,) indexes of a match of each block, and (blocks, most matches) sorted values of its matches.

    Values are 0 or more; -1, before them, stands where a block has fewer matches than the largest.
    """
    if (np.diff(block) < 0).any():
        order = np.argsort(block, kind="stable")
        block, values = block[order], values[order]
    else:
        order = np.arange(len(block))
    first = np.flatnonzero(np.diff(block, prepend=block[:1] - 1))
    sizes = np.diff(first, append=len(block))
    if (sizes == sizes[:1]).all():
        return order[first], np.sort(values.reshape(len(first), -1), axis=1)
    rows = np.full((len(first), sizes.max()), -1, np.int64)
    rows[np.repeat(np.arange(len(first)), sizes), np.arange(len(block)) - np.repeat(first, sizes)] = values
    return order[first], np.sort(rows, axis=1)


def distinct_share(block: np.ndarray, entries: np.ndarray, moves_hash: np.ndarray) -> np.ndarray:
    """Return (matches,) the distinct blocks of each match's table as a share of all.

    `block` (matches,) numbers them; `entries` (matches, seats) are by seat; `moves_hash` (matches,) is equal for equal
    moves. A block that repeats another one of its table move by move is not distinct.
    """
    if not len(block):
        return np.zeros(0)
    first, contents = by_block(block, group_rows(np.column_stack([entries, moves_hash])).number)
    table = group_rows(np.sort(entries[first], axis=1)).number
    distinct = group_rows(np.column_stack([table, group_rows(contents).number])).first
    share = (np.bincount(table[distinct]) / np.bincount(table))[table]
    return share[np.unique(block, return_inverse=True)[1]]
