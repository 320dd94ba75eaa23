"""How much of a plan a log holds, and what is missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from arena.core.errors import StoreError
from arena.plan.disqualification import disqualified, in_plan
from arena.schedule.blocks import Block, Schedule
from arena.schedule.tables import Table
from arena.store import Store

LOOK_UP = 256
"""Blocks looked up at a time."""


class Coverage(NamedTuple):
    """How much of a board's plan a log holds. Blocks that disqualified bots have left are in no plan."""

    matches: int
    """Matches of the plan in the log."""
    blocks: int
    """Complete blocks of the plan in the log."""
    given_out: int
    """Matches of the plan as far as it is decided."""
    planned: int
    """Matches of the whole plan; an adaptive board has its budget until nothing is left to give out."""

    @property
    def missing(self) -> int:
        """Matches that are not in the log yet."""
        return self.planned - self.matches


def with_blocks_behind(schedule: Schedule) -> Schedule:
    """Return a schedule, with its stages, that also has blocks that a run may have played before it was decided."""
    if schedule.comparison is not None:
        return replace(schedule, stages=())
    stages = (
        stage and stage._replace(counts=tuple(max(count, board.first_blocks) for count in stage.counts))
        for stage, board in zip(schedule.stages, schedule.boards, strict=False)
    )
    return replace(schedule, stages=tuple(stages))


def blocks_in_plan(store: Store, schedule: Schedule) -> Iterator[Block]:
    """Yield every block of the plan in canonical order, without those that disqualified bots have left."""
    if schedule.is_foreign:
        return foreign_blocks(store, schedule)
    out = [disqualified(store, schedule, board) for board in range(len(schedule.boards))]
    return (block for block in schedule.blocks() if in_plan(out[block.board], block.round, block.table))


def foreign_blocks(store: Store, schedule: Schedule) -> Iterator[Block]:
    """Yield the matches of foreign results as blocks, by board and in the order of the log.

    Raises `StoreError` for a bot that is not in the plan.
    """
    entries = {entry.identity: number for number, entry in enumerate(schedule.entries)}
    of = {bot: entries.get(identity) for bot, (identity, _) in store.bot_names().items()}
    for index, board in enumerate(schedule.boards):
        rows = store.seat_rows(board.game, board.players, "b.identity, b.round, b.id, s.bot")
        for (identity, number, id), seats in itertools.groupby(rows, lambda row: row[:3]):
            table = tuple(of.get(row[3]) for row in seats)
            if None in table:
                raise StoreError(f"{store.path}: the log is damaged: a bot on {board.title} is not in its plan")
            yield Block(index, number, cast(Table, table), id, identity)


def looked_up(store: Store, blocks: Iterable[Block]) -> Iterator[tuple[Block, set[int]]]:
    """Yield blocks, each with its line-ups in the log."""
    blocks = iter(blocks)
    while batch := list(itertools.islice(blocks, LOOK_UP)):
        found = store.finished([block.identity for block in batch])
        yield from ((block, found.get(block.identity, set())) for block in batch)


def missing(store: Store, schedule: Schedule, blocks: Iterable[Block]) -> Iterator[tuple[Block, set[int]]]:
    """Yield those of the blocks that the log does not hold whole, each with its missing line-ups."""
    for block, there in looked_up(store, blocks):
        if absent := set(range(schedule.lineups(schedule.boards[block.board]))) - there:
            yield block, absent


def is_complete(store: Store, schedule: Schedule) -> bool:
    """Return whether the log holds every match of a plan with its present stages."""
    return next(missing(store, schedule, blocks_in_plan(store, schedule)), None) is None


def given_out(schedule: Schedule, board: int, out: Mapping[int, int]) -> int:
    """Return a board's matches given out so far; `out` has the last rounds of disqualified entries."""
    blocks = sum(
        min(count, *(out.get(entry, count) + 1 for entry in table))
        for table, count in zip(schedule.tables[board], schedule.counts(board), strict=True)
    )
    return blocks * schedule.lineups(schedule.boards[board])


def coverage(store: Store, schedule: Schedule, boards: Iterable[int] | None = None) -> list[Coverage]:
    """Return how much of each board's plan is in the log, or of some boards', given the stages of adaptive boards."""
    chosen = range(len(schedule.boards)) if boards is None else boards
    return [_board_coverage(store, schedule, board) for board in chosen]


def _foreign_coverage(store: Store, schedule: Schedule, index: int) -> Coverage:
    board = schedule.boards[index]
    matches, _ = store.count(board.game, board.players, 1)
    return Coverage(matches, store.count_ids(board.game, board.players), board.blocks, board.blocks)


def _board_coverage(store: Store, schedule: Schedule, index: int) -> Coverage:
    if schedule.is_foreign:
        return _foreign_coverage(store, schedule, index)
    board, stage, out = schedule.boards[index], schedule.stage(index), disqualified(store, schedule, index)
    lineups = schedule.lineups(board)
    if not out and stage is None and store.has_one_plan():  # the log holds nothing else, and the database can count
        matches, blocks = store.count(board.game, board.players, lineups)
    else:
        sizes = store.block_sizes(board.game, board.players)
        stay = (block for block in schedule.blocks_of(index) if in_plan(out, block.round, block.table))
        there = [sizes.get(block.identity, 0) for block in stay]
        matches, blocks = sum(there), there.count(lineups)
    done = given_out(schedule, index, out)
    unfinished = stage is not None and stage.counts != stage.done
    return Coverage(matches, blocks, done, schedule.budget(index) if unfinished else done)
