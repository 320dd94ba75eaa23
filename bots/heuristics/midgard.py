"""Midgard: an evaluation and a rollout policy."""

import numpy as np

from bots.features.midgard import ACTIVE, feature_count, features  # noqa: F401 - offered by this module
from engine.chance import below
from engine.kernel import kernel
from engine.midgard.rules import (
    BESIDE,
    BOARD_HIGH,
    BOARD_LOW,
    CELLS,
    DECLARE,
    LAND,
    NEAR,
    SEA,
    TERMINAL,
    WORD,
    apply_action,
    bit_count,
    blizzard_high,
    blizzard_low,
    count,
    first_cell,
    nth_bit,
    random_action,
    random_finish,
    survey,
    tiles_high,
    tiles_low,
)

UCT_LEARNED = {"exploration": 1.0, "rave": 0, "prior": 0.2}
UCT = {"exploration": 0.02, "rave": 50}  # without exploration an action of bad repute is never tried
SURE = 4  # border edges ahead that make an open region as good as won


@kernel
def finish_and_mark(state, rng, actions, played, stamp):
    """Play at random to the end and write `stamp` in `played[seat, action]` for every action made."""
    if state.odin:
        while state.seat != TERMINAL:
            action = random_action(state, rng, actions)
            played[state.seat, action] = stamp
            apply_action(state, action)
        return
    seat = state.seat
    drops, _ = random_finish(state, rng, actions)
    for i in range(drops):
        played[seat ^ i & 1, actions[i]] = stamp


@kernel
def evaluate(state, seat):
    """Return (lead in cells + sum over blizzard regions of size * clip(lead in border edges / 4)) / 124, in [-1, 1].

    So an open region counts as won by four border edges ahead, and in proportion by fewer.
    """
    balance = float(state.hand[LAND] - state.hand[SEA])
    low, high = blizzard_low(state), blizzard_high(state)
    while low | high:
        region_low, region_high, lead = survey(state, first_cell(low, high), low, high, 0, 0)
        balance += count(region_low, region_high) * min(1.0, max(-1.0, lead / SURE))
        low &= ~region_low
        high &= ~region_high
    return (balance if seat == SEA else -balance) / CELLS


DRAWN = 4  # drops compared
NO_CELL = 127  # where `BESIDE` names none
ON_PERIMETER = 2  # what a neighbour there is worth
FOOTHOLDS = np.array([3, 5, 0, 0, 3, 0, 0])  # what another one is, by 3 * own tiles at it + opposing ones


@kernel
def rollout_action(state, rng, actions):
    """Return the best of a few random drops, as the bot `settler` judges; declare when that bot does."""
    if state.declared and leads_as_it_stands(state, state.seat):
        return np.int64(DECLARE)
    best, highest = 0, -1
    for _ in range(DRAWN):
        cell = random_drop(state, rng)
        worth = drop_worth(state, cell)
        if worth > highest:
            best, highest = cell, worth
    return best


@kernel
def random_drop(state, rng):
    """Return one of the ice cells, all equally likely."""
    in_low = bit_count(state.ice[0])
    n = below(rng, in_low + bit_count(state.ice[1]))
    return nth_bit(state.ice[0], n) if n < in_low else WORD + nth_bit(state.ice[1], n - in_low)


@kernel
def drop_worth(state, cell):
    """Return what the neighbours of a cell are worth to the seat to move."""
    own, enemy = state.tiles[state.seat & 1], state.tiles[1 - state.seat & 1]
    worth = 0
    for side in range(3):
        near = BESIDE[cell & 127, side] & 127
        if near == NO_CELL:
            return worth
        low, high = NEAR[near, 0], NEAR[near, 1]
        footholds = 3 * count(low & own[0], high & own[1]) + count(low & enemy[0], high & enemy[1])
        worth += ON_PERIMETER if BESIDE[near, 1] == NO_CELL else FOOTHOLDS[footholds]
    return worth


@kernel
def leads_as_it_stands(state, seat):
    """Return whether the seat would have more cells if all that is empty were resolved now, as in Odin."""
    balance = state.hand[LAND] - state.hand[SEA]
    low, high = BOARD_LOW & ~tiles_low(state), BOARD_HIGH & ~tiles_high(state)
    while low | high:
        region_low, region_high, lead = survey(state, first_cell(low, high), low, high, 0, 0)
        balance += count(region_low, region_high) * max(-1, min(1, lead))
        low &= ~region_low
        high &= ~region_high
    return balance > 0 if seat == SEA else balance < 0
