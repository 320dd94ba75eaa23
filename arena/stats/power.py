"""How many blocks tell two bots apart, from blocks that have been played."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

MOST_BLOCKS = 10**9


@dataclass(frozen=True)
class Pilot:
    """Differences of two bots' mean returns in blocks that both were in."""

    blocks: int
    mean: float
    deviation: float
    half: float
    """Half the width of the interval of the mean; NaN below two blocks."""
    p: float
    """Two-sided probability of a mean at least as far from 0, if the two are equally strong."""

    @property
    def apart(self) -> bool:
        """Whether the interval leaves out 0."""
        return abs(self.mean) > self.half


def pilot(differences: np.ndarray, confidence: float = 0.95, distinct: int | None = None) -> Pilot:
    """Student, "The probable error of a mean" (1908): mean +- t(blocks - 1) deviation / sqrt(blocks).

    `distinct` says how many of the blocks are no copies of others; by default all are. Only these count as blocks.
    """
    count = len(differences) if distinct is None else distinct
    mean = float(differences.mean()) if len(differences) else math.nan
    if count < 2:
        return Pilot(count, mean, math.nan, math.nan, math.nan)
    deviation = float(differences.std(ddof=1))
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * deviation / math.sqrt(count)
    statistic = abs(mean) * math.sqrt(count) / deviation if deviation else math.inf if mean else 0.0
    return Pilot(count, mean, deviation, half, float(2 * stdtr(count - 1, -statistic)))


def blocks_needed(difference: float, deviation: float, confidence: float = 0.95, power: float = 0.8) -> int | None:
    """n = ((t_(1 - a/2) + t_power) deviation / difference)^2, Student's quantiles for n - 1; None when out of reach.

    Cohen, "Statistical power analysis for the behavioral sciences" (1988), for paired differences. `power` is the
    probability that a difference of this size will be found.
    """
    if deviation >= math.sqrt(MOST_BLOCKS) * difference:
        return None
    ratio = (deviation / difference) ** 2

    def enough(count: int) -> bool:
        quantiles = stdtrit(count - 1, (1 + confidence) / 2) + stdtrit(count - 1, power)
        return count >= quantiles**2 * ratio

    high = 2
    while not enough(high):
        high *= 2
    low = max(high // 2, 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
