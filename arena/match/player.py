"""Players: bots in the seats of a match, in this process or wherever a `SeatTaker` puts them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

from arena.core.errors import ArenaError
from arena.core.limits import Limits
from arena.core.text import without_controls
from arena.match.dice import Streams
from arena.match.estimates import SEARCH_INFO_ATTRIBUTE, SearchInfo, read_search_info
from arena.match.faults import MAX_TRACEBACK_CHARS, Fault
from arena.match.views import view
from engine import Game, State
from engine.game import ILLEGAL, as_int
from engine.specs import Value

MAX_NOTE_CHARS = 200
"""Characters that are kept of a bot's note on a move."""
MAX_MATCH_NOTES_CHARS = 4000
"""Characters that are kept of all notes of a match."""


class Answer(NamedTuple):
    """What a bot gave for a move, in plain values."""

    action: int
    note: str | None
    refusal: str = ""
    """Why it is no action at all."""
    given: SearchInfo | None = None
    """What it expects, if it said so."""


class MatchView(Protocol):
    """A match as its players see it."""

    game: Game
    streams: Streams
    limits: Limits
    state: State
    movers: list[int]
    """By ply: the seat that moved, or `CHANCE`."""
    left: list[float]
    """By seat: seconds for the rest of the match."""
    finished: bool

    @property
    def moves(self) -> list[str]:
        """Every ply so far in notation."""

    @property
    def ended(self) -> str:
        """How the match ended."""

    def ranks(self) -> list[int]:
        """Return the final ranks by seat."""

    def margin(self, seat: int) -> float:
        """Return the seconds by which a seat may overrun its time for a move."""


class Player(Protocol):
    """A bot in a seat of one match; whatever its methods raise is its fault."""

    guarded: bool
    """Whether it runs here, where the referee's alarm can interrupt it; others keep to the limit by themselves."""

    def start(self, limit: float) -> None:
        """Start its process, if it is not guarded."""

    def prepare(self, limit: float) -> bool:
        """Prepare the bot for the match; return whether its moves depend on a clock."""

    def choose(self, limit: float) -> Answer:
        """Return its move in the present state of the match."""

    def cpu(self) -> float:
        """Return the seconds of processor time that its process has used since some fixed moment."""

    def between(self) -> float:
        """Return the seconds of processor time that its process has used so far between answers and questions."""

    def pause(self) -> None:
        """Return when its process is stopped, if it has one; raises `Fault`."""

    def close(self) -> None:
        """Drop the bot."""


class SeatTaker(Protocol):
    """Something that can take a seat."""

    def join(self, match: MatchView, seat: int) -> Player:
        """Return its player for a seat of a match."""


@dataclass(frozen=True)
class LocalBot:
    """A bot that plays in this process."""

    make: Callable[..., Any]
    """Makes the bot from game, seat, seed and parameters: its class, or a function."""
    params: Mapping[str, Value]
    direct: bool = False
    """Whether it is asked without alarm, heartbeat and copy of the state: a bot of ours that answers at once."""

    def join(self, match: MatchView, seat: int) -> Player:
        return LocalPlayer(self, match, seat)


def failing_bot(error: BaseException) -> LocalBot:
    """Return a bot that cannot be made: the error is its fault in each match."""

    def fail(*_: object) -> NoReturn:
        raise error

    return LocalBot(fail, {})


class ProcesslessPlayer:
    """A player that has no process to pause."""

    def between(self) -> float:
        return 0.0

    def pause(self) -> None:
        """Do nothing."""


class LocalPlayer(ProcesslessPlayer):
    """A bot in the referee's own process."""

    guarded = True

    def __init__(self, contestant: LocalBot, match: MatchView, seat: int) -> None:
        self.contestant, self.match, self.seat = contestant, match, seat
        self.bot: Any = None

    def start(self, limit: float) -> None:
        """Do nothing: this process is there."""

    def prepare(self, limit: float) -> bool:
        match = self.match
        seed = match.streams.bot_seed(self.seat)
        self.bot = self.contestant.make(match.game, self.seat, seed, self.contestant.params)
        self.bot.prepare()
        return bool(getattr(self.bot, "timed", False))

    def choose(self, limit: float) -> Answer:
        return ask_move(self.bot, view(self.match.state, self.seat), limit)

    def cpu(self) -> float:
        return time.process_time()

    def close(self) -> None:
        self.bot = None


class AbsentPlayer(ProcesslessPlayer):
    """A bot that could not take its seat."""

    guarded = False

    def __init__(self, error: BaseException) -> None:
        text = str(error) if isinstance(error, ArenaError) else "".join(traceback.format_exception(error))
        self.fault = Fault("memory" if isinstance(error, MemoryError) else "init", text[-MAX_TRACEBACK_CHARS:])

    def start(self, limit: float) -> NoReturn:
        """Raise why."""
        raise self.fault

    prepare = choose = start

    def cpu(self) -> float:
        return 0.0

    def close(self) -> None:
        """Do nothing: there is no bot."""


class FirstLegalBot:
    """A bot that plays the first legal action, for warming up."""

    def __init__(self, *_: object) -> None:
        pass

    def prepare(self) -> None:
        pass

    def choose(self, state: State) -> int:
        return state.legal_actions()[0]


def ask_move(bot: Any, state: State, limit: float) -> Answer:
    """Ask a bot for a move and read its answer; all of this may run the bot's code."""
    bot.seconds_left = limit
    take_search_info(bot)  # of earlier moves, or of its preparations
    chosen = bot.choose(state)
    note = getattr(bot, "note", None)
    if note is not None:
        bot.note = None
        note = clean_note(note)
    try:
        action = chosen if type(chosen) is int else as_int(chosen)
    except TypeError:
        return Answer(ILLEGAL, note, str(state.refuse(chosen)))
    given = take_search_info(bot)
    return Answer(action, note, "", read_search_info(given, action, state) if given else None)


def take_search_info(bot: Any) -> dict[str, object] | None:
    """Return what a bot has given by its attributes since the last time, by their names, and forget it."""
    try:
        given = vars(bot).pop(SEARCH_INFO_ATTRIBUTE, None)
    except Exception:  # it hides its attributes
        return None
    return given if type(given) is dict else None


def clean_note(note: object) -> str | None:
    """Return the part of a bot's note that is kept."""
    if not isinstance(note, str):
        return None
    plain = str.__getitem__(note, slice(MAX_NOTE_CHARS))  # a subclass of the bot's own could hand out anything
    return without_controls(plain).replace("\n", " ")
