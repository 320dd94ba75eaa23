"""Games with kernels: one generic state over plain words, advanced by one compiled call per ply."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import NotationError, ParameterError, UnsupportedError
from engine.game import CHANCE, ILLEGAL, TERMINAL, Game, State, as_int, shown
from engine.game_types import GameType
from engine.words import Names, Sentence, with_winner

if TYPE_CHECKING:
    from engine.observation import ObservationSpec

MAX_CACHED_CHANCES = 1000
"""Lists of outcomes and weights that a game keeps."""
_bound: dict[tuple[str, str], SimpleNamespace] = {}


def bound_rules(game_type: GameType, dtype: np.dtype) -> SimpleNamespace:
    """Return the compiled entry points of a game for one size of its record."""
    from engine import play  # with Numba, whose import takes half a second
    from engine.kernel import bind

    key = (game_type.package, str(dtype.descr))
    if key not in _bound:
        _bound[key] = bind(play, game_type.module("rules"), dtype)
    return _bound[key]


def bound_observation(game_type: GameType, dtype: np.dtype) -> SimpleNamespace:
    """Return the compiled `engine.observation_kernel` of a game for one size of its record."""
    from engine import observation_kernel  # as in `bound_rules`
    from engine.kernel import bind

    key = (f"{game_type.package}.observation", str(dtype.descr))
    if key not in _bound:
        observe = game_type.module("observation").observe
        _bound[key] = bind(observation_kernel, game_type.module("rules"), dtype, observe=observe)
    return _bound[key]


class Fields(np.record):  # type: ignore[misc]  # its base is final in NumPy's stubs alone
    """A record whose fields are read and written by `np.void`, in a third of the time that `np.record` takes."""

    __getattribute__ = np.void.__getattribute__
    __getitem__ = np.void.__getitem__  # type: ignore[assignment]  # its overloads differ

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except ValueError:
            raise AttributeError(f"no field of the record is called {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self[name] = value
        except ValueError:
            if name in (self.dtype.names or ()):
                raise
            raise AttributeError(f"no field of the record is called {name!r}") from None


class KernelGame(Game):
    """A game whose rules are kernels over a record; Numba is imported and the rules compiled on first use."""

    kernels = True
    position = True

    @cached_property
    def rules(self) -> Any:
        return self.type.module("rules")

    @cached_property
    def text(self) -> Any:
        return self.type.module("text")

    @cached_property
    def dtype(self) -> np.dtype:
        return self.rules.state_dtype(self.params)

    @cached_property
    def _fields(self) -> np.dtype:
        return np.dtype((Fields, self.dtype))

    @cached_property
    def compiled(self) -> SimpleNamespace:
        """The entry points of `engine.play`, bound to this game."""
        return bound_rules(self.type, self.dtype)

    @cached_property
    def action_buffer(self) -> np.ndarray:
        return np.zeros(self.rules.MAX_ACTIONS, np.int64)

    @cached_property
    def outcome_buffer(self) -> np.ndarray:
        return np.zeros(self.rules.MAX_OUTCOMES, np.int64)

    @cached_property
    def weight_buffer(self) -> np.ndarray:
        return np.zeros(self.rules.MAX_OUTCOMES, np.int64)

    def _entry(self, name: str, *arguments: Any) -> Any:
        from engine.kernel import entry_point  # with Numba, as in `bound_rules`

        return entry_point(getattr(self.compiled, name), self.blank(), *arguments)

    @cached_property
    def step(self) -> Callable[[np.ndarray, int, np.ndarray], tuple[int, int]]:
        """`engine.play.step`; it raises `OverflowError` for an action that is no 64-bit number."""
        return self._entry("step", 0, self.action_buffer)

    @cached_property
    def roll(self) -> Callable[..., tuple[int, int]]:
        """`engine.play.roll`, likewise."""
        return self._entry("roll", 0, self.outcome_buffer, self.weight_buffer, self.action_buffer)

    @cached_property
    def list_outcomes(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], int]:
        """`engine.play.list_outcomes`."""
        return self._entry("list_outcomes", self.outcome_buffer, self.weight_buffer)

    @cached_property
    def whose_roll(self) -> Callable[[np.ndarray], int]:
        """`engine.play.whose_roll`."""
        return self._entry("whose_roll")

    @cached_property
    def final_ranks(self) -> Callable[[np.ndarray, np.ndarray], int]:
        """`engine.play.final_ranks`."""
        return self._entry("final_ranks", self.rank_buffer)

    @cached_property
    def rank_buffer(self) -> np.ndarray:
        return np.zeros(self.players, np.int64)

    @cached_property
    def listed(self) -> list[Callable[[], list[int]]]:
        """By their number: what lists the actions that are in `action_buffer`."""
        return [self.action_buffer[:count].tolist for count in range(self.action_buffer.size + 1)]

    @cached_property
    def known_chances(self) -> dict[bytes, tuple[list[int], list[int]]]:
        """Lists of `State.chances` that were made before."""
        return {}

    @cached_property
    def own_words(self) -> Any:
        """The game's module `words`; None where it has none."""
        return self.type.module("words") if find_spec(f"{self.type.package}.words") else None

    @cached_property
    def _observation(self) -> Any:
        if find_spec(f"{self.type.package}.observation") is None:
            raise UnsupportedError(f"{self.name} has no observations")
        return self.type.module("observation")

    @cached_property
    def _observation_spec(self) -> ObservationSpec:
        return self._observation.spec(self.players, self.params)

    def observation_spec(self) -> ObservationSpec:
        return self._observation_spec

    @cached_property
    def observe(self) -> Callable[[np.ndarray, int, np.ndarray], None]:
        """The kernel that writes what a seat sees of a state's words, bound to this game."""
        from engine.kernel import entry_point  # as in `_entry`

        bound = bound_observation(self.type, self.dtype)
        return entry_point(bound.observe_words, self.blank(), 0, np.zeros(0, np.float32))

    @cached_property
    def action_numbers(self) -> dict[str, int]:
        return {text: action for action, text in enumerate(self.text.ACTIONS)}

    @cached_property
    def outcome_numbers(self) -> dict[str, int]:
        return {text: outcome for outcome, text in enumerate(self.text.OUTCOMES)}

    def words(self, movers: Iterable[int], actions: Iterable[int]) -> list[str]:
        """Return plies in notation; `movers` are seats or `CHANCE`."""
        names, outcomes = self.text.ACTIONS, self.text.OUTCOMES
        return [
            outcomes[action] if mover == CHANCE else names[action]
            for mover, action in zip(movers, actions, strict=False)
        ]

    @cached_property
    def _start(self) -> KernelState:
        words = self.blank()
        self.rules.set_up(self.record(words), self.players, self.params)
        return KernelState(self, words)

    def blank(self) -> np.ndarray:
        """Return the words of a record with every field 0."""
        return np.zeros(self.dtype.itemsize // 8, np.uint64)

    def record(self, words: np.ndarray) -> np.record:
        """Return the game's record over those words; writing to it writes to them."""
        return words.view(self._fields)[0]

    def new_initial_state(self) -> KernelState:
        return self._start.clone()

    def state_from_position(self, text: str) -> KernelState:
        words = self.blank()
        self.text.read_position(self, self.record(words), text)
        return KernelState(self, words, text)


class KernelState(State):
    """A state of a game with kernels. Not for sharing between threads: all its states use a game's buffers."""

    __slots__ = ("_legal", "_origin", "_who", "_words")

    game: KernelGame

    def __init__(self, game: KernelGame, words: np.ndarray, origin: str | None = None) -> None:
        self.game = game
        self._words = words
        self._origin = origin
        self._history = []
        self._who, count = game.compiled.look(words, game.action_buffer)
        self._legal = game.listed[count]()

    @property
    def words(self) -> np.ndarray:
        """The state as kernels take it: uint64 words, not to be written to."""
        return self._words

    @property
    def record(self) -> np.record:
        """The state as the game's record, for notation and drawings."""
        return self.game.record(self._words)

    def current_player(self) -> int:
        return self._who

    def is_terminal(self) -> bool:
        return self._who == TERMINAL

    def is_chance_node(self) -> bool:
        return self._who == CHANCE

    def rolling_seat(self) -> int:
        return int(self.game.whose_roll(self._words))

    def legal_actions(self) -> list[int]:
        return self._legal.copy()

    def chance_outcomes(self) -> list[tuple[int, int]]:
        if self._who != CHANCE:
            return []
        outcomes, weights = self._chances()
        return list(zip(outcomes.tolist(), weights.tolist(), strict=True))

    def chances(self) -> tuple[list[int], list[int]]:
        if self._who != CHANCE:
            return [], []
        outcomes, weights = self._chances()
        known, key = self.game.known_chances, outcomes.tobytes() + weights.tobytes()
        if key not in known:
            if len(known) >= MAX_CACHED_CHANCES:
                known.clear()
            known[key] = outcomes.tolist(), weights.cumsum().tolist()
        return known[key]

    def _chances(self) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and weights at a chance node, in buffers of the game."""
        game = self.game
        count = game.list_outcomes(self._words, game.outcome_buffer, game.weight_buffer)
        return game.outcome_buffer[:count], game.weight_buffer[:count]

    def apply_action(self, action: int) -> None:
        game = self.game
        try:
            if type(action) is not int:
                action = as_int(action)
            if self._who >= 0:
                who, count = game.step(self._words, action, game.action_buffer)
            elif self._who == CHANCE:
                who, count = game.roll(self._words, action, game.outcome_buffer, game.weight_buffer, game.action_buffer)
            else:
                who = ILLEGAL
        except (TypeError, OverflowError):
            who = ILLEGAL
        if who == ILLEGAL:
            raise self.refuse(action)
        self._history.append(action)
        self._who = who
        self._legal = game.listed[count]()

    def action_to_string(self, action: int) -> str:
        names = self.game.text.OUTCOMES if self._who == CHANCE else self.game.text.ACTIONS
        if not 0 <= action < len(names):
            raise NotationError(f"{shown(action)} is not the number of an action of {self.game.name}")
        return names[action]

    def string_to_action(self, text: str) -> int:
        chance = self._who == CHANCE
        numbers = self.game.outcome_numbers if chance else self.game.action_numbers
        try:
            return numbers[text]
        except (KeyError, TypeError):
            kind = "a chance outcome" if chance else "an action"
            example = next(iter(numbers))
            raise NotationError(f"{shown(text)} is not {kind} of {self.game.name}; an example is '{example}'") from None

    def scores(self) -> list[int] | None:
        if self.game.type.score_unit is None:
            return None
        out = np.zeros(self.game.players, np.int64)
        self.game.compiled.read_scores(self._words, out)
        return out.tolist()

    def ranks(self) -> list[int]:
        return self._result()[0]

    @property
    def ended(self) -> str:
        return self._result()[1] if self._who == TERMINAL else ""

    def _result(self) -> tuple[list[int], str]:
        if self._who != TERMINAL:
            raise self.too_early()
        game = self.game
        ending = game.final_ranks(self._words, game.rank_buffer)
        return game.rank_buffer.tolist(), game.rules.ENDINGS[ending]

    def clone(self) -> KernelState:
        state = object.__new__(KernelState)
        state.game = self.game
        state._words = self._words.copy()
        state._origin = self._origin
        state._who = self._who
        state._legal = self._legal
        state._history = self._history.copy()
        return state

    @property
    def position(self) -> str:
        return self.game.text.write_position(self.game, self.record)

    @property
    def origin(self) -> str | None:
        return self._origin

    @property
    def key(self) -> Hashable:
        """The position and how the match ended, and while it runs what the game's `text.memory(record)` adds."""
        memory = getattr(self.game.text, "memory", None)
        return self.position, self.ended, memory(self.record) if memory and self._who != TERMINAL else None

    def __str__(self) -> str:
        return self.game.text.draw(self)

    def svg(self, *, names: Sequence[str] | None = None, narrow: bool = False) -> str:
        return self.picture(names=names, narrow=narrow)

    def picture(self, *, names: Sequence[str] | None = None, narrow: bool = False) -> str:
        drawing = self.game.type.module("drawing")
        if not hasattr(drawing, "picture"):
            return drawing.svg(self)
        if names is not None and len(names) != self.game.players:
            raise ParameterError(f"{self.game.players} players have {self.game.players} names, not {len(names)}")
        return drawing.picture(self, tuple(names or map(seat_name, range(self.game.players))), narrow)

    def targets(self) -> dict[int, tuple[str, ...]] | None:
        if self._who < 0 or find_spec(f"{self.game.type.package}.targets") is None:
            return None
        return self.game.type.module("targets").targets(self)

    def parts(self, action: int) -> tuple[str, ...] | None:
        if self._who < 0 or find_spec(f"{self.game.type.package}.targets") is None:
            return None
        targets = self.game.type.module("targets")
        return targets.parts(self, action) if hasattr(targets, "parts") else super().parts(action)

    def reason(self, parts: tuple[str, ...], names: Names | None = None) -> str | None:
        if find_spec(f"{self.game.type.package}.reasons") is None:
            return None
        return self.game.type.module("reasons").reason(self, parts, names or Names.of_colours(self.game.players))

    def prompt(self, names: Names | None = None, chosen: Sequence[str] = ()) -> Sentence:
        own = self.game.own_words
        if own is None or self._who == TERMINAL:
            return super().prompt(names, chosen)
        return own.prompt(self, names or Names.of_colours(self.game.players), tuple(chosen))

    def tell(self, action: int, names: Names | None = None, after: State | None = None) -> Sentence:
        own = self.game.own_words
        if own is None:
            return super().tell(action, names, after)
        after = after or self.child(action)
        return own.tell(self, as_int(action), after, names or Names.of_colours(self.game.players))

    def verdict(self, seat: int | None = None, names: Names | None = None) -> Sentence:
        own = self.game.own_words
        if own is None or self._who != TERMINAL:
            return super().verdict(seat, names)
        names = names or Names.of_colours(self.game.players)
        return with_winner(own.verdict(self, seat, names), self.ranks(), seat, names)

    def write_observation(self, seat: int, out: np.ndarray) -> None:
        self.game.observe(self._words, seat, out)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<{self.game.spec}: {self.position}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.game, self._words, self._history, self._origin)


def seat_name(seat: int) -> str:
    """Return what a seat is called where its player has no name."""
    return f"seat {seat}"


def _restore(game: KernelGame, words: np.ndarray, history: list[int], origin: str | None) -> KernelState:
    state = KernelState(game, words, origin)
    state._history = history
    return state
