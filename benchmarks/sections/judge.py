"""Moves of searches in connect four, judged by perfect knowledge of the game."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, cast

import numpy as np
from connect_four.features import completing
from connect_four.heuristics import count
from connect_four.rules import BOARD, BOTTOM, COLUMN, COLUMNS, HEIGHT

import engine
from benchmarks.figures import Figure, Measured
from bots import Bot, make_bot
from bots.learned import Learned, LearnedMinimax, LearnedUCT
from bots.learning.weights import missing_weights
from bots.search.minimax import AlphaBeta
from bots.search.uct import UCT
from engine.kernel import routine
from engine.specs import Value
from engine.state import KernelState

POSITIONS = 300
DISCS = (14, 24)
"""Discs on the board, at least and at most."""
TABLE_ENTRIES = 1 << 20
JUDGED_BOTS: tuple[tuple[type[Bot], dict[str, Value]], ...] = (
    (UCT, {"simulations": 1000}),
    (UCT, {"simulations": 1000, "solve": True}),
    (UCT, {"simulations": 10_000}),
    (UCT, {"simulations": 10_000, "solve": True}),
    (UCT, {"simulations": 100_000, "solve": True}),
    (AlphaBeta, {"nodes": 10_000}),
    (AlphaBeta, {}),
)
LEARNED_BOTS: tuple[tuple[type[Bot], dict[str, Value]], ...] = (
    (Learned, {}),
    (LearnedMinimax, {"nodes": 10_000}),
    (LearnedUCT, {"simulations": 1000, "solve": True}),
    (LearnedUCT, {"simulations": 10_000, "solve": True}),
    (LearnedUCT, {"simulations": 100_000, "solve": True}),
)
"""Where `arena train connect_four` has left weights."""
SEEDS = 5
"""Seeds with which each bot is asked."""


class Problem(NamedTuple):
    """A position in which the moves differ in value, and the best of them."""

    state: KernelState
    best: frozenset[int]


def measure(full: bool) -> Measured:
    trained = missing_weights(engine.load_game("connect_four", 2)) is None
    for kind, params in (*JUDGED_BOTS, *(LEARNED_BOTS if trained else ())):
        spec = f"{kind.name}:{','.join(f'{name}={value}' for name, value in params.items())}".rstrip(":")
        yield Figure(
            spec, share_of_best(kind, params, POSITIONS if full else POSITIONS // 5), "of moves right", "higher"
        )


def share_of_best(kind: type[Bot], params: Mapping[str, Value], positions: int) -> float:
    """Return the share of moves, by position and seed, that are one of the best."""
    right = 0
    for seed in range(SEEDS):
        for number, (state, best) in enumerate(problems(positions)):
            bot = make_bot(kind, state.game, state.current_player(), seed * positions + number, params)
            right += bot.choose(state) in best
    return right / (positions * SEEDS)


@cache
def problems(positions: int, seed: int = 1) -> list[Problem]:
    """Return positions of random play in which the moves differ in value; the same ones for a seed."""
    rng, found = random.Random(seed), list[Problem]()
    game = engine.load_game("connect_four", 2)
    while len(found) < positions:
        state = cast(KernelState, game.new_initial_state())
        discs = DISCS[0] + len(found) % (DISCS[1] - DISCS[0] + 1)  # each as often as the others
        while not state.is_terminal() and len(state.history()) < discs:
            state.apply_action(rng.choice(state.legal_actions()))
        values = {} if state.is_terminal() else {action: value_after(state, action) for action in state.legal_actions()}
        if len(set(values.values())) > 1:
            best = max(values.values())
            found.append(Problem(state, frozenset(action for action in values if values[action] == best)))
    return found


def value_after(state: KernelState, action: int) -> int:
    """Return what the seat to move has after an action if nobody errs: 1 won, 0 drawn, -1 lost."""
    child = cast(KernelState, state.child(action))
    if child.is_terminal():
        return round(child.returns()[state.current_player()])
    stones, seat = child.record.stones, child.current_player()
    return -int(value(np.int64(stones[seat]), np.int64(stones[1 - seat]), -1, 1, table()))


@cache
def table() -> np.ndarray:
    """Return the table of positions solved: a key, and the value if it is exact, or a bound of it."""
    return np.zeros((TABLE_ENTRIES, 2), np.int64)


@routine
def value(mine: int, theirs: int, alpha: int, beta: int, table: np.ndarray) -> int:
    """Return 1, 0 or -1, what the position is worth to `mine`, to move, or a bound of it outside alpha to beta."""
    filled = mine | theirs
    reach = filled + BOTTOM & BOARD
    if reach == 0:
        return 0
    if completing(mine) & reach:
        return 1
    danger = completing(theirs) & BOARD & ~filled
    forced = danger & reach
    if forced & forced - 1:
        return -1
    moves = (forced if forced else reach) & ~(danger >> 1)
    if moves == 0:
        return -1
    key = filled + mine
    entry = key % TABLE_ENTRIES
    if table[entry, 0] == key:
        least, most = table[entry, 1] // 4 - 1, table[entry, 1] % 4 - 1
        alpha, beta = max(alpha, least), min(beta, most)
        if alpha >= beta:
            return least if least >= beta else most
    else:
        least, most = -1, 1
    best, bottom = -1, alpha
    while moves and best < beta:
        drop, merit = 0, -1
        for n in range(COLUMNS):
            candidate = moves & COLUMN << HEIGHT * n
            worth = 8 * count(completing(mine | candidate) & BOARD & ~filled) + 3 - abs(n - 3)
            if candidate and worth > merit:
                drop, merit = candidate, worth
        moves &= ~drop
        best = max(best, -value(theirs, mine | drop, -beta, -max(alpha, best), table))
    if best > bottom:
        least = max(least, best)
    if best < beta:
        most = min(most, best)
    table[entry, 0], table[entry, 1] = key, 4 * (least + 1) + most + 1
    return best
