"""Magic Mids: features of a state for learning, the same wherever on the board a pattern lies."""

import numpy as np

from engine.kernel import kernel
from engine.magic_mids.rules import COLUMNS, MAX_PLAYERS, ROWS, SIZES, SQUARES, STOCK, square_at

VALUES = 7  # of a square: free, an own small, medium or large mid, another seat's
# By players: how many mids of each size a hand may have, 0 being one possibility, and how many hands there are
AMOUNTS = np.array([[1 + mids for mids in STOCK.get(players, (0,) * SIZES)] for players in range(MAX_PLAYERS + 1)])
HANDS = AMOUNTS.prod(axis=1)


def _patterns(steps):
    """Return by square the squares at these steps (down, right) from it, as rows of a table."""
    return np.array(
        [
            [square_at(square // COLUMNS + down, square % COLUMNS + right) for down, right in steps]
            for square in range(SQUARES)
        ]
    )


PLUS = _patterns([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
CROSS = _patterns([(0, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)])
WIDE = _patterns([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)])
TALL = _patterns([(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)])
ROW = _patterns([(0, right) for right in range(COLUMNS)])[::COLUMNS].copy()  # Numba keeps no code with strided tables
COLUMN = _patterns([(down, 0) for down in range(ROWS)])[:COLUMNS].copy()

PLUS_START = 0
CROSS_START = PLUS_START + VALUES**5
WIDE_START = CROSS_START + VALUES**5
TALL_START = WIDE_START + VALUES**6
ROW_START = TALL_START + VALUES**6
COLUMN_START = ROW_START + VALUES**4
HANDS_START = COLUMN_START + VALUES**5
PATTERNS = 4 * SQUARES + ROWS + COLUMNS
ACTIVE = PATTERNS + 4 + SQUARES  # the last ones are scratch


def feature_count(players):
    """Return how many features there are: patterns on the board, own hand, and the own with each other hand."""
    hands = int(HANDS[players])
    return HANDS_START + (hands if players == 2 else players * hands) + (players - 1) * hands * hands


@kernel
def features(state, seat, active):
    """Write the patterns around every square, of every row and column, and the hands; return how many features."""
    players = state.players
    squares = active[PATTERNS + 4 :]
    own = state.mids[seat]
    others = (state.mids[0] | state.mids[1] | state.mids[2] | state.mids[3]) ^ own
    for square in range(SQUARES):
        value = 0
        for size in range(SIZES):
            mid = SQUARES * size + square
            value += (own >> mid & 1) * (1 + size) + (others >> mid & 1) * (1 + SIZES + size)
        squares[square] = value
    count = 0
    for square in range(SQUARES):
        plus = cross = wide = tall = 0
        for i in range(5):
            plus = VALUES * plus + squares[PLUS[square, i]]
            cross = VALUES * cross + squares[CROSS[square, i]]
        for i in range(6):
            wide = VALUES * wide + squares[WIDE[square, i]]
            tall = VALUES * tall + squares[TALL[square, i]]
        active[count] = PLUS_START + plus
        active[count + 1] = CROSS_START + cross
        active[count + 2] = WIDE_START + wide
        active[count + 3] = TALL_START + tall
        count += 4
    for row in range(ROWS):
        code = 0
        for i in range(COLUMNS):
            code = VALUES * code + squares[ROW[row, i]]
        active[count] = ROW_START + code
        count += 1
    for column in range(COLUMNS):
        code = 0
        for i in range(ROWS):
            code = VALUES * code + squares[COLUMN[column, i]]
        active[count] = COLUMN_START + code
        count += 1
    hands = HANDS[players]
    hand = hand_code(state.hands[seat], players)
    turn = state.seat - seat
    if turn < 0:
        turn += players
    active[count] = HANDS_START + (0 if players == 2 else turn * hands) + hand
    count += 1
    start = HANDS_START + (hands if players == 2 else players * hands)
    for i in range(1, players):
        other = seat + i if seat + i < players else seat + i - players
        active[count] = start + hands * hand + hand_code(state.hands[other], players)
        start += hands * hands
        count += 1
    return count


@kernel
def hand_code(hand, players):
    """Return a number for what a hand holds."""
    code = 0
    for size in range(SIZES):
        code = AMOUNTS[players, size] * code + (hand >> SQUARES * size & 7)
    return code
