"""Race: walk (one square), roll (a die, 0 to 5 squares) or leap (a hundred outcomes); the first at the goal ends it."""

import numpy as np

from engine.chance import below
from engine.kernel import kernel

WALK, ROLL, LEAP = 0, 1, 2
MAX_ACTIONS = 3
FACES = 6  # outcomes 0 to 5, weight 1 each: so many squares
LEAPS = 100  # outcomes 6 to 105, weights 1 to 3: 4 squares, but outcomes 86 to 105 send back to the start
BACK = 86
MAX_OUTCOMES = FACES + LEAPS
CHANCE, TERMINAL = -1, -4
ENDINGS = ("", "normal")
STATE = np.dtype(
    (
        np.record,
        [
            ("square", np.int64, (4,)),  # by seat
            ("turn", np.int64),  # plays made
            ("rolling", np.int64),  # ROLL or LEAP while its outcome is awaited, else 0
            ("players", np.int64),
            ("goal", np.int64),
        ],
    )
)
WORDS = STATE.itemsize // 8


def state_dtype(params):
    return STATE


def set_up(state, players, params):
    state.players = players
    state.goal = params["goal"]


@kernel
def current_player(state):
    if state.rolling:
        return np.int64(CHANCE)
    for seat in range(state.players):
        if state.square[seat] >= state.goal:
            return np.int64(TERMINAL)
    return state.turn % state.players


@kernel
def rolling_seat(state):
    return state.turn % state.players


@kernel
def legal_actions(state, actions):
    """Write the legal actions: everybody may walk and roll; who has left the start may leap."""
    actions[0], actions[1], actions[2] = WALK, ROLL, LEAP
    return np.int64(3 if state.square[state.turn % state.players] > 0 else 2)


@kernel
def apply_action(state, action):
    if action == WALK:
        advance(state, 1)
    else:
        state.rolling = action


@kernel
def advance(state, squares):
    seat = state.turn % state.players
    state.square[seat] = min(state.goal, state.square[seat] + squares)
    state.turn += 1


@kernel
def chance_outcomes(state, outcomes, weights):
    first, count = (0, FACES) if state.rolling == ROLL else (FACES, LEAPS)
    for i in range(count):
        outcomes[i] = first + i
        weights[i] = 1 if state.rolling == ROLL else 1 + i % 3
    return np.int64(count)


@kernel
def sample_chance(state, rng):
    if state.rolling == ROLL:
        return below(rng, FACES)
    point = below(rng, LEAPS // 3 * 6 + 1)
    group, rest = point // 6, point % 6
    return FACES + 3 * group + (rest > 0) + (rest > 2)


@kernel
def apply_chance(state, outcome):
    state.rolling = 0
    if outcome >= BACK:
        state.square[state.turn % state.players] = 0
    advance(state, outcome if outcome < FACES else 4 if outcome < BACK else 0)


@kernel
def ranks(state, out):
    for seat in range(state.players):
        out[seat] = 0
        for other in range(state.players):
            out[seat] += state.square[other] > state.square[seat]


@kernel
def ended(state):
    return np.int64(1)


@kernel
def scores(state, out):
    for seat in range(state.players):
        out[seat] = state.square[seat]


@kernel
def used_words(state):
    return WORDS
