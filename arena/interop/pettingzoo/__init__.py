"""PettingZoo: our games as AEC environments (`env`, `raw_env`), and environments as games of ours (`games`).

Nothing of PettingZoo is imported before one of the two is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.interop.pettingzoo.environments import ArenaAECEnv

__all__ = ["env", "raw_env"]


def raw_env(
    spec: str, players: int | None = None, *, render_mode: str | None = None, max_cycles: int | None = None
) -> ArenaAECEnv:
    """Return a game as an AEC environment that raises `IllegalActionError` for an action that is not legal.

    The agents are `seat_0`, `seat_1` ...; see `ArenaAECEnv` for what they observe, how chance is rolled and what ends
    episodes. Raises an `EngineError` for a game that is not known or has no observations, for a `render_mode` that it
    does not have, and when PettingZoo is missing.
    """
    from arena.interop.pettingzoo.library import library

    library()
    from arena.interop.pettingzoo.environments import ArenaAECEnv

    return ArenaAECEnv(spec, players, render_mode, max_cycles)


def env(spec: str, players: int | None = None, *, render_mode: str | None = None, max_cycles: int | None = None) -> Any:
    """Return `raw_env` in PettingZoo's wrappers: an illegal action ends the episode for all.

    As is usual there, whoever plays it gets a reward of the game's smallest utility (-1 when it does not tell), the
    others get 0, and all agents are both terminated and truncated.
    """
    raw = raw_env(spec, players, render_mode=render_mode, max_cycles=max_cycles)
    from pettingzoo.utils import wrappers

    lowest = -1.0 if raw.game.type.bounds is None else raw.game.min_utility
    ends = wrappers.TerminateIllegalWrapper(raw, illegal_reward=lowest)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(ends))
