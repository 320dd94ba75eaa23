"""Our games as PettingZoo's AEC environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv

from arena.interop.rendering import rendered, rendering_modes
from arena.match.dice import BOTS_PERSON, DICE_PERSON, Dice, Streams, public_key
from engine import Game, ParameterError, State, UnsupportedError, load_game
from engine.game import shown

MAX_EMPTY_EPISODES = 1000
"""Matches in a row that end before anybody has a choice, after which `reset` gives up."""


class EpisodeDice:
    """Official dice of the episodes after a seed: one match of the arena for each, numbered from 0."""

    def __init__(self, seed: int) -> None:
        self.seed, self.episode = seed, -1
        self._dice: Dice | None = None

    def begin_episode(self) -> None:
        """Take the dice of the next episode."""
        self.episode += 1
        keys = public_key(self.seed, DICE_PERSON), public_key(self.seed, BOTS_PERSON)
        self._dice = Dice(Streams(*keys, f"episode {self.episode}".encode()))

    def roll(self, state: State) -> None:
        """Apply chance outcomes until a seat is to act, or the match is over."""
        while state.is_chance_node():
            assert self._dice is not None
            state.apply_action(self._dice.roll(state))


class ArenaAECEnv(AECEnv):  # type: ignore[misc]  # the library is not there for every type checker
    """A game of the arena as a PettingZoo environment; `game` is the engine's game, `game_state` its current state.

    An agent observes `observation`, the flat tensor of `State.observe` from its own seat with the bounds of the game's
    `observation_spec`, and `action_mask`, int8, which is all 0 unless it is to act. Actions have the numbers of the
    game. Rewards are 0 until the end of the match, and then the match's returns.

    Chance is rolled inside. Episode number e (from 0) after `reset(seed=s)` has the dice of a match of the arena whose
    tournament seed is s and whose block is called `episode e`: the same seed, the same dice, whatever is played.
    `reset()` begins the next episode; before any seed is given it is 0. Matches that end before anybody has a choice
    are passed over.

    Agents are truncated only by `max_cycles`: when so many actions for each agent, counted over all of them, have not
    ended the match. All of it can be pickled and copied deeply in the middle of an episode.
    """

    def __init__(self, spec: str, players: int | None, render_mode: str | None, max_cycles: int | None) -> None:
        super().__init__()
        self.game: Game = load_game(spec, players)
        self.game_state: State = self.game.new_initial_state()
        self.metadata: dict[str, Any] = {
            "name": f"{self.game.spec}-{self.game.players}p",
            "render_modes": rendering_modes(self.game, render_mode),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        if max_cycles is not None and (type(max_cycles) is not int or max_cycles < 1):
            raise ParameterError(f"max_cycles must be a whole number from 1 on, not {shown(max_cycles)}")
        self.render_mode, self.max_cycles = render_mode, max_cycles
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.players)]
        self.agents: list[str] = []
        layout, actions = self.game.observation_spec(), self.game.num_distinct_actions
        self.state_space = spaces.Box(layout.minimum, layout.maximum, dtype=np.float32)
        self.observation_spaces: dict[str, Any] = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(layout.minimum, layout.maximum, dtype=np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces: dict[str, Any] = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._dice, self._actions = EpisodeDice(0), 0

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; `options` are not used."""
        if seed is not None:
            self._dice = EpisodeDice(int(seed))
        for _ in range(MAX_EMPTY_EPISODES):
            self._dice.begin_episode()
            self.game_state = self.game.new_initial_state()
            self._dice.roll(self.game_state)
            if not self.game_state.is_terminal():
                break
        else:
            raise UnsupportedError(
                f"{MAX_EMPTY_EPISODES} matches of {self.game.spec} have ended before anybody was to act"
            )
        self._actions = 0
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select_agent()

    def step(self, action: int | None) -> None:
        """Play the action of the agent that is to act; raises `IllegalActionError`, and changes nothing, for others."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.game_state.apply_action(action)  # type: ignore[arg-type]  # None is refused
        self._actions += 1
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._dice.roll(self.game_state)
        self._select_agent()
        self._accumulate_rewards()

    def _select_agent(self) -> None:
        """Set who is to act, or that the episode is over and with which rewards."""
        state = self.game_state
        if state.is_terminal():
            self.terminations = dict.fromkeys(self.agents, True)
            self.rewards = dict(zip(self.agents, state.returns(), strict=True))
        elif self.max_cycles is not None and self._actions >= self.max_cycles * self.game.players:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[max(state.current_player(), 0)]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        seat = self.possible_agents.index(agent)
        acts = seat == self.game_state.current_player() and not any(self.truncations.values())
        mask = self.game_state.legal_actions_mask() if acts else np.zeros(self.game.num_distinct_actions)
        return {"observation": self.game_state.observe(seat), "action_mask": mask.astype(np.int8)}

    def state(self) -> np.ndarray:
        """Return what seat 0 sees, which in games of perfect information is all there is: float32, flat."""
        return self.game_state.observe(0)

    def render(self) -> np.ndarray | str | None:
        """Return the board: a text (`ansi`), an SVG document (`svg`) or pixels (`rgb_array`); `human` prints the text.

        Pixels are uint8, shape (height, width, 3).
        """
        if self.render_mode is None:
            logger.warn("render() shows nothing, as the environment was made without a render_mode.")
            return None
        return rendered(self.game_state, self.render_mode)

    def close(self) -> None:
        """Release nothing: drawing opens no window."""
