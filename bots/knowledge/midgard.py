"""Midgard: how good a position is for a seat."""

from engine.kernel import kernel
from engine.midgard.rules import CELLS, LAND, SEA, blizzard_high, blizzard_low, count, first_cell, survey

SURE = 4  # border edges ahead that make an open region as good as won


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
