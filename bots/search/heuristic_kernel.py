"""Template: a game's evaluation as searches call it, which may also be given one with a memory."""

RULES = ()
OPTIONAL = ()


def assess(state, seat, memory):
    """Return what a running state is worth to a seat; the memory is not used."""
    return evaluate(state, seat)
