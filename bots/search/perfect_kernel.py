"""Template: every position of two-player Epicycle and where its plays lead, numbered for `bots.search.perfect_solver`.

A position is the pie read from the gap and the hand of the seat to move; the other hand holds what is left.
"""

import numpy as np

RULES = ("apply_action", "allowed", "hand_of", "MAX_ACTIONS", "SLOTS", "TERMINAL", "THREE_ALIKE")
OPTIONAL = ()

PIECES_OF_A_SIZE = 5  # three in the standard pie, one in either hand
PIES = 3**9
ILLEGAL, WON, LOST = -1, -2, -3  # in place of a child: no such play, the match is over and its player has won, or lost


def _hands():
    """Return the hands that do not lose, in rising order of their packed form, and their numbers (-1: no such hand)."""
    counts = [(small, medium, 3 - small - medium) for small in range(3) for medium in range(3)]
    hands = sorted(small | medium << 2 | large << 4 for small, medium, large in counts if 0 <= large <= 2)
    numbers = np.full(64, -1, np.int64)
    numbers[hands] = np.arange(len(hands))
    return np.array(hands), numbers


HANDS, HAND_NUMBER = _hands()
POSITIONS = PIES * len(HANDS)


def position_number(pie, hand):
    """Return the number of a position from its packed pie and the packed hand of the seat to move."""
    number = 0
    for offset in range(1, SLOTS):
        number = 3 * number + (pie >> 2 * offset & 3)
    return number * len(HANDS) + HAND_NUMBER[hand]


def number_of(words):
    """Return the number of an unfinished position."""
    state = words.view(STATE)[0]
    return position_number(state.pie, hand_of(state, state.seat))


def other_hand(pie, hand):
    """Return the packed hand that completes a position, or 0 when there is none that plays on."""
    other = 0
    for size in range(3):
        count = PIECES_OF_A_SIZE - (hand >> 2 * size & 3)
        for offset in range(1, SLOTS):
            count -= (pie >> 2 * offset & 3) == size
        if not 0 <= count <= 2:
            return 0
        other |= count << 2 * size
    return other


def number_pie(number):
    """Return the packed pie from its number."""
    pie = 0
    for offset in range(SLOTS - 1, 0, -1):
        pie |= number % 3 << 2 * offset
        number //= 3
    return pie


def lay_out(state, pie, hand, other):
    """Set up a position with seat 0 to move with `hand`; the match has neither a past nor a cap in sight."""
    state.pie = pie
    state.hands = hand | other << 6
    state.seat = 0
    state.turn = state.ended = 0
    state.players = state.seats_in = 2
    state.ranks[:] = 0
    state.repetition = 0
    state.max_turns = 1_000_000


def expand(words, children):
    """Write the child of every play of every unfinished position; a row of ILLEGAL where there is no such position."""
    state = words.view(STATE)[0]
    children[:] = ILLEGAL
    for number in range(POSITIONS):
        pie = number_pie(number // len(HANDS))
        hand = HANDS[number % len(HANDS)]
        other = other_hand(pie, hand)
        if other == 0:
            continue
        lay_out(state, pie, hand, other)
        plays = allowed(state, 0)
        for action in range(MAX_ACTIONS):
            if plays >> action & 1:
                lay_out(state, pie, hand, other)
                apply_action(state, action)
                children[number, action] = child_number(state)


def child_number(state):
    """Return the number of the position that seat 0 has left, or how the match ended for seat 0."""
    if state.seat != TERMINAL:
        return position_number(state.pie, hand_of(state, 1))
    return WON if state.ranks[0] == 0 else LOST
