"""Batches of our games as Gymnasium's vector environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from engine import TERMINAL, IllegalActionError
from engine.batch import BatchEnv, Beginning, Step


class ArenaVectorEnv(VectorEnv):
    """Many matches of a game, stepped by one compiled call; opponents and dice play within the step.

    An observation is the flat tensor of `State.observe` from the seat of the agent, which `info["to_move"]` numbers.
    `info["action_mask"]`, int8, has 1 for legal actions. Actions are numbered as that seat sees them, which is how the
    game numbers them unless its actions name seats (Pyramid Punch).

    A reward is 0 until the end of the match, and then the return of the seat that acted last: -1 for the last place, 1
    for the first. No match is truncated; the rules end each. An action that is not legal ends its match with a reward
    of -1, or raises `IllegalActionError` (`illegal` of `make_vec`); a number of no action raises it always.

    The next match begins within the same step (`AutoresetMode.SAME_STEP`): observation and mask are those of its
    beginning, `info["final_obs"]` has what the agent sees of the end, and `info["final_info"]` the `returns` of all
    seats and whether the last action was `illegal`.

    `reset(seed=...)` begins anew: the same seed, the same dice and opponents' draws, match by match. `reset()` goes on
    to the matches that follow; before any seed is given it is the one of `make_vec`. Without opponents the agent is
    asked for all seats in turn (self-play).
    """

    def __init__(self, batch: BatchEnv, copy: bool = True) -> None:
        self.batch, self.game, self.num_envs, self.copy = batch, batch.game, batch.n, copy
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        layout = self.game.observation_spec()
        self.single_observation_space = spaces.Box(layout.minimum, layout.maximum, dtype=np.float32)
        self.single_action_space = spaces.Discrete(self.game.num_distinct_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        relative = layout.relative_actions
        self._numbers = None if relative is None else np.argsort(relative, axis=1)
        """The game's number of every action as each seat numbers them, where that differs."""
        self._rows = np.arange(self.num_envs)
        self._seen: Beginning | Step | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a match in every environment; `options` are not used."""
        super().reset(seed=seed)
        self._seen = self.batch.reset(seed)
        return self._observation(self._seen), self._info(self._seen)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action in every environment; return observations, rewards, terminations, truncations and info."""
        if self._seen is None:
            raise ResetNeeded("the environments have not begun; call reset first")
        seats = self._seen.to_move.copy()
        chosen = self._chosen(actions, seats)
        legal = self._seen.legal_mask[self._rows, chosen]
        self._seen = step = self.batch.step(chosen)
        info = self._info(step)
        if step.done.any():
            info |= self._final(step, ~legal)
        rewards = step.returns[self._rows, seats]
        return self._observation(step), rewards, step.done.copy(), np.zeros(self.num_envs, np.bool_), info

    def _chosen(self, actions: Any, seats: np.ndarray) -> np.ndarray:
        """Return the game's numbers of actions as seats number them; raises `IllegalActionError` for other numbers."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            shape = f"({self.num_envs},)"
            raise IllegalActionError(f"actions must be whole numbers, shape {shape}, not {given.dtype} {given.shape}")
        known = self.game.num_distinct_actions
        outside = (given < 0) | (given >= known)
        if outside.any():
            raise IllegalActionError(
                f"environment {outside.argmax()}: {given[outside][0]} is no action of {self.game.spec}: "
                f"they have the numbers 0 to {known - 1}"
            )
        return given if self._numbers is None else self._numbers[seats, given]

    def _observation(self, seen: Beginning | Step) -> np.ndarray:
        return seen.observation.copy() if self.copy else seen.observation

    def _info(self, seen: Beginning | Step) -> dict[str, Any]:
        mask = seen.legal_mask
        if self._numbers is not None:
            mask = np.take_along_axis(mask, self._numbers[seen.to_move], axis=1)
        elif self.copy:
            mask = mask.copy()
        everywhere = np.ones(self.num_envs, np.bool_)
        to_move = {"to_move": seen.to_move.copy(), "_to_move": everywhere}
        return {"action_mask": mask.view(np.int8), "_action_mask": everywhere, **to_move}

    def _final(self, step: Step, illegal: np.ndarray) -> dict[str, Any]:
        """Return what `info` says of the matches that have ended in a step."""
        done = step.done.copy()
        ends = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(done):
            ends[i] = self.batch.final_observation[i].copy()
        final = {
            "action_mask": np.zeros(step.legal_mask.shape, np.int8),
            "to_move": np.where(done, TERMINAL, 0),
            "returns": step.returns.copy(),
            "illegal": illegal & done,
        }
        marks = {f"_{name}": done for name in final}
        return {"final_obs": ends, "_final_obs": done, "final_info": final | marks, "_final_info": done}
