"""Ratings by the Plackett-Luce model, in which final orders are drawn from an urn, as a second opinion.

Plackett, "The Analysis of Permutations" (Applied Statistics, 1975): from the best place to the last, of those that are
left each comes next with probability worth / sum of the worths that are left.
"""

from __future__ import annotations

import choix
import numpy as np

from arena.stats.fit import Results

MAX_RANKINGS = 20_000
"""Largest number of rankings that are fitted; more matches are scaled down to it."""
TRANSITION_REGULARISATION = 1e-3
"""Regularisation of transitions, so that a bot that only wins has a finite worth."""


def log_worths(results: Results, weights: np.ndarray) -> np.ndarray:
    """Return (bots,) log-worths with mean 0: maximum likelihood by iterated Luce spectral ranking.

    Maystre and Grossglauser, "Fast and Accurate Inference of Plackett-Luce Models" (NIPS 2015), by the package `choix`.
    Of two bots alone, i finishes before j with probability 1 / (1 + exp(worth_j - worth_i)). The model knows no ties:
    a match with tied bots counts half with them in one order, half in the other. `weights` (results,) is how often
    each result counts.
    """
    bots = len(results.entries)
    if bots == 1:
        return np.zeros(1)
    rankings, counts = results.who.tolist(), weights
    if results.tied.any():
        rankings, counts = rankings + with_ties_reversed(results).tolist(), np.concatenate([weights, weights])
    copies = shares(counts, max(1, round(min(counts.sum(), MAX_RANKINGS))))
    data = [ranking for ranking, count in zip(rankings, copies.tolist(), strict=True) for _ in range(count)]
    found = choix.ilsr_rankings(bots, data, alpha=TRANSITION_REGULARISATION, max_iter=1000)
    return found - found.mean()


def with_ties_reversed(results: Results) -> np.ndarray:
    """Return (results, seats) bots in the final order, with tied bots in reverse order."""
    place = np.concatenate([np.zeros((len(results.who), 1), int), np.cumsum(~results.tied, axis=1)], axis=1)
    order = np.lexsort((-np.arange(place.shape[1]) * np.ones_like(place), place), axis=1)
    return np.take_along_axis(results.who, order, axis=1)


def shares(weights: np.ndarray, total: int) -> np.ndarray:
    """Return whole numbers proportional to weights that sum to a total, by largest remainders."""
    exact = weights * (total / weights.sum())
    whole = np.floor(exact + 1e-9).astype(np.int64)
    largest = np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]
    whole[largest] += 1
    return whole
