"""Our games as Gymnasium's environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from arena.interop.gymnasium.vector import ArenaVectorEnv
from arena.interop.rendering import rendered, rendering_modes


class ArenaEnv(gymnasium.Env):
    """One match of a game after another; all is as in `ArenaVectorEnv`, but that `reset` begins the next match.

    The last step's `info` has what is `final_info` there. `action_masks()` is `info["action_mask"]` as booleans, by
    which libraries that mask actions ask for it.
    """

    def __init__(self, vector: ArenaVectorEnv, render_mode: str | None = None) -> None:
        self.vector, self.game = vector, vector.game
        self.metadata = {"render_modes": rendering_modes(self.game, render_mode), "render_fps": 2}
        self.render_mode = render_mode
        self.observation_space, self.action_space = vector.single_observation_space, vector.single_action_space
        self._next: tuple[np.ndarray, dict[str, Any]] | None = None
        """The beginning of the match that follows one that has ended."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin the next match, or with a seed the first one of that seed; `options` are not used."""
        super().reset(seed=seed)
        if self._next is None or seed is not None:
            observations, infos = self.vector.reset(seed=seed)
            self._next = observations[0], _of_one(infos)
        (observation, info), self._next = self._next, None
        self._show(info)
        return observation, info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action; return observation, reward, whether the match has ended, False, and info."""
        if self._next is not None:
            raise ResetNeeded("the match has ended; call reset first")
        observations, rewards, ended, _, infos = self.vector.step([action])
        observation, info = observations[0], _of_one(infos)
        if ended[0]:
            self._next = observation, info
            observation, info = infos["final_obs"][0], _of_one(infos["final_info"])
        self._show(info)
        return observation, float(rewards[0]), bool(ended[0]), False, info

    def _show(self, info: dict[str, Any]) -> None:
        self._mask = info["action_mask"]
        if self.render_mode == "human":
            self.render()

    def action_masks(self) -> np.ndarray:
        """Return which actions are legal: bool, shape (actions,)."""
        return self._mask.astype(np.bool_)

    def render(self) -> np.ndarray | str | None:
        """Return the board: a text (`ansi`), an SVG document (`svg`) or pixels (`rgb_array`); `human` prints the text.

        Pixels are uint8, shape (height, width, 3).
        """
        batch = self.vector.batch
        return rendered(batch.state(0) if self._next is None else batch.final_state(0), self.render_mode)


def _of_one(infos: dict[str, Any]) -> dict[str, Any]:
    """Return the info of the only environment, in plain values where they are numbers."""
    names = [name for name in infos if not name.startswith(("_", "final_"))]
    return {name: infos[name][0].item() if infos[name].ndim == 1 else infos[name][0] for name in names}
