"""Gate of a comparison: results are written in plan order, up to the block that decides the test.

So the log is a pure function of the plan and the test, whatever finishes first and however often it is interrupted.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence

from arena.runner.gate import Gate
from arena.runner.outbox import Outbox
from arena.runner.tally import SeatResult, Tally
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.store import Finished


class SequentialGate(Gate):
    """Releases results in plan order until the test is done; for a plan with one board and two matches a block."""

    most_held = 2_000

    def __init__(self, schedule: Schedule, tally: Tally, entries: tuple[int, int], outbox: Outbox) -> None:
        """`entries` are those compared."""
        super().__init__(outbox, schedule.total_matches)
        (self.board,) = schedule.boards
        self.schedule, self.tally = schedule, tally
        self.a, self.b = entries
        self._reached = 0
        self._results: defaultdict[int, dict[int, SeatResult]] = defaultdict(dict)
        """By round that is not complete, and by line-up."""
        self._blocks: dict[int, Block] = {}
        self._waiting: defaultdict[int, list[tuple[MatchSpec, bool]]] = defaultdict(list)
        """By such a round: results in the outbox, and whether they were there before this run."""
        self._in_log: defaultdict[int, int] = defaultdict(int)
        """By such a round: matches in the log."""

    @property
    def reached(self) -> int:
        return self._reached

    def stays(self, block: Block) -> bool:
        return not self.tally.done or block.round < self._reached

    def find(self, block: Block, forfeits: Sequence[int], count: int) -> None:
        self.found += count
        if self.abandoned:
            return
        self._in_log[block.round] += count
        for lineup in sorted(self.outbox.store.finished([block.identity])[block.identity]):
            match = self.outbox.store.match(block.identity, lineup)
            self._note(block, lineup, match.ranks, tuple(match.moves), match.forfeits)
        self._advance()

    def take(self, result: Finished) -> None:
        spec, row = result.spec, result.row
        if not self.stays(spec.block):
            self.outbox.drop(spec)
            return
        found = result.run is not None
        self._count(found, 1)
        self.held += 1
        self._waiting[spec.block.round].append((spec, found))
        self.outbox.wait(result)
        forfeits = [seat for seat, of_seat in enumerate(row.seats) if of_seat.cause is not None]
        self._note(spec.block, spec.lineup, [seat.rank for seat in row.seats], tuple(row.moves.split()), forfeits)
        self._advance()

    def _note(
        self, block: Block, lineup: int, ranks: Sequence[int], moves: tuple[str, ...], forfeits: Collection[int]
    ) -> None:
        """Keep what the tally needs of a match."""
        seats, mine = self.schedule.seats(block, lineup), ranks[self._seat(block)]
        units = 2 * sum(rank > mine for rank in ranks) + sum(rank == mine for rank in ranks) - 1
        who = [seats[seat] for seat in forfeits]
        self._blocks[block.round] = block
        self._results[block.round][lineup] = SeatResult(units, moves, (who.count(self.a), who.count(self.b)))

    def _seat(self, block: Block) -> int:
        """Return the seat in which the two are compared; of a seat-swapped pair the first."""
        return 0 if self.schedule.duel is None else block.round % self.board.players

    def _advance(self) -> None:
        """Release what is certain to stay, and count every complete block, until the test is done."""
        while True:
            self._release(self._waiting.pop(self._reached, []))
            if len(self._results.get(self._reached, ())) < 2:
                return
            self._tally_block(self._blocks.pop(self._reached), self._results.pop(self._reached))
            self._in_log.pop(self._reached, None)
            self._reached += 1
            if self.tally.done:
                self._close()
                return

    def _tally_block(self, block: Block, results: dict[int, SeatResult]) -> None:
        seat = self._seat(block)
        result_of = {self.schedule.seats(block, lineup)[seat]: result for lineup, result in results.items()}
        self.tally.add((seat, *block.table), seat, result_of[self.a], result_of[self.b])

    def _release(self, waiting: list[tuple[MatchSpec, bool]]) -> None:
        self.held -= len(waiting)
        self.outbox.release([spec for spec, _ in waiting])

    def _close(self) -> None:
        """Drop everything after this block from the plan."""
        self.total = 2 * self._reached
        self.found -= sum(self._in_log.values())
        for spec, _ in itertools.chain.from_iterable(self._waiting.values()):
            self.outbox.drop(spec)
        self.abandon()

    def abandon(self) -> None:
        for _, found in itertools.chain.from_iterable(self._waiting.values()):
            self._count(found, -1)
        self.held = 0
        self._waiting.clear()
        self.abandoned = True
