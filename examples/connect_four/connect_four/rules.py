"""Connect four: the state and the rules, section by section as in RULES.md.

A set of cells is one word: bit 7 * column + row, row 0 being the lowest. Row 6 of a column is no cell: its bit is
always 0, so that no line goes on from the top of one column at the bottom of the next.
"""

import numpy as np

from engine.chance import next_word
from engine.kernel import kernel
from engine.no_chance import apply_chance, chance_outcomes, rolling_seat, sample_chance  # noqa: F401 - for `bind`

# §1 What there is

COLUMNS, ROWS = 7, 6
HEIGHT = ROWS + 1  # bits a column
MAX_ACTIONS = COLUMNS  # action = column
MAX_OUTCOMES = 0  # no dice
TERMINAL = -4
RUNNING, NORMAL, FULL_BOARD = 0, 1, 2
ENDINGS = ("", "normal", "full board")

BOTTOM = sum(1 << HEIGHT * column for column in range(COLUMNS))  # the lowest cell of every column
TOP = BOTTOM << ROWS - 1
COLUMN = (1 << ROWS) - 1  # all cells of the first column
BOARD = BOTTOM * COLUMN
STEPS = (1, HEIGHT, HEIGHT - 1, HEIGHT + 1)  # from a cell to the next: upright, level, falling, rising

STATE = np.dtype(
    (
        np.record,
        [
            ("stones", np.int64, (2,)),  # the set of cells that hold a stone, by seat
            ("seat", np.int64),  # seat to move, or TERMINAL
            ("last_seat", np.int64),  # after the end: the seat that made the last drop
            ("ended", np.int64),  # index into ENDINGS
        ],
    )
)
WORDS = STATE.itemsize // 8


def state_dtype(params):
    """Return the record of one state."""
    return STATE


def set_up(state, players, params):
    """Fill a blank record with the start position: an empty board, seat 0 to move, which is all zeros."""


# §2 Whose turn it is


@kernel
def current_player(state):
    return state.seat


# §3 What is allowed


@kernel
def legal_actions(state, actions):
    """Write the columns that are not full, ascending; return how many there are."""
    filled = state.stones[0] | state.stones[1]
    count = 0
    for column in range(COLUMNS):
        actions[count] = column
        count += ~filled >> HEIGHT * column + ROWS - 1 & 1
    return count


# §4 What a drop does


@kernel
def landing(filled, shift):
    """Return the set of the cell that a stone dropped into an open column falls to; `shift` is its first bit."""
    return filled + (1 << shift) & COLUMN << shift


@kernel
def has_four(stones):
    """Return whether a set of cells holds four in a line."""
    found = 0
    for step in STEPS:
        pairs = stones & stones >> step
        found |= pairs & pairs >> 2 * step
    return found != 0


@kernel
def apply_action(state, column):
    seat = state.seat
    state.stones[seat] |= landing(state.stones[0] | state.stones[1], HEIGHT * column)
    if has_four(state.stones[seat]):
        finish(state, seat, NORMAL)
    elif (state.stones[0] | state.stones[1]) & TOP == TOP:
        finish(state, seat, FULL_BOARD)
    else:
        state.seat = 1 - seat


# §5 The end


@kernel
def finish(state, seat, ending):
    """End the match by a drop of `seat`."""
    state.seat = TERMINAL
    state.last_seat = seat
    state.ended = ending


@kernel
def ranks(state, out):
    """Write ranks: the winner before the loser; both first on a full board."""
    out[0] = out[1] = 0
    if state.ended == NORMAL:
        out[1 - state.last_seat] = 1


@kernel
def ended(state):
    return state.ended


# Random play, for playouts: the same as drop by drop, in registers


@kernel
def open_columns(filled):
    """Return (list, count): the columns that are not full, each a byte with the number of its first bit."""
    listed = count = 0
    for shift in range(0, HEIGHT * COLUMNS, HEIGHT):
        is_open = ~filled >> shift + ROWS - 1 & 1
        listed |= shift * is_open << 8 * count
        count += is_open
    return listed, count


@kernel
def random_finish(state, rng, actions):
    """Play uniformly at random to the end; return (decisions, plies).

    One random word serves nine drops: a fraction of 60 bits, of which a factor of `count` brings one digit to the front
    and leaves the rest. No column is favoured by more than 7^9 / 2^60 < 2^-34.
    """
    plies = 0
    if state.seat == TERMINAL:
        return plies, plies
    seat = state.seat
    mine, theirs = state.stones[seat], state.stones[1 - seat]
    listed, count = open_columns(mine | theirs)
    ending = RUNNING
    while ending == RUNNING:
        fraction = np.int64(next_word(rng) >> np.uint64(4))
        for _ in range(9):
            fraction *= count
            place = 8 * (fraction >> 60)
            fraction &= (1 << 60) - 1
            cell = landing(mine | theirs, listed >> place & 63)
            mine |= cell
            plies += 1
            if has_four(mine):
                ending = NORMAL
                break
            if cell & TOP:
                before = (1 << place) - 1
                listed = listed & before | listed >> 8 & ~before
                count -= 1
                if count == 0:
                    ending = FULL_BOARD
                    break
            mine, theirs, seat = theirs, mine, 1 - seat
    state.stones[seat], state.stones[1 - seat] = mine, theirs
    finish(state, seat, ending)
    return plies, plies


# Bookkeeping


@kernel
def used_words(state):
    """Return how many 64-bit words of the record hold the state: all of them."""
    return np.int64(WORDS)
