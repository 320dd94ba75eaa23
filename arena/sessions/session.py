"""A session: one match with persons and bots, played by a worker process and watched by whoever has its page open."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from arena.core.errors import ArenaError
from arena.match.faults import RESIGNED
from arena.match.result import MatchRow
from arena.match.views import view
from arena.plan.resolve import Plan
from arena.runner.single import single_match, stored_of
from arena.sessions.driver import MatchStart, SessionDriver
from arena.sessions.match import SessionMatch
from arena.sessions.narration import Narration, largest_swing
from arena.sessions.setup import SessionSetup
from arena.sessions.status import SessionStatus
from arena.sessions.view import Phase, SessionView
from arena.workers.messages import MoveReply
from engine import EngineError, Names, State

PARK_SECONDS = 900.0
"""Time without a move of a person after which the worker is ended; the next move starts another."""


class RefusedError(ArenaError):
    """What somebody wants to do in a session cannot be done now."""


class PlaySession:
    """One session. Its methods may be called by any thread."""

    def __init__(self, setup: SessionSetup, home: Path | None = None, park_seconds: float = PARK_SECONDS) -> None:
        self.setup, self.home = setup, home
        self.game = setup.load()
        self.last_look = time.monotonic()
        """When somebody last looked at it, by the monotonic clock."""
        self.saved_as = ""
        """Name of the log that holds the match; empty when none does."""
        self.has_taken_back = False
        """Whether a person has taken a move back."""
        self._is_saving = False
        self._status = SessionStatus()
        self._lock = self._status.lock
        self._match = SessionMatch(setup, self.game)
        self._driver = SessionDriver(self._match, self._status, home, park_seconds)
        self.narration = Narration(self._match.state_at(0))
        """What the plies of the match did, in sentences."""
        self._driver.begin()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have a listener called, in any thread, after every change."""
        self._status.on_change = listener

    # What persons do

    def choose(self, action: int, version: int | None = None) -> None:
        """Make a person's move; raises `RefusedError` when none is due, or the action is not legal.

        With a `version` also when the session has changed since it had that one.
        """
        with self._lock:
            self._check_turn(version)
            state = self._match.state
            if action not in state.legal_actions():
                raise RefusedError(str(state.refuse(action)))
            self._driver.requests.move = MoveReply(action, "", "")
            self._match.end_turn_of_person()
            self._match.play([action])
            self._status.change("", Phase.THINKING)

    def choose_text(self, text: str, names: Names | None = None) -> None:
        """Make a person's move, given in the game's notation; raises `RefusedError` for anything else.

        `names` are what a refusal calls the players.
        """
        with self._lock:
            self._check_turn()
            try:
                action = self._match.state.string_to_action(text)
            except EngineError as error:
                raise RefusedError(str(error)) from None
            if why := self._why_illegal(action, names):
                raise RefusedError(f"{text} is not legal. {why}")
            self.choose(action)

    def _why_illegal(self, action: int, names: Names | None) -> str | None:
        """Return the rule that forbids an action; None for a legal one, and where the game gives no reason."""
        state = self._match.state
        with contextlib.suppress(Exception):  # whatever a plug-in's reasons do: `choose` says what is legal
            return state.why_illegal(state.parts(action) or (), names)
        return None

    def resign(self, version: int | None = None) -> None:
        """Resign for the person to move; raises `RefusedError` as `choose` does."""
        with self._lock:
            self._check_turn(version)
            self._driver.requests.move = MoveReply(-1, RESIGNED, "resigned")
            self._status.change("resigning", Phase.THINKING)

    def take_back(self) -> None:
        """Return to before the last decision of a person; raises `RefusedError` when there is none."""
        with self._lock:
            ply = self._match.last_decision()
            if ply is None:
                raise RefusedError("there is nothing to take back")
            if self.saved_as or self._is_saving:
                raise RefusedError("this match is in a log now, and stays as it is")
            driver = self._driver
            is_busy = self._status.phase in (Phase.THINKING, Phase.PREPARING)
            charges = [charge for charge in driver.start.charges if charge.ply < ply]
            charged = {charge.seat for charge in charges}
            charges += [charge for charge in self._match.forfeits_before(ply) if charge.seat not in charged]
            driver.start = MatchStart(tuple(self._match.state.history()[:ply]), charges, driver.start.deaths)
            self._match.restart(driver.start.plies)
            driver.requests.move, driver.requests.restart = None, True
            driver.row = None
            self.has_taken_back = True
            self._status.change("taking back: bots play their moves again", Phase.PREPARING)
        if is_busy:
            driver.worker.stop()

    def _check_turn(self, version: int | None = None) -> None:
        if self._status.phase != Phase.WAITING:
            because = {Phase.OVER: "the match is over", Phase.FAILED: "the match has failed"}
            raise RefusedError(because.get(self._status.phase, "it is not your turn"))
        if version not in (None, self._status.version):
            raise RefusedError("the position has changed meanwhile; choose again")

    # Its worker

    def close(self) -> None:
        """End the session and its worker."""
        self._driver.close()

    def park(self) -> bool:
        """End the worker of a session that awaits a person; return whether one was ended."""
        with self._lock:
            if self._status.phase not in (Phase.WAITING, Phase.OVER) or self.is_parked:
                return False
            self._driver.requests.parked = True
            self._lock.notify_all()
            return True

    def unpark(self) -> None:
        """Count as a session that holds a worker again: a move is to follow, which starts one."""
        with self._lock:
            self._driver.requests.parked = False

    @property
    def is_parked(self) -> bool:
        """Whether it has ended its worker until the next move."""
        return self._driver.requests.parked

    @property
    def holds_worker(self) -> bool:
        """Whether a worker process belongs to it now."""
        return not (self.is_parked or self._status.phase == Phase.FAILED or self._driver.requests.closing)

    # What it shows

    @property
    def phase(self) -> Phase:
        """What it does now."""
        return self._status.phase

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self._status.version

    @property
    def plan(self) -> Plan | None:
        """The plan of the match; None until its bots are found."""
        return self._driver.plan

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the software that plays the match."""
        return dict(self._driver.worker.versions)

    def view(self) -> SessionView:
        """Return what there is to see now."""
        with self._lock:
            self.last_look = time.monotonic()
            match, status, row = self._match, self._status, self._driver.row
            result = row if status.phase == Phase.OVER else None
            turning_ply, has_turned = self._turning_point(result)
            return SessionView(
                version=status.version,
                phase=status.phase,
                line=status.line,
                seat=match.state.current_player(),
                state=view(match.state, None),
                plies=list(match.plies),
                notes=dict(match.notes),
                seats=[replace(seat) for seat in match.seats],
                ranks=[seat.rank for seat in result.seats] if result else None,
                ended=result.ended if result else "",
                seed=self.plan.schedule.seed if self.plan else self.setup.seed,
                turning_ply=turning_ply,
                has_turned=has_turned,
                can_take_back=not self.saved_as and match.last_decision() is not None,
                kept=self.saved_as,
            )

    def _turning_point(self, result: MatchRow | None) -> tuple[int | None, bool]:
        """Return a ply to look at, and whether evaluations told that the match turned there."""
        if result is None:
            return None, False
        assert self.plan is not None
        swing = largest_swing(stored_of(self.plan, single_match(self.plan), result))
        if swing is None:
            return self._match.last_decision(), False
        between = self._match.last_decision(swing[1])
        return between if between is not None and between > swing[0] else swing[0], True

    def state_at(self, ply: int) -> State:
        """Return the state before a ply; raises `RefusedError` for one that was not played."""
        with self._lock:
            played = len(self._match.plies)
            if not 0 <= ply <= played:
                raise RefusedError(f"there is no position {ply}; the match has {played} plies so far")
            return self._match.state_at(ply)

    def wait(self, version: int, seconds: float) -> bool:
        """Wait until there is a later version; return whether there is."""
        return self._status.wait_past(version, seconds)

    def show(self, line: str) -> None:
        """Show a line to whoever looks."""
        with self._lock:
            self._status.change(line)

    # Its result

    def finished(self) -> tuple[Plan, MatchRow]:
        """Return plan and result of a match that is over; raises `RefusedError` for others."""
        with self._lock:
            row, plan = self._driver.row, self.plan
            if row is None or plan is None or self._status.phase != Phase.OVER:
                raise RefusedError("the match is not over")
            if self.setup.starts_elsewhere:
                raise RefusedError(
                    "this match did not start where its game starts: no log and no file of matches holds such"
                )
            return plan, row

    def begin_saving(self) -> tuple[Plan, MatchRow]:
        """Return plan and result of a match that is over, which then nothing changes; raises `RefusedError`."""
        with self._lock:
            if self._is_saving or self.saved_as:
                raise RefusedError("this match is being kept already")
            result = self.finished()
            self._is_saving = True
            return result

    def end_saving(self, name: str) -> None:
        """Note which log holds the match; an empty name where none does."""
        with self._lock:
            self._is_saving, self.saved_as = False, name
            self._status.change("")
