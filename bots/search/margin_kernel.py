"""Template: the evaluation of a game without heuristics, its score margin."""

import numpy as np

RULES = ()
OPTIONAL = ("scores",)


def scores(state, out):
    """Write nothing but zeros, in games without a score of their own."""
    out[:] = 0


def evaluate(state, seat):
    """Return margin / (|margin| + HALFWAY); the margin is the seat's score minus the mean of the others'."""
    score = np.zeros(PLAYERS, np.int64)
    scores(state, score)
    others = np.sum(score) - score[seat]
    margin = score[seat] - others / (PLAYERS - 1)
    return margin / (abs(margin) + HALFWAY)
