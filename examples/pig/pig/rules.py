"""Pig: the state and the rules, section by section as in RULES.md."""

import numpy as np

from engine.chance import below
from engine.kernel import kernel

# §1 What there is

GOAL, FACES = 100, 6
HOLD, ROLL = 0, 1  # actions
MAX_ACTIONS, MAX_OUTCOMES = 2, FACES  # outcome = face - 1
CHANCE, TERMINAL = -1, -4
ENDINGS = ("", "normal")
NORMAL = 1

STATE = np.dtype(
    (
        np.record,
        [
            ("points", np.int64, (2,)),  # held, by seat
            ("pot", np.int64),  # points of this turn
            ("turn", np.int64),  # seat whose turn it is; after the end: the winner
            ("seat", np.int64),  # seat to move, CHANCE or TERMINAL
        ],
    )
)
WORDS = STATE.itemsize // 8


def state_dtype(params):
    """Return the record of one state."""
    return STATE


def set_up(state, players, params):
    """Fill a blank record with the start: no points, seat 0 to move, which is all zeros."""


# §2 Whose turn it is


@kernel
def current_player(state):
    return state.seat


@kernel
def rolling_seat(state):
    """Return whose die is rolled, or -1."""
    return state.turn if state.seat == CHANCE else np.int64(-1)


@kernel
def pass_on(state):
    """Begin the other seat's turn."""
    state.pot = 0
    state.turn = state.seat = 1 - state.turn


# §3 What is allowed


@kernel
def legal_actions(state, actions):
    """Write the legal actions, ascending; return how many there are: a turn begins with a roll."""
    if state.pot == 0:
        actions[0] = ROLL
        return 1
    actions[0], actions[1] = HOLD, ROLL
    return 2


@kernel
def apply_action(state, action):
    if action == ROLL:
        state.seat = CHANCE
    else:
        hold(state)


# §4 What a roll does


@kernel
def chance_outcomes(state, outcomes, weights):
    """Write the faces with their weights; return how many there are."""
    for outcome in range(FACES):
        outcomes[outcome], weights[outcome] = outcome, 1
    return np.int64(FACES)


@kernel
def sample_chance(state, rng):
    """Draw one face: what `chance_outcomes` says, without writing it down."""
    return below(rng, FACES)


@kernel
def apply_chance(state, outcome):
    if outcome == 0:
        pass_on(state)
    else:
        state.pot += outcome + 1
        state.seat = state.turn


# §5 What holding does, and the end


@kernel
def hold(state):
    state.points[state.turn] += state.pot
    if state.points[state.turn] < GOAL:
        pass_on(state)
    else:
        state.pot = 0
        state.seat = TERMINAL


@kernel
def ranks(state, out):
    """Write ranks: the winner before the other."""
    out[state.turn], out[1 - state.turn] = 0, 1


@kernel
def scores(state, out):
    out[0], out[1] = state.points[0], state.points[1]


@kernel
def ended(state):
    return np.int64(NORMAL)


# Bookkeeping


@kernel
def used_words(state):
    """Return how many 64-bit words of the record hold the state: all of them."""
    return np.int64(WORDS)
