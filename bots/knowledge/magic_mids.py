"""Magic Mids: how good a position is for a seat, for 2 to 4 players, and which rolls are alike."""

import numpy as np

from engine.kernel import kernel
from engine.magic_mids.rules import (
    COLUMNS,
    PLACEMENTS,
    ROWS,
    SIZES,
    SQUARES,
    THREE_BLANKS,
    WEIGHTS,
    captured,
    count,
    left,
    on_free_squares,
    sizes_held,
)

PROBABILITY = np.array(  # that a roll allows a size in a column, before hand and board are asked
    [
        [WEIGHTS[PLACEMENTS >> SQUARES * size + column & 1 == 1].sum() / WEIGHTS.sum() for column in range(COLUMNS)]
        for size in range(SIZES)
    ]
)

FORESEES_ROLLS = True
ROLL_AGAIN = -1


@kernel
def outcome_key(state, outcome):
    """The set of mids that the roll allows to be placed; three blanks, with their second roll, stand apart."""
    if outcome == THREE_BLANKS:
        return np.int64(ROLL_AGAIN)
    return PLACEMENTS[outcome & 63] & sizes_held(state.hands[state.seat]) & on_free_squares(state)


@kernel
def evaluate(state, seat):
    """The seat's lead in mids on the board, with one roll's captures foreseen, as a share of the mids it owns.

    With n players, h(a) the mids that a has in hand and prey(a, b) the mids of b that a can hope to capture with one
    roll, it is the sum over the other seats of

        (h(other) - h(seat) + prey(seat, other)) / (n - 1) - prey(other, seat)

    divided by the number of mids that a seat owns and cut to [-1, 1].
    """
    lead = -float(left(state, seat))
    for other in range(state.players):
        if other != seat:
            lead += (left(state, other) + prey(state, seat, other)) / (state.players - 1) - prey(state, other, seat)
    return min(1.0, max(-1.0, lead / (left(state, seat) + count(state.mids[seat]))))


@kernel
def prey(state, hunter, owner):
    """Over all sizes and columns: the chance to place there, times the most mids of `owner` that it captures."""
    open_to_hunter = sizes_held(state.hands[hunter]) & on_free_squares(state)
    hope = 0.0
    for size in range(SIZES):
        for column in range(COLUMNS):
            most = 0
            for row in range(ROWS):
                square = COLUMNS * row + column
                if open_to_hunter >> SQUARES * size + square & 1:
                    most = max(most, count(captured(state, hunter, size, square) & state.mids[owner]))
            hope += PROBABILITY[size, column] * most
    return hope
