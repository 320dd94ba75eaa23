"""Plays one match: dice, clocks, faults. Pure given its inputs, but for bots that look at a clock; knows no Ray."""

from __future__ import annotations

import math
import signal
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Protocol

from arena.core.errors import ArenaError, WorkerError, has_no_room
from arena.core.limits import Limits
from arena.match.dice import Dice, Streams
from arena.match.game_faults import (
    GameFailed,
    TimeUp,
    check_end,
    check_length,
    check_turn,
    check_word,
    fault_of,
    most_plies,
)
from arena.match.heartbeat import NOBODY, STARVED
from arena.match.result import Forfeit, Result, final_hash, ranks_with_forfeits
from bots.base import made
from engine import CHANCE, TERMINAL, Game, State
from engine.game import ILLEGAL, as_int
from engine.specs import Value

MAX_NOTE = 200
MAX_NOTES = 4000
MAX_TRACEBACK = 4000
MAX_DETAIL = 2 * MAX_TRACEBACK
"""Characters that are kept of a fault: the end of what it wrote to stderr, and what happened."""
BEFORE_PLAY = -1
KILLS = 2
"""Times that a match is played again after a bot's process was killed from outside."""
GAME_SECONDS = 30.0
"""Processor time, in seconds, that a game may take between two calls of bots."""
SOON = 1e-6
"""Seconds; an alarm set to none would never ring."""
CAUSES = ("illegal_action", "timeout", "crash", "memory", "protocol", "init")
"""Why a seat may forfeit."""
CLOCK_CAUSES = ("timeout", "memory")


class Answer(NamedTuple):
    """What a bot gave for a move, in plain values."""

    action: int
    note: str | None
    refusal: str = ""
    """Why it is no action at all."""


class Fault(Exception):
    """A player's fault that is known for what it is."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class Killed(Fault):
    """A bot's process was killed from outside: neither by us, nor for a limit of its own, nor by itself."""

    def __init__(self, how: str) -> None:
        super().__init__("memory", how)


class Player(Protocol):
    """A bot in a seat of one match, wherever it runs; what it raises is its fault."""

    guarded: bool
    """Whether it runs here, where the referee's alarm can interrupt it; others keep to the limit by themselves."""

    def start(self, limit: float) -> None:
        """Get its process up, if it is not guarded."""

    def prepare(self, limit: float) -> bool:
        """Get ready for the match; whether its moves depend on a clock."""

    def choose(self, limit: float) -> Answer:
        """Its move in the match's present state."""

    def cpu(self) -> float:
        """Seconds of processor time that it has used, counted from anywhere."""

    def close(self) -> None:
        """Drop the bot."""


class Entrant(Protocol):
    """Something that can take a seat."""

    def join(self, match: Match, seat: int) -> Player: ...


@dataclass(frozen=True)
class Contestant:
    """A bot that plays in this process: its class and its resolved parameters."""

    bot_class: Any
    params: Mapping[str, Value]

    def join(self, match: Match, seat: int) -> Player:
        return LocalPlayer(self, match, seat)


class LocalPlayer:
    """A bot in the referee's own process."""

    guarded = True

    def __init__(self, contestant: Contestant, match: Match, seat: int) -> None:
        self.contestant, self.match, self.seat = contestant, match, seat
        self.bot: Any = None

    def start(self, limit: float) -> None:
        raise NotImplementedError("a bot in this process has nothing to start")

    def prepare(self, limit: float) -> bool:
        match = self.match
        seed = match.streams.bot_seed(self.seat)
        self.bot = made(self.contestant.bot_class, match.game, self.seat, seed, self.contestant.params)
        self.bot.prepare()
        return bool(getattr(self.bot, "timed", False))

    def choose(self, limit: float) -> Answer:
        return answer_of(self.bot, self.match.state.clone(), limit)

    def cpu(self) -> float:
        return self.match.clock.cpu()

    def close(self) -> None:
        self.bot = None


class Absent:
    """A bot that could not be brought to the table."""

    guarded = False

    def __init__(self, error: BaseException) -> None:
        told = str(error) if isinstance(error, ArenaError) else "".join(traceback.format_exception(error))
        self.fault = Fault("memory" if isinstance(error, MemoryError) else "init", told[-MAX_TRACEBACK:])

    def start(self, limit: float) -> None:
        raise self.fault

    def prepare(self, limit: float) -> bool:
        raise self.fault

    def choose(self, limit: float) -> Answer:
        raise self.fault

    def cpu(self) -> float:
        return 0.0

    def close(self) -> None:
        """There is nothing to drop."""


def answer_of(bot: Any, state: State, limit: float) -> Answer:
    """Ask a bot and read what it gives; all of this may run its code."""
    bot.seconds_left = limit
    given = bot.choose(state)
    note = getattr(bot, "note", None)
    if note is not None:
        bot.note = None
        note = clean_note(note)
    try:
        return Answer(given if type(given) is int else as_int(given), note)
    except TypeError:
        return Answer(ILLEGAL, note, str(state.refuse(given)))


def clean_note(note: object) -> str | None:
    """The part of a bot's note that is kept."""
    if not isinstance(note, str):
        return None
    plain = str.__getitem__(note, slice(MAX_NOTE))  # a subclass of the bot's own could hand out anything
    return without_controls(plain).replace("\n", " ")


class Charge(NamedTuple):
    """A fault that is known beforehand: the worker died while this seat was to move."""

    seat: int
    ply: int
    cause: str
    how: str = ""
    """How the worker ended, in words."""


@dataclass(frozen=True)
class Overrun:
    """How the first try of a match ended: a bot overran its time without having had the processor for it."""

    seat: int
    ply: int
    detail: str
    call: list[int]
    """As in `Result.calls`."""
    actions: list[int]
    """All plies before."""
    forfeits: dict[int, Forfeit]
    """Other seats' forfeits before."""


class Starved(Exception):
    """A match is to be played once more."""

    def __init__(self, overrun: Overrun) -> None:
        super().__init__(overrun.detail)
        self.overrun = overrun


class Disturbed(Exception):
    """A match is to be played again, as if nothing of it had been: a seat's process was killed from outside."""

    def __init__(self, seat: int) -> None:
        super().__init__(f"seat {seat}")
        self.seat = seat


NOT_THE_GAMES = (Starved, Disturbed, WorkerError, MemoryError, KeyboardInterrupt)
"""What is raised while a match is played and is no fault of its game."""
_kept_for_ever: list[Any] = []
"""Bots whose end has ended a worker before."""


@dataclass
class Clock:
    """Where time is read; tests put their own in its place."""

    wall: Callable[[], float] = time.perf_counter
    cpu: Callable[[], float] = time.process_time


Report = Callable[[int, int, float], None]
"""Told who is at work, for whoever watches from outside: (seat, ply, seconds at most), seat NOBODY when done."""


def _unwatched(seat: int, ply: int, limit: float) -> None:
    pass


def without_controls(text: str) -> str:
    """A bot's text without what would steer a terminal or cannot be stored; line ends stay."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])


def play_match(
    game: Game,
    entrants: Sequence[Entrant],
    streams: Streams,
    opening: int = 0,
    limits: Limits | None = None,
    charges: Sequence[Charge] = (),
    report: Report = _unwatched,
    clock: Clock | None = None,
    spent: Collection[int] = (),
) -> Result:
    """Play a match from the start to its end and return it; a bot's fault forfeits its seat and nothing else.

    `opening` is the number of random opening plies. `charges` are faults of an earlier try that ended its worker.
    When a bot's process is killed from outside, the match is played again as a whole, `KILLS` times at most; for the
    seats in `spent` it is a fault at once.
    When a bot overruns its time with little of the processor, the whole match is played once more, for good, along the
    same moves up to there; a bot that chooses otherwise on the way gets no second chance.
    """
    faults = {charge.seat: charge for charge in charges}
    first = None
    killed: list[int] = []
    with Alarm() as alarm:
        while True:
            match = Match(game, streams, limits or Limits(), faults, alarm, report, clock or Clock(), first)
            match.spent = spent if len(killed) < KILLS else range(game.players)
            try:
                return replace(match.play(entrants, opening), killed=tuple(killed))
            except Starved as starved:
                first = starved.overrun
            except Disturbed as disturbed:
                killed.append(disturbed.seat)
            finally:
                match.dismiss()


@dataclass
class Match:
    """One match in play."""

    game: Game
    streams: Streams
    limits: Limits
    charges: Mapping[int, Charge]
    alarm: Alarm
    report: Report
    clock: Clock
    first: Overrun | None
    """How the first try ended, in the second."""
    forfeits: dict[int, Forfeit] = field(default_factory=dict)
    notes: list[tuple[int, str]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    noted: int = 0
    timed: bool = False
    clocked: set[int] = field(default_factory=set)
    """Seats whose bots say that their moves depend on a clock."""
    playing: bool = False
    decided: bool = False
    """Whether forfeits have left one seat, or none."""
    finished: bool = False
    spent: Collection[int] = ()
    """Seats for whose killed process the match is not played again."""
    asking: bool = False
    """Whether a bot is at work, not the game."""

    def __post_init__(self) -> None:
        self.dice = Dice(self.streams)
        self.doubtful = not self.game.kernels
        """Whether what the game gives is looked at; kernels have no types to get wrong."""
        try:
            self.most_plies = most_plies(self.game)
            self.state = self.game.new_initial_state()
        except Exception as error:
            raise GameFailed(fault_of(error, [], None)) from error
        self.moves: list[str] = []
        self.movers: list[int] = []
        """By ply: the seat that moved, or `CHANCE`."""
        self.players: list[Player] = []
        self.left = [self.limits.seconds_per_match or math.inf] * self.game.players
        """By seat: seconds for the rest of the match."""

    def play(self, entrants: Sequence[Entrant], opening: int) -> Result:
        for seat, entrant in enumerate(entrants):
            self.report(NOBODY, BEFORE_PLAY, 0.0)  # each may take its time: a program may have to be built
            self.players.append(self.bring(seat, entrant))
        for seat, player in enumerate(self.players):
            self.set_up(seat, player)
        try:
            self.alarm.game = self if self.doubtful else None
            return self.play_on(opening)
        except NOT_THE_GAMES:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and has_no_room(error):
                raise
            raise GameFailed(fault_of(error, self.moves, self.state)) from error
        finally:
            self.alarm.game = None

    def play_on(self, opening: int) -> Result:
        """The match itself, after the bots are ready; whatever is raised, but `NOT_THE_GAMES`, is the game's fault."""
        self.playing = True
        self.play_opening(opening)
        while not self.decided and (who := self.whose_turn()) != TERMINAL:
            action = self.dice.roll(self.state) if who == CHANCE else self.move_of(who)
            if not self.decided:
                self.apply(action)
        return self.result()

    def bring(self, seat: int, entrant: Entrant) -> Player:
        """A seat's player; one that cannot be brought to the table is at fault itself, but for a machine's faults."""
        try:
            return entrant.join(self, seat)
        except WorkerError:
            raise
        except BaseException as error:
            if isinstance(error, OSError) and has_no_room(error):
                raise
            return Absent(error)

    def whose_turn(self) -> int:
        """The seat to move, `CHANCE` or `TERMINAL`; raises `Impossible` for what no game can say."""
        who = self.state.current_player()
        if self.doubtful:
            check_turn(self.state, who)
        return who

    def set_up(self, seat: int, player: Player) -> None:
        """Have a seat's bot get ready; failing is an `init` fault."""
        if not player.guarded and not self.ask(seat, player.start, self.limits.seconds_to_start)[0]:
            return
        ok, timed = self.ask(seat, player.prepare, self.limits.seconds_to_prepare)
        if ok and timed:
            self.clocked.add(seat)
            self.timed = True

    def dismiss(self) -> None:
        """Drop the bots, each under its clock: dropping runs code of theirs too. It is no fault any more."""
        for seat, player in enumerate(self.players):
            if seat in self.charges:
                _kept_for_ever.append(player)
            elif player.guarded:
                self.drop(seat, player)
            else:
                player.close()

    def drop(self, seat: int, player: Player) -> None:
        """Let go of a bot in this process."""
        limit = self.limits.seconds_per_move
        self.report(seat, self.ply, limit)
        try:
            self.alarm.arm(limit)
            player.close()
        except BaseException:
            pass
        finally:
            self.alarm.disarm()
        self.report(NOBODY, self.ply, 0.0)

    def play_opening(self, plies: int) -> None:
        """Random plies, the same for all line-ups of a block; they stop short of one that would end the match."""
        while plies > 0 and not self.decided and self.whose_turn() != TERMINAL:
            if self.state.is_chance_node():
                self.apply(self.dice.roll(self.state))
                continue
            action = self.dice.opening(self.state)
            if self.state.child(action).is_terminal():
                return
            self.apply(action)
            plies -= 1

    def move_of(self, seat: int) -> int:
        """The move for a seat: forced, that of the first try as far as it went, or chosen now."""
        legal = self.state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        chosen = self.choice_of(seat, legal)
        if self.first is None or self.ply >= self.first.ply:
            return chosen
        before = self.first.actions[self.ply]
        if chosen == before or seat != self.first.seat or seat in self.forfeits:
            return before
        self.let_stand(self.first, chosen)
        return self.dice.substitute(self.state)

    def choice_of(self, seat: int, legal: list[int]) -> int:
        """What its bot chooses, or its substitute; a bot that faults is replaced on the spot."""
        if seat not in self.forfeits:
            ok, answer = self.ask(seat, self.players[seat].choose, self.allowed(seat))
            if ok and answer.action in legal:
                self.keep_note(answer.note)
                return answer.action
            if ok:
                self.forfeit(seat, "illegal_action", answer.refusal or str(self.state.refuse(answer.action)))
        return self.dice.substitute(self.state)

    def let_stand(self, first: Overrun, chosen: int) -> None:
        """Go to where the first try ended: its overrun counts, for the same bot at the same choice chose otherwise."""
        now, then = (self.state.action_to_string(action) for action in (chosen, first.actions[self.ply]))
        detail = f"{first.detail}; when the match was played again, it chose {now} at ply {self.ply + 1}, before {then}"
        for action in first.actions[self.ply :]:
            self.apply(action)
        self.forfeits |= first.forfeits
        self.calls += first.call
        self.forfeit(first.seat, "timeout", detail)

    def allowed(self, seat: int) -> float:
        """Seconds that a seat has for its next move."""
        return max(0.0, min(self.limits.seconds_per_move, self.left[seat]))

    def margin(self, seat: int) -> float:
        """Seconds by which it may overrun them: what it has overrun its time for the match already is taken off."""
        return max(0.0, self.limits.margin + min(0.0, self.left[seat]))

    @property
    def ply(self) -> int:
        return len(self.moves) if self.playing else BEFORE_PLAY

    def ask(self, seat: int, call: Callable[[float], Any], limit: float) -> tuple[bool, Any]:
        """Have a bot do something under its clock: (True, what it returned), or the fault noted and (False, None)."""
        ply = self.ply
        charge = self.charges.get(seat)
        if charge is not None and charge.ply <= ply:
            how = f": {charge.how}" if charge.how else ""
            self.forfeit(seat, charge.cause, f"the worker process ended while this bot was at work{how}")
            return False, None
        player, clock = self.players[seat], self.clock
        guarded = player.guarded
        latest = limit + self.margin(seat)
        cause = detail = ""
        answer = None
        cpu = player.cpu()
        started = clock.wall()
        self.report(seat, ply, latest)
        try:
            self.asking = True
            try:
                if guarded:
                    self.alarm.arm(latest)
                answer = call(limit)
            finally:
                if guarded:
                    self.alarm.disarm()
                self.asking = False
        except MemoryError:
            cause, detail = "memory", "MemoryError"
        except BaseException as error:  # a bot may raise anything, SystemExit too; it loses the match and no more
            cause, detail = "crash", traceback.format_exc()[-MAX_TRACEBACK:]
            if isinstance(error, WorkerError) and not guarded:
                raise
            if isinstance(error, Fault) and not guarded:
                cause, detail = error.cause, str(error)
                if isinstance(error, Killed) and seat not in self.spent:
                    raise Disturbed(seat) from None
        taken = clock.wall() - started
        used = player.cpu() - cpu
        self.report(NOBODY, ply, 0.0)
        if guarded and (self.alarm.rang or (taken > latest and not cause)):  # whatever was made of the alarm
            cause, detail = "timeout", f"took {taken:.3g} s, more than {limit:g} s ({used:.3g} s of processor time)"
        self.calls += seat, ply, int(taken * 1e6 + 0.5), int(used * 1e6 + 0.5)
        if ply >= 0:
            self.left[seat] += self.limits.increment - taken
        if cause:
            forgivable = cause == "timeout" and self.first is None and seat not in self.clocked
            if forgivable and used < STARVED * taken:
                raise Starved(Overrun(seat, ply, detail, self.calls[-4:], self.state.history(), dict(self.forfeits)))
            self.forfeit(seat, cause, detail)
            return False, None
        return True, answer

    def forfeit(self, seat: int, cause: str, detail: str) -> None:
        """Note a fault; before play it is an `init` fault, unless memory ran out."""
        self.timed |= cause in CLOCK_CAUSES
        if not self.playing and cause != "memory":
            cause = "init"
        self.forfeits[seat] = Forfeit(cause, self.ply, without_controls(detail[-MAX_DETAIL:]))
        self.decided = len(self.forfeits) >= self.game.players - 1

    def keep_note(self, note: str | None) -> None:
        if note and self.noted < MAX_NOTES:
            self.noted += len(note)
            self.notes.append((len(self.moves), note))

    def apply(self, action: int) -> None:
        word = self.state.action_to_string(action)
        if self.doubtful:
            check_word(self.state, word)
        self.moves.append(word)
        if len(self.moves) > self.most_plies:
            check_length(self.state, self.moves, self.most_plies)
        self.movers.append(self.state.current_player())
        self.state.apply_action(action)

    @property
    def ended(self) -> str:
        """How it ended."""
        return self.state.ended if self.state.is_terminal() else "forfeit"

    def ranks(self) -> list[int]:
        """Final ranks by seat."""
        order = self.state.ranks() if self.state.is_terminal() else [0] * self.game.players
        return ranks_with_forfeits(order, {seat: forfeit.ply for seat, forfeit in self.forfeits.items()})

    def result(self) -> Result:
        if self.doubtful:
            check_end(self.state)
        self.finished = True
        return Result(
            ranks=self.ranks(),
            scores=self.state.scores(),
            ended=self.ended,
            moves=self.moves,
            final_hash=final_hash(self.state),
            timed=self.timed,
            forfeits=dict(self.forfeits),
            notes=self.notes,
            calls=list(self.calls),
            retried=self.first is not None,
        )


class First:
    """Plays the first legal action; for warming up."""

    def __init__(self, *_: object) -> None:
        pass

    def prepare(self) -> None:
        pass

    def choose(self, state: State) -> int:
        return state.legal_actions()[0]


def warm_up(game: Game) -> None:
    """Compile, or load, everything of a game that a match calls."""
    play_match(game, [Contestant(First, {})] * game.players, Streams(bytes(32), bytes(32), bytes(16)), 2)


class Alarm:
    """Interrupts a bot's Python code once with `TimeUp` when its seconds are over; works in the main thread only.

    Code that never comes back to the interpreter, or swallows everything, is left to the watchdog outside.
    """

    ready: ClassVar[Alarm | None] = None
    """The one that is in use."""

    def __init__(self) -> None:
        self.armed = self.rang = False
        self.game: Match | None = None
        """Whose rules may be interrupted while no bot is at work; kernels cannot be."""
        self.works = threading.current_thread() is threading.main_thread()
        self.thread = threading.get_ident()

    def __enter__(self) -> Alarm:
        if self.works:
            Alarm.ready = self
            self.previous = signal.signal(signal.SIGALRM, self._ring)
        return self

    def __exit__(self, *_: object) -> None:
        if self.works:
            Alarm.ready = None
            self.disarm()
            signal.signal(signal.SIGALRM, self.previous)

    def arm(self, seconds: float) -> None:
        self.rang = False
        if self.works:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, max(seconds, SOON))

    def disarm(self) -> None:
        if self.works:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            self.armed, self.rang = False, True
            raise TimeUp
        if self.game is not None and not self.game.asking:
            raise TimeUp(f"the rules did not come back in {GAME_SECONDS:g} s")

    @classmethod
    def interrupt_game(cls) -> None:
        """Raise `TimeUp` in the rules that are at work in the main thread, if any are; called by another thread."""
        if cls.ready is not None and (game := cls.ready.game) is not None and not game.asking:
            signal.pthread_kill(cls.ready.thread, signal.SIGALRM)
