"""Games and states of OpenSpiel with the verbs of ours."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from arena.interop.openspiel.drawing import as_drawing, with_board
from arena.interop.openspiel.positions import play_plies, write_plies
from engine.errors import NotationError, UnsupportedError
from engine.game import CHANCE, TERMINAL, Game, State, rolled, shown
from engine.game_types import GameType
from engine.specs import Value

MAX_DENOMINATOR = 100_000
"""Largest denominator of a probability: fractions up to it differ by 1e-10 and more."""
PROBABILITY_TOLERANCE = 1e-12
"""Most by which a probability may differ from its fraction, for rounding."""
NUMBER_MARK = "~"
"""Begins the number of an action in words that the name alone does not tell apart."""


class OpenSpielGame(Game):
    """A game of OpenSpiel with its parameters and number of players fixed."""

    position = True

    def __init__(self, game_type: GameType, players: int, params: Mapping[str, Value], native: Any) -> None:
        super().__init__(game_type, players, params)
        self.native = native
        """The game as `pyspiel` has it."""
        self._weights: dict[tuple[float, ...], list[int]] = {}

    @property
    def num_distinct_actions(self) -> int:
        return int(self.native.num_distinct_actions())

    def new_initial_state(self) -> OpenSpielState:
        return OpenSpielState(self, self.native.new_initial_state())

    def state_from_position(self, text: str) -> OpenSpielState:
        state = self.new_initial_state()
        play_plies(state, text)
        state._before, state._history = tuple(state._history), []
        return state

    def weights(self, probabilities: Sequence[float]) -> list[int]:
        """Return `whole_weights`, of lists met before as they were then."""
        key = tuple(probabilities)
        if key not in self._weights:
            self._weights[key] = whole_weights(key)
        return self._weights[key]


def whole_weights(probabilities: Sequence[float]) -> list[int]:
    """Return the smallest whole numbers in exactly these proportions.

    Raises `UnsupportedError` unless the probabilities add up to 1 and are, but for rounding, fractions with a
    denominator of at most `MAX_DENOMINATOR`.
    """
    parts = [Fraction(each).limit_denominator(MAX_DENOMINATOR) for each in probabilities]
    if sum(parts) != 1 or any(
        abs(part - each) > PROBABILITY_TOLERANCE for part, each in zip(parts, probabilities, strict=True)
    ):
        raise UnsupportedError(
            f"chance outcomes with probabilities {shown(list(probabilities))}, "
            f"which are no fractions with a denominator of at most {MAX_DENOMINATOR:,} that add up to 1"
        )
    whole = math.lcm(*(part.denominator for part in parts))
    return [int(part * whole) for part in parts]


def as_word(text: str) -> str:
    """Return a text as one printable word: spaces as `_`, other white space and controls as in addresses."""
    return "".join(
        "_" if letter == " " else letter if letter.isprintable() and not letter.isspace() else f"%{ord(letter):02X}"
        for letter in text.strip()
    )


class OpenSpielState(State):
    """A state of OpenSpiel.

    Actions are written as OpenSpiel does, as one word each. A name that several legal actions have, and one with a `~`,
    is followed by `~` and the action's number, and an action that is not legal is written by its number alone.
    """

    __slots__ = ("_before", "_names", "_numbers", "native")

    game: OpenSpielGame

    def __init__(self, game: OpenSpielGame, native: Any) -> None:
        self.game = game
        self.native = native
        """The state as `pyspiel` has it; not to be changed."""
        self._before: tuple[int, ...] | None = None
        """The plies of the position string that it was made from, if any; `_history` are those since."""
        self._history = []
        self._names: dict[int, str] | None = None
        self._numbers: dict[str, int] | None = None

    def current_player(self) -> int:
        return int(self.native.current_player())

    def legal_actions(self) -> list[int]:
        return sorted(self.native.legal_actions()) if self.current_player() >= 0 else []

    def chance_outcomes(self) -> list[tuple[int, int]]:
        return list(zip(*self._outcomes(), strict=True))

    def chances(self) -> tuple[list[int], list[int]]:
        outcomes, weights = self._outcomes()
        return outcomes, [*itertools.accumulate(weights)]

    def _outcomes(self) -> tuple[list[int], list[int]]:
        """Return what can be rolled here, which leaves out what OpenSpiel lists with probability 0, and its weights."""
        if self.current_player() != CHANCE:
            return [], []
        listed, probabilities = zip(*self.native.chance_outcomes(), strict=True)
        outcomes, weights = list(listed), self.game.weights(probabilities)
        if 0 in weights:
            outcomes = [outcome for outcome, weight in zip(outcomes, weights, strict=True) if weight]
            return outcomes, [weight for weight in weights if weight]
        return outcomes, weights

    def playout(self, rng: random.Random, played: set[tuple[int, int]] | None = None) -> list[float]:
        """As `State.playout`, by OpenSpiel's own state, in a third of the time."""
        state = OpenSpielState(self.game, self.native.clone())
        native = state.native
        while (who := native.current_player()) != TERMINAL:
            if who == CHANCE:
                action = rolled(*state.chances(), rng)
            else:
                actions = sorted(native.legal_actions())
                action = actions[int(rng.random() * len(actions))]
                if played is not None:
                    played.add((who, action))
            native.apply_action(action)
        return state.returns()

    def apply_action(self, action: int) -> None:
        action = self.checked(action)
        self.native.apply_action(action)
        self._history.append(action)
        self._names = self._numbers = None

    @property
    def names(self) -> dict[int, str]:
        """By legal action or chance outcome: its word."""
        if self._names is None:
            possible = [outcome for outcome, _ in self.chance_outcomes()] or self.legal_actions()
            words = {action: as_word(self.native.action_to_string(action)) for action in possible}
            counts: dict[str, int] = {}
            for word in words.values():
                counts[word] = counts.get(word, 0) + 1
            self._names = {
                action: word
                if word and NUMBER_MARK not in word and counts[word] == 1
                else f"{word}{NUMBER_MARK}{action}"
                for action, word in words.items()
            }
        return self._names

    def action_to_string(self, action: int) -> str:
        if (word := self.names.get(action)) is not None:
            return word
        if not 0 <= action < self.game.num_distinct_actions:
            raise NotationError(f"{shown(action)} is not the number of an action of {self.game.name}")
        return f"{NUMBER_MARK}{action}"

    def string_to_action(self, text: str) -> int:
        if self._numbers is None:
            self._numbers = {word: action for action, word in self.names.items()}
        if isinstance(text, str) and text in self._numbers:
            return self._numbers[text]
        number = text.removeprefix(NUMBER_MARK) if isinstance(text, str) else ""
        if number.isascii() and number.isdigit() and len(number) < 10 and f"{NUMBER_MARK}{int(number)}" == text:
            action = int(number)
            if action < self.game.num_distinct_actions and action not in self.names:
                return action
        example = next(iter(self.names.values()), f"{NUMBER_MARK}0")
        raise NotationError(f"{shown(text)} is not an action of {self.game.name} here; an example is '{example}'")

    def utilities(self) -> list[float]:
        """Return what OpenSpiel gives each seat at the end."""
        if self.current_player() != TERMINAL:
            raise self.too_early()
        return [float(value) for value in self.native.returns()]

    def ranks(self) -> list[int]:
        utilities = self.utilities()
        return [sum(other > mine for other in utilities) for mine in utilities]

    @property
    def ended(self) -> str:
        return "normal" if self.current_player() == TERMINAL else ""

    def clone(self) -> OpenSpielState:
        state = OpenSpielState(self.game, self.native.clone())
        state._before, state._history = self._before, self._history.copy()
        state._names, state._numbers = self._names, self._numbers
        return state

    @property
    def plies(self) -> tuple[int, ...]:
        """All actions and chance outcomes since the start of the match."""
        return (*(self._before or ()), *self._history)

    @property
    def position(self) -> str:
        return write_plies(self.plies)

    @property
    def origin(self) -> str | None:
        return None if self._before is None else write_plies(self._before)

    @property
    def key(self) -> Hashable:
        return self.plies

    def __str__(self) -> str:
        return as_drawing(with_board(str(self.native))) or f"after {len(self.plies)} plies"

    def __repr__(self) -> str:
        return f"<{self.game.spec}: {len(self.plies)} plies>"

    def __reduce__(self) -> tuple[Callable[..., OpenSpielState], tuple[Any, ...]]:
        return _restore, (self.game, self._before, self._history)


def _restore(game: OpenSpielGame, before: tuple[int, ...] | None, history: list[int]) -> OpenSpielState:
    """Play a pickled state again: what OpenSpiel writes of a state is its history too."""
    state = game.new_initial_state()
    for action in (*(before or ()), *history):
        state.native.apply_action(action)
    state._before, state._history = before, history
    return state
