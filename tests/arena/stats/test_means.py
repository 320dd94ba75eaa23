"""Intervals of means over blocks."""

import numpy as np
import pytest
from scipy import stats

from arena.stats.means import interval


def test_no_interval_of_a_mean_leaves_the_range_and_what_is_inside_is_students():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = rng.uniform(-1, 1, rng.integers(2, 9))
        mean, error = values.mean(), stats.sem(values)
        low, high = interval(np.array(mean), np.array(error), np.array(len(values)), 1.0)
        plain = stats.t.interval(0.95, len(values) - 1, mean, error)
        assert -1 <= low <= mean <= high <= 1
        assert (low, high) == pytest.approx((max(plain[0], -1), min(plain[1], 1)))


def test_cutting_an_interval_at_the_ends_of_the_range_costs_no_coverage():
    rng, truth, held = np.random.default_rng(7), 0.6, []
    for _ in range(2000):
        values = np.where(rng.random((2, 8)) < (1 + truth) / 2, 1.0, -1.0).mean(axis=1)
        mean, error = values.mean(), stats.sem(values)
        if error > 0:
            plain = stats.t.interval(0.95, 1, mean, error)
            low, high = interval(np.array(mean), np.array(error), np.array(2), 1.0)
            held.append((plain[0] <= truth <= plain[1], low <= truth <= high))
    assert [plain for plain, _ in held] == [cut for _, cut in held] and np.mean(held) > 0.9
