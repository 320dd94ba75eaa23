"""Games and states: one set of verbs for all games, compiled or in plain Python."""

from __future__ import annotations

import itertools
import operator
import reprlib
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from engine.errors import EngineError, IllegalActionError, NotationError, ParameterError, UnsupportedError
from engine.game_types import Bounds, Credit, GameType
from engine.registry import game_type
from engine.serialization import Record, read_record, write_record
from engine.specs import Value, split_game_spec
from engine.words import Names, Sentence, following, plain_prompt, plain_told, plain_verdict

if TYPE_CHECKING:
    import random

    import numpy as np

    from engine.observation import ObservationSpec

CHANCE = -1
TERMINAL = -4
ILLEGAL = -9
NOBODY = -1


class Game(ABC):
    """A game with its options and number of players fixed."""

    kernels: ClassVar[bool] = False
    clone: ClassVar[bool] = True
    position: ClassVar[bool] = False

    def __init__(self, game_type: GameType, players: int, params: Mapping[str, Value]) -> None:
        self.type = game_type
        self.players = players
        self.params = MappingProxyType(dict(params))

    @property
    def name(self) -> str:
        return self.type.name

    @property
    def spec(self) -> str:
        """The canonical spec, `name(key=value,...)`; players are not part of it."""
        return self.type.spec(self.params)

    def is_named_by(self, specs: Iterable[str]) -> bool:
        """Return whether one of these specs names the game; options that a spec leaves out may be any."""
        return any(self._has(*split_game_spec(spec)) for spec in specs)

    def _has(self, name: str, options: Mapping[str, str]) -> bool:
        wanted = self.type.resolve(options) if name == self.name else {}
        return name == self.name and all(self.params[option] == wanted[option] for option in options)

    @property
    def num_distinct_actions(self) -> int:
        """The number of actions, which are the ints from 0 on."""
        return self.type.num_distinct_actions

    @property
    def credit(self) -> Credit:
        return self.type.credit

    @property
    def explicit_chance(self) -> bool:
        """Whether some options give the game chance nodes; `has_chance` tells it for these options."""
        return self.type.explicit_chance

    @cached_property
    def bounds(self) -> Bounds:
        """How far a match can go; raises `UnsupportedError` when the game does not say."""
        if self.type.bounds is None:
            raise UnsupportedError(f"{self.name} does not tell how far its matches can go")
        return self.type.bounds(self.players, self.params)

    @property
    def has_chance(self) -> bool:
        """Whether a match can have a chance node, the set-up's included; True as well when the game does not say."""
        return self.explicit_chance and (self.type.bounds is None or self.bounds.max_chance_nodes > 0)

    @property
    def max_game_length(self) -> int:
        """The most actions of players in a match; chance outcomes are not counted."""
        return self.bounds.max_game_length

    @property
    def max_chance_nodes(self) -> int:
        """The most chance outcomes in a match."""
        return self.bounds.max_chance_nodes

    @property
    def max_chance_outcomes(self) -> int:
        """The most outcomes that a chance node can have."""
        return self.bounds.max_chance_outcomes

    @property
    def min_utility(self) -> float:
        """The smallest return of a seat."""
        return self.bounds.min_utility

    @property
    def max_utility(self) -> float:
        """The largest return of a seat."""
        return self.bounds.max_utility

    @property
    def perfect_information(self) -> bool:
        return self.type.perfect_information

    @property
    def default_opening(self) -> str:
        """The opening a tournament uses when its plan names none: `none` or `random:k`."""
        return self.type.default_opening(self.params)

    @abstractmethod
    def new_initial_state(self) -> State:
        """Return the state before anything has happened."""

    def state_from_position(self, text: str) -> State:
        """Return the state of a position string; raises `PositionError`, or `UnsupportedError` without positions."""
        raise UnsupportedError(f"{self.name} has no position strings")

    def observation_spec(self) -> ObservationSpec:
        """Return the layout of `State.observe`; raises `UnsupportedError` when the game has no observations."""
        raise UnsupportedError(f"{self.name} has no observations")

    def deserialize_state(self, text: str) -> State:
        """Return the state of this game that `State.serialize` wrote; raises an `EngineError` for anything else."""
        record = read_record(text)
        self._check_owner(record)
        state = self.new_initial_state() if record.position is None else self.state_from_position(record.position)
        for ply, action in enumerate(record.history):
            try:
                state.apply_action(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"history, entry {ply}: {error}") from None
        return state

    def _check_owner(self, record: Record) -> None:
        """Raise an `EngineError` unless the record is of this game, its options and its rules."""
        name, options = split_game_spec(record.game)
        spec = self.type.spec(self.type.resolve(options)) if name == self.name else shown(name)
        if (spec, record.players) != (self.spec, self.players):
            raise NotationError(f"the state is one of <{spec} for {record.players}>, not of {self!r}")
        if record.rules_version != self.type.rules_version:
            raise NotationError(
                f"the state is of rules version {record.rules_version} of {name}; here is {self.type.rules_version}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and (self.spec, self.players) == (other.spec, other.players)

    def __hash__(self) -> int:
        return hash((self.spec, self.players))

    def __repr__(self) -> str:
        return f"<{self.spec} for {self.players}>"

    def __reduce__(self) -> tuple[Callable[..., Game], tuple[str, int, type[Game] | None]]:
        return _unpickle, (self.spec, self.players, None if self.type.factory else type(self))


def _unpickle(spec: str, players: int, kind: type[Game] | None) -> Game:
    """Make a pickled game again, of the game type of that name in this process."""
    options = split_game_spec(spec)[1]
    known = game_type(spec)
    make = kind or known.factory
    assert make is not None
    return make(known, players, known.resolve(options))


def returns_from_ranks(ranks: Sequence[int]) -> list[float]:
    """Return utilities in [-1, 1]: a seat that beats b of n seats and is beaten by w gets (b - w)/(n - 1).

    Ranks in reverse give exactly the negatives. The numerators add up to 0; the floats do but for rounding.
    """
    others = max(len(ranks) - 1, 1)
    return [(sum(rank > mine for rank in ranks) - sum(rank < mine for rank in ranks)) / others for mine in ranks]


def rolled(outcomes: Sequence[int], sums: Sequence[int], rng: random.Random) -> int:
    """Return an outcome by weight, of what `State.chances` returns, by one `rng.random()`."""
    return outcomes[bisect_right(sums, int(rng.random() * sums[-1]))]


class State(ABC):
    """One position of a match, with OpenSpiel's verbs. It checks what it is asked; kernels below it trust.

    `copy.copy` and `copy.deepcopy` are `clone`. States are equal when their games and their keys are; `hash` agrees.
    A state changes when an action is applied, and its hash with it: keep clones, or `key`, in sets and dicts.
    """

    __slots__ = ("_history", "game")

    game: Game
    _history: list[int]

    @abstractmethod
    def current_player(self) -> int:
        """Return the seat to move, `CHANCE` or `TERMINAL`."""

    @abstractmethod
    def legal_actions(self) -> list[int]:
        """Return the legal actions, ascending; none at chance nodes and at the end."""

    @abstractmethod
    def chance_outcomes(self) -> list[tuple[int, int]]:
        """Return (outcome, integer weight) in the order of the rules pages; none where nothing is rolled."""

    def chances(self) -> tuple[list[int], list[int]]:
        """Return outcomes and the sums of weights up to each, not to be written to; none where nothing is rolled."""
        pairs = self.chance_outcomes()
        return [outcome for outcome, _ in pairs], [*itertools.accumulate(weight for _, weight in pairs)]

    @abstractmethod
    def apply_action(self, action: int) -> None:
        """Play an action or a chance outcome; raises `IllegalActionError` and changes nothing if it is not legal."""

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """Return an action, or at a chance node an outcome, in the game's notation."""

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """Read what `action_to_string` writes; raises `NotationError` for anything else."""

    @abstractmethod
    def ranks(self) -> list[int]:
        """Return each seat's final place counted from 0; those who tie share the better one. Only after the end."""

    @property
    @abstractmethod
    def ended(self) -> str:
        """How the match ended: `normal`, `cap`, `repetition`, `full board`; empty while it runs."""

    @abstractmethod
    def clone(self) -> State:
        """Return an independent copy."""

    def rolling_seat(self) -> int:
        """Return the seat whose roll it is at a chance node, -1 for the set-up."""
        return NOBODY

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def scores(self) -> list[int] | None:
        """Return each seat's score in the game's own unit, at any time; None for a game without one."""
        return None

    def utilities(self) -> list[float] | None:
        """Return what the game itself gives each seat, in its own terms; only after the end.

        None for a game without utilities of its own (`GameType.own_utilities`), whose utilities are the returns.
        """
        return None

    def returns(self) -> list[float]:
        """Return the utility of each seat in [-1, 1], summing to 0 (see `returns_from_ranks`); only after the end."""
        return returns_from_ranks(self.ranks())

    def child(self, action: int) -> State:
        """Return the state after an action; this one stays as it is."""
        state = self.clone()
        state.apply_action(action)
        return state

    def playout(self, rng: random.Random, played: set[tuple[int, int]] | None = None) -> list[float]:
        """Return each seat's return after random play from here to the end; the state itself stays as it is.

        Legal actions are equally likely, chance outcomes by weight, with one `rng.random()` a ply. Every (seat, action)
        that is made is added to `played`, if it is given. A game may override this to be faster, with the same results.
        """
        state = self.clone()
        while True:
            if actions := state.legal_actions():
                action = actions[int(rng.random() * len(actions))]
                if played is not None:
                    played.add((state.current_player(), action))
                state.apply_action(action)
            elif (chances := state.chances())[0]:
                state.apply_action(rolled(*chances, rng))
            else:
                return state.returns()

    def history(self) -> list[int]:
        """Return the actions and chance outcomes since the state was made."""
        return list(self._history)

    @property
    def origin(self) -> str | None:
        """The position string that the state was made from; None for the start and in games without positions."""
        return None

    @property
    def key(self) -> Hashable:
        """A value that is equal for states of one game that are the same and play on alike, in every process.

        The position where the game has one, else the history. A game whose position string leaves out what decides
        the rest of a match, such as how often positions have occurred, adds that.
        """
        return self.position if self.game.position else tuple(self._history)

    def legal_actions_mask(self) -> np.ndarray:
        """Return bools, (num_distinct_actions,), True for legal actions; all False at chance nodes and at the end."""
        import numpy as np  # slow to import, and seldom needed here

        mask = np.zeros(self.game.num_distinct_actions, np.bool_)
        mask[self.legal_actions()] = True
        return mask

    def serialize(self) -> str:
        """Return the state as one line of text: game, players, position it was made from, history."""
        game = self.game
        return write_record(Record(game.spec, game.type.rules_version, game.players, self.origin, self.history()))

    def __copy__(self) -> State:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.clone()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self is other or (self.game == other.game and self.key == other.key)

    def __hash__(self) -> int:
        return hash((self.game, self.key))

    @property
    def position(self) -> str:
        raise UnsupportedError(f"{self.game.name} has no position strings")

    def svg(self) -> str:
        raise UnsupportedError(f"{self.game.name} has no drawing")

    def picture(self, *, names: Sequence[str] | None = None, narrow: bool = False) -> str:
        """Return the drawing with the players' names, `seat 0` and so on by default, wide or for a narrow screen.

        A game that draws neither gives its `svg`, which is the wide drawing without names.
        """
        return self.svg()

    def targets(self) -> dict[int, tuple[str, ...]] | None:
        """Return for every legal action the parts of the drawing (`data-part`) to click in order; None if none.

        No two actions have the same parts, and those of one are never the first ones of another.
        """
        return None

    def parts(self, action: int) -> tuple[str, ...] | None:
        """Return the parts that an action's number stands for here, legal or not; None where that is not known.

        For a legal action those of `targets`. For games with reasons to override, so that moves in notation have them.
        """
        return (self.targets() or {}).get(action)

    def why_illegal(self, parts: Sequence[str], names: Names | None = None) -> str | None:
        """Return in one sentence why the first of these parts that cannot be clicked, after those before it, cannot.

        None when all of them can, when those before it are an action already, and where the game gives no reason.
        """
        sequences = list((self.targets() or {}).values())
        for length in range(1, len(parts) + 1 if sequences else 0):
            begun = tuple(parts[:length])
            if begun in sequences:
                return None
            if not any(sequence[:length] == begun for sequence in sequences):
                return self.reason(begun, names)
        return None

    def reason(self, parts: tuple[str, ...], names: Names | None = None) -> str | None:
        """Return why the last of these parts cannot be clicked, though those before it can; None where nothing is said.

        For games with targets to override, called by `why_illegal`. The last part may be any text; `names` are what
        the players are called, where they are called anything.
        """
        return None

    def prompt(self, names: Names | None = None, chosen: Sequence[str] = ()) -> Sentence:
        """Return what is to be decided now, or who rolls what, and the parts of the drawing that can be clicked for it.

        `chosen` are the parts clicked so far, where an action has several: what is to be clicked next. Those that lead
        to no action are left out. For games with words to override; others are told by seat and notation.
        """
        names = names or Names.of_seats(self.game.players)
        parts = following(self.targets(), chosen)[1]
        return plain_prompt(self.current_player(), self.rolling_seat(), names, parts)

    def tell(self, action: int, names: Names | None = None, after: State | None = None) -> Sentence:
        """Return what an action or a chance outcome does here, and which pieces it moves.

        `after` is the state that it leads to, for a caller who has it. Raises `IllegalActionError` for what cannot
        happen here. For games with words to override.
        """
        notation, names = self.action_to_string(self.checked(action)), names or Names.of_seats(self.game.players)
        return plain_told(self.current_player(), self.rolling_seat(), names, notation)

    def verdict(self, seat: int | None = None, names: Names | None = None) -> Sentence:
        """Return how the match ended for a seat, and the rule that decided; without a seat, who won.

        Only after the end. It is the result of the moves: what a referee ruled, as of a seat that forfeited, it does
        not know. For games with words to override.
        """
        if not self.is_terminal():
            raise self.too_early()
        return plain_verdict(self.ranks(), self.ended, seat, names or Names.of_seats(self.game.players))

    def observe(self, seat: int | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return what a seat sees, float32, shape (observation_spec().size,); `None` is the seat to move.

        `out` is written and returned when it is given. Raises `UnsupportedError` when the game has no observations, and
        at a chance node or the end without a seat; `ParameterError` for a seat or an `out` that does not fit.
        """
        import numpy as np  # as in `legal_actions_mask`

        game = self.game
        size = game.observation_spec().size
        if seat is None:
            seat = self.current_player()
            if seat < 0:
                raise UnsupportedError("nobody is to move here; say which seat observes")
        elif isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < game.players:
            raise ParameterError(f"{shown(seat)} is not a seat from 0 to {game.players - 1}")
        if out is None:
            out = np.empty(size, np.float32)
        elif not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.shape != (size,):
            raise ParameterError(f"out must be an array of float32, shape ({size},)")
        self.write_observation(int(seat), out)
        return out

    def write_observation(self, seat: int, out: np.ndarray) -> None:
        """Write what a seat sees, all of `out`; for games with observations to override, called by `observe`."""
        raise UnsupportedError(f"{self.game.name} has no observations")

    def too_early(self) -> EngineError:
        """Return the error for asking a result of a running match."""
        return UnsupportedError("the match is not over; ranks and returns come after its end")

    def checked(self, action: object) -> int:
        """Return the action or chance outcome as an int; raises `IllegalActionError` when it cannot happen here."""
        possible = [outcome for outcome, _ in self.chance_outcomes()] or self.legal_actions()
        try:
            number = as_int(action)
        except TypeError:
            raise self.refuse(action) from None
        if number not in possible:
            raise self.refuse(action)
        return number

    def refuse(self, action: object) -> EngineError:
        """Return the error that says what was tried and what is legal, whatever a bot may have returned."""
        if self.is_terminal():
            return IllegalActionError(f"{shown(action)} was tried, but the match is over")
        if self.is_chance_node():
            return IllegalActionError(f"{shown(action)} is not a chance outcome that can happen here")
        try:
            as_int(action)
        except TypeError:
            numbers = " ".join(f"{legal} ({self.action_to_string(legal)})" for legal in self.legal_actions())
            return IllegalActionError(
                f"{shown(action)} is no action: actions are whole numbers; for seat {self.current_player()} "
                f"legal: {numbers}"
            )
        legal = " ".join(self.action_to_string(legal) for legal in self.legal_actions())
        known = type(action) is int and 0 <= action < self.game.num_distinct_actions
        tried = self.action_to_string(action) if known else shown(action)  # type: ignore[arg-type]  # an int when it is known
        return IllegalActionError(f"{tried} is not legal for seat {self.current_player()}; legal: {legal}")


def as_int(action: object) -> int:
    """Return an int, also for NumPy's whole numbers, but for no bool; raises `TypeError` for anything else."""
    if isinstance(action, bool):
        raise TypeError("True and False are no actions")
    try:
        return int(operator.index(action))  # type: ignore[arg-type]  # refuses what is no number
    except Exception as error:
        raise TypeError(f"{shown(action)} is no whole number") from error


def shown(thing: object) -> str:
    """Return one short line for any object, even one that cannot be written."""
    try:
        return " ".join(reprlib.repr(thing).split())
    except Exception:
        return f"an object of type {type(thing).__name__}"
