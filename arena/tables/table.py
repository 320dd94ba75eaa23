"""A table: one match with persons and bots, played by a worker process and watched by whoever has the page open.

The worker runs the referee and the bots. A thread here talks to it; everything else reads and changes the table under
its lock. A move taken back plays the match again from its plan: bots are asked for all their moves once more, so that
those which keep a state have the same one again.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.core.errors import ArenaError, WorkerError
from arena.core.machine import cores
from arena.match.faults import RESIGNED, Charge
from arena.match.game_faults import GameError
from arena.match.result import MatchRow
from arena.match.views import view
from arena.plan.resolve import Plan
from arena.runner.compiling import compile_ahead
from arena.tables.setup import Setup, bots_alone, is_person, name_of, order_of, resolve
from arena.tables.view import FAILED, OVER, PREPARING, THINKING, WAITING, Seat, TablePly, View
from arena.workers import messages
from arena.workers.process import STARTS, WorkerProcess
from engine import CHANCE, EngineError, State
from engine.errors import in_short

PARK = 900.0
"""Seconds without a move of a person after which the worker is ended; the next move starts another."""


class Refused(ArenaError):
    """What somebody wants to do at a table cannot be done now."""


@dataclass
class _Wish:
    """What a person wants to do next."""

    action: int = -1
    resigns: bool = False


@dataclass(eq=False)
class Table:
    """One table. Its methods may be called by any thread; `changed` is called, in any thread, when it has changed."""

    setup: Setup
    home: Path | None = None
    changed: Callable[[], None] = lambda: None
    park: float = PARK
    touched: float = field(default_factory=time.monotonic)
    """When somebody last looked at it."""

    def __post_init__(self) -> None:
        self.game = self.setup.load()
        self.plan: Plan | None = None
        self.row: MatchRow | None = None
        """The result, when the match is over."""
        self.versions: dict[str, str] = {}
        self.kept = ""
        self._lock = threading.Condition()
        self._worker = WorkerProcess()
        self._phase, self._line, self._version = PREPARING, "the table is being set up", 0
        self._wish: _Wish | None = None
        self._closing = self._restart = self._parked = self._keeping = False
        self._course: tuple[int, ...] = self.setup.actions
        """Plies that the match goes on from when the worker starts it anew."""
        self._first = len(self.setup.actions)
        """Plies that cannot be taken back."""
        self._opening = self.setup.opening_plies
        self._charges: list[Charge] = []
        self._deaths = 0
        """Of worker processes while the match was in play."""
        self._thinks: tuple[int, float] | None = None
        """The bot that is at work, and since when."""
        self._notes: dict[int, str] = {}
        clock = self.setup.clock.seconds
        self._seats = [
            Seat(name_of(who) if is_person(who) else who, is_person(who), clock if is_person(who) else 0.0)
            for who in self.setup.seats
        ]
        self._begin()
        for action in self.setup.actions:
            self._apply(action)
        self._thread = threading.Thread(target=self._live, name="table", daemon=True)
        self._thread.start()

    # What persons do

    def choose(self, action: int, version: int | None = None) -> None:
        """Make a person's move; raises `Refused` when none is due, or the action is not legal.

        With a `version` also when the table has changed since it had that one.
        """
        with self._lock:
            self._check_turn(version)
            if action not in self._state.legal_actions():
                raise Refused(str(self._state.refuse(action)))
            self._wish = _Wish(action)
            self._settle_clock()
            self._apply(action)
            self._phase = THINKING
            self._change("")

    def choose_text(self, text: str) -> None:
        """Make a person's move, given in the game's notation; raises `Refused` for anything else."""
        with self._lock:
            self._check_turn()
            try:
                action = self._state.string_to_action(text)
            except EngineError as error:
                raise Refused(str(error)) from None
            if why := self._why_illegal(action):
                raise Refused(f"{text} is not legal. {why}")
            self.choose(action)

    def _why_illegal(self, action: int) -> str | None:
        """Return the rule that forbids an action; None for a legal one, and where the game tells no reason."""
        with contextlib.suppress(Exception):  # whatever a plug-in's reasons do: `choose` says what is legal
            return self._state.why_illegal(self._state.parts(action) or ())
        return None

    def resign(self, version: int | None = None) -> None:
        """Give up for the person to move; raises `Refused` as `choose` does."""
        with self._lock:
            self._check_turn(version)
            self._wish = _Wish(resigns=True)
            self._phase = THINKING
            self._change("resigning")

    def take_back(self) -> None:
        """Go back to before the last decision of a person; raises `Refused` when there is none."""
        with self._lock:
            ply = self._last_decision()
            if ply is None:
                raise Refused("there is nothing to take back")
            if self.kept or self._keeping:
                raise Refused("this match is in a log now, and stays as it is")
            thinking = self._phase in (THINKING, PREPARING)
            self._course = tuple(self._state.history()[:ply])
            self._charges = [charge for charge in self._charges if charge.ply < ply]
            for seat, shown in enumerate(self._seats):
                if shown.forfeit is not None and 0 <= shown.forfeit[1] < ply:
                    cause, at, detail = shown.forfeit
                    if all(charge.seat != seat for charge in self._charges):
                        self._charges.append(Charge(seat, at, cause, known=detail))
            self._begin()
            for action in self._course:
                self._apply(action)
            self._wish, self._restart = None, True
            self.row = None
            self._phase = PREPARING
            self._change("taking back: bots play their moves again")
        if thinking:
            self._worker.stop()

    def close(self) -> None:
        """End the table and its worker."""
        with self._lock:
            self._closing = True
            self._change("the table is closed")
        while self._thread.is_alive():  # it may be starting a process just now
            self._worker.stop()
            self._thread.join(0.1)

    def let_go(self) -> bool:
        """End the worker of a table at which a person's move is awaited; return whether one was ended."""
        with self._lock:
            if self._phase not in (WAITING, OVER) or self._parked:
                return False
            self._parked = True
            self._lock.notify_all()
            return True

    def wake(self) -> None:
        """Count as a table that holds a worker again: a move is to follow, which starts one."""
        with self._lock:
            self._parked = False

    # What is seen

    def view(self) -> View:
        """Return what is to be seen now."""
        with self._lock:
            self.touched = time.monotonic()
            over = self._phase == OVER and self.row is not None
            return View(
                version=self._version,
                phase=self._phase,
                line=self._line,
                seat=self._state.current_player(),
                state=view(self._state, None),
                plies=list(self._plies),
                notes=dict(self._notes),
                seats=[replace(seat) for seat in self._seats],
                ranks=[seat.rank for seat in self.row.seats] if over and self.row else None,
                ended=self.row.ended if over and self.row else "",
                seed=self.plan.schedule.seed if self.plan else self.setup.seed,
                can_take_back=not self.kept and self._last_decision() is not None,
                kept=self.kept,
            )

    def state_at(self, ply: int) -> State:
        """Return the state before a ply; raises `Refused` for one that was not played."""
        with self._lock:
            if not 0 <= ply <= len(self._plies):
                raise Refused(f"there is no position {ply}; the match has {len(self._plies)} plies so far")
            position = self.setup.position
            state = self.game.new_initial_state() if position is None else self.game.state_from_position(position)
            for action in self._state.history()[:ply]:
                state.apply_action(action)
            return state

    @property
    def phase(self) -> str:
        """What it does now."""
        return self._phase

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self._version

    @property
    def holds_worker(self) -> bool:
        """Whether a worker process belongs to it now."""
        return not (self._parked or self._phase == FAILED or self._closing)

    @property
    def is_parked(self) -> bool:
        """Whether it has let its worker go."""
        return self._parked

    @property
    def is_waiting(self) -> bool:
        """Whether nothing happens until a person does something."""
        return self._phase in (WAITING, OVER, FAILED)

    def wait(self, version: int, seconds: float) -> bool:
        """Wait until the table is past a version; return whether it is."""
        with self._lock:
            return self._lock.wait_for(lambda: self._version > version, seconds)

    def finished(self) -> tuple[Plan, MatchRow]:
        """Return plan and result of a match that is over; raises `Refused` for others."""
        with self._lock:
            if self.row is None or self.plan is None or self._phase != OVER:
                raise Refused("the match is not over")
            if self.setup.starts_elsewhere:
                raise Refused(
                    "this match did not start where its game starts: no log and no file of matches holds such"
                )
            return self.plan, self.row

    def say(self, line: str) -> None:
        """Show a line to whoever looks."""
        with self._lock:
            self._change(line)

    def begin_keeping(self) -> tuple[Plan, MatchRow]:
        """Return plan and result of a match that is over, and let nothing change it meanwhile; raises `Refused`."""
        with self._lock:
            if self._keeping or self.kept:
                raise Refused("this match is being kept already")
            found = self.finished()
            self._keeping = True
            return found

    def end_keeping(self, name: str) -> None:
        """Note which log holds the match; an empty name where none does."""
        with self._lock:
            self._keeping, self.kept = False, name
            self._change("")

    # The match; all of it with the lock

    def _begin(self) -> None:
        position = self.setup.position
        self._state = self.game.new_initial_state() if position is None else self.game.state_from_position(position)
        self._plies: list[TablePly] = []
        for seat in self._seats:
            seat.forfeit = None

    def _apply(self, action: int) -> None:
        state = self._state
        who = state.current_player()
        rolled_by = state.rolling_seat() if who == CHANCE else -1
        forced = who >= 0 and len(state.legal_actions()) == 1
        opening = who >= 0 and sum(ply.seat >= 0 for ply in self._plies) < self._opening
        self._plies.append(TablePly(who, state.action_to_string(action), rolled_by, forced, opening))
        state.apply_action(action)

    def _see(self, seen: messages.Seen) -> None:
        """Follow what the worker tells; a match that was played again there may have taken another way."""
        if self._thinks is not None:
            seat, since = self._thinks
            self._seats[seat].seconds = time.monotonic() - since
            self._thinks = None
        known = self._state.history()
        if list(seen.actions[: len(known)]) != known:
            self._begin()
            known = []
        for action in seen.actions[len(known) :]:
            self._apply(action)
        self._notes = dict(seen.notes)
        for seat, forfeit in seen.forfeits.items():
            self._seats[seat].forfeit = forfeit

    def _check_turn(self, version: int | None = None) -> None:
        if self._phase != WAITING:
            because = {OVER: "the match is over", FAILED: "the table has failed"}
            raise Refused(because.get(self._phase, "it is not your turn"))
        if version not in (None, self._version):
            raise Refused("the position has changed meanwhile; choose again")

    def _last_decision(self) -> int | None:
        """Return the last ply at which a person had a choice and made it."""
        ends = [seat.forfeit[1] if seat.forfeit else len(self._plies) for seat in self._seats]
        """By seat: the ply from which it made no choice any more."""
        decisions = [
            number
            for number, ply in enumerate(self._plies)
            if number >= self._first
            and (ply.seat >= 0 and self._seats[ply.seat].person)
            and not (ply.forced or ply.opening)
            and number < ends[ply.seat]
        ]
        decisions += [seat.forfeit[1] for seat in self._seats if seat.person and seat.forfeit]
        return max(decisions, default=None)

    def _change(self, line: str) -> None:
        self._line = line
        self._version += 1
        self._lock.notify_all()
        self.changed()

    # The thread

    def _live(self) -> None:
        try:
            self._prepare()
            while not self._closing:
                self._play()
        except (ArenaError, EngineError) as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(f"the table failed: {in_short(error)}")
        finally:
            self._worker.stop()

    def _fail(self, why: str) -> None:
        with self._lock:
            if not self._closing:
                self._phase = FAILED
                self._change(why)

    def _prepare(self) -> None:
        def show(line: str) -> None:
            with self._lock:
                if line and line != self._line:
                    self._change(line)

        plan = resolve(self.setup, self.game, self._worker, self.home)
        compile_ahead(bots_alone(plan, self.setup.persons), cores(), show, self._worker)
        self._worker.give_plan(plan.message())
        with self._lock:
            self.plan = plan
            self.versions = dict(self._worker.versions)
            for seat, bot in zip(self._seats, plan.bots, strict=True):
                seat.name = seat.name if seat.person else bot.label
            self._phase = THINKING
            self._change("")

    def _play(self) -> None:
        """Play the match on from its course: to its end, or until something is taken back."""
        assert self.plan is not None
        with self._lock:
            self._restart = self._parked = False
            order = order_of(self.plan)._replace(charges=tuple(self._charges))
            message: messages.Message | None = messages.Sit(
                order, self.setup.persons, self.setup.position, self._course
            )
        while True:
            reply = self._worker.converse(message)
            message = None
            if self._closing or self._restart:
                if not (isinstance(reply, (messages.Played, messages.Death))):
                    self._worker.stop()
                return
            match reply:
                case messages.Death():
                    return self._on_death(reply)
                case messages.GameStopped():
                    board = self.plan.schedule.boards[0]
                    raise GameError(replace(reply.fault, game=board.game, players=board.players))
                case messages.NoRoom():
                    raise WorkerError(f"{reply.what}; {reply.remedy}")
                case messages.YourTurn():
                    message = self._await_person(reply)
                    if message is None:
                        return
                case messages.Seen():
                    with self._lock:
                        self._see(reply)
                        self._phase = THINKING
                        self._thinks = reply.seat, time.monotonic()
                        self._change("")
                case messages.Played() if reply.rows:
                    return self._finish(reply.rows[0])
                case _:
                    return

    def _await_person(self, turn: messages.YourTurn) -> messages.Message | None:
        """Return what to tell the worker, or None when it was ended meanwhile."""
        clock = self.setup.clock
        seat = self._seats[turn.seat]
        with self._lock:
            if self._wish is None:
                self._see(turn)
            self._course = tuple(turn.actions)
            self._asked = time.monotonic()
            if self._wish is None:
                self._phase = WAITING
                self._change("")
            parks = self._asked + self.park
            flags = time.monotonic() + seat.left if clock.seconds else None
            while self._wish is None and not (self._closing or self._restart):
                now = time.monotonic()
                if flags is not None and now >= flags:
                    seat.left = 0.0
                    self._phase = THINKING
                    self._change("")
                    return messages.Chosen(-1, "timeout", "the clock of this person has run out")
                if not self._parked and now >= parks and flags is None:
                    self._parked = True
                if self._parked and flags is None:
                    self._worker.stop()
                    self._lock.wait_for(lambda: self._wish is not None or self._closing or self._restart)
                    return None
                self._parked = False
                self._lock.wait((parks if flags is None else flags) - now)
            wish, self._wish = self._wish, None
            if wish is None:
                return messages.GetUp()
            if wish.resigns:
                return messages.Chosen(-1, RESIGNED, "resigned")
            return messages.Chosen(wish.action, "", "")

    def _settle_clock(self) -> None:
        seat = self._seats[self._state.current_player()]
        seat.seconds = time.monotonic() - self._asked
        if self.setup.clock.seconds:
            seat.left = max(0.0, seat.left - seat.seconds) + self.setup.clock.increment

    def _on_death(self, death: messages.Death) -> None:
        """Charge the bot that was at work when the worker ended, unless somebody else is to blame; play on."""
        with self._lock:
            self._course = tuple(self._state.history())
            self._deaths += 1
            if (death.starved or death.killed) and self._deaths < STARTS:
                return
            if death.seat < 0 or any(death.seat == charge.seat for charge in self._charges):
                if self._deaths < STARTS:
                    return
                raise WorkerError(f"the match cannot go on: its worker process ended ({death.how or death.cause})")
            self._charges.append(death.charge())
            self._change("")

    def _finish(self, row: MatchRow) -> None:
        with self._lock:
            state, words = self._state, row.moves.split()
            known = [ply.text for ply in self._plies]
            if words[: len(known)] != known:
                self._begin()
                state = self._state
            for word in words[len(self._plies) :]:
                self._apply(state.string_to_action(word))
            self._notes = dict(row.notes)
            for number, seat in enumerate(row.seats):
                if seat.forfeit is not None:
                    self._seats[number].forfeit = (*seat.forfeit, row.details.get(number, ""))
            self.row = row
            self._phase = OVER
            self._change("")
            until = time.monotonic() + self.park
            while not (self._restart or self._closing):
                if self._parked or time.monotonic() >= until:
                    self._parked = True
                    self._worker.stop()
                    self._lock.wait_for(lambda: self._restart or self._closing)
                    return
                self._lock.wait(until - time.monotonic())
