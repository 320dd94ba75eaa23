"""Evaluations of running states: a game's `evaluate` in `bots.heuristics`, else the score margin."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bots.heuristics import heuristics_of
from bots.search import heuristic_kernel, margin_kernel
from engine import State
from engine.kernel import bind
from engine.state import KernelGame

HALFWAY = 10
"""The score margin, in the game's own unit, that is worth half a win."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """What values states in a compiled search."""

    kernel: Callable[..., Any]
    """The compiled `assess(record, seat, memory)`."""
    memory: tuple[np.ndarray, np.ndarray]
    """What it takes besides: weights in 16 bits, and scratch for numbers of features; both may be empty."""


NO_MEMORY = (np.zeros(0, np.int16), np.zeros(0, np.int64))


@functools.cache
def heuristic_assessment(game: KernelGame) -> Assessment:
    """Return the evaluation of a game with kernels as compiled searches take it."""
    bound = bind(heuristic_kernel, game.rules, game.dtype, evaluate=evaluation_kernel(game))
    return Assessment(bound.assess, NO_MEMORY)


def evaluation_kernel(game: KernelGame) -> Callable[..., Any]:
    """Return the compiled `evaluate(record, seat)` of a game with kernels."""
    return getattr(heuristics_of(game.name), "evaluate", None) or _margin_kernel(game)


@functools.cache
def _margin_kernel(game: KernelGame) -> Callable[..., Any]:
    return bind(margin_kernel, game.rules, game.dtype, PLAYERS=game.players, HALFWAY=HALFWAY).evaluate


def evaluation(game_name: str) -> Callable[[State, int], float]:
    """Return the `evaluate(state, seat)` of a game in plain Python."""
    return getattr(heuristics_of(game_name), "evaluate", None) or score_margin


def score_margin(state: State, seat: int) -> float:
    """Return the seat's score minus the mean of the others', scaled into (-1, 1); 0 for a game without scores."""
    scores = state.scores()
    if scores is None:
        return 0.0
    margin = scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1)
    return margin / (abs(margin) + HALFWAY)
