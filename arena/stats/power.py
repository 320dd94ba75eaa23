"""Power analysis: how many blocks tell two bots apart, from blocks that were played."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

from arena.stats.means import ZERO_STANDARD_ERROR, interval, unseen_share

MAX_BLOCKS = 10**9
MAX_RETURN_DIFFERENCE = 2.0
"""Largest difference of two returns."""


@dataclass(frozen=True)
class Pilot:
    """Differences of two bots' mean returns in the blocks of both."""

    blocks: int
    """Distinct blocks."""
    mean: float
    deviation: float
    low: float
    """Interval of the mean, by `arena.stats.means.interval`; NaN below two blocks."""
    high: float
    p: float
    """Two-sided p-value of equal strength."""
    confidence: float = 0.95

    @property
    def apart(self) -> bool:
        """Whether the mean differs significantly from 0."""
        return self.p < 1 - self.confidence

    @property
    def likely_deviation(self) -> float:
        """Deviation for planning: the observed one, or for equal blocks the largest that `unseen_share` allows."""
        if self.deviation:
            return self.deviation
        others = float(unseen_share(np.array(self.blocks), self.confidence))
        return math.sqrt(others * (1 - others)) * (MAX_RETURN_DIFFERENCE + abs(self.mean))


def pilot(differences: np.ndarray, confidence: float = 0.95, blocks: int | None = None) -> Pilot:
    """Return the mean difference with its interval: mean +- t(blocks - 1) deviation / sqrt(blocks).

    Student, "The probable error of a mean" (1908). `blocks` is the number of distinct ones, by default all. p is at
    least 2 / 2^blocks, as in a permutation test of signs (Fisher, "The Design of Experiments", 1935, section 21), since
    a few equal blocks have no deviation.
    """
    count = len(differences) if blocks is None else blocks
    mean = float(differences.mean()) if len(differences) else math.nan
    if count < 2:
        return Pilot(count, mean, math.nan, math.nan, math.nan, math.nan, confidence)
    deviation = 0.0 if np.ptp(differences) < ZERO_STANDARD_ERROR else float(differences.std(ddof=1))
    error = np.array(deviation / math.sqrt(count))
    low, high = map(float, interval(np.array(mean), error, np.array(count), MAX_RETURN_DIFFERENCE, confidence))
    statistic = abs(mean) * math.sqrt(count) / deviation if deviation else math.inf if mean else 0.0
    p = max(float(2 * stdtr(count - 1, -statistic)), 2.0 ** (1 - count))
    return Pilot(count, mean, deviation, low, high, p, confidence)


def fewest_blocks(confidence: float) -> int:
    """Return the least number of blocks at which `pilot` can find two bots apart: 2 / 2^n < 1 - confidence."""
    return math.floor(2 - math.log2(1 - confidence))


def blocks_needed(difference: float, deviation: float, confidence: float = 0.95, power: float = 0.8) -> int | None:
    """Return n = ((t_(1 - a/2) + t_power) deviation / difference)^2, t of n - 1 degrees; None when out of reach.

    Cohen, "Statistical power analysis for the behavioral sciences" (1988), for paired differences. `power` is the
    probability that a difference of this size will be found.
    """
    if deviation >= math.sqrt(MAX_BLOCKS) * difference:
        return None
    ratio = (deviation / difference) ** 2

    def enough(count: int) -> bool:
        quantiles = stdtrit(count - 1, (1 + confidence) / 2) + stdtrit(count - 1, power)
        return count >= quantiles**2 * ratio

    high = 2
    while not enough(high):
        high *= 2
    counts = range(max(high // 2, 2), high)
    return counts.start + bisect.bisect_left(counts, True, key=enough)


def open_ranks(board: pd.DataFrame, confidence: float = 0.95, power: float = 0.8) -> pd.DataFrame:
    """Return the neighbours on a leaderboard that are not apart yet: rank, upper, lower, times.

    `times` is how many times as many blocks would tell them apart with probability `power`, if the gap is what it seems
    to be: ((z_(1 - a/2) + z_power) / lead)^2, Cohen (1988), as standard errors fall with the root of the blocks.
    Infinite when the ratings are equal.
    """
    limit, more = float(ndtri((1 + confidence) / 2)), float(ndtri(power))
    lead = board["lead_over_next"].to_numpy(dtype=float)[:-1]
    near = np.flatnonzero(lead < limit)
    with np.errstate(divide="ignore"):
        times = ((limit + more) / lead[near]) ** 2
    bots = board["bot"].to_numpy()
    return pd.DataFrame(
        {"rank": board["rank"].to_numpy()[near], "upper": bots[near], "lower": bots[near + 1], "times": times}
    )
