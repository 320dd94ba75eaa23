"""Gymnasium: our games as environments (`make`, `make_vec`), by name in its registry too (`register`).

One agent learns against named opponents, or plays all seats. Nothing of Gymnasium is imported before one of the three
is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.registry.batch import policy
from engine import Game, ParameterError, UnsupportedError, game_names, game_type, load_game
from engine.batch import BatchEnv

if TYPE_CHECKING:
    from arena.interop.gymnasium.single import ArenaEnv
    from arena.interop.gymnasium.vector import ArenaVectorEnv

__all__ = ["make", "make_vec", "register"]


def make_vec(
    spec: str,
    players: int | None = None,
    num_envs: int = 1,
    *,
    opponents: str | Sequence[str] | None = "random",
    seat: int | None = None,
    seed: int = 0,
    illegal: str = "lose",
    copy: bool = True,
    threads: int = 1,
) -> ArenaVectorEnv:
    """Return a game as `num_envs` environments that are stepped together; see `ArenaVectorEnv`.

    `opponents` are the bots in the other seats, in the order of turns after the agent's, or one for all of them; None
    leaves all seats to the agent. `random`, `greedy`, `flat_mc` and `uct` can play, with their parameters, such as
    `uct:simulations=32`. The agent keeps `seat`, or with None changes seats with each environment and each match. What
    is `illegal` may `lose` or `raise` (`engine.batch.BatchEnv`). Without `copy` the arrays of observations and masks
    are written again by the next step. `threads` share the environments and change no result.

    Raises an `EngineError` for what is not known or not allowed, and when Gymnasium is missing.
    """
    _library()
    from arena.interop.gymnasium.vector import ArenaVectorEnv

    game = load_game(spec, players)
    seating = _seating(game, opponents, seat)
    rotate = "match" if seat is None and seating else "never"
    batch = BatchEnv(game, num_envs, seed, opponents=seating, rotate=rotate, illegal=illegal, threads=threads)
    return ArenaVectorEnv(batch, copy)


def make(
    spec: str,
    players: int | None = None,
    *,
    opponents: str | Sequence[str] | None = "random",
    seat: int | None = None,
    seed: int = 0,
    illegal: str = "lose",
    render_mode: str | None = None,
) -> ArenaEnv:
    """Return a game as one environment; see `ArenaEnv`, and `make_vec` for the arguments.

    Raises an `EngineError` also for a `render_mode` that the game does not have.
    """
    vector = make_vec(spec, players, opponents=opponents, seat=seat, seed=seed, illegal=illegal)
    from arena.interop.gymnasium.single import ArenaEnv

    return ArenaEnv(vector, render_mode)


def register() -> list[str]:
    """Register in Gymnasium all games with kernels and observations; return the names, such as `arena/epicycle-v1`.

    The number is the version of the game's observations; players, opponents and whatever `make` and `make_vec` take
    are arguments of `gymnasium.make` and `gymnasium.make_vec`.
    """
    gymnasium = _library()
    names = []
    for name in game_names():
        try:
            game = load_game(name, game_type(name).min_players)
            if not game.kernels:
                continue
            version = game.observation_spec().version
        except UnsupportedError:
            continue
        names.append(f"arena/{name}-v{version}")
        gymnasium.register(
            names[-1],
            entry_point="arena.interop.gymnasium:make",
            vector_entry_point="arena.interop.gymnasium:make_vec",
            kwargs={"spec": name},
        )
    return names


def _seating(game: Game, opponents: str | Sequence[str] | None, seat: int | None) -> dict[int, Any]:
    """Return the policy of every seat that is not the agent's."""
    if seat is not None and (type(seat) is not int or not 0 <= seat < game.players):
        raise ParameterError(f"seat must be a whole number from 0 to {game.players - 1}, not {seat!r}")
    if opponents is None:
        if seat is not None:
            raise ParameterError("seat: without opponents the agent plays all seats")
        return {}
    others = game.players - 1
    named = [opponents] * others if isinstance(opponents, str) else list(opponents)
    if len(named) != others:
        raise ParameterError(f"opponents: {game.spec} with {game.players} players has {others}, not {len(named)}")
    first = (seat or 0) + 1
    return {(first + i) % game.players: policy(spec, game) for i, spec in enumerate(named)}


def _library() -> Any:
    """Return the module `gymnasium`; raises `UnsupportedError` with what to install when it is missing."""
    try:
        return import_module("gymnasium")
    except ImportError:
        raise UnsupportedError(
            "Gymnasium's environments need Gymnasium: pip install 'pyramid-arena[gymnasium]'"
        ) from None
