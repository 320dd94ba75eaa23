"""Boards whose blocks depend on results: the stage that a log has come to.

What a stage gives to which table is a pure function of the plan and the complete results of the stages before it: it is
the same for any number of workers, and follows from the log.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from arena.core.errors import ConfigError
from arena.schedule.blocks import Block, Schedule
from arena.schedule.scheduler import Results, Stage
from arena.schedule.tables import Table
from arena.store import Store
from arena.tournament.disqualification import MATCHES_PER_FORFEIT, find_disqualified
from arena.tournament.sequential import decided_stage


def with_stages(store: Store, schedule: Schedule) -> Schedule:
    """Return a schedule, which has the keys of a log, with what the log decides: stages, and ends of tests."""
    if schedule.comparison is not None:
        stage = decided_stage(store, schedule)
        return replace(schedule, stages=(stage,) if stage is not None else ())
    if not schedule.scheduler.has_stages:
        return schedule
    first = tuple(_first_stage(schedule, index) for index in range(len(schedule.boards)))
    schedule = replace(schedule, stages=first)
    return replace(schedule, stages=tuple(_find_stage(store, schedule, index) for index in range(len(first))))


def _first_stage(schedule: Schedule, index: int) -> Stage:
    tables = schedule.tables[index]
    counts = _checked(schedule, index, schedule.start(index), (0,) * len(tables))
    return Stage(counts, (0,) * len(tables), None, tables if schedule.scheduler.finds_tables else None)


def complete_results(store: Store, schedule: Schedule, index: int) -> tuple[Sequence[Table], LoggedResults]:
    """Return the results of a board's stages that the log holds whole, and the tables up to the end of them.

    `schedule` has stages.
    """
    first = replace(schedule, stages=())
    stages = tuple(_first_stage(first, number) for number in range(len(first.boards)))
    _, results = _follow(store, replace(first, stages=stages), index)
    return schedule.tables[index][: len(results.counts)], results


def _find_stage(store: Store, schedule: Schedule, index: int) -> Stage:
    """Return the first stage that the log does not hold whole; `schedule` has the first of all."""
    return _follow(store, schedule, index)[0]


def _follow(store: Store, schedule: Schedule, index: int) -> tuple[Stage, LoggedResults]:
    """Return the first stage that the log does not hold whole, and the results of those before."""
    tables, stage = schedule.tables[index], schedule.stages[index]
    assert stage is not None
    out = find_disqualified(store, schedule, index)
    counts = tuple(
        min(count, *(out.get(entry, count) + 1 for entry in table))
        for table, count in zip(tables, stage.counts, strict=True)
    )
    results = LoggedResults(store, schedule, index)
    if not results.take(schedule.blocks_of(index, stage._replace(counts=counts)), counts, out):
        return stage, results
    while True:
        stage = next_stage(schedule, index, results, tables)
        if stage.counts == stage.done or not results.take(schedule.blocks_of(index, stage), stage.counts, out):
            return stage, results
        tables = tables if stage.tables is None else stage.tables
        results.disqualify(_newly_disqualified(results, schedule.forfeit_limit, tables))
        out = results.out


def next_stage(schedule: Schedule, index: int, results: Results, tables: Sequence[Table]) -> Stage:
    """Return the stage after complete results: more blocks, or none where nothing is left to play.

    `tables` are those up to the end of the stage before.
    """
    board, done = schedule.boards[index], tuple(results.counts)
    given = schedule.scheduler.next(board, tables, results)
    if schedule.scheduler.finds_tables:
        more = _checked_tables(schedule, index, given)
        tables = (*tables, *(table for table in more if table not in {*tables}))
        done += (0,) * (len(tables) - len(done))
        given = [before + more.get(table, 0) for before, table in zip(done, tables, strict=True)]
    assert not isinstance(given, Mapping)
    given = _checked(schedule, index, given, done)
    counts = tuple(
        before if results.out.keys() & set(table) else count
        for table, before, count in zip(tables, done, given, strict=True)
    )
    found = tuple(tables) if schedule.scheduler.finds_tables else None
    return Stage(counts, done, tuple(sorted(results.out.items())), found)


def _checked_tables(schedule: Schedule, index: int, given: Sequence[int] | Mapping[Table, int]) -> Mapping[Table, int]:
    """Return the blocks by table that a kind of schedule adds; raises `ConfigError` for what no table may be."""
    place = {entry: number for number, entry in enumerate(schedule.boards[index].entries)}
    players = schedule.boards[index].players
    for table in given if isinstance(given, Mapping) else [()]:
        places = [place.get(entry, -1) for entry in table]
        if len(places) != players or -1 in places or any(a >= b for a, b in itertools.pairwise(places)):
            wrong = f"schedule = '{schedule.scheduler.kind}': the plug-in is wrong: a stage"
            raise ConfigError(f"{wrong} has to add blocks to tables of {players} of the board's bots, in their order")
    assert isinstance(given, Mapping)
    return given


def _checked(schedule: Schedule, index: int, given: Sequence[int], done: Sequence[int]) -> tuple[int, ...]:
    """Return the blocks that a kind of schedule gives out; raises `ConfigError` for what no kind may give."""
    counts = tuple(map(int, given))
    wrong = f"schedule = '{schedule.scheduler.kind}': the plug-in is wrong: a stage"
    if len(counts) != len(done) or any(count < before for count, before in zip(counts, done, strict=True)):
        raise ConfigError(f"{wrong} has to give each of {len(done)} tables at least the blocks that it has played")
    if sum(counts) > (budget := schedule.scheduler.budget(schedule.boards[index], schedule.tables[index])):
        raise ConfigError(f"{wrong} gives out {sum(counts)} blocks, more than its budget of {budget}")
    return counts


class LoggedResults:
    """Results of a board in the log, of the blocks taken so far."""

    def __init__(self, store: Store, schedule: Schedule, index: int) -> None:
        board = schedule.boards[index]
        self._known = store.board(board.game, board.players).block_keys()
        self._seats = store.board(board.game, board.players).seats()
        self._places = np.array(schedule.places(board.players))
        keys, starts, sizes = np.unique(self._seats["block"], return_index=True, return_counts=True)
        self._lineups, self._players = self._places.shape[1:]
        whole = sizes == self._lineups * self._players
        self._starts = dict(zip(keys[whole].tolist(), starts[whole].tolist(), strict=True))
        self._tables: list[Table] = []
        self._rounds: list[int] = []
        self._taken: list[int] = []
        self._stages: list[int] = []
        self.counts: Sequence[int] = ()
        self.out: dict[int, int] = {}
        self.last_stages: dict[int, int] = {}
        self.kept: dict[str, Any] = {}

    def take(self, blocks: Iterable[Block], counts: Sequence[int], out: Mapping[int, int]) -> bool:
        """Take the results of a stage's blocks, in this order; return whether all of them are in the log, complete.

        Otherwise none is taken. `counts` are the blocks of each table up to the end of the stage, `out` the bots
        disqualified before, or in the course of the first one.
        """
        found: list[tuple[Table, int, int]] = []
        for block in blocks:
            start = self._starts.get(self._known.get(block.identity, -1))
            if start is None:
                return False
            found.append((block.table, block.round, start))
        self._tables += [table for table, _, _ in found]
        self._rounds += [number for _, number, _ in found]
        self._taken += [start for _, _, start in found]
        self._stages.append(len(found))
        self.counts, self.out = counts, {}
        self.disqualify(out)
        return True

    def disqualify(self, out: Mapping[int, int]) -> None:
        """Take the last rounds of entries that are disqualified at the end of the present stage, or were before."""
        self.out.update(out)
        for entry in out:
            self.last_stages.setdefault(entry, self.stage_count - 1)

    @property
    def stage_count(self) -> int:
        """Stages that were taken."""
        return len(self._stages)

    @property
    def entries(self) -> np.ndarray:
        """Entry numbers by match and seat."""
        if not self._tables:
            return np.zeros((0, self._players), np.int64)
        places = self._places[np.array(self._rounds) % len(self._places)]
        found: np.ndarray = np.array(self._tables)[np.arange(len(places))[:, None, None], places]
        return found.reshape(-1, self._players)

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
        return np.repeat(np.arange(len(self._taken)), self._lineups)

    @property
    def stages(self) -> np.ndarray:
        """Stages by match."""
        return np.repeat(np.arange(len(self._stages)), np.array(self._stages, int) * self._lineups)

    def _of(self, field: str) -> np.ndarray:
        at = np.array(self._taken, np.int64)[:, None] + np.arange(self._lineups * self._players)
        return self._seats[field][at].reshape(-1, self._players)


def _newly_disqualified(results: LoggedResults, after: int, tables: Sequence[Table]) -> dict[int, int]:
    """Return who is disqualified at the end of a stage, as by `disqualified`, with their last rounds."""
    entries = results.entries
    played = np.bincount(entries.ravel())
    faults = np.bincount(entries[results.forfeited], minlength=len(played))
    found = np.flatnonzero((faults >= after) & (faults * MATCHES_PER_FORFEIT >= played) & (faults > 0)) if after else ()
    return {
        entry: max(count for count, table in zip(results.counts, tables, strict=True) if entry in table) - 1
        for entry in map(int, found)
        if entry not in results.out
    }
