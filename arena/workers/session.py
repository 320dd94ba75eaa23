"""A worker's side of a session: report to the driver what happens in a match, and ask it for the moves of persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arena.core.errors import WorkerError
from arena.match.calls import ActivityListener
from arena.match.faults import Fault
from arena.match.heartbeat import NOBODY
from arena.match.match import Match
from arena.match.person import Person
from arena.match.player import Answer, MatchView, Player, SeatTaker
from arena.match.replays import PlayedBefore
from arena.workers import messages

Exchange = Callable[[messages.Message, bool], messages.Message | None]
"""Send a message to the driver; return its reply if one is awaited."""


class SessionEndedError(WorkerError):
    """The persons have left a match, which is not to be finished."""


@dataclass
class SessionEntrant:
    """An entrant that shows its match to a session when it joins."""

    entrant: SeatTaker
    session: WorkerSession

    def join(self, match: MatchView, seat: int) -> Player:
        assert isinstance(match, Match)
        self.session.match = match
        return self.entrant.join(match, seat)


class WorkerSession:
    """A match of persons and bots."""

    def __init__(self, order: messages.StartSession, report: ActivityListener, exchange: Exchange) -> None:
        self.persons = frozenset(order.persons)
        self.before = PlayedBefore(order.position, order.actions)
        self.match: Match | None = None
        self._report, self._exchange = report, exchange

    def entrants(self, seats: Sequence[int], bots: Mapping[int, SeatTaker]) -> list[SeatTaker]:
        """Return the entrant of each seat; `bots` are by entry."""
        person = Person(self._ask, self.before.actions)
        entrants = (person if seat in self.persons else bots[entry] for seat, entry in enumerate(seats))
        return [SessionEntrant(entrant, self) for entrant in entrants]

    def report(self, seat: int, ply: int, limit: float) -> None:
        """Do the referee's report, and tell the driver which bot begins to think."""
        self._report(seat, ply, limit)
        if ply >= len(self.before.actions) and seat != NOBODY and seat not in self.persons and self.match is not None:
            self._exchange(messages.SessionUpdate(*self._update(self.match, seat)), False)

    def _ask(self, match: MatchView, seat: int) -> Answer:
        assert isinstance(match, Match)
        reply = self._exchange(messages.MoveRequest(*self._update(match, seat)), True)
        if not isinstance(reply, messages.MoveReply):
            raise SessionEndedError("the persons have left the match")
        if reply.cause:
            raise Fault(reply.cause, reply.detail)
        return Answer(reply.action, None)

    def _update(self, match: Match, seat: int) -> messages.SessionUpdate:
        forfeits = {
            seat: (forfeit.cause, forfeit.ply, forfeit.detail) for seat, forfeit in sorted(match.forfeits.items())
        }
        return messages.SessionUpdate(seat, match.state.history(), list(match.annotations.notes), forfeits)
