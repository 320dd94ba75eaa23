"""The match of a session as far as it was played: position, plies, notes and seats."""

from __future__ import annotations

import time
from collections.abc import Sequence

from arena.match.faults import KnownFault
from arena.match.person import is_person
from arena.match.result import MatchRow
from arena.sessions.setup import SessionSetup, person_name
from arena.sessions.view import PlyView, SeatView
from arena.workers import messages
from engine import CHANCE, Game, State


class SessionMatch:
    """The match so far, as a worker reports it. The lock of its session guards it."""

    def __init__(self, setup: SessionSetup, game: Game) -> None:
        self.setup, self.game = setup, game
        self.opening_plies = setup.opening_plies
        self.notes: dict[int, str] = {}
        """Notes of bots, by ply."""
        clock = setup.clock.seconds
        self.seats = [
            SeatView(person_name(who), True, clock) if is_person(who) else SeatView(who, False) for who in setup.seats
        ]
        self.turn: tuple[int, float] | None = None
        """The seat that is to move, and since when by the monotonic clock; None when that is not known."""
        self.state = self._start()
        self.plies: list[PlyView] = []
        self.play(setup.actions)

    def _start(self) -> State:
        position = self.setup.position
        return self.game.new_initial_state() if position is None else self.game.state_from_position(position)

    def restart(self, actions: Sequence[int] = ()) -> None:
        """Return to the start and play some plies from there; nobody has forfeited any more."""
        self.state, self.plies, self.turn = self._start(), [], None
        for seat in self.seats:
            seat.forfeit = None
        self.play(actions)

    def play(self, actions: Sequence[int]) -> None:
        """Play plies on from the present position."""
        for action in actions:
            state = self.state
            who = state.current_player()
            rolled_by = state.rolling_seat() if who == CHANCE else -1
            forced = who >= 0 and len(state.legal_actions()) == 1
            opening = who >= 0 and sum(ply.seat >= 0 for ply in self.plies) < self.opening_plies
            self.plies.append(PlyView(who, state.action_to_string(action), rolled_by, forced, opening))
            state.apply_action(action)

    def state_at(self, ply: int) -> State:
        """Return the state before a ply."""
        state = self._start()
        for action in self.state.history()[:ply]:
            state.apply_action(action)
        return state

    def update(self, update: messages.SessionUpdate) -> None:
        """Follow a worker's report; a match that was played again there may have taken another way."""
        if self.turn is not None and not self.seats[self.turn[0]].person:
            seat, since = self.turn
            self.seats[seat].seconds = time.monotonic() - since
        self.turn = None
        played = self.state.history()
        if list(update.actions[: len(played)]) != played:
            self.restart()
            played = []
        self.play(update.actions[len(played) :])
        self.notes = dict(update.notes)
        for number, forfeit in update.forfeits.items():
            self.seats[number].forfeit = forfeit

    def finish(self, row: MatchRow) -> None:
        """Follow the result of the match."""
        words = row.moves.split()
        shown = [ply.text for ply in self.plies]
        if words[: len(shown)] != shown:
            self.restart()
        for word in words[len(self.plies) :]:
            self.play([self.state.string_to_action(word)])
        self.notes = dict(row.notes)
        for number, seat in enumerate(row.seats):
            if seat.forfeit is not None:
                self.seats[number].forfeit = (*seat.forfeit, row.details.get(number, ""))

    def begin_turn(self, seat: int) -> None:
        """Start the time of a seat's move."""
        self.turn = seat, time.monotonic()

    def end_turn_of_person(self) -> None:
        """Stop the clock of the person who has just moved."""
        if self.turn is None:
            return
        number, since = self.turn
        seat, clock = self.seats[number], self.setup.clock
        seat.seconds, self.turn = time.monotonic() - since, None
        if clock.seconds:
            seat.left = max(0.0, seat.left - seat.seconds) + clock.increment

    def last_decision(self, before: int | None = None) -> int | None:
        """Return the last ply, or the last before another, at which a person chose between actions; None for none."""
        end_of_choices = [seat.forfeit[1] if seat.forfeit else len(self.plies) for seat in self.seats]
        decisions = [
            number
            for number, ply in enumerate(self.plies)
            if number >= len(self.setup.actions)
            and (ply.seat >= 0 and self.seats[ply.seat].person)
            and not (ply.forced or ply.opening)
            and number < end_of_choices[ply.seat]
        ]
        decisions += [seat.forfeit[1] for seat in self.seats if seat.person and seat.forfeit]
        return max((ply for ply in decisions if before is None or ply < before), default=None)

    def forfeits_before(self, ply: int) -> list[KnownFault]:
        """Return the forfeits that stand when plies from this one on are taken back."""
        return [
            KnownFault(seat, shown.forfeit[1], shown.forfeit[0], known=shown.forfeit[2])
            for seat, shown in enumerate(self.seats)
            if shown.forfeit is not None and 0 <= shown.forfeit[1] < ply
        ]
