"""Connect four: an evaluation, and features to learn another one from."""

import numpy as np

from connect_four.features import ACTIVE, completing, feature_count, features  # noqa: F401 - offered by this module
from connect_four.rules import BOARD, BOTTOM, STEPS
from engine.kernel import kernel

OWN_ROWS = np.array([BOTTOM * 0b010101, BOTTOM * 0b101010])  # where play ends up if both only answer above, by seat
THREAT, OWN_THREAT = 2, 8  # an empty cell that completes four in a line, and what it counts more in an own row
HALFWAY = 60
UCT_LEARNED = {"exploration": 0.3, "rave": 0, "prior": 0.5}


@kernel
def evaluate(state, seat):
    """Return lead / (|lead| + 60), the lead being the seat's prospects less the other's."""
    lead = prospects(state, seat) - prospects(state, 1 - seat)
    return lead / (abs(lead) + HALFWAY)


@kernel
def prospects(state, seat):
    """Return 1, 3 or 6 for every line open to the seat with 1, 2 or 3 of its stones, and 2 or 10 for every threat.

    A line of four cells is open to a seat when the other one has no stone in it. A threat is an empty cell that
    completes one; it is worth more in the 1st, 3rd and 5th row to seat 0 and in the others to seat 1, who get to drop
    there when the rest of the board has filled up. Without threats, searches of some depths open at the edge.
    """
    mine = state.stones[seat]
    free = BOARD & ~state.stones[1 - seat]
    total = 0
    for step in STEPS:
        pairs = free & free >> step
        lines = pairs & pairs >> 2 * step  # each as its first cell
        for place in range(4):
            stones = lines & mine >> place * step
            total += count(stones)
            for other in range(place):
                total += count(stones & mine >> other * step)
    threats = completing(mine) & free & ~mine
    return total + THREAT * count(threats) + OWN_THREAT * count(threats & OWN_ROWS[seat])


@kernel
def count(cells):
    """Return how many cells a set has."""
    twos = cells - (cells >> 1 & 0x5555555555555555)
    fours = (twos & 0x3333333333333333) + (twos >> 2 & 0x3333333333333333)
    return (fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56
