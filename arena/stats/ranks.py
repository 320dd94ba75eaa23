"""Uncertainty of ratings and ranks: intervals, ranges of ranks, groups of bots that are not significantly different."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from arena.stats.blocks import blocks_of
from arena.stats.covariance import Covariance, covariance_of
from arena.stats.fit import fit_with_margin, results_of
from arena.stats.means import CONFIDENCE

ROWS_PER_COMPARISON = 256
"""Bots that are compared with all others at a time."""
MAX_GROUP_LETTERS = 6
"""Letters of a bot beyond which the first and the last stand for all."""


class Order(NamedTuple):
    """Which of the other bots differ significantly from each bot."""

    better: np.ndarray
    """(bots,) number of those that are better."""
    worse: np.ndarray
    """(bots,) number of those that are worse."""
    nearest: np.ndarray
    """(bots,) place, by rating from 0, of the last one before the bot that is better; -1 for none."""


@dataclass(frozen=True)
class Spread:
    """Standard errors of ratings relative to the board's mean, and between every two bots."""

    mu: np.ndarray
    covariance: Covariance

    @property
    def to_mean(self) -> np.ndarray:
        """(bots,) standard errors of ratings relative to the board's mean."""
        return np.sqrt(np.maximum(self._variance, 0.0))

    @property
    def low(self) -> np.ndarray:
        """(bots,) lower ends of the intervals of ratings; NaN below two blocks."""
        return self.mu - self._half_width

    @property
    def high(self) -> np.ndarray:
        """(bots,) upper ends of the intervals of ratings; NaN below two blocks."""
        return self.mu + self._half_width

    @property
    def _half_width(self) -> np.ndarray:
        """Student's t times the standard error; NaN below two blocks."""
        quantiles = stdtrit(self.covariance.freedom, (1 + CONFIDENCE) / 2)
        return np.where(self._known, quantiles * self.to_mean, np.nan)

    @property
    def _variance(self) -> np.ndarray:
        return np.diagonal(self.covariance.matrix)

    @property
    def _known(self) -> np.ndarray:
        return self.covariance.blocks >= 2

    def between(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the standard errors of differences; infinite where a bot has less than two blocks."""
        both = self._variance[one] + self._variance[other] - 2 * self.covariance.matrix[one, other]
        unknown = ~(self._known[one] & self._known[other]) & (one != other)
        return np.where(unknown, np.inf, np.sqrt(np.maximum(both, 0.0)))

    def ahead(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the ratings of some bots minus those of others in standard errors; 0 for a bot and itself."""
        error = self.between(one, other)
        return np.where(error > 0, (self.mu[one] - self.mu[other]) / np.where(error > 0, error, 1.0), 0.0)

    @functools.cached_property
    def limits(self) -> np.ndarray:
        """(bots,) standard errors that a difference to a bot must exceed to be significant among all its differences.

        Šidák, "Rectangular Confidence Regions for the Means of Multivariate Normal Distributions" (1967): m intervals
        of confidence c^(1 / m) hold together with probability c at least, however they depend on each other.
        """
        each = CONFIDENCE ** (1 / max(len(self.mu) - 1, 1))
        return np.asarray(stdtrit(self.covariance.freedom, (1 + each) / 2))

    @functools.cached_property
    def order(self) -> Order:
        """Every two bots compared: they differ when their difference exceeds the limits of both."""
        bots = np.argsort(-self.mu, kind="stable")
        found = Order(*(np.zeros(len(bots), np.int64) for _ in Order._fields))
        for start in range(0, len(bots), ROWS_PER_COMPARISON):
            rows = bots[start : start + ROWS_PER_COMPARISON]
            ahead = self.ahead(rows[:, None], bots[None, :])
            apart = np.abs(ahead) > np.maximum(self.limits[rows][:, None], self.limits[bots][None, :])
            found.better[rows] = (apart & (ahead < 0)).sum(axis=1)
            found.worse[rows] = (apart & (ahead > 0)).sum(axis=1)
            found.nearest[rows] = np.where(apart & (ahead < 0), np.arange(len(bots)), -1).max(axis=1)
        return found


def rank_ranges(spread: Spread) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank, from 1, of each bot: as many others are significantly better, or worse.

    Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks" (Review of Economic Studies, 2024): all differences of a
    bot to others are bounded together. A difference is sure when it exceeds the bounds of both bots.
    """
    return 1 + spread.order.better, len(spread.mu) - spread.order.worse


def groups(spread: Spread) -> list[str]:
    """Return letters by bot; two bots with a letter in common are not significantly different.

    Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons" (Journal of Computational and
    Graphical Statistics, 2004), on runs of neighbouring ratings; a difference is sure as in `rank_ranges`. The letters
    of a bot follow each other; of more than `MAX_GROUP_LETTERS` the first and the last are written, as a-k.
    """
    bots = np.argsort(-spread.mu, kind="stable")
    first = np.maximum.accumulate(spread.order.nearest[bots] + 1)  # of the run that ends at a place
    starts = np.unique(first)
    opened = np.searchsorted(starts, np.arange(len(bots)), side="right")
    closed = np.searchsorted(starts, first)
    letters = [""] * len(bots)
    for bot, low, high in zip(bots.tolist(), closed.tolist(), opened.tolist(), strict=True):
        names = [letter(number) for number in ((low, high - 1) if high - low > MAX_GROUP_LETTERS else range(low, high))]
        letters[bot] = ("-" if high - low > MAX_GROUP_LETTERS else "").join(names)
    return letters


def letter(number: int) -> str:
    """Return a to z, then a1 to z1, a2 ..."""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")


def order_doubt(entries: np.ndarray, ranks: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every two entries the probability of the other order: cdf(-|gap| / standard error of the gap).

    `entries` and `ranks` are (matches, seats), `block` (matches,). Returns the entries, ascending, and a matrix.
    """
    results = results_of(entries, ranks)
    blocks = blocks_of(results, block)
    fitted = fit_with_margin(results, results.times)
    spread = Spread(fitted.mu, covariance_of(fitted, results, blocks))
    bots = np.arange(len(results.entries))
    return results.entries, ndtr(-np.abs(spread.ahead(bots[:, None], bots[None, :])))
