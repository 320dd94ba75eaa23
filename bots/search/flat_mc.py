"""Flat Monte Carlo: the plainest use of random playouts, compiled where the game has kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, cast

import numpy as np

from bots.base import Between, Bot, TimeFor, first_decision
from bots.search import flat_mc_kernel
from bots.search.utility_range import UtilityRange
from engine import State
from engine.chance import new_rng
from engine.kernel import bind
from engine.state import KernelGame, KernelState


class FlatMonteCarlo(Bot):
    """Try every legal action in the same number of random playouts and take the one with the best mean return.

    Idea: a position is worth what random play makes of it; no tree, no heuristics. Dice are rolled within the
    playouts. Ties are broken at random; a forced move is made at once.
    Source: Abramson, "Expected-outcome: a general model of static evaluation", IEEE PAMI 12 (1990).
    Parameters: `playouts`, random playouts for each legal action, 1 to 1,000,000; `time`, such as `20ms`, which a
    tournament calibrates once into `playouts` for each board.
    Cost: legal actions times `playouts` times a playout, all in compiled code: 0.3 (Epicycle) to 5 microseconds
    (Pyramid Punch with five) a playout. In games without kernels a playout is a random match by `State`, 10 to
    3,000 microseconds.
    """

    name = "flat_mc"
    needs = ("clone",)

    playouts: Annotated[int, Between(1, 1_000_000), "random playouts for each legal action"] = 100
    time: Annotated[str, TimeFor("playouts"), "processor time a move, calibrated: 20ms, 1.5s"] = ""

    def prepare(self) -> None:
        if isinstance(self.game, KernelGame):
            self._points = compiled_points(self.game)
            self._totals = np.zeros((self.game.rules.MAX_ACTIONS, self.game.players), np.int64)
            self._chance = new_rng(self.rng.getrandbits(64))
        else:
            self._range = UtilityRange(self.game)

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        self.search_steps = self.playouts * len(actions)
        return (self._choose_compiled if isinstance(state, KernelState) else self._choose_plainly)(state, actions)

    def _choose_compiled(self, state: State, actions: list[int]) -> int:
        words = cast(KernelState, state).words
        points = self._points(words, self.seat, self.playouts, self._chance, self._totals)
        chosen = self.pick_best(actions, points)
        gained = self._totals[actions.index(chosen)].tolist()
        if self.game.players == 2:
            gained[self.seat], gained[1 - self.seat] = max(points), 2 * self.playouts - max(points)
        self.evaluation = [each / (self.playouts * (self.game.players - 1)) - 1.0 for each in gained]
        return chosen

    def _choose_plainly(self, state: State, actions: list[int]) -> int:
        totals = {action: self._played_out(state.child(action)) for action in actions}
        chosen = self.pick_best(actions, [total[self.seat] for total in totals.values()])
        self.evaluation = [self._range.scaled(total / self.playouts) for total in totals[chosen]]
        return chosen

    def _played_out(self, child: State) -> list[float]:
        """Return the sums of every seat's returns in random playouts from a state."""
        totals = [0.0] * self.game.players
        for _ in range(self.playouts):
            returns = child.playout(self.rng)
            self._range.widen(returns)
            totals = [total + value for total, value in zip(totals, returns, strict=True)]
        return totals


Points = Callable[..., list[int]]
"""For a state's words, a seat, playouts for each action and a generator: the points of each legal action.

With more than two players an array of actions and seats, if one is given, gets the points of every seat.
"""


@functools.cache
def comparing_kernel(game: KernelGame) -> Callable[..., int]:
    """Return the `compare_actions` of `bots.search.flat_mc_kernel`, bound to a game."""
    also = {name: getattr(game.compiled, name) for name in ("copy_state", "random_finish", "points_of")}
    also["SEVERAL"] = game.players > 2
    return bind(flat_mc_kernel, game.rules, game.dtype, **also).compare_actions


@functools.cache
def compiled_points(game: KernelGame) -> Points:
    """Return the comparison of actions in compiled code, warmed up."""
    kernel = comparing_kernel(game)
    points, wide = np.zeros_like(game.action_buffer), np.zeros_like(game.action_buffer)
    buffers = (game.blank(), game.blank(), wide, np.zeros(game.players, np.int64))
    own = np.zeros((points.size, game.players), np.int64)

    def compare(words: np.ndarray, seat: int, playouts: int, rng: np.ndarray, totals: np.ndarray = own) -> list[int]:
        count = kernel(words, seat, playouts, rng, game.action_buffer, points, totals, *buffers)
        return points[:count].tolist()

    compare(cast(KernelState, first_decision(game)).words, 0, 1, new_rng(0))
    return compare
