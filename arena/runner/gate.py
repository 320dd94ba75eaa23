"""Gates: results of a board are written as soon as it is certain that their blocks stay in the plan."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from arena.runner.outbox import Outbox
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.schedule.tables import Table
from arena.store import Finished
from arena.tournament.disqualification import ONE_IN, Disqualifications, in_plan


class Gate(ABC):
    """Decides which results of a board may be written, and which of its blocks stay in the plan.

    Matches may come in any order, but blocks are announced in plan order: by `find` what the log holds of one, then by
    `expect` what it is missing.
    """

    most_held: int
    """Results that may wait before no more matches are handed out."""

    def __init__(self, outbox: Outbox, total: int) -> None:
        self.outbox = outbox
        self.total = total
        """Matches in the plan, as far as is known."""
        self.found = self.played = 0
        """Results taken of matches in the plan: those in the log, those of this run."""
        self.held = 0
        """Results of both kinds that wait for earlier ones."""
        self.abandoned = False

    @property
    def full(self) -> bool:
        """Whether too many results wait to hand out more matches."""
        return self.held > self.most_held

    @property
    def left(self) -> int:
        """Matches whose results have not been taken."""
        return self.total - self.found - self.played

    @property
    @abstractmethod
    def reached(self) -> int:
        """The first round that is not complete, on which later ones depend."""

    @abstractmethod
    def stays(self, block: Block) -> bool:
        """Return whether a block is in the plan as far as is known."""

    def expect(self, table: Table, count: int) -> None:  # noqa: B027 - not every gate needs to know
        """Announce that so many matches of a block will be taken; a negative number takes them back."""

    @abstractmethod
    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        """Take results that are in the log: how many, and the entry of every forfeit."""

    @abstractmethod
    def take(self, result: Finished) -> None:
        """Take the result of an expected match, played now or by an earlier run, whose result has waited since."""

    def recheck(self) -> bool:
        """Release what has become certain while it waited; return whether there was any."""
        return False

    @abstractmethod
    def abandon(self) -> None:
        """Leave what still waits to the next run, not among the log's matches; from now on only count."""

    def _count(self, found: bool, count: int) -> None:
        if found:
            self.found += count
        else:
            self.played += count


class Held(NamedTuple):
    """Results of one block that wait for a decision."""

    table: Table
    forfeits: Sequence[int]
    spec: MatchSpec | None
    """None for matches in the log; the results of others are in the outbox."""
    matches: int
    found: bool
    """Whether they were there before this run."""


class DisqualificationGate(Gate):
    """Releases results once no disqualification in an earlier round can remove their blocks from the plan.

    Until then they wait, in the log but apart: when all earlier rounds are complete, they are released or dropped.
    """

    most_held = 20_000

    def __init__(self, rule: Disqualifications, rounds: int, outbox: Outbox, total: int | None = None) -> None:
        super().__init__(outbox, rounds * rule.per_round if total is None else total)
        self.rule, self.rounds = rule, rounds
        self._pending: defaultdict[int, int] = defaultdict(int)
        """By entry: expected matches."""
        self._taken: defaultdict[int, int] = defaultdict(int)
        """By round that is not complete: results."""
        self._faults: defaultdict[int, Counter[int]] = defaultdict(Counter)
        """By such a round and by entry: forfeits."""
        self._late: defaultdict[int, int] = defaultdict(int)
        """By entry: forfeits in all those rounds."""
        self._held: dict[int, list[Held]] = {}
        """By such a round."""

    @property
    def reached(self) -> int:
        return self.rule.rounds

    def stays(self, block: Block) -> bool:
        return not self._has_left(block.round, block.table)

    def expect(self, table: Table, count: int) -> None:
        for entry in table:
            self._pending[entry] += count

    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        self.found += count
        if self.rule.forfeit_limit and not self.abandoned:
            self._take(block, forfeits, None, count, found=True)

    def take(self, result: Finished) -> None:
        found = result.run is not None
        self._count(found, 1)
        if not self.rule.forfeit_limit:
            self.outbox.released.append(result)
            return
        spec = result.spec
        for entry in spec.block.table:
            self._pending[entry] -= 1
        forfeits = [entry for entry, seat in zip(spec.seats, result.row.seats, strict=True) if seat.cause is not None]
        self._take(spec.block, forfeits, result, 1, found)

    def _take(self, block: Block, forfeits: Sequence[int], result: Finished | None, count: int, found: bool) -> None:
        number, table = block.round, block.table
        if self.rule.disqualified and self._has_left(number, table):
            self._count(found, -count)
            if result is not None:
                self.outbox.drop(result.spec)
            return
        self._taken[number] += count
        if forfeits:
            self._count_faults(number, forfeits, 1)
        if number > self.rule.rounds and not self._is_certain(number, table):
            spec = None if result is None else result.spec
            self._held.setdefault(number, []).append(Held(table, forfeits, spec, count, found))
            self.held += count
            if result is not None:
                self.outbox.wait(result)
            return
        if result is not None:
            self.outbox.released.append(result)
        if number == self.rule.rounds:
            self._advance()

    def _count_faults(self, number: int, forfeits: Sequence[int], sign: int) -> None:
        for entry in forfeits:
            self._faults[number][entry] += sign
            self._late[entry] += sign

    def _is_safe(self, entry: int) -> bool:
        """Return whether no result that is still out can disqualify an entry in the rounds announced so far.

        Matches of later rounds than the block's are counted too, which errs on the safe side.
        """
        rule = self.rule
        worst = rule.faults[entry] + self._late[entry] + self._pending[entry]
        return worst < rule.forfeit_limit or worst * ONE_IN < rule.matches(entry, rule.rounds + 1)

    def _advance(self) -> None:
        """Close every round that is complete, and release what waited for it."""
        rule = self.rule
        while rule.rounds < self.rounds and self._taken.get(rule.rounds) == rule.per_round:
            del self._taken[rule.rounds]
            faults: Mapping[int, int] = self._faults.pop(rule.rounds, {})
            for entry, count in faults.items():
                self._late[entry] -= count
            size = rule.per_round
            if rule.close_round(faults):
                self.total -= (size - rule.per_round) * (self.rounds - rule.rounds)
                self._drop()
            self._release(self._held.pop(rule.rounds, ()))

    def _release(self, waiting: Sequence[Held]) -> None:
        self.held -= sum(each.matches for each in waiting)
        self.outbox.release([each.spec for each in waiting if each.spec is not None])

    def _drop(self) -> None:
        """Drop results whose blocks have left the plan."""
        for number in self._held:
            for _, forfeits, spec, count, found in self._withdraw(number, self._has_left):
                self.held -= count
                self._count(found, -count)
                self._taken[number] -= count
                self._count_faults(number, forfeits, -1)
                if spec is not None:
                    self.outbox.drop(spec)

    def _has_left(self, number: int, table: Table) -> bool:
        return not in_plan(self.rule.disqualified, number, table)

    def _is_certain(self, number: int, table: Table) -> bool:
        return number <= self.rule.rounds or all(map(self._is_safe, table))

    def _withdraw(self, number: int, chosen: Callable[[int, Table], bool]) -> list[Held]:
        """Remove the results of chosen tables from those held for a round, and return them."""
        waiting = self._held[number]
        self._held[number] = [each for each in waiting if not chosen(number, each.table)]
        return [each for each in waiting if chosen(number, each.table)]

    def recheck(self) -> bool:
        before = self.held
        for number in self._held:
            self._release(self._withdraw(number, self._is_certain))
        return self.held < before

    def abandon(self) -> None:
        for each in itertools.chain.from_iterable(self._held.values()):
            if each.spec is not None:
                self._count(each.found, -each.matches)
        self._held.clear()
        self.held = 0
        self.abandoned = True


def disqualification_gate(schedule: Schedule, number: int, outbox: Outbox) -> Gate:
    """Return the gate of a board, or of the present stage of an adaptive one."""
    stage = schedule.stage(number)
    tables, lineups = schedule.tables[number], schedule.lineups(schedule.boards[number])
    if stage is None or stage.disqualified is None:
        rule = Disqualifications(tables, lineups, schedule.forfeit_limit)
        return DisqualificationGate(rule, max(schedule.counts(number), default=0), outbox)
    return DisqualificationGate(
        Disqualifications((), lineups, 0), 0, outbox, lineups * (sum(stage.counts) - sum(stage.done))
    )
