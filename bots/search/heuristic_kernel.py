"""Template: the evaluation that a game's heuristics write out, as searches call it that may have a learned one."""

RULES = ()
OPTIONAL = ()


def assess(state, seat, memory):
    """Return what a running state is worth to a seat; `memory` is that of `bots.learning.value_kernel`, and unused."""
    return evaluate(state, seat)
