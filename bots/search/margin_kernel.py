"""Template: the evaluation of a game that nothing is known about, its score margin."""

import numpy as np

RULES = ()
OPTIONAL = ("scores",)


def scores(state, out):
    """Games without a score of their own."""
    out[:] = 0


def evaluate(state, seat):
    """margin / (|margin| + HALFWAY), the margin being the seat's score minus the mean of the others'."""
    score = np.zeros(PLAYERS, np.int64)
    scores(state, score)
    others = np.sum(score) - score[seat]
    margin = score[seat] - others / (PLAYERS - 1)
    return margin / (abs(margin) + HALFWAY)
