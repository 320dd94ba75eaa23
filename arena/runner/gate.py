"""Results of a board pass into the log when it is certain that their blocks stay in the plan."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from arena.plan.disqualification import ONE_IN, Disqualifications, in_plan
from arena.runner.outbox import Outbox
from arena.schedule.blocks import Block, MatchSpec
from arena.schedule.tables import Table
from arena.store import Finished

MOST_HELD = 20_000
"""Matches of a board that may wait for a decision before no more of it are handed out."""


class Held(NamedTuple):
    """Results of one block that wait for a decision."""

    table: Table
    forfeits: Sequence[int]
    spec: MatchSpec | None
    """What waits in the outbox; None for matches that are in the log."""
    matches: int
    found: bool
    """Whether they were there before this run."""


class Barrier(Protocol):
    """What decides which results of a board pass into the log, and which blocks stay in the plan.

    Matches may come in any order, but blocks are announced in plan order: by `find` what the log has of one, then by
    `expect` what it lacks.
    """

    total: int
    """Matches in the plan, as far as is known."""
    found: int
    played: int
    """Results taken of matches in the plan: those from the log, those of this run."""

    @property
    def full(self) -> bool:
        """Whether too many results wait to hand out more."""

    @property
    def reached(self) -> int:
        """The first round that is not complete: on it depends what happens to later ones."""

    def stays(self, block: Block) -> bool:
        """Whether a block is in the plan as far as is known."""

    def expect(self, table: Table, count: int) -> None:
        """So many matches of a block are going to be taken (or, below 0, are not after all)."""

    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        """Take results that are in the log: how many, and who forfeited, an entry for each match."""

    def take(self, block: Block, forfeits: Sequence[int], result: Finished) -> None:
        """Take the result of a match that was expected: played now, or by an earlier run, and has waited since."""

    def recheck(self) -> bool:
        """Let pass what has become certain while it waited; whether there was any."""

    def abandon(self) -> None:
        """Leave what still waits to the next run: it will not be among the log's matches. From now on only count."""


class Gate:
    """Lets results of one board pass as soon as it is certain that their blocks stay in the plan.

    Matches may come in any order, but blocks are announced in plan order: by `find` what the log has of one, then by
    `expect` what it lacks. What does not pass waits, in the log but apart, until all earlier rounds are complete, and
    then passes or is dropped.
    """

    def __init__(self, bench: Disqualifications, rounds: int, outbox: Outbox, total: int | None = None) -> None:
        self.bench, self.rounds, self.outbox = bench, rounds, outbox
        self.total = rounds * bench.per_round if total is None else total
        """Matches in the plan, as far as is known."""
        self.found = self.played = 0
        """Results taken of matches in the plan: those from the log, those of this run."""
        self.held = 0
        """Results of both kinds that wait."""
        self._pending: defaultdict[int, int] = defaultdict(int)
        self._taken: defaultdict[int, int] = defaultdict(int)
        """By round that is not complete."""
        self._faults: defaultdict[int, Counter[int]] = defaultdict(Counter)
        """By such a round and by entry."""
        self._late: defaultdict[int, int] = defaultdict(int)
        """The same in all of them together."""
        self._held: dict[int, list[Held]] = {}
        self._abandoned = False

    @property
    def full(self) -> bool:
        """Whether too many results wait to hand out more."""
        return self.held > MOST_HELD

    @property
    def reached(self) -> int:
        """The first round that is not complete."""
        return self.bench.rounds

    def stays(self, block: Block) -> bool:
        """Whether a block is in the plan as far as is known."""
        return not self._has_left(block.round, block.table)

    def expect(self, table: Table, count: int) -> None:
        """So many matches of a block are going to be taken (or, below 0, are not after all)."""
        for entry in table:
            self._pending[entry] += count

    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        """Take results that are in the log: how many, and who forfeited, an entry for each match."""
        self.found += count
        if self.bench.forfeit_limit and not self._abandoned:
            self._take(block, forfeits, None, count, found=True)

    def take(self, block: Block, forfeits: Sequence[int], result: Finished) -> None:
        """Take the result of a match that was expected: played now, or by an earlier run, and has waited since."""
        found = result.run is not None
        self._count(found, 1)
        if not self.bench.forfeit_limit:
            self.outbox.passed.append(result)
            return
        for entry in block.table:
            self._pending[entry] -= 1
        self._take(block, forfeits, result, 1, found)

    def _take(self, block: Block, forfeits: Sequence[int], result: Finished | None, count: int, found: bool) -> None:
        number, table = block.round, block.table
        if self.bench.disqualified and self._has_left(number, table):
            self._count(found, -count)
            if result is not None:
                self.outbox.drop(result.spec)
            return
        self._taken[number] += count
        if forfeits:
            self._count_faults(number, forfeits, 1)
        if number > self.bench.rounds and not self._is_certain(number, table):
            spec = None if result is None else result.spec
            self._held.setdefault(number, []).append(Held(table, forfeits, spec, count, found))
            self.held += count
            if result is not None:
                self.outbox.wait(result)
            return
        if result is not None:
            self.outbox.passed.append(result)
        if number == self.bench.rounds:
            self._advance()

    def _count_faults(self, number: int, forfeits: Sequence[int], sign: int) -> None:
        for entry in forfeits:
            self._faults[number][entry] += sign
            self._late[entry] += sign

    def _count(self, found: bool, count: int) -> None:
        if found:
            self.found += count
        else:
            self.played += count

    def _is_safe(self, entry: int) -> bool:
        """Whether nothing that may still come in can bench an entry in the rounds announced so far.

        Matches of later rounds than are asked about are among those counted, which errs on the safe side.
        """
        bench = self.bench
        worst = bench.faults[entry] + self._late[entry] + self._pending[entry]
        return worst < bench.forfeit_limit or worst * ONE_IN < bench.matches(entry, bench.rounds + 1)

    def _advance(self) -> None:
        """Close every round that is complete, and let pass what waited for it."""
        bench = self.bench
        while bench.rounds < self.rounds and self._taken.get(bench.rounds) == bench.per_round:
            del self._taken[bench.rounds]
            faults: Mapping[int, int] = self._faults.pop(bench.rounds, {})
            for entry, count in faults.items():
                self._late[entry] -= count
            size = bench.per_round
            if bench.close_round(faults):
                self.total -= (size - bench.per_round) * (self.rounds - bench.rounds)
                self._drop()
            self._pass(self._held.pop(bench.rounds, ()))

    def _pass(self, waiting: Sequence[Held]) -> None:
        self.held -= sum(each.matches for each in waiting)
        self.outbox.let_pass([each.spec for each in waiting if each.spec is not None])

    def _drop(self) -> None:
        """Forget the results whose blocks have left the plan."""
        for number in self._held:
            for _, forfeits, spec, count, found in self._withdraw(number, self._has_left):
                self.held -= count
                self._count(found, -count)
                self._taken[number] -= count
                self._count_faults(number, forfeits, -1)
                if spec is not None:
                    self.outbox.drop(spec)

    def _has_left(self, number: int, table: Table) -> bool:
        return not in_plan(self.bench.disqualified, number, table)

    def _is_certain(self, number: int, table: Table) -> bool:
        return number <= self.bench.rounds or all(map(self._is_safe, table))

    def _withdraw(self, number: int, chosen: Callable[[int, Table], bool]) -> list[Held]:
        """Take the chosen tables' results out of those that are held for a round."""
        waiting = self._held[number]
        self._held[number] = [each for each in waiting if not chosen(number, each.table)]
        return [each for each in waiting if chosen(number, each.table)]

    def recheck(self) -> bool:
        """Let pass what has become certain while it waited; whether there was any."""
        before = self.held
        for number in self._held:
            self._pass(self._withdraw(number, self._is_certain))
        return self.held < before

    def abandon(self) -> None:
        """Leave what still waits to the next run: it will not be among the log's matches. From now on only count."""
        for each in itertools.chain.from_iterable(self._held.values()):
            if each.spec is not None:
                self._count(each.found, -each.matches)
        self._held.clear()
        self.held = 0
        self._abandoned = True
