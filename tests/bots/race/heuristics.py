"""What a plug-in may know about Race: the share of the way that lies behind a seat."""

from engine.kernel import kernel


@kernel
def evaluate(state, seat):
    return state.square[seat] / state.goal
