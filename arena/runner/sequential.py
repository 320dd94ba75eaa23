"""The barrier of a comparison: results pass into the log in plan order, as far as the test has not decided before.

So the log is a pure function of the plan and the test, whatever finishes first and however often it is interrupted.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence

from arena.runner.outbox import Outbox
from arena.runner.tally import Tally, Turn
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.schedule.tables import Table
from arena.store import Finished, Store

MOST_HELD = 2_000
"""Matches that may wait for earlier ones before no more are handed out."""


class InOrder:
    """A `Barrier` for a plan with one board and two matches a block. `a` and `b` are the entries compared."""

    def __init__(self, schedule: Schedule, tally: Tally, entries: tuple[int, int], store: Store) -> None:
        (self.board,) = schedule.boards
        self.schedule, self.tally, self.store = schedule, tally, store
        self.a, self.b = entries
        self.total = schedule.total_matches
        self.found = self.played = self.held = 0
        self.reached = 0
        self._turns: defaultdict[int, dict[int, Turn]] = defaultdict(dict)
        """By round that is not complete, and by line-up."""
        self._blocks: dict[int, Block] = {}
        self._waiting: defaultdict[int, list[tuple[MatchSpec, bool]]] = defaultdict(list)
        """By such a round: what waits in the outbox, and whether it was there before this run."""
        self._in_log: defaultdict[int, int] = defaultdict(int)
        self._abandoned = False

    def into(self, outbox: Outbox) -> InOrder:
        """Itself, with its results going to that outbox."""
        self.outbox = outbox
        return self

    @property
    def full(self) -> bool:
        return self.held > MOST_HELD

    def stays(self, block: Block) -> bool:
        return not self.tally.done or block.round < self.reached

    def expect(self, table: Table, count: int) -> None:
        pass

    def recheck(self) -> bool:
        return False

    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        self.found += count
        if self._abandoned:
            return
        self._in_log[block.round] += count
        for lineup in sorted(self.store.finished([block.identity])[block.identity]):
            match = self.store.match(block.identity, lineup)
            self._note(block, lineup, match.ranks, tuple(match.moves), match.forfeits)
        self._advance()

    def take(self, block: Block, forfeits: Sequence[int], result: Finished) -> None:
        if not self.stays(block):
            self.outbox.drop(result.spec)
            return
        found = result.run is not None
        self._count(found, 1)
        self.held += 1
        self._waiting[block.round].append((result.spec, found))
        self.outbox.wait(result)
        lost = [seat for seat, row in enumerate(result.row.seats) if row.cause is not None]
        ranks = [row.rank for row in result.row.seats]
        self._note(block, result.spec.lineup, ranks, tuple(result.row.moves.split()), lost)
        self._advance()

    def _count(self, found: bool, count: int) -> None:
        if found:
            self.found += count
        else:
            self.played += count

    def _note(
        self, block: Block, lineup: int, ranks: Sequence[int], moves: tuple[str, ...], forfeits: Collection[int]
    ) -> None:
        seats = self.schedule.seats(block, lineup)
        seat = self._seat(block)
        mine = ranks[seat]
        units = 2 * sum(rank > mine for rank in ranks) + sum(rank == mine for rank in ranks) - 1
        who = [seats[seat] for seat in forfeits]
        self._blocks[block.round] = block
        self._turns[block.round][lineup] = Turn(units, moves, (who.count(self.a), who.count(self.b)))

    def _seat(self, block: Block) -> int:
        """The seat in which the two are compared; of a seat-swapped pair the first."""
        return 0 if self.schedule.duel is None else block.round % self.board.players

    def _advance(self) -> None:
        """Let pass what is certain to stay, and read every block that is complete, until the test is done."""
        while True:
            self._pass(self._waiting.pop(self.reached, []))
            if len(self._turns.get(self.reached, ())) < 2:
                return
            self._read(self._blocks.pop(self.reached), self._turns.pop(self.reached))
            self._in_log.pop(self.reached, None)
            self.reached += 1
            if self.tally.done:
                self._close()
                return

    def _read(self, block: Block, turns: dict[int, Turn]) -> None:
        seat = self._seat(block)
        turn_of = {self.schedule.seats(block, lineup)[seat]: turn for lineup, turn in turns.items()}
        self.tally.add((seat, *block.table), seat, turn_of[self.a], turn_of[self.b])

    def _pass(self, waiting: list[tuple[MatchSpec, bool]]) -> None:
        self.held -= len(waiting)
        self.outbox.let_pass([spec for spec, _ in waiting])

    def _close(self) -> None:
        """Everything after this block leaves the plan."""
        self.total = 2 * self.reached
        self.found -= sum(self._in_log.values())
        for spec, _ in itertools.chain.from_iterable(self._waiting.values()):
            self.outbox.drop(spec)
        self.abandon()

    def abandon(self) -> None:
        for _, found in itertools.chain.from_iterable(self._waiting.values()):
            self._count(found, -1)
        self.held = 0
        self._waiting.clear()
        self._abandoned = True
