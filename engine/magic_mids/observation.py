"""What a seat sees of Magic Mids: mids on the board and in hand, and what the roll allows."""

import numpy as np

from engine.kernel import kernel
from engine.magic_mids.rules import COLUMNS, NO_ROLL, PLACEMENTS, ROLLS, ROWS, SIZES, SQUARES, TERMINAL
from engine.observation import Block, ObservationSpec, Symmetry, permuted

VERSION = 1

FACES = np.array([[roll.count(face) for face in range(6)] for roll in ROLLS])
"""How often each face shows, by roll."""


def spec(players, params):
    """Return the layout of the observations."""
    blocks = (
        Block("mids", (players, 3, 5, 4), "mids on the board by size, row and column; edges wrap", seat_axes=1),
        Block("hands", (players, 3), "mids of each size in hand, by 5", seat_axes=1),
        Block("turn_of", (players,), "the seat whose turn it is, before its roll too; zeros at the end", seat_axes=1),
        Block("placements", (3, 4), "sizes and columns that the roll allows, if they are held and free; 0 without one"),
        Block("dice", (6,), "dice of the roll by face (blank, ace, columns 1 to 4), by 3"),
        Block("roll_due", (1,), "1 when the seat is to roll"),
        Block("over", (1,), "1 after the end"),
        Block("turn", (1,), "turns completed, by max_turns"),
    )
    rows, columns = np.arange(ROWS), np.arange(COLUMNS)
    changes = (
        ("next row", np.roll(rows, 1), columns),
        ("rows reversed", rows[::-1], columns),
        ("next column", rows, np.roll(columns, 1)),
        ("columns reversed", rows, columns[::-1]),
    )
    return ObservationSpec(VERSION, blocks, tuple(_symmetry(blocks, *change) for change in changes))


def _symmetry(blocks, name, rows, columns):
    """Return the symmetry after which the squares of these rows and columns lie in order."""
    actions = np.arange(SIZES * SQUARES).reshape(SIZES, ROWS, COLUMNS)
    entries = permuted(
        blocks,
        {
            "mids": lambda mids: mids[:, :, rows][:, :, :, columns],
            "placements": lambda allowed: allowed[:, columns],
            "dice": lambda dice: dice[[0, 1, *(2 + columns)]],
        },
    )
    return Symmetry(name, entries, np.argsort(actions[:, rows][:, :, columns].ravel()))


@kernel
def observe(state, seat, out):
    players = state.players
    out[:] = 0
    hands, turn_of = 60 * players, 63 * players
    for i in range(players):
        other = seat + i if seat + i < players else seat + i - players
        for mid in range(60):
            out[60 * i + mid] = state.mids[other] >> mid & 1
        for size in range(SIZES):
            out[hands + 3 * i + size] = (state.hands[other] >> SQUARES * size & 7) / 5
        out[turn_of + i] = other == state.seat
    rest = 64 * players
    if state.roll != NO_ROLL:
        for size in range(SIZES):
            for column in range(COLUMNS):
                out[rest + COLUMNS * size + column] = PLACEMENTS[state.roll] >> SQUARES * size + column & 1
        for face in range(6):
            out[rest + 12 + face] = FACES[state.roll, face] / 3
    out[rest + 18] = state.roll == NO_ROLL and state.seat != TERMINAL
    out[rest + 19] = state.seat == TERMINAL
    out[rest + 20] = state.turn / state.max_turns
