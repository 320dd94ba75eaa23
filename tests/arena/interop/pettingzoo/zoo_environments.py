"""Environments of an author's own, good and bad, for tests of `pettingzoo.NAME`: who counts to `target` wins."""

import threading

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv


class Count(AECEnv):  # type: ignore[misc]  # the library is Any to the type checker
    """Players add 1 or 2; whoever reaches `target` gets 3, the others lose a point each, and everybody pays for a 2."""

    metadata = {"name": "count_v0", "render_modes": ["ansi"]}  # noqa: RUF012  # as PettingZoo's are
    kinds: tuple[int, ...] = (2,) * 10
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]

    def __init__(self, target: int = 9, num_players: int = 3, patience: int = 50, render_mode: str | None = None):
        self.target, self.patience, self.render_mode = target, patience, render_mode
        self.possible_agents = [f"p_{number}" for number in range(num_players)]
        self.agents = []

    def action_space(self, agent):
        return spaces.Discrete(self.kinds[self.possible_agents.index(agent)])

    def observation_space(self, agent):
        return spaces.Box(0, 1000, (2,), np.int64)

    def reset(self, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.total, self.steps, self.turn = 0, 0, 0
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        for name, value in (
            ("rewards", 0),
            ("_cumulative_rewards", 0),
            ("terminations", False),
            ("truncations", False),
        ):
            setattr(self, name, dict.fromkeys(self.agents, value))
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        return np.array([self.total, self.steps])

    def render(self):
        return f"\x1b[1m{self.total}\x1b[0m of {self.target}"

    def added(self, action):
        return action + 1

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.total += self.added(action)
        self.steps += 1
        self._clear_rewards()
        self.rewards[agent] = -0.5 * action
        self.turn += 1
        self.agent_selection = self.agents[self.turn % len(self.agents)]
        if self.total >= self.target:
            self.rewards = {each: 3 if each == agent else -1 for each in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        elif self.steps >= self.patience:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()


class Locked(Count):
    """It holds what cannot be copied."""

    def reset(self, seed=None, options=None):
        self.lock = threading.Lock()
        super().reset(seed)


class Shared(Count):
    """All of its instances share the count, as a variable of the class."""

    log = []  # noqa: RUF012  # on purpose

    @property
    def total(self):
        return Shared.log[-1]

    @total.setter
    def total(self, value):
        Shared.log.append(value)


class Elimination(Count):
    """Whoever adds the last stone of three is out and has lost a point; the last player gets 5."""

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.total += 1
        self._clear_rewards()
        following = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        if self.total % 3 == 0:
            self.terminations[agent] = True
            self.rewards[agent] = -1
            living = [each for each in self.agents if not self.terminations[each]]
            if len(living) == 1:
                self.rewards[living[0]] = 5
                self.terminations[living[0]] = True
        self.agent_selection = following
        self._accumulate_rewards()
        if self.terminations[agent]:
            self._deads_step_first()


class Rolling(Count):
    """It rolls a die of its own."""

    def added(self, action):
        return int(self.rng.integers(1, 3))


class Late(Count):
    """It rolls a die of its own, but not before the end is near."""

    def __init__(self):
        super().__init__(target=60, patience=90)

    def added(self, action):
        return action + 1 if self.total < 40 else int(self.rng.integers(1, 3))


class Uneven(Count):
    """Its players have different numbers of actions."""

    kinds = (2, 3, 2)


class Crashing(Count):
    """It cannot begin."""

    def reset(self, seed=None, options=None):
        raise RuntimeError("no board")


class AtOnce(ParallelEnv):  # type: ignore[misc]  # likewise
    """All act at the same time."""


def alone():
    return Count(num_players=1)


def needy(board):
    return Count()


def nothing():
    return 3


NO_FUNCTION = 3
