"""Epicycle: the state and the rules, section by section as in RULES.md.

The pie is packed and read clockwise from the gap: two bits an offset, offset 0 being the gap itself (always 0).
Slot numbers mean nothing to the rules; `gap` only remembers where the drawing begins.
"""

import itertools

import numpy as np

from engine.chance import below
from engine.kernel import kernel

# §1 What there is

SMALL, MEDIUM, LARGE = 0, 1, 2
SLOTS = 10
MAX_PLAYERS = 5
MAX_ACTIONS = 6  # S+ S- M+ M- L+ L-: twice the size played, plus one when the piece taken lies anticlockwise
MAX_OUTCOMES = 1680
CHANCE, TERMINAL = -1, -4
RUNNING, NORMAL, REPETITION, CAP = 0, 1, 2, 3
ENDINGS = ("", "normal", "repetition", "cap")
STANDARD_PIE = (SMALL, MEDIUM, LARGE) * 3
SHORT_HISTORY = 512


def state_dtype(params):
    """Return the record of one state; its history has room for `max_turns` plays (in one of two sizes)."""
    longest = SHORT_HISTORY if params["max_turns"] < SHORT_HISTORY else 10_001
    return np.dtype(
        (
            np.record,
            [
                ("pie", np.int64),  # 20 bits: sizes at offsets 1 to 9 clockwise from the gap, 2 bits each
                ("hands", np.int64),  # 6 bits a seat: how many S, M, L it holds, 2 bits each; 0 = the seat is out
                ("gap", np.int64),  # slot of the gap
                ("seat", np.int64),  # seat to move, CHANCE or TERMINAL
                ("turn", np.int64),  # plays made
                ("players", np.int64),
                ("seats_in", np.int64),  # seats not eliminated
                ("ended", np.int64),  # index into ENDINGS
                ("ranks", np.int64, (MAX_PLAYERS,)),  # final rank by seat, 0 while in
                ("repetition", np.int64),  # occurrences that end the match, 0 = off
                ("max_turns", np.int64),
                ("seen", np.int64),  # positions in `history`
                ("history", np.int64, (longest,)),  # keys of the positions since the last elimination
            ],
        )
    )


HEADER_WORDS = state_dtype({"max_turns": 1}).fields["history"][1] // 8  # 64-bit words before `history`

START_HAND = 0b010101
ARRANGEMENTS = sorted(set(itertools.permutations(STANDARD_PIE)))  # §7, in dictionary order


def pack_pie(clockwise):
    """Return the `pie` of nine sizes read clockwise from the gap."""
    return sum(int(size) << 2 * offset for offset, size in enumerate(clockwise, start=1))


def _piece_tables():
    """Return by hand the actions whose size is held; by three neighbours on a side the actions they allow."""
    held, three_alike = np.zeros(64, np.int64), np.zeros(64, np.int64)
    clockwise, anticlockwise = np.zeros(64, np.int64), np.zeros(64, np.int64)
    for packed in range(64):
        fields = [packed >> 2 * i & 3 for i in range(3)]
        held[packed] = sum(0b11 << 2 * size for size in range(3) if fields[size])
        three_alike[packed] = 3 in fields
        clockwise[packed] = sum(1 << 2 * size for size in range(3) if fields[size] != size)
        anticlockwise[packed] = sum(2 << 2 * size for size in range(3) if fields[2 - size] != size)
    return held, three_alike, clockwise, anticlockwise


def _bit_tables():
    """Return for every set of six actions how many there are, and the n-th of them at 8 * set + n."""
    count, nth = np.zeros(64, np.int64), np.zeros(64 * 8, np.int64)
    for mask in range(64):
        actions = [action for action in range(6) if mask >> action & 1]
        count[mask] = len(actions)
        nth[8 * mask : 8 * mask + len(actions)] = actions
    return count, nth


DEALS = np.array([pack_pie(arrangement) for arrangement in ARRANGEMENTS])
HELD, THREE_ALIKE, CLOCKWISE, ANTICLOCKWISE = _piece_tables()
COUNT, NTH = _bit_tables()


def set_up(state, players, params):
    """Fill a blank record with the start position; with a random set-up, with the wait for the deal."""
    state.hands = sum(START_HAND << 6 * seat for seat in range(players))
    state.gap = SLOTS - 1
    state.players = state.seats_in = players
    state.repetition = params["repetition"]
    state.max_turns = params["max_turns"]
    if params["setup"] == "random":
        state.seat = CHANCE
    else:
        state.pie = pack_pie(STANDARD_PIE)
        begin_turn(state, 0)


# §2 Whose turn it is


@kernel
def current_player(state):
    return state.seat


@kernel
def rolling_seat(state):
    return np.int64(-1)  # the only chance node is the deal, which is nobody's roll


@kernel
def hand_of(state, seat):
    return state.hands >> 6 * seat & 63


@kernel
def next_seat_in(state, seat):
    seat = seat + 1 if seat + 1 < state.players else 0
    while hand_of(state, seat) == 0:
        seat = seat + 1 if seat + 1 < state.players else 0
    return seat


# §3 What is allowed


@kernel
def allowed(state, seat):
    """Return the legal plays of a seat as a set of bits, one an action."""
    clear = CLOCKWISE[state.pie >> 2 & 63] | ANTICLOCKWISE[state.pie >> 14 & 63]
    return HELD[hand_of(state, seat)] & clear & 63  # the last mask only tells the compiler that no index is negative


@kernel
def legal_actions(state, actions):
    """Write the legal actions, ascending; return how many there are."""
    mask = allowed(state, state.seat)
    for n in range(COUNT[mask]):
        actions[n] = NTH[8 * mask + n]
    return COUNT[mask]


@kernel
def random_action(state, rng, actions):
    """Return a legal action, all equally likely."""
    mask = allowed(state, state.seat)
    return NTH[8 * mask + below(rng, COUNT[mask]) & 511]


# §4 What a play does


@kernel
def offset_of(action):
    """Return where the piece taken lies, clockwise from the gap."""
    size = action >> 1
    return size + 1 if action & 1 == 0 else SLOTS - 1 - size


@kernel
def apply_action(state, action):
    seat = state.seat
    size = action >> 1
    offset = offset_of(action)
    shift = 2 * offset
    taken = state.pie >> shift & 3
    pie = (state.pie | size) & ~(3 << shift)
    state.pie = pie >> shift | (pie << (2 * SLOTS - shift) & 0xFFFFF)
    gap = state.gap + offset
    state.gap = gap if gap < SLOTS else gap - SLOTS
    state.hands += (1 << (6 * seat + 2 * taken)) - (1 << (6 * seat + 2 * size))
    state.turn += 1
    if THREE_ALIKE[hand_of(state, seat)]:
        eliminate(state, seat)
    if state.seats_in == 1:
        finish(state, NORMAL)
    else:
        begin_turn(state, next_seat_in(state, seat))


@kernel
def begin_turn(state, seat):
    """Give the turn to `seat`, or to the next one that can move; then see whether the match is over (§5, §6)."""
    while allowed(state, seat) == 0:
        eliminate(state, seat)
        seat = next_seat_in(state, seat)
        if state.seats_in == 1:
            finish(state, NORMAL)
            return
    state.seat = seat
    if state.repetition > 0 and occurrences(state) >= state.repetition:
        finish(state, REPETITION)
    elif state.turn >= state.max_turns:
        finish(state, CAP)


@kernel
def eliminate(state, seat):
    """Take the seat out with its pieces; no position seen before can come again."""
    state.seats_in -= 1
    state.ranks[seat] = state.seats_in
    state.hands &= ~(63 << 6 * seat)
    state.seen = 0


# §5 Repetition


@kernel
def occurrences(state):
    """Note the position; return how often it has occurred. The same seat moves every `seats_in` positions."""
    key = state.pie | state.hands << 20 | state.seat << 50
    count = 1
    i = state.seen - state.seats_in  # a range with a step known only here would cost a division
    while i >= 0:
        count += state.history[i] == key
        i -= state.seats_in
    state.history[state.seen] = key
    state.seen += 1
    return count


# §6 The end


@kernel
def finish(state, ending):
    state.seat = TERMINAL
    state.ended = ending


@kernel
def ranks(state, out):
    for seat in range(state.players):
        out[seat] = state.ranks[seat]


@kernel
def ended(state):
    return state.ended


# §7 The random set-up


@kernel
def chance_outcomes(state, outcomes, weights):
    for i in range(MAX_OUTCOMES):
        outcomes[i] = i
        weights[i] = 1
    return np.int64(MAX_OUTCOMES)


@kernel
def sample_chance(state, rng):
    return below(rng, MAX_OUTCOMES)


@kernel
def apply_chance(state, outcome):
    state.pie = DEALS[outcome]
    begin_turn(state, 0)


# Bookkeeping


@kernel
def used_words(state):
    """Return how many 64-bit words of the record hold the state; the rest of the history is unused."""
    return HEADER_WORDS + state.seen
