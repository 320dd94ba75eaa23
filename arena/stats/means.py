"""Means over blocks, with their intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from arena.stats.grouping import group_rows

CONFIDENCE = 0.95
ZERO_STANDARD_ERROR = 1e-12
"""Standard errors below this are rounding: all observations are equal."""


def students_t(count: np.ndarray, confidence: float = CONFIDENCE) -> np.ndarray:
    """Return the quantile of Student's t for an interval over `count` observations; NaN below two."""
    return np.where(count >= 2, stdtrit(np.maximum(count - 1, 1), (1 + confidence) / 2), np.nan)


def unseen_share(count: np.ndarray, confidence: float = CONFIDENCE) -> np.ndarray:
    """Return the share of other values that `count` equal ones may hide: at 95 % up to 1 - 0.025^(1 / count).

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (1934).
    """
    return 1 - ((1 - confidence) / 2) ** (1 / np.maximum(count, 1))


def interval(
    mean: np.ndarray, error: np.ndarray, count: np.ndarray, most: float, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of a mean of `count` values from -most to most; NaN below two values.

    Student, "The Probable Error of a Mean" (1908): mean +- t(count - 1) error, without what lies outside -most to most,
    where no mean is: that costs no coverage. Equal values have no spread and are not certain all the same: of those to
    come `unseen_share` may be others, each as far away as can be.
    """
    half = students_t(count, confidence) * error
    others = unseen_share(count, confidence)
    equal = (count >= 2) & (error < ZERO_STANDARD_ERROR)
    low = np.where(equal, mean - others * (mean + most), mean - half)
    high = np.where(equal, mean + others * (most - mean), mean + half)
    return np.maximum(low, -most), np.minimum(high, most)


def decided_blocks(
    group: np.ndarray, block: np.ndarray, value: np.ndarray, groups: int, share: np.ndarray
) -> np.ndarray:
    """Return by group how many distinct blocks have a mean other than 0; arguments as of `over_blocks`."""
    cells = group_rows(np.column_stack([group, block]))
    decided = np.abs(np.bincount(cells.number, value, len(cells.first))) > 1e-9
    return np.bincount(group[cells.first], decided * share[block[cells.first]], groups)


def over_blocks(
    group: np.ndarray,
    block: np.ndarray,
    value: np.ndarray,
    groups: int,
    share: np.ndarray,
    times: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return by group the mean, its standard error over blocks (NaN below two), distinct and all blocks.

    `share` (blocks,) is how much of a block is no copy of another one; `times` (blocks,) is how many each stands for.
    Blocks weigh by their values: with as many in each that is the mean of block means, else a ratio of two sums
    (Cochran, "Sampling Techniques", 1977, section 6.4).
    """
    cells = group_rows(np.column_stack([group, block]))
    of, at = group[cells.first], block[cells.first]
    means = np.bincount(cells.number, value, len(of)) / cells.times
    weight = np.ones(len(of)) if times is None else times[at]
    count = np.bincount(of, weight, groups)
    size = cells.times / np.maximum(np.bincount(of, weight * cells.times, groups) / np.maximum(count, 1), 1e-300)[of]
    mean = np.bincount(of, weight * size * means, groups) / np.maximum(count, 1)
    square = np.bincount(of, weight * (size * (means - mean[of])) ** 2, groups)
    distinct = np.bincount(of, weight * share[at], groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return mean, np.sqrt(square / (count - 1) / distinct), distinct, count
