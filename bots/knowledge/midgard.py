"""Midgard: how good a position is for a seat."""

from engine.kernel import kernel
from engine.midgard.rules import (
    CELLS,
    LAND,
    SEA,
    TERMINAL,
    apply_action,
    blizzard_high,
    blizzard_low,
    count,
    first_cell,
    random_action,
    random_finish,
    survey,
)

UCT = {"exploration": 0.0, "rave": 50}
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
    """(lead in cells + sum over blizzard regions of size * clip(lead in border edges / 4)) / 124, clip to [-1, 1].

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
