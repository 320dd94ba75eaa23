"""The base class of bots, and what their authors use: a bot is one class with one method.

    class Greedy(Bot):
        '''Take the action with the best immediate outcome.'''

        depth: Annotated[int, Between(1, 9), "plies looked ahead"] = 1

        def choose(self, state):
            return self.pick(state.legal_actions())

Annotated class attributes with a default are the bot's parameters: bool, int, float or str.
"""

from __future__ import annotations

import math
import random
import typing
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from engine import Game, Parameter, State, UnsupportedError
from engine.specs import Value, refuse_times

API_VERSION = 1
"""Version of what `bots` offers to a bot: this file, `bots/__init__.py`, and the names of `engine` that bots see.

It is part of a bot's identity in place of these files' content. Raise it when a bot that stays as it is might choose
another action, be refused or fail: a name is removed, means something else, or draws from `rng` in another way. New
names, docstrings and changes that no bot can notice leave it as it is. `tests/bots/api.txt` records the version's
behaviour.
"""


class Between(NamedTuple):
    """Inclusive bounds of a number, for `Annotated[int, Between(1, 100), "what it is"]`."""

    minimum: float
    maximum: float


class OneOf(NamedTuple):
    """The only values allowed, for `Annotated[str, OneOf(("a", "b")), "what it is"]`."""

    choices: tuple[Value, ...]


class TimeFor(NamedTuple):
    """A time a move such as `20ms`, which tournaments calibrate, for `Annotated[str, TimeFor("nodes"), "what it is"]`.

    A bot that plays has the calibrated number in its parameter `number`, and need not look at the text. The parameters
    `instead_of` keep their defaults where a time is given; its own default is "".
    """

    number: str
    instead_of: tuple[str, ...] = ()


class Expectation:
    """An attribute by which a bot says what it expects of its move. What is set while it chooses belongs to that move.

    The arena takes what was set and leaves the bot its own: a bot that uses the name for something else loses nothing.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, bot: Bot | None, owner: type | None = None) -> Any:
        return self if bot is None else vars(bot).get(self.name)

    def __set__(self, bot: Bot, value: Any) -> None:
        attributes = vars(bot)
        attributes[self.name] = value
        attributes.setdefault("_given", {})[self.name] = value


class Bot(ABC):
    """A strategy for one seat of one match; a new instance plays every match.

    The arena sets `game` (a `Game`), `seat` (from 0), `seed` (an int below 2^64, the same for the same plan) and the
    parameters before `prepare` is called. Use `rng` or `seed` for every choice left to chance, and no clock:
    then the same plan gives the same matches.
    """

    name: ClassVar[str] = ""
    """The name on boards, and of built-in bots in specs too; by default the class's name.

    It is read from the source without running it, so it must be a literal string: 1 to 64 letters, digits, `_`, `-` or
    `.`. Bots in files are named by path and class in specs, and by the class in logs; submitted ones by the name under
    which they were submitted.
    """
    games: ClassVar[Collection[str] | None] = None
    """The games it plays: `midgard` with any options, or `midgard(variant=odin)`; None for every game."""
    players: ClassVar[Collection[int] | None] = None
    """Numbers of players that it plays with; None for any."""
    needs: ClassVar[Collection[str]] = ()
    """Capabilities of a game that it needs: `kernels`, `clone`, `position`."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """Made from the annotated class attributes."""

    game: Game
    seat: int
    seed: int
    note: str | None = None
    """A bot may say something about its move here while choosing; it is kept with the match (200 characters)."""
    evaluation = Expectation()
    """A bot may set this to its expected return for each seat, from -1 to 1, while choosing; kept to 1/1000."""
    line = Expectation()
    """A bot may set this to the actions that it expects, its own first, while choosing; 16 are kept.

    Chance outcomes belong to the line as actions do. None of the three changes anything in the match.
    """
    visit_counts = Expectation()
    """A search may set this, while choosing, to how often it has tried actions: `{action: count}`, for datasets."""
    search_steps = Expectation()
    """A search may set this, while choosing, to the simulations, nodes or playouts that it took; costs show it."""
    seconds_left: float = math.inf
    """Wall-clock seconds for this move, set before each `choose`; a bot that looks at it must set `timed = True`."""
    timed: bool = False
    """Whether its moves depend on a clock, set in `prepare` at the latest; its matches are then marked as timed."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("__annotations__", {})
        hints = typing.get_type_hints(cls, include_extras=True) if own else {}
        new = [_parameter(cls, name, hints[name]) for name in own if not _is_plain_attribute(cls, name, hints[name])]
        inherited = {parameter.name: parameter for parameter in cls.parameters}
        cls.parameters = tuple((inherited | {parameter.name: parameter for parameter in new}).values())
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def __init__(self, game: Game, seat: int, seed: int, params: Mapping[str, Value] | None = None) -> None:
        self.game = game
        self.seat = seat
        self.seed = seed
        for name, value in (params or {}).items():
            setattr(self, name, value)

    @cached_property
    def rng(self) -> random.Random:
        """The bot's own generator for this match."""
        return random.Random(self.seed)

    def pick(self, actions: Sequence[int]) -> int:
        """Return one of the actions, all equally likely, drawn by `rng`."""
        return actions[int(self.rng.random() * len(actions))]

    def pick_best(self, actions: Sequence[int], values: Iterable[float]) -> int:
        """Return the action of the highest value; `values` are in the order of `actions`, and `rng` breaks ties."""
        valued = list(zip(actions, values, strict=True))
        highest = max(value for _, value in valued)
        return self.pick([action for action, value in valued if value == highest])

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Return why this bot does not play that game, in words that follow its name; None when it does."""
        if cls.games is not None and not game.is_named_by(cls.games):
            return f"plays {', '.join(sorted(cls.games))}, not {game.spec}"
        if cls.players is not None and game.players not in cls.players:
            return f"plays with {', '.join(map(str, sorted(cls.players)))} players, not {game.players}"
        missing = [need for need in cls.needs if not getattr(game, need, False)]
        if missing:
            return f"needs a game with {', '.join(missing)}, which {game.name} has not"
        return None

    def prepare(self) -> None:  # noqa: B027 - not every bot prepares
        """Prepare for the match; called once, before it. Slow work belongs here. An error is an `init` fault."""

    @abstractmethod
    def choose(self, state: State) -> int:
        """Return one of `state.legal_actions()`; the state is the bot's own copy."""


def _is_plain_attribute(cls: type, name: str, hint: Any) -> bool:
    if name.startswith("_") or name in Bot.__annotations__ or typing.get_origin(hint) is ClassVar or hint is ClassVar:
        return True
    return isinstance(getattr(cls, name, None), Expectation) or not hasattr(cls, name)


def _parameter(cls: type, name: str, hint: Any) -> Parameter:
    kind, *extras = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
    default = getattr(cls, name)
    if kind not in (bool, int, float, str) or not isinstance(default, (kind, int if kind is float else kind)):
        raise TypeError(f"{cls.__name__}.{name}: a parameter must be a bool, int, float or str, its default too")
    minimum, maximum = next((extra for extra in extras if isinstance(extra, Between)), (None, None))
    choices = next((extra.choices for extra in extras if isinstance(extra, OneOf)), ())
    stands_for = next(((extra.number, *extra.instead_of) for extra in extras if isinstance(extra, TimeFor)), ())
    if stands_for and (kind, default) != (str, ""):
        raise TypeError(f"{cls.__name__}.{name}: a time must be a str with the default ''")
    help_text = next((extra for extra in extras if isinstance(extra, str)), "")
    return Parameter(name, kind, kind(default), help_text, minimum, maximum, choices, stands_for=stands_for)


def make_bot(bot_class: type[Bot], game: Game, seat: int, seed: int, params: Mapping[str, Value] | None = None) -> Bot:
    """Return a prepared bot with `params` over its defaults; raises `UnsupportedError` for a game it does not play.

    A time is refused by a `ParameterError`: tournaments calibrate it.
    """
    refusal = bot_class.refusal(game)
    if refusal is not None:
        raise UnsupportedError(f"{bot_class.name} {refusal}")
    refuse_times(bot_class.parameters, params or {}, bot_class.name)
    values = {parameter.name: parameter.default for parameter in bot_class.parameters}
    bot = made(bot_class, game, seat, seed, values | dict(params or {}))
    bot.prepare()
    return bot


def made(bot_class: type[Bot], game: Game, seat: int, seed: int, params: Mapping[str, Value]) -> Bot:
    """Return a bot before its preparations; raises `UnsupportedError` when its own constructor leaves out Bot's."""
    bot = bot_class(game, seat, seed, params)
    if isinstance(bot, Bot) and not {"game", "seat", "seed"} <= vars(bot).keys():
        raise UnsupportedError(
            f"{bot_class.__name__} has an __init__ that leaves out Bot's; put what it does into prepare(self)"
        )
    return bot


def first_decision(game: Game) -> State:
    """Return a state to warm up compiled code: the start of a match, after the first chance outcomes."""
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return state
