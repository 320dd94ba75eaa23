"""Online TrueSkill: matches rated one by one in canonical order, by the package `trueskill`.

Herbrich, Minka and Graepel, "TrueSkill: A Bayesian skill rating system" (NIPS 2006). mu starts at 25 with sigma 25/3;
beta, the spread of one performance, is 25/6; tau is 0, because a bot does not change between matches. What does not
depend on the order is in `arena.stats.fit`.
"""

from __future__ import annotations

import math

import numpy as np
import trueskill
from scipy.special import ndtr, ndtri

from arena.stats import kernels
from arena.stats.fit import BETA, MU, SIGMA, Results

DECIMALS = 4
UPDATE_ACCURACY_SDS = 1e-9
"""Change in standard deviations at which the update of a match has converged."""


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


TRUESKILL_ENVIRONMENT = trueskill.TrueSkill(MU, SIGMA, BETA, 0.0, backend=(ndtr, _density, ndtri))
"""Its backend "scipy" gives the same, but takes half a second to load."""


def margin_of(draw_probability: float) -> float:
    """Return the draw margin at which two equal bots tie with this probability: ppf((p + 1) / 2) sqrt(2) beta."""
    return float(trueskill.calc_draw_margin(draw_probability, 2, TRUESKILL_ENVIRONMENT))


def draw_probability_at(margin: float) -> float:
    """Return the probability that two equal bots tie: 2 cdf(margin / (sqrt(2) beta)) - 1."""
    return float(trueskill.calc_draw_probability(margin, 2, TRUESKILL_ENVIRONMENT))


def rating_model(margin: float) -> dict[str, float]:
    """Return the constants of the rating model of a board, for exports."""
    constants = {"beta": BETA, "draw_margin": margin, "draw_probability": draw_probability_at(margin)}
    return {name: round(value, DECIMALS) for name, value in constants.items()}


def rate(results: Results, margin: float, has_times: bool = True) -> dict[int, tuple[float, float]]:
    """Return (mu, sigma) by entry after all matches, in the order given to `results_of`, or `shuffled` without times.

    The update of the package `trueskill` with `min_delta` near 0, compiled: the posterior of a match is the next
    one's prior.
    """
    mu, sigma = np.full(len(results.entries), MU), np.full(len(results.entries), SIGMA)
    order = results.number if has_times else shuffled(results.number)
    kernels.rate_in_order(results.orders, order, mu, sigma, BETA**2, margin, UPDATE_ACCURACY_SDS)
    return dict(zip(results.entries.tolist(), zip(mu.tolist(), sigma.tolist(), strict=True), strict=True))


def shuffled(number: np.ndarray) -> np.ndarray:
    """Return matches, by the numbers of their results, in an order that only depends on how often each result came.

    They are sorted, and dealt by the random numbers of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) from seed 0.
    """
    z = np.arange(1, len(number) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(np.sort(number)[np.argsort(z ^ (z >> np.uint64(31)), kind="stable")])
