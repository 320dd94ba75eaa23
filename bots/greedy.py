"""One ply of look-ahead in any game: compiled where the game has kernels, by `State` elsewhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, partial
from itertools import accumulate
from typing import cast

import numpy as np

from bots import greedy_kernel
from bots.base import Bot, first_decision
from bots.search.evaluation import evaluation, evaluation_kernel
from engine import State
from engine.kernel import bind
from engine.state import KernelGame, KernelState

MOST_OUTCOMES = 64


class Greedy(Bot):
    """Take the action after which the state is worth most.

    Idea: look one ply ahead. A finished match is worth this seat's return; a running one what the game's `evaluate`
    in `bots.heuristics` says of it, by default the score margin m as m / (|m| + 10), m being the own score minus
    the mean of the others' in the game's own unit (0 in a game without scores). Where an action leads to a
    chance node, the worths after its outcomes are averaged by weight; of more than 64 outcomes 64 are drawn
    systematically (one random offset, then equal steps through the weights). Ties are broken at random.
    Source: the greedy player of the textbooks.
    Parameters: none.
    Gives with two players its worth of the action as its expected return; with more it does not look at the others'.
    Cost: one evaluation an action, times the outcomes of a chance node: 5 to 50 microseconds a move in games with
    kernels, up to half a millisecond where dice follow every action; in plain Python 10 microseconds an evaluation.
    """

    name = "greedy"
    needs = ("clone",)

    def prepare(self) -> None:
        compiled = isinstance(self.game, KernelGame)
        self._values = compiled_values(self.game) if compiled else partial(look_ahead, evaluation(self.game.name))

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        values = self._values(state, self.seat, self.rng.getrandbits(32))
        if self.game.players == 2:
            worth = max(values)
            self.evaluation = (worth, -worth) if self.seat == 0 else (-worth, worth)
        return self.pick_best(actions, values)


Values = Callable[[State, int, int], list[float]]
"""What each legal action of a state is worth to a seat; the last argument, 32 random bits, is the luck of sampling."""


def look_ahead(evaluate: Callable[[State, int], float], state: State, seat: int, luck: int) -> list[float]:
    """Return what each legal action is worth to the seat, in the order of `legal_actions`."""

    def worth(state: State) -> float:
        return state.returns()[seat] if state.is_terminal() else evaluate(state, seat)

    def worth_before_chance(state: State) -> float:
        outcomes = state.chance_outcomes()
        if len(outcomes) > MOST_OUTCOMES:
            outcomes = systematic_sample(outcomes, luck)
        total = 0.0  # added up in order: `sum` rounds otherwise from Python 3.12 on
        for outcome, weight in outcomes:
            total += weight * worth(state.child(outcome))
        return total / sum(weight for _, weight in outcomes)

    children = map(state.child, state.legal_actions())
    return [worth_before_chance(child) if child.is_chance_node() else worth(child) for child in children]


def systematic_sample(outcomes: list[tuple[int, int]], luck: int) -> list[tuple[int, int]]:
    """Return `MOST_OUTCOMES` draws of weight 1: each outcome as often as its weight asks for, rounded by luck."""
    bounds = list(accumulate(weight for _, weight in outcomes))
    offset = luck * bounds[-1] >> 32
    points = ((offset + i * bounds[-1]) // MOST_OUTCOMES for i in range(MOST_OUTCOMES))
    return [(outcomes[bisect_right(bounds, point)][0], 1) for point in points]


@cache
def look_ahead_kernel(game: KernelGame) -> Callable[..., int]:
    """Return the `look_ahead` of `bots.greedy_kernel`, bound to a game."""
    also = {name: getattr(game.compiled, name) for name in ("copy_state", "points_of")}
    also |= {"evaluate": evaluation_kernel(game), "MOST": MOST_OUTCOMES}
    return bind(greedy_kernel, game.rules, game.dtype, **also).look_ahead


@cache
def compiled_values(game: KernelGame) -> Values:
    """Return the values of a game in compiled code, warmed up."""
    kernel = look_ahead_kernel(game)
    values = np.zeros(game.action_buffer.size)
    states = (game.blank(), game.blank())
    outcomes = (game.outcome_buffer, game.weight_buffer)
    place = np.zeros(game.players, np.int64)

    def look(state: State, seat: int, luck: int) -> list[float]:
        words = cast(KernelState, state).words
        count = kernel(words, seat, luck, game.action_buffer, values, *states, *outcomes, place)
        return values[:count].tolist()

    look(first_decision(game), 0, 0)
    return look
