"""Evaluations of running states: a game's `evaluate` in `bots.heuristics`, else the score margin."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from bots.base import OneOf
from bots.heuristics import heuristics_of
from bots.learning.weights import learned_kernels, learned_memory, missing_weights
from bots.search import heuristic_kernel, margin_kernel
from engine import State, UnsupportedError
from engine.kernel import bind
from engine.state import KernelGame

HALFWAY = 10
"""The score margin, in the game's own unit, that is worth half a win."""


HEURISTIC, LEARNED = "heuristic", "learned"
Kind = Annotated[str, OneOf((HEURISTIC, LEARNED)), "what values a state: written out, or learned by self-play"]


def assessment(game: KernelGame, kind: str) -> tuple[Callable[..., Any], tuple[np.ndarray, np.ndarray]]:
    """Return the compiled `assess(record, seat, memory)` of that kind, and its `memory`.

    Raises `UnsupportedError` when nothing has been learned of the game.
    """
    if kind == LEARNED:
        missing = missing_weights(game)
        if missing:
            raise UnsupportedError(f"evaluator={kind} {missing}")
        return learned_kernels(game).assess, learned_memory(game)
    written = bind(heuristic_kernel, game.rules, game.dtype, evaluate=evaluation_kernel(game)).assess
    return written, (np.zeros(0, np.int16), np.zeros(0, np.int64))


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
