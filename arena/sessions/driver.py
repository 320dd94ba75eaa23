"""The thread that has a worker process play a session's match, and asks persons for their moves.

The worker runs the referee and the bots. A move taken back plays the match again from its plan: bots are asked for all
their moves once more, so that those which keep a state have the same one again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.core.errors import ArenaError, WorkerError
from arena.core.machine import cores
from arena.match.faults import KnownFault
from arena.match.game_faults import GameError
from arena.match.result import MatchRow
from arena.plan.resolve import Plan
from arena.runner.compiling import compile_ahead
from arena.sessions.match import SessionMatch
from arena.sessions.setup import match_order, resolve, without_persons
from arena.sessions.status import SessionStatus
from arena.sessions.view import Phase
from arena.workers import messages
from arena.workers.process import MAX_STARTS, WorkerProcess
from engine import EngineError
from engine.errors import summarise_error


@dataclass
class Requests:
    """What persons, and those who need room for other workers, want of a driver. The session's lock guards them."""

    move: messages.MoveReply | None = None
    """The next move of a person, already made on the board, or a resignation."""
    restart: bool = False
    """Whether to play the match again from `MatchStart`."""
    parked: bool = False
    """Whether to do without a worker until the next move."""
    closing: bool = False

    @property
    def leaves_match(self) -> bool:
        """Whether the match in play is not to be finished."""
        return self.restart or self.closing


@dataclass
class MatchStart:
    """What a worker needs to know to go on with the match. The session's lock guards it."""

    plies: tuple[int, ...]
    charges: list[KnownFault] = field(default_factory=list)
    deaths: int = 0
    """Worker processes that ended while the match was in play."""


class SessionDriver:
    """Plays the match of a session with a worker process of its own, from a thread of its own."""

    def __init__(self, match: SessionMatch, status: SessionStatus, home: Path | None, park_seconds: float) -> None:
        self.match, self.status, self.home = match, status, home
        self.park_seconds = park_seconds
        self.requests = Requests()
        self.start = MatchStart(match.setup.actions)
        self.plan: Plan | None = None
        self.row: MatchRow | None = None
        """The result, when the match is over."""
        self.worker = WorkerProcess()
        self._lock = status.lock
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End worker and thread."""
        with self._lock:
            self.requests.closing = True
            self.status.change("the match is closed")
        while self._thread.is_alive():  # it may be starting a process just now
            self.worker.stop()
            self._thread.join(0.1)

    def _run(self) -> None:
        try:
            self._prepare()
            while not self.requests.closing:
                self._play()
        except (ArenaError, EngineError) as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(f"the match failed: {summarise_error(error)}")
        finally:
            self.worker.stop()

    def _fail(self, why: str) -> None:
        with self._lock:
            if not self.requests.closing:
                self.status.change(why, Phase.FAILED)

    def _prepare(self) -> None:
        """Find the bots, and have what they and the game need compiled."""

        def show(line: str) -> None:
            with self._lock:
                if line and line != self.status.line:
                    self.status.change(line)

        setup = self.match.setup
        plan = resolve(setup, self.match.game, self.worker, self.home)
        compile_ahead(without_persons(plan, setup.persons), cores(), show, self.worker)
        self.worker.give_plan(plan.message())
        with self._lock:
            self.plan = plan
            for seat, bot in zip(self.match.seats, plan.bots, strict=True):
                seat.name = seat.name if seat.person else bot.label
            self.status.change("", Phase.THINKING)

    def _play(self) -> None:
        """Play the match on: to its end, or until something is taken back."""
        message: messages.Message | None = self._order()
        while True:
            reply = self.worker.exchange(message)
            if self.requests.leaves_match:
                if not isinstance(reply, (messages.Played, messages.WorkerDeath)):
                    self.worker.stop()
                return
            match reply:
                case messages.MoveRequest():
                    message = self._await_person(reply)
                    if message is None:
                        return
                case messages.SessionUpdate():
                    message = None
                    self._follow(reply)
                case _:
                    return self._end(reply)

    def _order(self) -> messages.StartSession:
        assert self.plan is not None
        with self._lock:
            self.requests.restart = self.requests.parked = False
            order = match_order(self.plan)._replace(charges=tuple(self.start.charges))
            setup = self.match.setup
            return messages.StartSession(order, setup.persons, setup.position, self.start.plies)

    def _follow(self, update: messages.SessionUpdate) -> None:
        with self._lock:
            self.match.update(update)
            self.match.begin_turn(update.seat)
            self.status.change("", Phase.THINKING)

    def _end(self, reply: messages.Message | messages.WorkerDeath) -> None:
        """Take the last reply of a worker to its order."""
        assert self.plan is not None
        match reply:
            case messages.WorkerDeath():
                self._on_death(reply)
            case messages.GameStopped():
                board = self.plan.schedule.boards[0]
                raise GameError(replace(reply.fault, game=board.game, players=board.players))
            case messages.DiskFull():
                raise WorkerError(f"{reply.what}; {reply.remedy}")
            case messages.Played() if reply.rows:
                self._finish(reply.rows[0])

    def _await_person(self, turn: messages.MoveRequest) -> messages.Message | None:
        """Return what to tell the worker, or None when it was ended meanwhile."""
        with self._lock:
            self.start.plies = tuple(turn.actions)
            if self.requests.move is None:
                self.match.update(turn)
                self.match.begin_turn(turn.seat)
                self.status.change("", Phase.WAITING)
            if self.match.setup.clock.seconds:
                flagged = self._await_move_on_clock(turn.seat)
                if flagged is not None:
                    return flagged
            elif not self._await_move_or_park():
                return None
            move, self.requests.move = self.requests.move, None
            return messages.EndSession() if move is None else move

    def _await_move_on_clock(self, number: int) -> messages.MoveReply | None:
        """Wait for a person's move, or an end of the match; return the forfeit of one whose clock has run out."""
        seat = self.match.seats[number]
        flags = time.monotonic() + seat.left
        while not self._is_answered:
            now = time.monotonic()
            if now >= flags:
                seat.left = 0.0
                self.status.change("", Phase.THINKING)
                return messages.MoveReply(-1, "timeout", "the clock of this person has run out")
            self.requests.parked = False  # a clock runs on: there is no time to start another worker
            self._lock.wait(flags - now)
        return None

    def _await_move_or_park(self) -> bool:
        """Wait for a person's move, or an end of the match; return whether the worker is still there."""
        parks = time.monotonic() + self.park_seconds
        while not self._is_answered:
            if self.requests.parked or time.monotonic() >= parks:
                self._park(lambda: self._is_answered)
                return False
            self._lock.wait(parks - time.monotonic())
        return True

    @property
    def _is_answered(self) -> bool:
        return self.requests.move is not None or self.requests.leaves_match

    def _park(self, until: Callable[[], bool]) -> None:
        """End the worker, and wait until another one is needed."""
        self.requests.parked = True
        self.worker.stop()
        self._lock.wait_for(until)

    def _on_death(self, death: messages.WorkerDeath) -> None:
        """Charge the bot that was at work when the worker ended, unless something else is to blame; play on."""
        with self._lock:
            start = self.start
            start.plies = tuple(self.match.state.history())
            start.deaths += 1
            if (death.starved or death.killed) and start.deaths < MAX_STARTS:
                return
            if death.seat < 0 or any(death.seat == charge.seat for charge in start.charges):
                if start.deaths < MAX_STARTS:
                    return
                raise WorkerError(f"the match cannot go on: its worker process ended ({death.how or death.cause})")
            start.charges.append(death.charge())
            self.status.change("")

    def _finish(self, row: MatchRow) -> None:
        """Show the result, and stay until something is taken back."""
        with self._lock:
            self.match.finish(row)
            self.row = row
            self.status.change("", Phase.OVER)
            parks = time.monotonic() + self.park_seconds
            while not self.requests.leaves_match:
                if self.requests.parked or time.monotonic() >= parks:
                    return self._park(lambda: self.requests.leaves_match)
                self._lock.wait(parks - time.monotonic())
