"""Queue of the matches that one board is missing."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator

from arena.runner.cost_model import CostModel
from arena.runner.folds import fold_of
from arena.schedule.blocks import MatchSpec, Schedule
from arena.store import Store

LOOKUP_BLOCKS = 256
"""Blocks that are looked up in the log at a time."""


class BoardQueue:
    """Matches of one board that are not in the log, in plan order, and in its present stage.

    The plan is never held in memory: the log is searched a few hundred blocks at a time.
    """

    def __init__(
        self,
        number: int,
        store: Store,
        schedule: Schedule,
        is_due: Callable[[], bool] = lambda: False,
    ) -> None:
        self.number, self.store, self._is_due = number, store, is_due
        self.has_failed = False
        """Whether its game has failed."""
        self.compiled = True
        """Whether the code of its matches is ready, as far as this run waits for it."""
        self._played_before = 0
        """Matches of earlier stages that this run has played."""
        self._counts_only = False
        """Whether matches are searched for the totals alone."""
        self._start(schedule)
        self.costs = CostModel(schedule.boards[number].players)

    def _start(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.round = 0
        """That of the last match handed out."""
        self._explored = False
        self.exhausted = False
        stage = schedule.stage(self.number)
        lineups = schedule.lineups(schedule.boards[self.number])
        self._before = sum(stage.done) * lineups if stage is not None else 0
        """Matches of earlier stages."""
        self._missing = self._search()
        self.fold = fold_of(self.store, schedule, self.number)

    def next_stage(self, schedule: Schedule) -> bool:
        """Go on with the stage that `schedule` has for the board; return whether it is another one."""
        if schedule.stage(self.number) == self.schedule.stage(self.number):
            return False
        self._played_before += self.fold.played
        self._start(schedule)
        return True

    @property
    def total(self) -> int:
        """Matches that the board will have; its whole budget until no stage is left."""
        return self._before + self.fold.total + self.unassigned

    @property
    def unassigned(self) -> int:
        """Matches of the board's budget that later stages will assign."""
        stage = self.schedule.stage(self.number)
        if stage is None or stage.counts == stage.done:
            return 0
        return self.schedule.budget(self.number) - self._before - self.fold.total

    @property
    def found(self) -> int:
        """Matches that were in the log before this run, as far as it has been searched."""
        return self._before - self._played_before + self.fold.found

    @property
    def played(self) -> int:
        """Matches that this run has played."""
        return self._played_before + self.fold.played

    @property
    def ready(self) -> bool:
        """Whether matches may be handed out."""
        return self.compiled and not self.exhausted and not self.fold.full and not self._is_due()

    @property
    def is_explored(self) -> bool:
        """Whether its matches' durations are known, or a whole round of it has been handed out."""
        self._explored |= self.round > 0 or self.costs.settled(self.schedule.boards[self.number].entries)
        return self._explored

    @property
    def is_complete(self) -> bool:
        """Whether every match of its plan is in the log, or waits to be written."""
        if self.has_failed or not self.exhausted or self.unassigned:
            return False
        return self.fold.left == 0

    @property
    def seconds_left(self) -> float:
        """How long the rest takes one worker, as far as is known."""
        return (self.fold.left + self.unassigned) * self.costs.mean

    def matches(self) -> Iterator[MatchSpec]:
        """Yield missing matches; stop when a decision is pending or the run is to end."""
        for spec in self._missing:
            if spec is None:
                return
            yield spec
        self.exhausted = True

    def stop(self) -> None:
        """Hand out no more matches; what the log has of them is counted."""
        self.count_remaining()
        self.exhausted = self.has_failed = True

    def count_remaining(self) -> bool:
        """Count the rest of the plan in the log, for the totals only; return whether there was time for all of it."""
        self._counts_only = True
        if not self.exhausted:
            deque(self.matches(), maxlen=0)
        return self.exhausted

    def counts(self, spec: MatchSpec) -> bool:
        """Return whether a match still counts, as far as is known."""
        return self.fold.counts(spec.block)

    def _search(self) -> Iterator[MatchSpec | None]:
        """Yield missing matches; None while a decision is pending, or when a run that is to end has searched enough."""
        schedule, fold = self.schedule, self.fold
        lineups = schedule.lineups(schedule.boards[self.number])
        blocks = filter(fold.counts, schedule.blocks_of(self.number, schedule.stage(self.number)))
        for number in itertools.count():
            if not (batch := list(itertools.islice(blocks, LOOKUP_BLOCKS))):
                return
            while number and self._is_due():
                yield None
            identities = [block.identity for block in batch]
            finished = self.store.finished(identities)
            forfeits = self.store.forfeits_of(identities) if finished and schedule.forfeit_limit else {}
            for block in batch:
                there = finished.get(block.identity, set())
                while fold.full and not self._counts_only and len(there) < lineups:
                    yield None
                if there and fold.counts(block):
                    fold.find(block, there, forfeits.get(block.identity, ()))
                for spec in schedule.matches(block) if len(there) < lineups else ():
                    if spec.lineup not in there and fold.counts(block):
                        yield spec
