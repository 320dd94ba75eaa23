"""Compiled likelihood ratios of discrete scores, by the methods that `arena.stats.sprt` names."""

from __future__ import annotations

import math

import numpy as np

from engine.kernel import kernel

MAX_NEWTON_STEPS, MAX_ROUNDS = 200, 100
CONVERGED_DIFFERENCE = 1e-15


@kernel
def tilt(deviations: np.ndarray, weights: np.ndarray) -> float:
    """Return the root x of sum w_i d_i / (1 + x d_i) = 0 between the poles, by bracketed Newton; d takes both signs."""
    low, high = -1.0 / deviations.max(), -1.0 / deviations.min()
    x = 0.0
    for _ in range(MAX_NEWTON_STEPS):
        value = slope = 0.0
        for i in range(len(deviations)):
            ratio = deviations[i] / (1.0 + x * deviations[i])
            value += weights[i] * ratio
            slope += weights[i] * ratio * ratio
        if value > 0.0:
            low = x
        else:
            high = x
        step = x + value / slope
        if not low < step < high:
            step = (low + high) / 2.0
        if abs(step - x) <= CONVERGED_DIFFERENCE * max(1.0, abs(x)):
            break
        x = step
    return x


@kernel
def log_ratio(values: np.ndarray, counts: np.ndarray, score: float) -> float:
    """Return the log-likelihood ratio of free and E = score: sum n_i log(1 + x (a_i - score)), 0 or more."""
    deviations = values - score
    x = tilt(deviations, counts)
    total = 0.0
    for i in range(len(values)):
        total += counts[i] * math.log1p(x * deviations[i])
    return total


@kernel
def log_ratio_t(values: np.ndarray, counts: np.ndarray, t: float) -> float:
    """Return the same for the constraint E / deviation = t (normalised Elo, section 4.1, of scores above even).

    In each round the constraint is linear, with mean and deviation of the round before.
    """
    shares = counts / counts.sum()
    probabilities = np.full(len(values), 1.0 / len(values))
    for _ in range(MAX_ROUNDS):
        mean = (probabilities * values).sum()
        deviation = math.sqrt((probabilities * (values - mean) ** 2).sum())
        linear = values - t * deviation * (1.0 + ((mean - values) / deviation) ** 2) / 2.0
        if linear.max() <= 0.0 or linear.min() >= 0.0:
            break
        x = tilt(linear, shares)
        updated = shares / (1.0 + x * linear)
        change = np.abs(updated - probabilities).max()
        probabilities = updated
        if change < CONVERGED_DIFFERENCE * 1e3:
            break
    return (counts * (np.log(shares) - np.log(probabilities))).sum()
