"""A match with persons in some seats, as a worker plays it: tells its driver what happens, and asks it for moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arena.core.errors import WorkerError
from arena.match.faults import Fault
from arena.match.heartbeat import NOBODY
from arena.match.person import Person
from arena.match.player import Answer, Entrant, MatchView, Player
from arena.match.referee import Course, Match, Report
from arena.workers import messages

Exchange = Callable[[messages.Message, bool], messages.Message | None]
"""Tells the driver something, and returns its reply if one is awaited."""


class Left(WorkerError):
    """The persons have left a match, which is not to be finished."""


@dataclass
class Watched:
    """An entrant whose match somebody wants to see."""

    entrant: Entrant
    sitting: Sitting

    def join(self, match: MatchView, seat: int) -> Player:
        assert isinstance(match, Match)
        self.sitting.match = match
        return self.entrant.join(match, seat)


class Sitting:
    """Persons and bots at one table."""

    def __init__(self, order: messages.Sit, report: Report, exchange: Exchange) -> None:
        self.persons = frozenset(order.persons)
        self.course = Course(order.position, order.actions)
        self.match: Match | None = None
        self._report, self._exchange = report, exchange

    def entrants(self, seats: Sequence[int], bots: Mapping[int, Entrant]) -> list[Entrant]:
        """Return who sits in each seat; `bots` are by entry."""
        person = Person(self._ask, self.course.actions)
        sitting = (person if seat in self.persons else bots[entry] for seat, entry in enumerate(seats))
        return [Watched(entrant, self) for entrant in sitting]

    def report(self, seat: int, ply: int, limit: float) -> None:
        """Do the referee's report, and tell the driver which bot begins to think."""
        self._report(seat, ply, limit)
        if ply >= len(self.course.actions) and seat != NOBODY and seat not in self.persons and self.match is not None:
            self._exchange(messages.Seen(*self._seen(self.match, seat)), False)

    def _ask(self, match: MatchView, seat: int) -> Answer:
        assert isinstance(match, Match)
        reply = self._exchange(messages.YourTurn(*self._seen(match, seat)), True)
        if not isinstance(reply, messages.Chosen):
            raise Left("the persons have left the match")
        if reply.cause:
            raise Fault(reply.cause, reply.detail)
        return Answer(reply.action, None)

    def _seen(self, match: Match, seat: int) -> messages.Seen:
        forfeits = {
            seat: (forfeit.cause, forfeit.ply, forfeit.detail) for seat, forfeit in sorted(match.forfeits.items())
        }
        return messages.Seen(seat, match.state.history(), list(match.notes), forfeits)
