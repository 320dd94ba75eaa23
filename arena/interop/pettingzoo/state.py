"""Games and states of PettingZoo's AEC environments with the verbs of ours."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from arena.interop.openspiel.drawing import as_drawing
from engine.errors import NotationError
from engine.game import TERMINAL, Game, State, shown
from engine.game_types import GameType
from engine.specs import Value

RESET_SEED = 0
"""Every match begins with `reset(seed=SEED)`: there is no chance in these games."""
SHARED_ATTRIBUTES = ("action_spaces", "observation_spaces", "_action_spaces", "_observation_spaces", "metadata")
"""Attributes that are the same for a whole match, and shared by all copies of an environment."""


def copied(env: Any) -> Any:
    """Return a deep copy of an environment.

    `copy.deepcopy` does not do: many environments (Gymnasium's `EzPickle`) are copied as new ones.
    """
    made = object.__new__(type(env))
    memo = {id(value): value for value in (env.__dict__.get(name) for name in SHARED_ATTRIBUTES)}
    memo[id(env)] = made
    made.__dict__.update(copy.deepcopy(env.__dict__, memo))
    return made


def restore_go_size(env: Any) -> None:
    """Give an environment of go its size back, which it keeps in variables of a module that all boards share."""
    size = getattr(env, "_overwrite_go_global_variables", None)
    if size is not None and env.board_history.shape[0] != _go_size():
        size(env.board_history.shape[0])


def _go_size() -> int:
    from pettingzoo.classic.go import go_base

    return int(go_base.N)


def over(env: Any) -> bool:
    """Return whether nobody is to act any more."""
    return all(env.terminations[agent] or env.truncations[agent] for agent in env.agents)


def act(env: Any, action: int) -> dict[Any, float]:
    """Play an action and pass over agents that are done; return the rewards of this step."""
    restore_go_size(env)
    env.step(action)
    rewards = {agent: float(reward) for agent, reward in env.rewards.items()}
    while not over(env) and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        env.step(None)
    return rewards


def legal(env: Any) -> list[int]:
    """Return the actions that the mask of the agent to act allows, all where there is none; none at the end."""
    if over(env):
        return []
    agent = env.agent_selection
    restore_go_size(env)
    observation = env.observe(agent)
    mask = observation.get("action_mask") if isinstance(observation, dict) else None
    if mask is None:
        mask = env.infos[agent].get("action_mask")
    if mask is None:
        return list(range(int(env.action_space(agent).n)))
    return np.flatnonzero(mask).tolist()


def observables(env: Any) -> tuple[Any, ...]:
    """Return what two environments are compared by: who acts, what is legal, all observations, and the rewards."""
    restore_go_size(env)
    agents = list(env.agents)
    observations = [_plain(env.observe(agent)) for agent in agents]
    ends = [(env.terminations[agent], env.truncations[agent], float(env.rewards[agent])) for agent in agents]
    return env.agent_selection, legal(env), observations, ends


def _plain(observation: Any) -> Any:
    if isinstance(observation, dict):
        return {key: _plain(value) for key, value in observation.items()}
    return np.asarray(observation).tolist()


class PettingZooGame(Game):
    """An environment with its parameters fixed; `copies` says whether it can be copied, else matches are replayed."""

    def __init__(self, game_type: GameType, players: int, params: Mapping[str, Value], env: Any, copies: bool) -> None:
        super().__init__(game_type, players, params)
        self.env = env
        """At the start of a match; not to be changed."""
        self.copies = copies

    def new_initial_state(self) -> PettingZooState:
        return PettingZooState(self, self.another(), [0.0] * self.players, [])

    def another(self) -> Any:
        """Return an environment of its own, at the start of a match."""
        if self.copies:
            return copied(self.env)
        from arena.interop.pettingzoo.library import GAME_PREFIX, source

        env = source(self.name.removeprefix(GAME_PREFIX))[0](**dict(self.params)).unwrapped
        env.reset(seed=RESET_SEED)
        return env


class PettingZooState(State):
    """A state of an environment. Actions are written as their numbers."""

    __slots__ = ("_env", "_legal", "_totals")

    game: PettingZooGame

    def __init__(self, game: PettingZooGame, env: Any, totals: list[float], history: list[int]) -> None:
        self.game, self._env, self._totals, self._history = game, env, totals, history
        self._legal = legal(env)

    def current_player(self) -> int:
        return TERMINAL if over(self._env) else self._env.possible_agents.index(self._env.agent_selection)

    def legal_actions(self) -> list[int]:
        return self._legal.copy()

    def chance_outcomes(self) -> list[tuple[int, int]]:
        return []

    def apply_action(self, action: int) -> None:
        action = self.checked(action)
        self._play(action)
        self._legal = legal(self._env)

    def _play(self, action: int) -> None:
        rewards = act(self._env, action)
        for seat, agent in enumerate(self._env.possible_agents):
            self._totals[seat] += rewards.get(agent, 0.0)
        self._history.append(action)

    def action_to_string(self, action: int) -> str:
        if not 0 <= action < self.game.num_distinct_actions:
            raise NotationError(f"{shown(action)} is not the number of an action of {self.game.name}")
        return str(action)

    def string_to_action(self, text: str) -> int:
        if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10 and str(int(text)) == text:
            action = int(text)
            if action < self.game.num_distinct_actions:
                return action
        raise NotationError(f"{shown(text)} is not an action of {self.game.name}; they are written as numbers, as 0")

    def utilities(self) -> list[float]:
        """Return the sum of each seat's rewards over the match."""
        if not self.is_terminal():
            raise self.too_early()
        return self._totals.copy()

    def ranks(self) -> list[int]:
        utilities = self.utilities()
        return [sum(other > mine for other in utilities) for mine in utilities]

    @property
    def ended(self) -> str:
        if not self.is_terminal():
            return ""
        return "cap" if any(self._env.truncations.values()) else "normal"

    def clone(self) -> PettingZooState:
        if not self.game.copies:
            return _restore(self.game, self._history)
        state = object.__new__(PettingZooState)
        state.game, state._env = self.game, copied(self._env)
        state._totals, state._legal, state._history = self._totals.copy(), self._legal, self._history.copy()
        return state

    def __str__(self) -> str:
        drawing = as_drawing(_ansi(self._env) or _board(self._env))
        return drawing or f"after {len(self._history)} plies"

    def __repr__(self) -> str:
        return f"<{self.game.spec}: {len(self._history)} plies>"

    def __reduce__(self) -> tuple[Callable[..., PettingZooState], tuple[PettingZooGame, list[int]]]:
        return _restore, (self.game, self._history)


def _restore(game: PettingZooGame, history: list[int]) -> PettingZooState:
    """Return the state after these plies, played again."""
    state = game.new_initial_state()
    for action in history:
        state._play(action)
    state._legal = legal(state._env)
    return state


def _ansi(env: Any) -> str:
    """Return an environment's own drawing as text; nothing where it has none."""
    if "ansi" not in env.metadata.get("render_modes", ()):
        return ""
    mode, env.render_mode = env.render_mode, "ansi"
    try:
        return str(env.render())
    finally:
        env.render_mode = mode


def _board(env: Any) -> str:
    """Return an observation of two planes, rows and columns first, as a board of the seats 0 and 1; else nothing."""
    observation = env.observe(env.possible_agents[0])
    planes = np.asarray(observation.get("observation") if isinstance(observation, dict) else observation)
    if planes.ndim != 3 or planes.shape[2] != 2:
        return ""
    return "\n".join(" ".join("0" if a else "1" if b else "." for a, b in row) for row in planes.tolist())
