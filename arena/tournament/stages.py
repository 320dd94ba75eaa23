"""The adaptive schedule: every table plays a minimum, then further blocks go where ranks are least certain.

Blocks are given out in stages. What a stage gives to which table is a pure function of the plan and the complete
results of the stages before it: it is the same for any number of workers, and follows from the log.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from arena.schedule.blocks import Block, Schedule, Stage
from arena.schedule.seatings import seat_places
from arena.schedule.tables import Table
from arena.store import Store
from arena.tournament.disqualification import ONE_IN, disqualified
from arena.tournament.sequential import decided_stage

STEP = 4
"""Blocks given out before a stage for each block that it gives out."""
FINENESS = 1000
"""Doubts are rounded to thousandths, so that machines that differ in a last digit give out the same blocks."""


def with_stages(store: Store, schedule: Schedule) -> Schedule:
    """Return a schedule, which has the keys of a log, with what the log decides: stages, and ends of tests."""
    if schedule.comparison is not None:
        stage = decided_stage(store, schedule)
        return replace(schedule, stages=(stage,) if stage is not None else ())
    if not any(board.first_blocks for board in schedule.boards):
        return schedule
    first = tuple(_first_stage(schedule, index) for index in range(len(schedule.boards)))
    schedule = replace(schedule, stages=first)
    found = (None if stage is None else _find_stage(store, schedule, index) for index, stage in enumerate(first))
    return replace(schedule, stages=tuple(found))


def _first_stage(schedule: Schedule, index: int) -> Stage | None:
    first, tables = schedule.boards[index].first_blocks, len(schedule.tables[index])
    return Stage((first,) * tables, (0,) * tables, None) if first else None


def _find_stage(store: Store, schedule: Schedule, index: int) -> Stage:
    """Return the first stage that the log does not hold whole; `schedule` has the first of all."""
    board, tables, stage = schedule.boards[index], schedule.tables[index], schedule.stages[index]
    assert stage is not None
    out = disqualified(store, schedule, index)
    counts = tuple(
        min(out.get(entry, first - 1) for entry in table) + 1 for table, first in zip(tables, stage.counts, strict=True)
    )
    results = Results(store, schedule, index)
    if not results.take(schedule.blocks_of(index, stage._replace(counts=counts))):
        return stage
    while True:
        stage = next_stage(counts, tables, board.blocks * len(tables), out, results)
        if stage.counts == stage.done or not results.take(schedule.blocks_of(index, stage)):
            return stage
        counts = stage.counts
        out |= _newly_disqualified(results, schedule.forfeit_limit, counts, tables, out)


class Results:
    """Results of a board in the log, of the blocks taken so far."""

    def __init__(self, store: Store, schedule: Schedule, index: int) -> None:
        board = schedule.boards[index]
        self._known = store.block_keys(board.game, board.players)
        self._seats = store.seats(board.game, board.players)
        self._places = np.array(seat_places(board.players, schedule.permutations))
        keys, starts, sizes = np.unique(self._seats["block"], return_index=True, return_counts=True)
        whole = sizes == self._places.size
        self._starts = dict(zip(keys[whole].tolist(), starts[whole].tolist(), strict=True))
        self._tables: list[Table] = []
        self._taken: list[int] = []

    def take(self, blocks: Iterable[Block]) -> bool:
        """Take the results of blocks, in this order; return whether all of them are in the log, complete."""
        for block in blocks:
            start = self._starts.get(self._known.get(block.identity, -1))
            if start is None:
                return False
            self._tables.append(block.table)
            self._taken.append(start)
        return True

    @property
    def entries(self) -> np.ndarray:
        """Entry numbers by match and seat."""
        tables = np.array(self._tables, np.int64).reshape(-1, self._places.shape[1])
        return tables[:, self._places].reshape(-1, self._places.shape[1])

    @property
    def ranks(self) -> np.ndarray:
        """Ranks by match and seat."""
        return self._of("rank")

    @property
    def forfeited(self) -> np.ndarray:
        """Whether a seat forfeited, by match and seat."""
        return self._of("forfeited")

    @property
    def blocks(self) -> np.ndarray:
        """Block numbers by match."""
        return np.repeat(np.arange(len(self._taken)), len(self._places))

    def _of(self, field: str) -> np.ndarray:
        at = np.array(self._taken, np.int64)[:, None] + np.arange(self._places.size)
        return self._seats[field][at].reshape(-1, self._places.shape[1])


def _newly_disqualified(
    results: Results, after: int, counts: Sequence[int], tables: Sequence[Table], out: Mapping[int, int]
) -> dict[int, int]:
    """Return who is disqualified at the end of a stage, as by `disqualified`, with their last rounds."""
    entries = results.entries
    played = np.bincount(entries.ravel())
    faults = np.bincount(entries[results.forfeited], minlength=len(played))
    found = np.flatnonzero((faults >= after) & (faults * ONE_IN >= played) & (faults > 0)) if after else ()
    return {
        entry: max(count for count, table in zip(counts, tables, strict=True) if entry in table) - 1
        for entry in map(int, found)
        if entry not in out
    }


def next_stage(
    counts: Sequence[int], tables: Sequence[Table], budget: int, out: Mapping[int, int], results: Results
) -> Stage:
    """Return the stage after complete results: more blocks, or none where no budget or no table is left."""
    from arena.stats.ranks import order_doubt  # slow to import, and needed for adaptive plans alone

    done, last_rounds = tuple(counts), tuple(sorted(out.items()))
    number = min(budget - sum(done), max(1, sum(done) // STEP))
    if number <= 0 or all(out.keys() & set(table) for table in tables):
        return Stage(done, done, last_rounds)
    who, doubt = order_doubt(results.entries, results.ranks, results.blocks)
    given = shares(weights(tables, who, doubt, out), number)
    return Stage(tuple(count + more for count, more in zip(done, given, strict=True)), done, last_rounds)


def weights(tables: Sequence[Table], who: np.ndarray, doubt: np.ndarray, out: Mapping[int, int]) -> list[int]:
    """Return by table the sum of its pairs' doubts, 0 with a disqualified bot; equal weights where there is no doubt.

    Neighbours in rank weigh most, since their order is in doubt most.
    """
    place = {int(entry): number for number, entry in enumerate(who)}
    whole = np.rint(doubt * FINENESS).astype(int).tolist()
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
