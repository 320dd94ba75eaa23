"""Bots as policies that play inside the steps of `engine.batch.BatchEnv`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bots import batch_kernel
from bots.base import Bot
from bots.greedy import Greedy, look_ahead_kernel
from bots.random_bot import Random
from bots.search.flat_mc import FlatMonteCarlo, comparing_kernel
from bots.search.uct import UCT, bound_search
from bots.search.uct_kernel import Scratch
from engine import Game, ParameterError, UnknownNameError, UnsupportedError
from engine.batch import Policy
from engine.errors import did_you_mean
from engine.kernel import bind
from engine.specs import Value, refuse_times, resolve, split_bot_spec
from engine.state import KernelGame

Values = Mapping[str, Value]


def policy(spec: str, game: Game) -> Policy | None:
    """Return the policy of a bot in a game, None for `random`, which `BatchEnv` plays by itself.

    `random`, `greedy`, `flat_mc` and `uct` have one. `uct` makes the very moves of the bot whose seed is the beginning
    of the seat's stream. The others draw from that stream what bots in tournaments draw from Python's generator: random
    moves, playouts and the breaking of ties come from the same distribution, by other draws.

    Raises `UnknownNameError`, `ParameterError` or `NotationError` for what no such bot takes, and `UnsupportedError`
    for a game without kernels.
    """
    name, options = split_bot_spec(spec)
    known = {bot.name: bot for bot in POLICIES}
    if name not in known:
        raise UnknownNameError(f"no bot '{name}' plays in batches{did_you_mean(name, known)}")
    if not isinstance(game, KernelGame):
        raise UnsupportedError(f"{game.name} has no kernels; batches need them")
    refusal = known[name].refusal(game)
    if refusal is not None:
        raise UnsupportedError(f"{name} {refusal}")
    values = resolve(known[name].parameters, options, name)
    refuse_times(known[name].parameters, values, name)
    return _made(known[name], game, tuple(values.items()))


@functools.cache
def _made(bot: type[Bot], game: KernelGame, values: tuple[tuple[str, Value], ...]) -> Policy | None:
    return POLICIES[bot](game, dict(values))


def _random(game: KernelGame, values: Values) -> None:
    return None


def _greedy(game: KernelGame, values: Values) -> Policy:
    def scratch() -> tuple[Any, ...]:
        outcomes = (np.zeros_like(game.outcome_buffer), np.zeros_like(game.weight_buffer))
        worths = np.zeros(game.action_buffer.size)
        return worths, game.blank(), game.blank(), *outcomes, np.zeros(game.players, np.int64)

    return Policy(_bound(game, look_ahead=look_ahead_kernel(game)).greedy, scratch)


def _flat_mc(game: KernelGame, values: Values) -> Policy:
    def scratch() -> tuple[Any, ...]:
        points, wide = np.zeros_like(game.action_buffer), np.zeros_like(game.action_buffer)
        totals = np.zeros((points.size, game.players), np.int64)
        place = np.zeros(game.players, np.int64)
        return values["playouts"], points, totals, game.blank(), game.blank(), wide, place

    return Policy(_bound(game, compare_actions=comparing_kernel(game)).flat_mc, scratch)


def _uct(game: KernelGame, values: Values) -> Policy:
    if values["seconds"] or values["reuse"]:
        raise ParameterError("uct: in batches neither by seconds nor with reuse; give simulations")
    bot = UCT(game, 0, 0, values)
    kernels = bot.new_tree(bound_search).kernels
    names = ("seed_rng", "plant", "search", "points_proven", "SOLVE")

    def scratch() -> tuple[Any, ...]:
        weights, nodes, pool, arrays = bot.new_tree(bound_search).parts
        changing = arrays._asdict()
        valued = changing.pop("valued")  # empty: rollouts need none
        own = Scratch(
            valued=valued, **{name: array.copy() for name, array in changing.items()}
        )  # threads share the game's
        return bot.simulations, np.zeros(1, np.uint64), weights, nodes, pool, own

    return Policy(_bound(game, **{name: getattr(kernels, name) for name in names}).uct, scratch)


def _bound(game: KernelGame, **also: Any) -> Any:
    return bind(batch_kernel, game.rules, game.dtype, **also)


POLICIES: dict[type[Bot], Callable[[KernelGame, Values], Policy | None]] = {
    Random: _random,
    Greedy: _greedy,
    FlatMonteCarlo: _flat_mc,
    UCT: _uct,
}
"""What makes the policy of a bot's class."""
