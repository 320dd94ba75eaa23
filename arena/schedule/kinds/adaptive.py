"""The adaptive schedule: every table plays a minimum, then further blocks go where ranks are least certain."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import ConfigHints, Results, Scheduler
from arena.schedule.tables import Table, choose_tables

STAGE_DIVISOR = 4
"""Blocks given out before a stage for each block that it gives out."""
DOUBT_STEPS = 1000
"""Doubts are rounded to thousandths, so that machines that differ in a last digit give out the same blocks."""


class Adaptive(Scheduler):
    """All sets of bots, with most blocks where ranks are least certain."""

    kind = "adaptive"
    purpose = "the order of bots that are close to each other"
    hints: ClassVar[ConfigHints] = {"first_blocks": (2, "adaptive: blocks of every table before the rest is given out")}

    first_blocks: Annotated[int, Field(ge=2, le=10_000_000)] | None = None
    """Blocks that every table of an adaptive schedule plays; by default about a quarter of `blocks`, at least 2."""
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """With more sets of bots than this on a board, a balanced sample of them is played."""

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        fewest = min(board.blocks for board in boards)
        if self.first_blocks is not None and self.first_blocks > fewest:
            raise ValueError(f"first_blocks = {self.first_blocks}: must be at most blocks, {fewest} on a board")
        return self

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        chosen = choose_tables(len(board.entries), board.players, self.max_tables)
        return tuple(tuple(board.entries[i] for i in table) for table in chosen)

    def start(self, board: Board, tables: Sequence[Table]) -> Sequence[int]:
        first = self.first_blocks or max(2, -(-board.blocks // 4))
        return (min(board.blocks, first),) * len(tables)

    def budget(self, board: Board, tables: Sequence[Table]) -> int:
        return board.blocks * len(tables)

    def next(self, board: Board, tables: Sequence[Table], results: Results) -> Sequence[int]:
        from arena.stats.ranks import order_doubt  # slow to import, and needed for adaptive plans alone

        done = results.counts
        number = min(self.budget(board, tables) - sum(done), max(1, sum(done) // STAGE_DIVISOR))
        if number <= 0 or all(results.out.keys() & set(table) for table in tables):
            return done
        who, doubt = order_doubt(results.entries, results.ranks, results.blocks)
        given = shares(weights(tables, who, doubt, results.out), number)
        return [count + more for count, more in zip(done, given, strict=True)]


def weights(tables: Sequence[Table], who: np.ndarray, doubt: np.ndarray, out: Mapping[int, int]) -> list[int]:
    """Return by table the sum of its pairs' doubts, 0 with a disqualified bot; equal weights where there is no doubt.

    Neighbours in rank weigh most, since their order is in doubt most.
    """
    place = {int(entry): number for number, entry in enumerate(who)}
    whole = np.rint(doubt * DOUBT_STEPS).astype(int).tolist()
    stays = [not out.keys() & set(table) for table in tables]
    found = [
        sum(whole[place[a]][place[b]] for a, b in itertools.combinations(table, 2)) if stay else 0
        for table, stay in zip(tables, stays, strict=True)
    ]
    return found if any(found) else [int(stay) for stay in stays]


def shares(weights: Sequence[int], number: int) -> list[int]:
    """Divide a number of blocks in proportion to weights, by largest remainders; of equal ones the first get more."""
    total = sum(weights)
    parts = [divmod(number * weight, total) for weight in weights]
    given = [whole for whole, _ in parts]
    by_remainder = sorted(range(len(parts)), key=lambda place: -parts[place][1])
    for place in by_remainder[: number - sum(given)]:
        given[place] += 1
    return given
