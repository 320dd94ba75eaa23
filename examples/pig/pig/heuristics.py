"""Pig: an evaluation."""

from engine.kernel import kernel
from pig.rules import GOAL


@kernel
def evaluate(state, seat):
    """Return the seat's lead in hundredths, from -1 to 1; what is in the pot counts as held."""
    lead = state.points[seat] - state.points[1 - seat]
    lead += state.pot if state.turn == seat else -state.pot
    return min(max(lead, -GOAL), GOAL) / GOAL
