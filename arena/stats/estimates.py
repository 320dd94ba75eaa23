"""Expected score of a block with an interval, after a fixed number of blocks or a sequential stop.

A test that stops when the results look good enough overstates them, so the two differ.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, stdtrit

from arena.stats.likelihoods import log_ratio, tilt
from arena.stats.means import unseen_share
from arena.stats.power import blocks_needed
from arena.stats.sprt import EVEN_SCORE, NORMALIZED_ELO_PER_SD, Sprt, block_values, elo_from_score, regularised

MIN_SEARCHED_SCORE = 1e-6
"""Scores are searched from this to 1 minus this."""
CONFIDENCE_LEVELS = (0.999, 0.99, 0.95)
"""Confidences at which a difference is told."""
PLAIN_INTERVAL_CONFIDENCE = 0.99
"""Confidence of the plain interval that bounds the one after a stop."""
IMAGE_NUMBERS = np.arange(-40, 41)
"""Mirror images of a boundary in a sum; the farthest ones are 80 widths away."""


@dataclass(frozen=True)
class ScoreEstimate:
    """Score with its interval, all from 0 to 1."""

    score: float
    low: float
    high: float

    def turned(self, unit: Callable[[float], float]) -> ScoreEstimate:
        """Return it in another unit."""
        return ScoreEstimate(unit(self.score), unit(self.low), unit(self.high))

    def as_dict(self) -> dict[str, float]:
        """Return it as plain data."""
        return {"value": self.score, "low": self.low, "high": self.high}

    @property
    def elo(self) -> ScoreEstimate:
        """It as logistic Elo."""
        return self.turned(elo_from_score)

    @property
    def difference(self) -> ScoreEstimate:
        """It as A's mean return minus B's, from -2 to 2."""
        return self.turned(lambda score: 4 * (score - 0.5))

    def normalized_elo(self, counts: np.ndarray, values: np.ndarray | None = None) -> ScoreEstimate | None:
        """Return it in deviations of a match's score: (score - 1/2) / (sqrt(2) deviation) * 800 / ln 10.

        Blocks have two matches. None where all are equal.
        """
        deviation = math.sqrt(2 * mean_and_variance(counts, values)[1])
        return self.turned(lambda score: (score - 0.5) / deviation * NORMALIZED_ELO_PER_SD) if deviation else None


def mean_and_variance(counts: np.ndarray, values: np.ndarray | None = None) -> tuple[float, float]:
    """Return the observed mean and variance of a block's score; `values` are the scores, as of `Sprt.llr`."""
    values = block_values(len(counts) - 1) if values is None else values
    mean = float(values @ counts / counts.sum())
    return mean, float((values - mean) ** 2 @ counts / counts.sum())


def fixed_estimate(counts: np.ndarray, confidence: float = 0.95, values: np.ndarray | None = None) -> ScoreEstimate:
    """Return the mean and its empirical-likelihood interval: every score s with 2 log(L(mean) / L(s)) <= t^2.

    Owen, "Empirical likelihood ratio confidence intervals for a single functional" (1988), t Student's quantile for
    blocks - 1. Unlike mean +- t * deviation it stays between 0 and 1, and has a width when all blocks are equal: at
    least that of `unseen_share`, each of them as far away as can be.
    """
    mean, _ = mean_and_variance(counts, values)
    values = block_values(len(counts) - 1) if values is None else values
    weights = regularised(counts).astype(float)
    most = stdtrit(counts.sum() - 1, (1 + confidence) / 2) ** 2 if counts.sum() > 1 else math.inf
    centre = float(np.clip(values @ weights / weights.sum(), 2 * MIN_SEARCHED_SCORE, 1 - 2 * MIN_SEARCHED_SCORE))

    def excess(score: float) -> float:
        return float(2 * log_ratio(values, weights, score)) - most

    low, high = MIN_SEARCHED_SCORE, 1 - MIN_SEARCHED_SCORE
    low = 0.0 if excess(low) <= 0 else brentq(excess, low, centre)
    high = 1.0 if excess(high) <= 0 else brentq(excess, centre, high)
    if np.count_nonzero(counts) == 1:
        others = float(unseen_share(counts.sum(), confidence))
        low, high = min(low, mean - others * mean), max(high, mean + others * (1 - mean))
    return ScoreEstimate(mean, low, high)


@dataclass(frozen=True)
class Lead:
    """Which of two bots is stronger."""

    sign: int
    """1 for A, -1 for B, 0 where that is not known at the least of `CONFIDENCE_LEVELS`."""
    confidence: float | None
    """How sure that is, from 0 to 1; None where it is not known."""
    more_blocks: int | None
    """Blocks more that would probably tell, if the difference is what it seems to be; None where that is known or they
    are out of reach."""


def lead(counts: np.ndarray, test: Sprt | None, values: np.ndarray | None = None) -> Lead:
    """Return which bot is stronger, after a fixed number of blocks, whose scores are `values`, or a `test`'s stop.

    Confidence after a fixed number: the highest of `CONFIDENCE_LEVELS` whose interval leaves out equal strength. After
    a test: one minus the error rate of a verdict that says so, or 95 % if that interval does. Those of more would be
    too short: the few blocks of an early stop vary less than later ones (`tests.support.sprt_worlds` measures it).

    Further blocks: those of `arena.stats.power.blocks_needed` at 95 % with power 80 %, less those that were played.
    """
    fixed = functools.partial(fixed_estimate, values=values)
    known = _from_intervals(counts, CONFIDENCE_LEVELS, fixed) if test is None else _after(test, counts)
    if known is not None:
        return known
    mean, variance = mean_and_variance(counts, values)
    likely = regularised(counts)
    deviation = math.sqrt(variance or mean_and_variance(likely, values)[1])
    needed = None if mean == EVEN_SCORE else blocks_needed(abs(mean - EVEN_SCORE), deviation, CONFIDENCE_LEVELS[-1])
    return Lead(0, None, None if needed is None else max(needed - int(counts.sum()), 1))


def _from_intervals(
    counts: np.ndarray, levels: Sequence[float], estimate: Callable[[np.ndarray, float], ScoreEstimate]
) -> Lead | None:
    """Return the lead at the highest level whose interval leaves out equal strength, if any."""
    for level in levels:
        found = estimate(counts, level)
        if not found.low <= EVEN_SCORE <= found.high:
            return Lead(1 if found.low > EVEN_SCORE else -1, level, None)
    return None


def _after(test: Sprt, counts: np.ndarray) -> Lead | None:
    """Return what is known after the stop of a test, at the higher confidence of verdict and interval."""
    verdict, sign, error = test.verdict(test.llr(counts)), 0, 1.0
    if verdict == "H1" and test.elo0 >= 0:
        sign, error = 1, test.alpha
    elif verdict == "H0" and test.elo1 <= 0:
        sign, error = -1, test.beta
    told = Lead(sign, round(1 - error, 9), None) if sign else None
    if error <= 1 - CONFIDENCE_LEVELS[-1]:
        return told
    return (
        _from_intervals(counts, CONFIDENCE_LEVELS[-1:], lambda counts, level: stopped_estimate(counts, test, level))
        or told
    )


def most_likely(values: np.ndarray, shares: np.ndarray, score: float) -> np.ndarray:
    """Return the most likely distribution with a given mean, from observed shares: p_i = q_i / (1 + x (a_i - s))."""
    likely = shares / (1 + tilt(values - score, shares) * (values - score))
    return likely / likely.sum()


def stopped_estimate(counts: np.ndarray, test: Sprt, confidence: float = 0.95) -> ScoreEstimate:
    """Return the median-unbiased estimate after a sequential stop: the score at which half of all tests end worse.

    Siegmund, "Estimation following sequential tests" (1978). Endings are ordered from an early H0 to an early H1. The
    ratio is taken for a Brownian motion whose steps have the mean and the variance of log(p1_i / p0_i) under the most
    likely distribution with that score, and which met its boundary where a straight line to its last value did.
    """
    values, weights = block_values(len(counts) - 1), regularised(counts)
    shares = weights / weights.sum()
    mean = float(values @ shares)
    score0, score1 = test.scores(math.sqrt(float((values - mean) ** 2 @ shares)))
    steps = np.log(most_likely(values, shares, score1) / most_likely(values, shares, score0))
    llr = float(weights @ steps)
    upper = llr > 0
    time = weights.sum() * min(1.0, (test.upper if upper else test.lower) / llr)

    def worse(score: float) -> float:
        likely = most_likely(values, shares, score)
        drift = float(likely @ steps)
        variance = float(likely @ (steps - drift) ** 2)
        if upper:
            return 1 - meets_first(test.upper, test.lower, drift, variance, time)
        return meets_first(-test.lower, -test.upper, -drift, variance, time)

    def score_where(share: float) -> float:
        low, high = MIN_SEARCHED_SCORE, 1 - MIN_SEARCHED_SCORE
        if worse(low) <= share:
            return 0.0
        return 1.0 if worse(high) >= share else brentq(lambda score: worse(score) - share, low, high)

    plain = fixed_estimate(counts, PLAIN_INTERVAL_CONFIDENCE)
    low = max(score_where((1 + confidence) / 2), plain.low)
    high = min(score_where((1 - confidence) / 2), plain.high)
    return ScoreEstimate(min(max(score_where(0.5), low), high), low, high)


def meets_first(near: float, far: float, drift: float, variance: float, time: float) -> float:
    """Return the probability that a Brownian motion from 0 meets near > 0 by some time, and not far < 0 before.

    Darling and Siegert, "The first passage problem for a continuous Markov process" (1953), as a sum over the images
    near + 2k(near - far) of inverse Gaussian distributions.
    """
    images = near + 2 * IMAGE_NUMBERS * (near - far)
    distance, rate = np.abs(images), drift / variance
    root = math.sqrt(variance * time)
    shift = rate * (near - distance)
    terms = np.exp(shift + log_ndtr((drift * time - distance) / root))
    terms += np.exp(shift + 2 * rate * distance + log_ndtr((-drift * time - distance) / root))
    return float(np.clip(np.sign(images) @ terms, 0.0, 1.0))
