"""Plays one match: dice, clocks, faults. Pure given its inputs, but for bots that look at a clock; knows no Ray."""

from __future__ import annotations

import hashlib
import signal
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from arena.dice import Dice, Streams
from arena.status import NOBODY
from engine import CHANCE, TERMINAL, Game, State
from engine.game import ILLEGAL, as_int
from engine.specs import Value

MAX_NOTE = 200
MAX_NOTES = 4000
MAX_TRACEBACK = 4000
BEFORE_PLAY = -1
CLOCK_CAUSES = ("timeout", "memory")


@dataclass(frozen=True)
class Contestant:
    """A bot's class and its resolved parameters."""

    bot_class: Any
    params: Mapping[str, Value]


@dataclass(frozen=True)
class Charge:
    """A fault that is known beforehand: the worker died while this seat was to move."""

    seat: int
    ply: int
    cause: str


@dataclass
class Fall:
    """A seat's forfeit: why, at which ply (-1: before play), and what the bot said of it."""

    cause: str
    ply: int
    detail: str = ""


@dataclass
class Result:
    """One finished match. `course` holds every ply in notation, dice and opening included."""

    ranks: list[int]
    scores: list[int] | None
    ended: str
    course: list[str]
    final_hash: str
    timed: bool
    falls: dict[int, Fall]
    notes: list[tuple[int, str]]
    seconds: list[float]
    """Wall-clock seconds that each seat's bot took."""


class Answer(NamedTuple):
    """What a bot gave for a move, in plain values."""

    action: int
    note: str
    refusal: str = ""
    """Why it is no action at all."""


class TimeUp(BaseException):
    """Raised inside a bot's code when its time is up."""


@dataclass
class Watch:
    """Who is at work, for whoever watches from outside: called with (seat, ply, deadline) and with None when done."""

    report: Callable[[int, int, float], None] = lambda seat, ply, deadline: None
    seconds_per_move: float = 60.0
    seconds_to_prepare: float = 300.0


def final_hash(state: State) -> str:
    """16 hexadecimal digits over the final position; of the course where a game has no position strings."""
    text = state.position if state.game.position else " ".join(map(str, state.history()))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def without_controls(text: str) -> str:
    """A bot's text without what would steer a terminal or cannot be stored; line ends stay."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])


def play_match(
    game: Game,
    contestants: Sequence[Contestant],
    streams: Streams,
    opening: int = 0,
    watch: Watch | None = None,
    charges: Sequence[Charge] = (),
) -> Result:
    """Play a match from the start to its end and return it; a bot's fault forfeits its seat and nothing else.

    `opening` is the number of random opening plies. `charges` are faults of an earlier try that ended its worker.
    """
    with Alarm() as alarm:
        match = _Match(game, streams, watch or Watch(), {charge.seat: charge for charge in charges}, alarm)
        return match.play(contestants, opening)


@dataclass
class _Match:
    game: Game
    streams: Streams
    watch: Watch
    charges: Mapping[int, Charge]
    alarm: Alarm
    falls: dict[int, Fall] = field(default_factory=dict)
    notes: list[tuple[int, str]] = field(default_factory=list)
    noted: int = 0
    timed: bool = False
    playing: bool = False

    def play(self, contestants: Sequence[Contestant], opening: int) -> Result:
        self.seconds = [0.0] * self.game.players
        self.dice = Dice(self.streams)
        self.state = self.game.new_initial_state()
        self.course: list[str] = []
        self.bots = [self.set_up(seat, contestant) for seat, contestant in enumerate(contestants)]
        self.playing = True
        self.play_opening(opening)
        while not self.is_decided() and (who := self.state.current_player()) != TERMINAL:
            action = self.dice.roll(self.state) if who == CHANCE else self.move_of(who)
            if not self.is_decided():
                self.apply(action)
        return self.result()

    def is_decided(self) -> bool:
        """Whether forfeits have left one seat, or none."""
        return 0 < len(self.falls) >= self.game.players - 1

    def set_up(self, seat: int, contestant: Contestant) -> Any:
        """The seat's bot, prepared; None when it fails, which is an `init` fault."""

        def prepare() -> Any:
            bot = contestant.bot_class(self.game, seat, self.streams.bot_seed(seat), contestant.params)
            bot.prepare()
            self.timed |= bool(getattr(bot, "timed", False))
            return bot

        ok, bot = self.ask(seat, prepare, self.watch.seconds_to_prepare)
        return bot if ok else None

    def play_opening(self, plies: int) -> None:
        """Random plies, the same for all line-ups of a block; they stop short of one that would end the match."""
        while plies > 0 and not self.is_decided() and not self.state.is_terminal():
            if self.state.is_chance_node():
                self.apply(self.dice.roll(self.state))
                continue
            action = self.dice.opening(self.state)
            if self.state.child(action).is_terminal():
                return
            self.apply(action)
            plies -= 1

    def move_of(self, seat: int) -> int:
        """The move for a seat: forced, its substitute's, or its bot's; a bot that faults is replaced on the spot."""
        legal = self.state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        if seat not in self.falls:
            bot, state = self.bots[seat], self.state.clone()
            ok, answer = self.ask(seat, lambda: self.answer_of(bot, state), self.watch.seconds_per_move)
            if ok and answer.action in legal:
                self.keep_note(answer.note)
                return answer.action
            if ok:
                self.fall(seat, "illegal_action", answer.refusal or str(self.state.refuse(answer.action)))
        return self.dice.substitute(self.state)

    def answer_of(self, bot: Any, state: State) -> Answer:
        """Ask a bot and read what it gives, under its clock: all of this may run its code."""
        given = bot.choose(state)
        note = getattr(bot, "note", None)
        if note is not None:
            bot.note = None
        note = without_controls(note[:MAX_NOTE]).replace("\n", " ") if isinstance(note, str) else ""
        try:
            return Answer(as_int(given), note)
        except TypeError:
            return Answer(ILLEGAL, note, str(self.state.refuse(given)))

    @property
    def ply(self) -> int:
        return len(self.course) if self.playing else BEFORE_PLAY

    def ask(self, seat: int, call: Callable[[], Any], limit: float) -> tuple[bool, Any]:
        """Run a bot's code under its clock: (True, what it returned), or the fault noted and (False, None)."""
        ply = self.ply
        charge = self.charges.get(seat)
        if charge is not None and charge.ply <= ply:
            self.fall(seat, charge.cause, "the worker process ended while this bot was at work")
            return False, None
        started = time.perf_counter()
        cause = detail = ""
        answer = None
        self.watch.report(seat, ply, limit)
        try:
            try:
                self.alarm.arm(limit)
                answer = call()
            finally:
                self.alarm.disarm()
        except TimeUp:
            cause, detail = "timeout", f"took longer than {limit:g} s"
        except MemoryError:
            cause, detail = "memory", "MemoryError"
        except BaseException:  # a bot may raise anything, SystemExit too; it loses the match and no more
            cause, detail = "crash", traceback.format_exc()[-MAX_TRACEBACK:]
        self.watch.report(NOBODY, ply, 0.0)
        taken = time.perf_counter() - started
        self.seconds[seat] += taken
        if not cause and taken > limit:
            cause, detail = "timeout", f"took {taken:.3g} s, more than {limit:g} s"
        if cause:
            self.fall(seat, cause, detail)
            return False, None
        return True, answer

    def fall(self, seat: int, cause: str, detail: str) -> None:
        """Note a fault; before play it is an `init` fault, unless memory ran out."""
        self.timed |= cause in CLOCK_CAUSES
        if not self.playing and cause != "memory":
            cause = "init"
        self.falls[seat] = Fall(cause, self.ply, without_controls(detail))

    def keep_note(self, note: str) -> None:
        if note and self.noted < MAX_NOTES:
            self.noted += len(note)
            self.notes.append((len(self.course), note))

    def apply(self, action: int) -> None:
        self.course.append(self.state.action_to_string(action))
        self.state.apply_action(action)

    def result(self) -> Result:
        over = self.state.is_terminal()
        order = self.state.ranks() if over else [0] * self.game.players
        return Result(
            ranks=ranks_with_forfeits(order, {seat: fall.ply for seat, fall in self.falls.items()}),
            scores=self.state.scores(),
            ended=self.state.ended if over else "forfeit",
            course=self.course,
            final_hash=final_hash(self.state),
            timed=self.timed,
            falls=self.falls,
            notes=self.notes,
            seconds=self.seconds,
        )


def ranks_with_forfeits(game_ranks: Sequence[int], fell_at: Mapping[int, int]) -> list[int]:
    """Seats that kept playing rank by the game, before all that fell; those rank in reverse order of falling."""
    keys = [(1, -fell_at[seat]) if seat in fell_at else (0, rank) for seat, rank in enumerate(game_ranks)]
    return [sum(other < key for other in keys) for key in keys]


class Alarm:
    """Interrupts a bot's Python code once with `TimeUp` when its seconds are over; works in the main thread only.

    Code that never comes back to the interpreter, or swallows everything, is left to the watchdog outside.
    """

    def __init__(self) -> None:
        self.armed = False
        self.works = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Alarm:
        if self.works:
            self.previous = signal.signal(signal.SIGALRM, self._ring)
        return self

    def __exit__(self, *_: object) -> None:
        if self.works:
            self.disarm()
            signal.signal(signal.SIGALRM, self.previous)

    def arm(self, seconds: float) -> None:
        if self.works:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def disarm(self) -> None:
        if self.works:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            self.armed = False
            raise TimeUp
