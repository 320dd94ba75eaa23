"""A log with its plan: which matches the plan has, which of them count, under which labels, and what is missing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from arena.core.errors import RecordError, StoreError
from arena.match.stored import StoredMatch
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block, Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.schedule.scheduler import StandingsTable
from arena.store import Store
from arena.tournament.counted import BoardMatches, foreign_blocks, read_board, read_foreign
from arena.tournament.disqualification import find_disqualified, in_plan
from arena.tournament.log_keys import with_complete_blocks, with_disclosed_keys, with_log_keys
from arena.tournament.logs import find_log
from arena.tournament.lookup import lineups_in_log
from arena.tournament.seats import labels_of
from arena.tournament.stages import complete_results, with_stages
from engine.errors import one_line

PAGE_BLOCKS = 64
"""Blocks whose matches are read at a time."""
BlockMatch = tuple[Block, StoredMatch]


@dataclass(frozen=True)
class BoardStatus:
    """How much of a board's plan a log holds. Blocks that disqualified bots have left are in no plan."""

    game: str
    players: int
    matches: int
    """Matches of the plan in the log."""
    planned: int
    """Matches of the whole plan; where blocks depend on results the budget, until nothing is left to give out."""
    blocks: int
    """Complete blocks."""
    forfeits: int
    """Forfeited seats in matches of the plan."""
    disqualified: dict[str, int]
    """Last round played, counted from 1, by label."""
    given_out: int | None
    """Matches given out so far where blocks depend on results; None elsewhere."""
    standings: list[StandingsTable]
    """Bracket or standings of its kind of schedule, as of complete stages; none for most kinds."""


class Forfeit(NamedTuple):
    """A seat of a match of the plan that was forfeited."""

    block: Block
    place: int
    """Of its table on the board."""
    lineup: int
    seat: int
    cause: str


class Tournament:
    """A log with its plan: that of the latest run, unless another one is given.

    What follows from the log is computed once; `now()` gives the tournament as its log is now.
    """

    def __init__(self, store: Store, schedule: Schedule | None = None, plan: ResolvedPlan | None = None) -> None:
        self.store = store
        self._asked = (schedule, plan)
        if plan is not None:
            self.plan = plan
        self._disqualified: dict[int, dict[int, int]] = {}

    @classmethod
    def open(cls, target: str | Path, home: str | Path | None = None) -> Self:
        """Open the log of a configuration, a tournament's name, its folder, or a database, to read it."""
        return cls(Store.open(find_log(target, home)))

    @classmethod
    def create(cls, log: Path) -> Self:
        """Open a log as its one writer; make it where there is none."""
        return cls(Store.create(log))

    def __enter__(self) -> Self:
        self.store.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the log as `arena.store.Store` does."""
        self.store.__exit__(kind, error, trace)

    def now(self) -> Tournament:
        """Return the tournament as its log is now."""
        return Tournament(self.store, *self._asked)

    # The plan

    @cached_property
    def plan(self) -> ResolvedPlan:
        """The plan of the latest run, without progress; raises `StoreError` for what is none."""
        text, where = self.store.runs.last_plan(), f"{self.store.path}: its plan cannot be read"
        try:
            return ResolvedPlan.read(json.loads(text), where)
        except RecordError as error:
            raise StoreError(str(error)) from None
        except (ValueError, RecursionError):
            raise StoreError(where) from None

    @cached_property
    def _keyed(self) -> Schedule:
        schedule, _ = self._asked
        return with_log_keys(self.store, self.plan.schedule() if schedule is None else schedule)

    @cached_property
    def planned(self) -> Schedule:
        """The plan's blocks, each with the key of dice that it counts with; without stages."""
        return with_complete_blocks(self.store, self._keyed)

    @cached_property
    def schedule(self) -> Schedule:
        """The plan's blocks as far as they are decided."""
        return with_stages(self.store, self.planned)

    @property
    def labels(self) -> list[str]:
        """Labels of the plan's entries."""
        return [entry.label for entry in self._keyed.entries]

    def published(self) -> ResolvedPlan:
        """Return the plan as plan.json has it: with its progress, and the log's keys of dice as far as disclosed."""
        return with_disclosed_keys(self.plan.with_progress(self.schedule), self.store)

    def check_playable(self, what: str) -> None:
        """Raise `StoreError` for a log of foreign results, in which `what` cannot be done."""
        if self.store.runs.has_run() and (foreign := self.plan.foreign) is not None:
            raise StoreError(f"{self.store.path}: holds {foreign.status}, without moves or bots' sources: {what}")

    # What is in the plan

    def disqualified(self, board: int) -> dict[int, int]:
        """Return a board's disqualified entries, each with the last round that it plays."""
        if board not in self._disqualified:
            self._disqualified[board] = find_disqualified(self.store, self.schedule, board)
        return self._disqualified[board]

    def has(self, block: Block) -> bool:
        """Return whether a block counts: disqualified bots have not left it, and the test was not decided before it."""
        if self.schedule.comparison is not None:
            return block.round < self.schedule.counts(block.board)[0]
        return in_plan(self.disqualified(block.board), block.round, block.table)

    def blocks(self, board: int | None = None) -> Iterator[Block]:
        """Yield the blocks of the plan, or of a board, in canonical order."""
        schedule = self.schedule
        if schedule.is_foreign:
            return foreign_blocks(self.store, schedule)
        boards = range(len(schedule.boards)) if board is None else (board,)
        blocks = schedule.blocks() if board is None else schedule.blocks_of(board)
        return filter(self.has, blocks) if any([self.disqualified(each) for each in boards]) else blocks

    def missing(self, blocks: Iterable[Block] | None = None) -> Iterator[tuple[Block, set[int]]]:
        """Yield the plan's blocks, or of the given ones, that the log does not hold whole, with missing line-ups."""
        boards = self.schedule.boards
        for block, there in lineups_in_log(self.store, self.blocks() if blocks is None else blocks):
            if absent := set(range(self.schedule.lineups(boards[block.board]))) - there:
                yield block, absent

    def is_complete(self) -> bool:
        """Return whether the log holds every match of the plan as far as that is decided."""
        return next(self.missing(), None) is None

    def given_out(self, board: int) -> int:
        """Return the matches of a board's plan as far as it is decided."""
        schedule, out = self.schedule, self.disqualified(board)
        blocks = sum(
            min(count, *(out.get(entry, count) + 1 for entry in table))
            for table, count in zip(schedule.tables[board], schedule.counts(board), strict=True)
        )
        return blocks * schedule.lineups(schedule.boards[board])

    def progress(self, board: int) -> BoardStatus:
        """Return how much of a board's plan is in the log."""
        schedule, shape, out = self.schedule, self.schedule.boards[board], self.disqualified(board)
        there, stage, lineups = (
            self.store.board(shape.game, shape.players),
            schedule.stage(board),
            schedule.lineups(shape),
        )
        if schedule.is_foreign:
            matches, blocks = there.count(lineups)[0], there.count_ids()
        elif not out and stage is None and self.store.runs.has_one_plan():  # then the database can count
            matches, blocks = there.count(lineups)
        else:
            sizes = there.block_sizes()
            found = [sizes.get(block.identity, 0) for block in self.blocks(board)]
            matches, blocks = sum(found), found.count(lineups)
        given_out = shape.blocks if schedule.is_foreign else self.given_out(board)
        unfinished = stage is not None and stage.counts != stage.done
        return BoardStatus(
            game=one_line(shape.game),
            players=shape.players,
            matches=matches,
            planned=schedule.budget(board) if unfinished else given_out,
            blocks=blocks,
            forfeits=sum(1 for _ in self.forfeits(board)),
            disqualified={one_line(schedule.entries[entry].label): last + 1 for entry, last in sorted(out.items())},
            given_out=None if stage is None else given_out,
            standings=[each.printable() for each in self.standings(board)],
        )

    # Matches

    def counted(self, board: int) -> BoardMatches:
        """Return the matches of a board that count, in canonical order, as columns."""
        if isinstance(self.schedule, ForeignSchedule):
            return read_foreign(self.store, self.schedule, board)
        return read_board(self.store, self.schedule, board, self.disqualified(board))

    def matches(self, board: int | None = None) -> Iterator[list[BlockMatch]]:
        """Yield the finished matches of the plan, or of a board, in canonical order and in pages.

        Those of incomplete blocks, which do not count, are among them.
        """
        blocks = self.blocks(board)
        while batch := list(itertools.islice(blocks, PAGE_BLOCKS)):
            found = self.store.matches([block.identity for block in batch])
            if found:
                yield [(block, match) for block in batch for match in found.get(block.identity, ())]

    def match(self, identity: bytes, lineup: int) -> StoredMatch:
        """Return a match of the log, with the labels of its bots if it is of the plan."""
        match = self.store.match(identity, lineup)
        labels = labels_of(self.store, self._keyed, match)
        return replace(match, labels=labels) if len(labels) == match.players else match

    def forfeits(self, board: int) -> Iterator[Forfeit]:
        """Yield the forfeited seats in the matches of a board's plan, by round and table."""
        schedule, shape, out = self.schedule, self.schedule.boards[board], self.disqualified(board)
        found = self.store.board(shape.game, shape.players).forfeits()
        counts = schedule.counts(board) if found else ()
        for number in sorted(found):
            for place, (table, count) in enumerate(zip(schedule.tables[board], counts, strict=True)):
                if number < count and in_plan(out, number, table):
                    block = schedule.block(board, number, table)
                    for lineup, seat, cause in found[number].get(block.identity, ()):
                        yield Forfeit(block, place, lineup, seat, cause)

    def standings(self, board: int) -> Sequence[StandingsTable]:
        """Return what the kind of schedule shows of a board as of complete stages: a bracket, or how bots stand."""
        schedule = self.schedule
        if not schedule.scheduler.has_standings:
            return ()
        tables, results = complete_results(self.store, schedule, board)
        out = self.disqualified(board)
        labels = [f"{label} (disqualified)" if entry in out else label for entry, label in enumerate(self.labels)]
        return schedule.scheduler.standings(schedule.boards[board], tables, results, labels)
