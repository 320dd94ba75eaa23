"""Queue of the matches that one board is missing."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from arena.runner.cost_model import CostModel
from arena.runner.gate import Gate, disqualification_gate
from arena.runner.outbox import Outbox
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Finished, Store
from arena.store.waiting import Match, key_of

LOOK_UP = 256
"""Blocks that are looked up in the log at a time."""


class BoardQueue:
    """Matches of one board that are not in the log, in plan order; of an adaptive board those of its present stage.

    The plan is never held in memory: the log is searched a few hundred blocks at a time.
    """

    def __init__(
        self,
        number: int,
        store: Store,
        schedule: Schedule,
        outbox: Outbox,
        gate: Gate | None = None,
        is_cut_off: Callable[[], bool] = lambda: False,
    ) -> None:
        self.number, self.store, self.outbox, self._is_cut_off = number, store, outbox, is_cut_off
        self.costs = CostModel(schedule.boards[number].players)
        self.is_stopped = False
        """Whether its game has failed."""
        self.compiled = True
        """Whether the code of its matches is ready, as far as this run waits for it."""
        self._played_before = 0
        """Matches of earlier stages that this run has played."""
        self._start(schedule, gate or disqualification_gate(schedule, number, outbox))

    def _start(self, schedule: Schedule, gate: Gate) -> None:
        self.schedule, self.gate = schedule, gate
        self.round = 0
        """That of the last match handed out."""
        self._explored = False
        self.exhausted = False
        stage = schedule.stage(self.number)
        lineups = schedule.lineups(schedule.boards[self.number])
        self._before = sum(stage.done) * lineups if stage is not None else 0
        """Matches of earlier stages."""
        self._missing = self._find_missing()

    def next_stage(self, schedule: Schedule) -> bool:
        """Go on with the stage that `schedule` has for the board; return whether it is another one."""
        if schedule.stage(self.number) == self.schedule.stage(self.number):
            return False
        self._played_before += self.gate.played
        self._start(schedule, disqualification_gate(schedule, self.number, self.outbox))
        return True

    @property
    def total(self) -> int:
        """Matches that the board will have; an adaptive one its whole budget until none of it is left to assign."""
        return self._before + self.gate.total + self.unassigned

    @property
    def unassigned(self) -> int:
        """Matches of an adaptive board's budget that later stages will assign."""
        stage = self.schedule.stage(self.number)
        if stage is None or stage.counts == stage.done:
            return 0
        return self.schedule.budget(self.number) - self._before - self.gate.total

    @property
    def found(self) -> int:
        """Matches that were in the log before this run, as far as it has been searched."""
        return self._before - self._played_before + self.gate.found

    @property
    def played(self) -> int:
        """Matches that this run has played."""
        return self._played_before + self.gate.played

    @property
    def ready(self) -> bool:
        """Whether matches may be handed out."""
        return self.compiled and not self.exhausted and not self.gate.full and not self._is_cut_off()

    @property
    def is_explored(self) -> bool:
        """Whether its matches' durations are known, or a whole round of it has been handed out."""
        self._explored |= self.round > 0 or self.costs.settled(self.schedule.boards[self.number].entries)
        return self._explored

    @property
    def is_complete(self) -> bool:
        """Whether the log, with what is to be written, holds every match of its plan."""
        if self.is_stopped or not self.exhausted or self.unassigned:
            return False
        return self.gate.left == self.gate.held == 0

    @property
    def seconds_left(self) -> float:
        """How long the rest takes one worker, as far as is known."""
        return (self.gate.left + self.unassigned) * self.costs.mean

    def matches(self) -> Iterator[MatchSpec]:
        """Yield missing matches until there are no more, too many results wait, or the run is to end."""
        for spec in self._missing:
            if spec is None:
                return
            yield spec
        self.exhausted = True

    def stop(self) -> None:
        """Hand out no more matches; what the log has of them is counted."""
        self.count_rest()
        self.exhausted = self.is_stopped = True

    def count_rest(self) -> bool:
        """Search the log for the rest of the plan, for the totals alone; return whether there was time for all."""
        if not self.exhausted:
            deque(self.matches(), maxlen=0)
        return self.exhausted

    def withdraw(self, spec: MatchSpec) -> bool:
        """Return whether a match that was handed out has left the plan since, and expect it no more if so."""
        if self.gate.stays(spec.block):
            return False
        self.gate.expect(spec.block.table, -1)
        return True

    def _find_missing(self) -> Iterator[MatchSpec | None]:
        """Yield missing matches, and None while too many results wait, or a run that is to end has searched enough."""
        schedule, gate = self.schedule, self.gate
        blocks = filter(gate.stays, schedule.blocks_of(self.number, schedule.stage(self.number)))
        for number in itertools.count():
            if not (batch := list(itertools.islice(blocks, LOOK_UP))):
                return
            while number and self._is_cut_off():
                yield None
            identities = [block.identity for block in batch]
            finished = self.store.finished(identities)
            forfeits = self.store.forfeits_of(identities) if finished and schedule.forfeit_limit else {}
            waiting = {} if gate.abandoned else self.outbox.find(batch)
            for block in batch:
                while gate.full:
                    yield None
                if gate.stays(block):
                    done = finished.get(block.identity, set())
                    yield from self._missing_of(block, done, forfeits.get(block.identity, ()), waiting)

    def _missing_of(
        self,
        block: Block,
        done: AbstractSet[int],
        forfeits: Sequence[tuple[int, int]],
        waiting: Mapping[Match, Finished],
    ) -> Iterator[MatchSpec]:
        schedule, gate = self.schedule, self.gate
        if done:
            gate.find(block, [schedule.seats(block, lineup)[seat] for lineup, seat in forfeits], len(done))
        missing = [spec for spec in schedule.matches(block) if spec.lineup not in done]
        gate.expect(block.table, len(missing))
        for number, spec in enumerate(missing):
            if not gate.stays(block):
                gate.expect(block.table, number - len(missing))
                return
            result = waiting.get(key_of(spec))
            if result is None or gate.abandoned:
                yield spec
            else:
                gate.take(result)
