"""Epicycle: features of a state for learning."""

import numpy as np

from engine.epicycle.rules import hand_of
from engine.kernel import kernel

HANDS = 11  # kinds of hands, none among them
NEAR = 27 * 27  # what lies in the three slots on either side of the gap
AROUND = 81 * 81  # and in the four slots
TURNS = 3  # the seat moves now, or next, or later


def _hand_numbers():
    """Return by packed hand its number, 0 for none."""
    numbers, known = np.zeros(64, np.int64), 1
    for packed in range(1, 64):
        if sum(packed >> 2 * size & 3 for size in range(3)) == 3:
            numbers[packed] = known
            known += 1
    return numbers


NUMBERS = _hand_numbers()
ACTIVE = 16


def feature_count(players):
    """Return how many features there are: of hands beside the gap, of the mover and the pie, of three hands."""
    return players * TURNS * HANDS * NEAR + HANDS * AROUND * TURNS + players * HANDS**3 + players * players


@kernel
def features(state, seat, active):
    """Write every hand with the pieces it may take, what the mover sees, and who is in; return how many features."""
    players = state.players
    out = players * TURNS * HANDS * NEAR + HANDS * AROUND * TURNS + players * HANDS**3
    own = NUMBERS[hand_of(state, seat)]
    if own == 0:
        active[0] = out + state.ranks[seat]
        return 1
    mover = max(state.seat, 0)
    wait = mover - seat if mover >= seat else mover - seat + players
    follower = following(state, mover)
    turn = 0 if wait == 0 else 1 if follower == seat else 2
    near = around = n = 0
    for offset in (1, 2, 3, 9, 8, 7):
        near = 3 * near + (state.pie >> 2 * offset & 3)
    for offset in (1, 2, 3, 4, 9, 8, 7, 6):
        around = 3 * around + (state.pie >> 2 * offset & 3)
    for i in range(players):
        other = seat + i if seat + i < players else seat + i - players
        kind = (TURNS * i + turn) * HANDS + NUMBERS[hand_of(state, other)]
        active[n] = kind * NEAR + near
        n += 1
    start = players * TURNS * HANDS * NEAR
    moving = NUMBERS[hand_of(state, mover)]
    active[n] = start + (turn * HANDS + moving) * AROUND + around
    start += HANDS * AROUND * TURNS
    active[n + 1] = start + ((wait * HANDS + own) * HANDS + moving) * HANDS + NUMBERS[hand_of(state, follower)]
    active[n + 2] = out + players * (state.seats_in - 1) + wait
    return n + 3


@kernel
def following(state, mover):
    """Return the next seat after the mover that is in."""
    seat = mover
    for _ in range(state.players):
        seat = seat + 1 if seat + 1 < state.players else 0
        if hand_of(state, seat) != 0:
            return seat
    return mover
