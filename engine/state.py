"""Games with kernels: one generic state over plain words, advanced by one compiled call per ply."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.errors import NotationError
from engine.game import CHANCE, ILLEGAL, TERMINAL, Game, State, as_int, shown
from engine.game_types import GameType

LARGEST = 2**63 - 1
"""Numba would compile the rules anew for a larger number, or fail."""
_bound: dict[tuple[str, str], SimpleNamespace] = {}


def bound_rules(game_type: GameType, dtype: np.dtype) -> SimpleNamespace:
    """Return the compiled entry points of a game for one size of its record."""
    from engine import play  # with Numba, whose import takes half a second
    from engine.kernel import bind

    key = (game_type.package, str(dtype.descr))
    if key not in _bound:
        _bound[key] = bind(play, game_type.module("rules"), dtype)
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

    @cached_property
    def action_numbers(self) -> dict[str, int]:
        return {text: action for action, text in enumerate(self.text.ACTIONS)}

    @cached_property
    def outcome_numbers(self) -> dict[str, int]:
        return {text: outcome for outcome, text in enumerate(self.text.OUTCOMES)}

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
        self._legal = game.action_buffer[:count].tolist()

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

    def rolling_seat(self) -> int:
        return int(self.game.compiled.whose_roll(self._words))

    def legal_actions(self) -> list[int]:
        return self._legal.copy()

    def chance_outcomes(self) -> list[tuple[int, int]]:
        if self._who != CHANCE:
            return []
        game = self.game
        count = game.compiled.list_outcomes(self._words, game.outcome_buffer, game.weight_buffer)
        return list(zip(game.outcome_buffer[:count].tolist(), game.weight_buffer[:count].tolist(), strict=True))

    def apply_action(self, action: int) -> None:
        game = self.game
        try:
            if type(action) is not int:
                action = as_int(action)
            if not 0 <= action <= LARGEST:
                who = ILLEGAL
            elif self._who >= 0:
                who, count = game.compiled.step(self._words, action, game.action_buffer)
            elif self._who == CHANCE:
                who, count = game.compiled.roll(
                    self._words, action, game.outcome_buffer, game.weight_buffer, game.action_buffer
                )
            else:
                who = ILLEGAL
        except (TypeError, OverflowError):
            who = ILLEGAL
        if who == ILLEGAL:
            raise self.refuse(action)
        self._history.append(action)
        self._who = who
        self._legal = game.action_buffer[:count].tolist()

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
        out = np.zeros(self.game.players, np.int64)
        ending = self.game.compiled.final_ranks(self._words, out)
        return out.tolist(), self.game.rules.ENDINGS[ending]

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

    def svg(self) -> str:
        return self.game.type.module("drawing").svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<{self.game.spec}: {self.position}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.game, self._words, self._history, self._origin)


def _restore(game: KernelGame, words: np.ndarray, history: list[int], origin: str | None) -> KernelState:
    state = KernelState(game, words, origin)
    state._history = history
    return state
