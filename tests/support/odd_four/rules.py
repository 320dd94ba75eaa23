"""The rules of connect four, and a `random_finish` with draws of its own; `fault` tells what of it is wrong."""

import numpy as np
from connect_four import rules as usual
from connect_four.rules import (  # noqa: F401 - for `bind`
    COLUMNS,
    ENDINGS,
    FULL_BOARD,
    HEIGHT,
    MAX_ACTIONS,
    MAX_OUTCOMES,
    NORMAL,
    ROWS,
    TERMINAL,
    TOP,
    current_player,
    ended,
    finish,
    has_four,
    landing,
    legal_actions,
    ranks,
)

from engine.chance import next_word
from engine.kernel import kernel
from engine.no_chance import apply_chance, chance_outcomes, rolling_seat, sample_chance  # noqa: F401 - likewise

NONE, DIAGONALS, FULL, COIN, PLAYOUT_COIN = range(5)
STATE = np.dtype((np.record, [("fault", np.int64), *usual.STATE.descr]))
"""The fault comes first: Numba would take a record that begins as another does for one of that kind."""

WORDS = STATE.itemsize // 8


def state_dtype(params):
    return STATE


def set_up(state, players, params):
    state.fault = ("none", "diagonals", "full_board", "coin", "playout_coin").index(params["fault"])


@kernel
def apply_action(state, column):
    usual.apply_action(state, column)
    toss(state, COIN)


@kernel
def toss(state, fault):
    """Have a hidden coin decide 3 % of matches."""
    if state.fault == fault and state.seat == TERMINAL and (state.stones[0] ^ state.stones[1]) % 33 == 7:
        state.last_seat ^= np.random.random() < 0.5  # noqa: NPY002 - this is the fault


@kernel
def has_line(stones, fault):
    """Return whether there are four in a line; with a fault, rising lines are none."""
    if fault != DIAGONALS:
        return has_four(stones)
    found = 0
    for step in (1, HEIGHT, HEIGHT - 1):
        pairs = stones & stones >> step
        found |= pairs & pairs >> 2 * step
    return found != 0


@kernel
def random_finish(state, rng, actions):
    """Play uniformly at random to the end; return (decisions, plies)."""
    plies = 0
    while state.seat != TERMINAL:
        seat, filled = state.seat, state.stones[0] | state.stones[1]
        column = np.int64(next_word(rng) >> np.uint64(8)) % COLUMNS
        if filled >> HEIGHT * column + ROWS - 1 & 1:
            continue
        plies += 1
        state.stones[seat] |= landing(filled, HEIGHT * column)
        if has_line(state.stones[seat], state.fault):
            finish(state, seat, NORMAL)
        elif (state.stones[0] | state.stones[1]) & TOP == TOP:
            finish(state, seat, NORMAL if state.fault == FULL else FULL_BOARD)
        else:
            state.seat = 1 - seat
    toss(state, COIN)
    toss(state, PLAYOUT_COIN)
    return plies, plies


@kernel
def used_words(state):
    return np.int64(WORDS)
