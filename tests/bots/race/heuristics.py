"""What a plug-in may know about Race: the share of the way that lies behind a seat, and features to learn from."""

from engine.kernel import kernel


@kernel
def evaluate(state, seat):
    return state.square[seat] / state.goal


SQUARES = 16
ACTIVE = 5


def feature_count(players):
    return players * SQUARES + players


@kernel
def features(state, seat, active):
    """Write where everybody stands, the seat first, and whose turn it is."""
    players = state.players
    for i in range(players):
        active[i] = SQUARES * i + state.square[(seat + i) % players]
    active[players] = players * SQUARES + (state.turn - seat) % players
    return players + 1
