"""Magic Mids: the state and the rules, section by section as in RULES.md.

A set of mids is one word: bit 20 * size + square stands for a mid of that size on that square, which is also the
number of the action that places it. So what a seat has on the board, what a roll allows and what a placement captures
are words of one kind, and a hand is a word that counts a size where that size's bits begin.
"""

import itertools

import numpy as np

from engine.chance import below
from engine.kernel import kernel

# §1 What there is

SMALL, MEDIUM, LARGE = 0, 1, 2
SIZES = 3
ROWS, COLUMNS = 5, 4
SQUARES = 20
MAX_PLAYERS = 4
MAX_ACTIONS = 60
MAX_OUTCOMES = 56
CHANCE, TERMINAL = -1, -4
NO_ROLL = -1
RUNNING, NORMAL, FULL_BOARD, CAP = 0, 1, 2, 3
ENDINGS = ("", "normal", "full board", "cap")
STOCK = {2: (5, 5, 5), 3: (3, 5, 3), 4: (2, 4, 2)}  # mids of each size, by number of players

BOARD = (1 << SQUARES) - 1  # every square, as the set of all small mids
EACH_SIZE = 1 | 1 << SQUARES | 1 << 2 * SQUARES  # times a set of squares: that set in every size

STATE = np.dtype(
    (
        np.record,
        [
            ("mids", np.int64, (MAX_PLAYERS,)),  # the set of mids on the board, by seat
            ("hands", np.int64, (MAX_PLAYERS,)),  # mids in hand by seat: the count of a size at bit 20 * size
            ("seat", np.int64),  # seat whose turn it is, or TERMINAL
            ("roll", np.int64),  # the roll that the seat must now use, or NO_ROLL
            ("turn", np.int64),  # turns completed
            ("players", np.int64),
            ("ended", np.int64),  # index into ENDINGS
            ("each_alone", np.int64),  # capture_power=each
            ("draws", np.int64),  # full_board=draw
            ("losers_tie", np.int64),  # losers=tied
            ("max_turns", np.int64),
            ("last", np.int64),  # last placement plus one, 0 = none yet; only drawings look at these two
            ("caught", np.int64),  # the set of mids that it captured
        ],
    )
)
WORDS = STATE.itemsize // 8


def state_dtype(params):
    """Return the record of one state, the same for all options."""
    return STATE


def pack_hand(counts):
    """Return the hand that holds so many small, medium and large mids."""
    return sum(count << SQUARES * size for size, count in enumerate(counts))


def set_up(state, players, params):
    """Fill a blank record with the start position: an empty board, full hands, the first roll due."""
    state.hands[:players] = pack_hand(STOCK[players])
    state.roll = NO_ROLL
    state.players = players
    state.each_alone = params["capture_power"] == "each"
    state.draws = params["full_board"] == "draw"
    state.losers_tie = params["losers"] == "tied"
    state.max_turns = params["max_turns"]


# Sets and hands as words

EACH_BYTE = 0x0101010101010101


@kernel
def count_by_byte(members):
    """Return the set with every eight bits replaced by their number."""
    twos = members - (members >> 1 & 0x5555555555555555)
    fours = (twos & 0x3333333333333333) + (twos >> 2 & 0x3333333333333333)
    return fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F


@kernel
def count(members):
    """Return how many members a set has; written out, LLVM makes it the one instruction for that."""
    twos = members - (members >> 1 & 0x5555555555555555)
    fours = (twos & 0x3333333333333333) + (twos >> 2 & 0x3333333333333333)
    return (fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F) * EACH_BYTE >> 56


@kernel
def lowest(members):
    """Return the smallest member of a set that is not empty: as many bits as lie below it."""
    return count((members & -members) - 1)


def _byte_table():
    """Return a table with, at 8 * byte + n, the n-th bit, from 0, of those set in the byte."""
    nth_bit = np.zeros(256 * 8, np.int64)
    for byte in range(256):
        bits = [bit for bit in range(8) if byte >> bit & 1]
        nth_bit[8 * byte : 8 * byte + len(bits)] = bits
    return nth_bit


NTH_BIT = _byte_table()


@kernel
def nth(members, n):
    """Return the n-th smallest member, from 0: first the byte that it lies in, then its place there."""
    sums = count_by_byte(members) * EACH_BYTE  # byte k: how many members lie in bytes 0 to k
    bytes_passed = count((n + 64) * EACH_BYTE - sums & 64 * EACH_BYTE)  # those whose sum is at most n
    shift = 8 * bytes_passed
    n -= sums << 8 >> shift & 255
    return shift + NTH_BIT[8 * (members >> shift & 255) + n & 2047]


@kernel
def as_hand(mids):
    """Return a set of mids counted by size, as a hand."""
    small, medium, large = mids & BOARD, mids >> SQUARES & BOARD, mids >> 2 * SQUARES
    return count(small) | count(medium) << SQUARES | count(large) << 2 * SQUARES


@kernel
def left(state, seat):
    """Return how many mids a seat has in hand."""
    return state.hands[seat] * EACH_SIZE >> 2 * SQUARES & 15


# §2 The turn


@kernel
def current_player(state):
    if state.seat == TERMINAL:
        return np.int64(TERMINAL)
    return np.int64(CHANCE) if state.roll == NO_ROLL else state.seat


@kernel
def rolling_seat(state):
    return state.seat


@kernel
def end_turn(state):
    """Give the dice to the next seat, unless the cap is reached (§6)."""
    state.turn += 1
    state.roll = NO_ROLL
    state.seat = state.seat + 1 if state.seat + 1 < state.players else 0
    if state.turn >= state.max_turns:
        finish(state, CAP)


# §3 The roll

BLANK, ACE = 0, 1  # face 2 + column is that column's number
THREE_BLANKS = 0  # the first roll
ROLLS = tuple(itertools.combinations_with_replacement(range(6), 3))  # in dictionary order; a face's place is its rank
ORDERINGS = tuple(len(set(itertools.permutations(roll))) for roll in ROLLS)


def mids_of(size, columns):
    """Return the set of all mids of a size in some columns."""
    return sum(1 << SQUARES * size + COLUMNS * row + column for row in range(ROWS) for column in columns)


def placements_without_blanks(faces):
    """Return what three faces allow: aces small, pairs medium, triples large."""
    face = max(faces, key=faces.count)
    number = faces.count(face)
    if number < 2:
        return 0
    if face == ACE:
        third = max(faces)
        return mids_of(SMALL, range(COLUMNS) if number == 3 else [third - 2])
    return mids_of(MEDIUM if number == 2 else LARGE, [face - 2])


def placements(roll):
    """Return the union over all that the blanks can copy; three blanks allow everything."""
    shown = [face for face in roll if face != BLANK]
    if not shown:
        return BOARD * EACH_SIZE
    union = 0
    for copies in itertools.product(shown, repeat=3 - len(shown)):
        union |= placements_without_blanks([*shown, *copies])
    return union


PLACEMENTS = np.array([placements(roll) for roll in ROLLS])
WEIGHTS = np.array(ORDERINGS)
DRAWN = np.repeat(np.arange(MAX_OUTCOMES), WEIGHTS)  # the roll of each of the 216 ordered throws


@kernel
def chance_outcomes(state, outcomes, weights):
    for i in range(MAX_OUTCOMES):
        outcomes[i] = i
        weights[i] = WEIGHTS[i]
    return np.int64(MAX_OUTCOMES)


@kernel
def sample_chance(state, rng):
    return DRAWN[below(rng, DRAWN.size)]


@kernel
def apply_chance(state, outcome):
    """Have the seat use the roll; when it allows nothing, the turn is over."""
    state.roll = outcome
    if allowed(state) == 0:
        end_turn(state)


# §4 Placing


@kernel
def sizes_held(hand):
    """Return all mids of the sizes that the hand still has."""
    return (hand + 7 * EACH_SIZE >> 3 & EACH_SIZE) * BOARD


@kernel
def squares_taken(state):
    mids = state.mids[0] | state.mids[1] | state.mids[2] | state.mids[3]
    return (mids | mids >> SQUARES | mids >> 2 * SQUARES) & BOARD


@kernel
def on_free_squares(state):
    """Return all mids on free squares, a mask of which only the 60 bits of a set mean anything."""
    return ~(squares_taken(state) * EACH_SIZE)


@kernel
def allowed(state):
    """Return the set of mids that the seat may place with its roll."""
    return PLACEMENTS[state.roll & 63] & sizes_held(state.hands[state.seat]) & on_free_squares(state)


@kernel
def legal_actions(state, actions):
    """Write the legal actions, ascending; return how many there are."""
    members = allowed(state)
    listed = 0
    while members:
        actions[listed] = lowest(members)
        members &= members - 1
        listed += 1
    return listed


@kernel
def random_action(state, rng, actions):
    """Return a legal action, all equally likely."""
    members = allowed(state)
    return nth(members, below(rng, count(members)))


@kernel
def apply_action(state, action):
    seat = state.seat
    size = action // SQUARES
    state.last = action + 1
    state.caught = captured(state, seat, size, action - SQUARES * size)
    state.mids[seat] |= 1 << action
    state.hands[seat] -= 1 << SQUARES * size
    return_captured(state)
    if state.hands[seat] == 0:
        finish_turn(state, NORMAL)
    elif squares_taken(state) == BOARD:
        finish_turn(state, FULL_BOARD)
    elif state.roll == THREE_BLANKS:
        state.roll = NO_ROLL
    else:
        end_turn(state)


@kernel
def finish_turn(state, ending):
    """End a turn that ended the match; it counts."""
    state.turn += 1
    finish(state, ending)


# §5 Capture

DIRECTIONS = [step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0)]
FAR_SQUARES = 5  # the eight lines from a square end on only so many


def square_at(row, column):
    """Return the number of a square, wrapped around the board's edges."""
    return COLUMNS * (row % ROWS) + column % COLUMNS


def _line_tables():
    """Return by square the far ends of its lines, and the set of all mids on the squares between, by far end."""
    far, between = np.zeros((SQUARES, FAR_SQUARES), np.int64), np.zeros((SQUARES, FAR_SQUARES), np.int64)
    for square in range(SQUARES):
        row, column = divmod(square, COLUMNS)
        lines = {}
        for down, right in DIRECTIONS:
            end = square_at(row + 2 * down, column + 2 * right)
            lines[end] = lines.get(end, 0) | EACH_SIZE << square_at(row + down, column + right)
        far[square], between[square] = list(lines), list(lines.values())
    return far, between


def _prey_table():
    """Return all mids with too little power, by option, size placed and 2 ** size of the far mid (0: none)."""
    prey = np.zeros((2, SIZES, 8), np.int64)
    for near, far, captive in itertools.product(range(SIZES), repeat=3):
        powers = near + 1, far + 1
        for each_alone, power in enumerate((sum(powers), min(powers))):
            if power > captive + 1:
                prey[each_alone, near, 1 << far] |= BOARD << SQUARES * captive
    return prey


FAR, BETWEEN = _line_tables()
PREY = _prey_table()


@kernel
def captured(state, seat, size, square):
    """Return the set of mids that a placement captures, every line judged on the board as it stands."""
    own = state.mids[seat]
    others = (state.mids[0] | state.mids[1] | state.mids[2] | state.mids[3]) ^ own
    caught = 0
    for line in range(FAR_SQUARES):
        flank = own >> FAR[square, line] & EACH_SIZE
        flank_size = (flank | flank >> SQUARES - 1 | flank >> 2 * SQUARES - 2) & 7
        caught |= others & BETWEEN[square, line] & PREY[state.each_alone, size, flank_size]
    return caught


@kernel
def return_captured(state):
    """Return captured mids to their owners' hands."""
    for seat in range(state.players):
        lost = state.mids[seat] & state.caught
        state.mids[seat] ^= lost
        state.hands[seat] += as_hand(lost)


# §6 The end


@kernel
def finish(state, ending):
    state.seat = TERMINAL
    state.roll = NO_ROLL
    state.ended = ending


@kernel
def ended(state):
    return state.ended


@kernel
def ranks(state, out):
    """Write ranks by mids in hand, fewest first, ties shared: the winner has none."""
    for seat in range(state.players):
        out[seat] = 0
        for other in range(state.players):
            out[seat] += left(state, other) < left(state, seat)
        if state.ended == NORMAL and state.losers_tie:
            out[seat] = min(out[seat], 1)
        elif state.ended != NORMAL and state.draws:
            out[seat] = 0


@kernel
def scores(state, out):
    """Write the number of mids on the board."""
    for seat in range(state.players):
        out[seat] = count(state.mids[seat])


# Bookkeeping


@kernel
def used_words(state):
    """Return how many 64-bit words of the record hold the state: all."""
    return WORDS


# Random play at speed


@kernel
def random_finish(state, rng, actions):
    """Play uniformly at random to the end; return (decisions, plies), a chance outcome being a ply too."""
    decisions = rolls = 0
    while state.seat != TERMINAL:
        if state.roll == NO_ROLL:
            rolls += roll_until_allowed(state, rng)
        else:
            apply_action(state, random_action(state, rng, actions))
            decisions += 1
    return decisions, decisions + rolls


@kernel
def roll_until_allowed(state, rng):
    """Roll seat after seat until a placement is allowed or the cap is reached; return how many rolls it took."""
    free = on_free_squares(state)
    seat, turn, rolls = state.seat, state.turn, 0
    while turn < state.max_turns:
        roll = sample_chance(state, rng)
        rolls += 1
        if PLACEMENTS[roll] & sizes_held(state.hands[seat]) & free:
            state.seat, state.turn, state.roll = seat, turn, roll
            return rolls
        turn += 1
        seat = seat + 1 if seat + 1 < state.players else 0
    state.turn = turn
    finish(state, CAP)
    return rolls
