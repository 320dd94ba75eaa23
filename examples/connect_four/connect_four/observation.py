"""What a seat sees of connect four: its own stones, the other's, and who is to move."""

import numpy as np

from connect_four.rules import COLUMNS, HEIGHT, ROWS, TERMINAL
from engine.kernel import kernel
from engine.observation import Block, ObservationSpec, Symmetry, permuted

VERSION = 1


def spec(players, params):
    """Return the layout of the observations."""
    blocks = (
        Block("stones", (2, 6, 7), "stones by row, the lowest first, and column", seat_axes=1),
        Block("to_move", (2,), "the seat to move; zeros at the end", seat_axes=1),
        Block("over", (1,), "1 after the end"),
    )
    entries = permuted(blocks, {"stones": lambda stones: stones[:, :, ::-1]})
    return ObservationSpec(VERSION, blocks, (Symmetry("mirror", entries, np.arange(COLUMNS)[::-1]),))


@kernel
def observe(state, seat, out):
    for i in range(2):
        stones = state.stones[seat ^ i]
        for row in range(ROWS):
            for column in range(COLUMNS):
                out[COLUMNS * (ROWS * i + row) + column] = stones >> HEIGHT * column + row & 1
        out[2 * ROWS * COLUMNS + i] = seat ^ i == state.seat
    out[2 * ROWS * COLUMNS + 2] = state.seat == TERMINAL
