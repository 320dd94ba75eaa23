"""Connect four: an evaluation."""

from connect_four.rules import BOARD, STEPS
from engine.kernel import kernel

MOST = 69 * 3  # every line of the board open, with three stones in each


@kernel
def evaluate(state, seat):
    """Return the seat's stones in lines still open to it less the other's, each counted once per line, over 207.

    A line of four cells is open to a seat when the other one has no stone in it.
    """
    return (stones_in_open_lines(state, seat) - stones_in_open_lines(state, 1 - seat)) / MOST


@kernel
def stones_in_open_lines(state, seat):
    """Return the number of a seat's stones in every line that is open to it, added up."""
    mine = state.stones[seat]
    free = BOARD & ~state.stones[1 - seat]
    total = 0
    for step in STEPS:
        pairs = free & free >> step
        lines = pairs & pairs >> 2 * step  # each as its first cell
        for place in range(4):
            total += count(lines & mine >> place * step)
    return total


@kernel
def count(cells):
    """Return how many cells a set has."""
    twos = cells - (cells >> 1 & 0x5555555555555555)
    fours = (twos & 0x3333333333333333) + (twos >> 2 & 0x3333333333333333)
    return (fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56
