"""Epicycle: an evaluation for 2 to 5 players, and a rollout policy."""

import numpy as np

from bots.features.epicycle import ACTIVE, feature_count, features  # noqa: F401 - offered by this module
from engine.chance import below
from engine.epicycle.rules import COUNT, MAX_ACTIONS, NTH, START_HAND, THREE_ALIKE, allowed, hand_of, offset_of
from engine.kernel import kernel

MIXED_HAND, PAIR_IN_HAND = 0.35, 0.2  # what the hand alone promises a seat that is not to move
NOT_TO_MOVE = 0.5  # how much the pie of today says of a seat whose turn comes later


@kernel
def evaluate(state, seat):
    """Return the seat's mean return if the seats still in were equals, tilted by how much better it stands.

    With n players, k of them out and a tilt in [-1, 1] that is (k + (n - k - 1) * tilt) / (n - 1). The tilt is the
    seat's prospects minus the mean of the other seats'. Prospects, with s safe plays (those that do not leave three
    alike): s / (s + 1) for the seat to move; half of that for the others, plus 0.35 for a hand of three sizes or 0.2
    for a hand of two. A seat that is out has its return.
    """
    others = state.players - 1
    if hand_of(state, seat) == 0:
        return 1.0 - 2.0 * state.ranks[seat] / others
    if state.seat < 0:
        return 0.0  # before the deal
    mean = 0.0
    for other in range(state.players):
        if other != seat and hand_of(state, other) != 0:
            mean += prospects(state, other) / (state.seats_in - 1)
    tilt = prospects(state, seat) - mean
    return (state.players - state.seats_in + (state.seats_in - 1) * tilt) / others


@kernel
def prospects(state, seat):
    """Return how a seat that is still in stands, from 0 (loses on this turn) towards 1."""
    safe = safe_plays(state, seat)
    if seat == state.seat:
        return safe / (safe + 1)
    return NOT_TO_MOVE * safe / (safe + 1) + (MIXED_HAND if hand_of(state, seat) == START_HAND else PAIR_IN_HAND)


@kernel
def safe_plays(state, seat):
    """Return how many plays, with the pie as it is, would not leave the seat with three alike."""
    plays = allowed(state, seat)
    hand = hand_of(state, seat)
    safe = 0
    for action in range(MAX_ACTIONS):
        if plays >> action & 1:
            played, taken = action >> 1, state.pie >> 2 * offset_of(action) & 3
            safe += not THREE_ALIKE[hand + (1 << 2 * taken) - (1 << 2 * played)]
    return safe


MOST_ALIKE = np.array([max(hand >> 2 * size & 3 for size in range(3)) for hand in range(64)])


@kernel
def rollout_action(state, rng, actions):
    """Return a play that the bot `cautious` might choose."""
    plays, hand = allowed(state, state.seat), hand_of(state, state.seat)
    best, fewest = 0, 3
    for action in range(MAX_ACTIONS):
        if plays >> action & 1:
            alike = most_alike_after(state, hand, action)
            best = best * (alike >= fewest) | (alike <= fewest) << action
            fewest = min(fewest, alike)
    return NTH[8 * best + below(rng, COUNT[best]) & 511]


@kernel
def most_alike_after(state, hand, action):
    """Return how many pieces of one size a hand holds after a play."""
    played, taken = action >> 1, state.pie >> 2 * offset_of(action) & 3
    return MOST_ALIKE[hand + (1 << 2 * taken) - (1 << 2 * played) & 63]
