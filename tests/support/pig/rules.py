"""Pig: the state and the rules."""

import numpy as np

from engine.chance import below
from engine.kernel import kernel

GOAL, FACES = 100, 6
HOLD, ROLL = 0, 1
MAX_ACTIONS, MAX_OUTCOMES = 2, FACES
CHANCE, TERMINAL = -1, -4
ENDINGS = ("", "normal")
STATE = np.dtype(
    (
        np.record,
        [
            ("points", np.int64, (2,)),  # held, by seat
            ("pot", np.int64),  # of this turn
            ("mover", np.int64),
            ("seat", np.int64),  # seat to move, CHANCE or TERMINAL
        ],
    )
)

WORDS = STATE.itemsize // 8


def state_dtype(params):
    return STATE


def set_up(state, players, params):
    """Begin with nothing, seat 0 to move, which is all zeros."""


@kernel
def current_player(state):
    return state.seat


@kernel
def rolling_seat(state):
    return state.mover if state.seat == CHANCE else np.int64(-1)


@kernel
def legal_actions(state, actions):
    actions[0], actions[1] = HOLD, ROLL
    return 2


@kernel
def apply_action(state, action):
    if action == ROLL:
        state.seat = CHANCE
        return
    state.points[state.mover] += state.pot
    if state.points[state.mover] >= GOAL:
        state.seat = TERMINAL
    else:
        pass_on(state)
    state.pot = 0


@kernel
def pass_on(state):
    state.mover = state.seat = 1 - state.mover


@kernel
def chance_outcomes(state, outcomes, weights):
    for face in range(FACES):
        outcomes[face], weights[face] = face, 1
    return np.int64(FACES)


@kernel
def sample_chance(state, rng):
    return below(rng, FACES)


@kernel
def apply_chance(state, outcome):
    if outcome == 0:
        state.pot = 0
        pass_on(state)
    else:
        state.pot += outcome + 1
        state.seat = state.mover


@kernel
def ranks(state, out):
    out[state.mover], out[1 - state.mover] = 0, 1


@kernel
def scores(state, out):
    out[0], out[1] = state.points[0], state.points[1]


@kernel
def ended(state):
    return np.int64(1)


@kernel
def used_words(state):
    return np.int64(WORDS)
