"""What a seat sees of Midgard: planes over the cells' centres, and tables of where cells lie and meet."""

import numpy as np

from engine.kernel import kernel
from engine.midgard.rules import (
    CELLS,
    CENTRES,
    NEIGHBOURS,
    ROW_LENGTHS,
    TERMINAL,
    TILES,
    WORD,
    blizzard_high,
    blizzard_low,
)
from engine.observation import Block, ObservationSpec

VERSION = 1

ROWS, COLUMNS = 11, 19
PLANE = ROWS * COLUMNS
ROW_OF = np.repeat(np.arange(ROWS), ROW_LENGTHS)
COLUMN_OF = np.array([x for x, _ in CENTRES]) + COLUMNS // 2
PLACE = COLUMNS * ROW_OF + COLUMN_OF
"""Where each cell lies in a plane."""


def spec(players, params):
    """Return the layout of the observations."""
    blocks = (
        Block("cells", (3, 11, 19), "ice, blizzard, and which places are cells, by row and half edges to the right"),
        Block("tiles", (2, 11, 19), "tiles on the board", seat_axes=1),
        Block("hands", (2,), "tiles in hand, by 70", seat_axes=1),
        Block("to_move", (2,), "the seat to move; zeros before the seeds and at the end", seat_axes=1),
        Block("declared", (1,), "1 when the other seat has just declared that no ice is left"),
        Block("odin", (1,), "1 in the variant Odin"),
        Block("over", (1,), "1 after the end"),
    )
    neighbours = np.full((CELLS, 3), -1)
    for cell, near in enumerate(NEIGHBOURS):
        neighbours[cell, : len(near)] = near
    tables = {"places": np.column_stack([ROW_OF, COLUMN_OF]), "neighbours": neighbours}
    return ObservationSpec(VERSION, blocks, tables=tables)


@kernel
def observe(state, seat, out):
    out[:] = 0
    write_plane(state.ice[0], state.ice[1], 0, out)
    write_plane(blizzard_low(state), blizzard_high(state), PLANE, out)
    write_plane(-1, -1, 2 * PLANE, out)
    for i in range(2):
        other = seat ^ i
        write_plane(state.tiles[other, 0], state.tiles[other, 1], (3 + i) * PLANE, out)
        out[5 * PLANE + i] = state.hand[other] / TILES
        out[5 * PLANE + 2 + i] = other == state.seat
    out[5 * PLANE + 4] = state.declared
    out[5 * PLANE + 5] = state.odin
    out[5 * PLANE + 6] = state.seat == TERMINAL


@kernel
def write_plane(low, high, start, out):
    """Write a set of cells as a plane from `out[start]` on."""
    for cell in range(WORD):
        out[start + PLACE[cell]] = low >> cell & 1
        out[start + PLACE[WORD + cell]] = high >> cell & 1
