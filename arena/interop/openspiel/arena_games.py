"""The arena's games as games of OpenSpiel, which its algorithms play: `arena_<name>(players=...,option=...)`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyspiel

from arena.interop.openspiel.library import ARENA_PREFIX
from engine import registry
from engine.errors import EngineError, ParameterError, UnsupportedError
from engine.game import CHANCE, Game, State
from engine.game_types import GameType
from engine.loading import load_game
from engine.serialization import read_record
from engine.specs import Value

MAX_SHARED_GAMES = 64
"""Games that are kept to be shared by their states, those read from texts included."""

shared_game = lru_cache(MAX_SHARED_GAMES)(load_game)

registered_games: set[str] = set()


def register(names: Iterable[str]) -> None:
    """Register the games of these names, all or none; those that are registered already stay as they are."""
    made = [(name, *_kind(name)) for name in dict.fromkeys(names) if name not in registered_games]
    for name, game_type, make in made:
        pyspiel.register_game(game_type, make)
        registered_games.add(name)


def suitable() -> list[str]:
    """Return the names of the games that OpenSpiel can have."""
    found = []
    for name in registry.game_names():
        with suppress(EngineError):
            _kind(name)
            found.append(name)
    return found


def registered() -> list[str]:
    """Return the names in OpenSpiel of all that is registered, sorted."""
    return sorted(ARENA_PREFIX + name for name in registered_games)


def _kind(name: str) -> tuple[pyspiel.GameType, type[ArenaGame]]:
    """Return a game's type with default options, and the class of its games."""
    # A class, as OpenSpiel's own games: what it lets go after Python has ended must not have to be freed then.
    make = type("ArenaGame", (ArenaGame,), {"name": name})
    kind = registry.game_type(name)
    if name.startswith("openspiel."):
        raise UnsupportedError(f"{name} is OpenSpiel's own game; it is loaded there without 'openspiel.'")
    return make({option.name: option.default for option in kind.parameters} | players(kind)).get_type(), make


def quoted(value: Value) -> Value:
    """Return a parameter as OpenSpiel reads it back: in quotes a text that would be read as something else."""
    if isinstance(value, str) and pyspiel.game_parameters_from_string(f"x(value={value})")["value"] != value:
        return f"'{value}'"
    return value


def unquoted(value: Value) -> Value:
    """Return the value that `quoted` was given; a text without quotes stays as it is."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    return value


class ArenaGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A game with its options and number of players, of the type that these make it.

    Raises an `EngineError` for values that the game does not allow, and where it does not tell its `bounds`.
    """

    name: ClassVar[str]

    def __init__(self, params: Mapping[str, Value]) -> None:
        options = {key: unquoted(value) for key, value in params.items()}
        seats = options.pop("players")
        kind = registry.game_type(self.name)
        self.game = game = shared_game(kind.spec(kind.resolve(options)), seats)
        self.observed = observed(game)
        bounds = game.bounds
        super().__init__(
            pyspiel.GameType(
                short_name=ARENA_PREFIX + self.name,
                long_name=kind.title,
                dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
                chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
                if game.has_chance
                else pyspiel.GameType.ChanceMode.DETERMINISTIC,
                information=pyspiel.GameType.Information.PERFECT_INFORMATION,
                utility=pyspiel.GameType.Utility.ZERO_SUM,  # `State.returns` promises it
                reward_model=pyspiel.GameType.RewardModel.TERMINAL,
                max_num_players=kind.max_players,
                min_num_players=kind.min_players,
                provides_information_state_string=True,
                provides_information_state_tensor=self.observed,
                provides_observation_string=True,
                provides_observation_tensor=self.observed,
                parameter_specification={option.name: quoted(option.default) for option in kind.parameters}
                | players(kind),
            ),
            pyspiel.GameInfo(
                num_distinct_actions=game.num_distinct_actions,
                max_chance_outcomes=bounds.max_chance_outcomes,
                num_players=game.players,
                min_utility=bounds.min_utility,
                max_utility=bounds.max_utility,
                utility_sum=0.0,
                max_game_length=bounds.max_game_length,
            ),
            {key: quoted(value) for key, value in game.params.items()} | {"players": game.players},
        )

    def __reduce__(self) -> tuple[Callable[[str], pyspiel.Game], tuple[str]]:
        return _loaded, (str(self),)

    def new_initial_state(self) -> ArenaState:
        """Return the state before anything has happened."""
        return ArenaState(self)

    def action_to_string(self, player: int, action: int) -> str:
        """Return an action of a seat, or an outcome where the player is chance, in the game's notation."""
        return self.new_initial_state().action_to_string(player, action)

    def max_chance_nodes_in_history(self) -> int:
        """Return the most chance outcomes in a match."""
        return self.game.max_chance_nodes

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, object] | None = None) -> Observer:
        """Return an observer of the kind asked for; raises `ParameterError` for parameters, of which it has none."""
        if params:
            raise ParameterError(f"{self.game.name}: observers have no parameters, and {', '.join(params)} was given")
        return Observer(self, iig_obs_type)


def _loaded(text: str) -> pyspiel.Game:
    """Return the game of a text, for pickling: OpenSpiel's own functions have no names that can be imported."""
    return pyspiel.load_game(text)


def players(kind: GameType) -> dict[str, Value]:
    """Return the parameter that OpenSpiel has beside the game's options, with its default: the fewest who can play."""
    return {"players": kind.min_players}


def observed(game: Game) -> bool:
    """Return whether the game has observations."""
    try:
        game.observation_spec()
    except UnsupportedError:
        return False
    return True


class MatchState:
    """What a state of OpenSpiel holds: the arena's state. A deep copy is a clone; pickled it is its history."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state

    def __deepcopy__(self, memo: dict[int, Any]) -> MatchState:
        return MatchState(self.state.clone())

    def __reduce__(self) -> tuple[Callable[[str], MatchState], tuple[str]]:
        return _restored, (self.state.serialize(),)


def _restored(text: str) -> MatchState:
    """Return the match of a serialized state; raises an `EngineError` for a game or rules that are not those here."""
    record = read_record(text)
    return MatchState(shared_game(record.game, record.players).deserialize_state(text))


class ArenaState(pyspiel.State):  # type: ignore[misc]  # likewise
    """A state; OpenSpiel keeps the history, and copies and serializes it together with `match`."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.match = MatchState(game.game.new_initial_state())

    def __deepcopy__(self, memo: dict[int, Any]) -> ArenaState:
        return self.clone()

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's number of chance or of the end, which are the arena's as well."""
        return self.match.state.current_player()

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return self.match.state.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.match.state.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return (outcome, probability) of all that can be rolled; raises `UnsupportedError` for numbers too large."""
        state = self.match.state
        outcomes, most = state.chance_outcomes(), state.game.max_chance_outcomes
        if any(not 0 <= outcome < most for outcome, _ in outcomes):  # OpenSpiel would write beside its masks
            raise UnsupportedError(f"{state.game.name}: OpenSpiel needs outcomes from 0 to max_chance_outcomes - 1")
        total = sum(weight for _, weight in outcomes)
        return [(outcome, weight / total) for outcome, weight in outcomes]

    def _apply_action(self, action: int) -> None:
        self.match.state.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        state = self.match.state
        if state.game.kernels and action >= 0 and (player == CHANCE) != state.is_chance_node():
            return state.game.words([player], [action])[0]  # type: ignore[attr-defined]  # of games with kernels
        return state.action_to_string(action)

    def returns(self) -> list[float]:
        """Return the utility of each seat; zeros before the end."""
        state = self.match.state
        return state.returns() if state.is_terminal() else [0.0] * state.game.players

    def __str__(self) -> str:
        """Return the drawing in text, and a digest of what decides how the match goes on.

        Algorithms take states of equal strings for one.
        """
        state = self.match.state
        key = hashlib.sha256(repr(state.key).encode()).hexdigest()[:16]
        drawn = "" if type(state).__str__ is object.__str__ else f"{state}\n"
        return f"{drawn}key {key}"


class Observer:
    """What a seat sees: the arena's observation by block, and with perfect recall the history too.

    With perfect recall the string is the history, and a block `history` holds, ply by ply, the number of each action
    or outcome plus 1, divided by the largest such number; zeros follow. A game of perfect information has no private
    part: asked for that alone, strings are empty and there is no tensor.
    """

    def __init__(self, game: ArenaGame, kind: Any) -> None:
        self.recall = kind is not None and kind.perfect_recall
        self.public = kind is None or kind.public_info
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        if not (self.public and game.observed):
            return
        spec = game.game.observation_spec()
        self.tensor = np.zeros(spec.size + self.recall * game.max_history_length(), np.float32)
        self._now, self._past = self.tensor[: spec.size], self.tensor[spec.size :]
        self.dict = spec.split(self._now)
        if self.recall:
            self._numbers = max(game.num_distinct_actions(), game.max_chance_outcomes())
            self.dict["history"] = self._past

    def set_from(self, state: ArenaState, player: int) -> None:
        """Write what the seat sees of the state into `tensor`, of which the arrays of `dict` are views."""
        if self.tensor is None:
            return
        state.match.state.observe(player, self._now)
        if self.recall:
            past = state.match.state.history()
            self._past[: len(past)] = np.add(past, 1) / self._numbers
            self._past[len(past) :] = 0

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the state as text, or with perfect recall its history."""
        if not self.public:
            return ""
        return state.history_str() if self.recall else str(state)
