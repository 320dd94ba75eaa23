"""TrueSkill ratings of a board's matches, in the log's fold order; the one file that knows the `trueskill` package.

Herbrich, Minka and Graepel, "TrueSkill: A Bayesian skill rating system" (NIPS 2006). mu starts at 25 with sigma 25/3;
beta, the spread of one performance, is 25/6; tau is 0, because a bot does not change between matches.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import trueskill

MU = 25.0
SIGMA = MU / 3
BETA = MU / 6
TAU = 0.0
LEAST_DRAWS, MOST_DRAWS = 0.001, 0.9
"""The package takes a tie at probability 0 and then raises sigma; at 1 the margin is infinite."""


def draw_probability(ranks: np.ndarray) -> float:
    """Share of neighbours in the final order that tied, within `LEAST_DRAWS` and `MOST_DRAWS`.

    `ranks` has the shape (matches, seats).
    """
    ordered = np.sort(ranks, axis=1)
    ties = ordered[:, 1:] == ordered[:, :-1]
    return float(np.clip(ties.mean() if ties.size else 0.0, LEAST_DRAWS, MOST_DRAWS))


def rate(entries: np.ndarray, ranks: np.ndarray) -> dict[int, tuple[float, float]]:
    """(mu, sigma) by entry after all matches, taken in the order given; both arrays are (matches, seats)."""
    environment = trueskill.TrueSkill(MU, SIGMA, BETA, TAU, draw_probability(ranks))
    ratings = {int(entry): environment.create_rating() for entry in np.unique(entries)}
    for who, places in zip(entries.tolist(), ranks.tolist(), strict=True):
        for entry, (rating,) in zip(who, _after(environment, [ratings[entry] for entry in who], places), strict=True):
            ratings[entry] = rating
    return {entry: (rating.mu, rating.sigma) for entry, rating in ratings.items()}


def _after(
    environment: trueskill.TrueSkill, before: list[trueskill.Rating], places: list[int]
) -> Iterable[tuple[trueskill.Rating]]:
    groups = [(rating,) for rating in before]
    try:
        return environment.rate(groups, ranks=places)
    except FloatingPointError:  # a result so surprising that the normal distribution's tail underflows
        return groups
