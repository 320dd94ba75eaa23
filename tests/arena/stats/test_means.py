"""Intervals of means over blocks."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from arena.stats.means import interval, over_blocks


def interval_over_blocks(rows):
    """The interval of the mean of rows (group, block, value), by group."""
    group, block, value = (np.array(column) for column in zip(*rows, strict=True))
    mean, error, count, _ = over_blocks(group, block, value, group.max() + 1, np.ones(block.max() + 1))
    return interval(mean, error, count, 1.0)


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(
            st.lists(st.floats(-1, 1), min_size=size, max_size=size),
            min_size=2,
            max_size=8,
        )
    )
)
def test_the_interval_is_students_over_the_means_of_blocks(blocks):
    rows = [(0, number, value) for number, values in enumerate(blocks) for value in values]
    low, high = interval_over_blocks(rows)
    means = np.array([np.mean(values) for values in blocks])
    assume(np.std(means) > 1e-9)
    half = stats.t.ppf(0.975, len(means) - 1) * np.std(means, ddof=1) / math.sqrt(len(means))
    assert low[0] == pytest.approx(max(means.mean() - half, -1), abs=1e-9)
    assert high[0] == pytest.approx(min(means.mean() + half, 1), abs=1e-9)


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=4), min_size=2, max_size=8))
def test_blocks_with_more_values_weigh_more_and_the_interval_is_that_of_a_ratio_of_sums(blocks):
    rows = [(0, number, value) for number, values in enumerate(blocks) for value in values]
    low, high = interval_over_blocks(rows)
    count, total = len(blocks), sum(map(len, blocks))
    mean = sum(value for _, _, value in rows) / total
    residuals = [sum(values) - mean * len(values) for values in blocks]
    error = math.sqrt(count / (count - 1) * sum(each**2 for each in residuals)) / total
    assume(error > 1e-9)
    half = stats.t.ppf(0.975, count - 1) * error
    assert low[0] == pytest.approx(max(mean - half, -1), abs=1e-9)
    assert high[0] == pytest.approx(min(mean + half, 1), abs=1e-9)


@pytest.mark.parametrize("value", [1.0, 0.0, -0.5])
@pytest.mark.parametrize("count", [2, 30])
def test_equal_blocks_leave_room_for_what_was_not_seen(value, count):
    """As many of all blocks may be otherwise, as far away as can be, as count equal ones in 1 of 40 cases allow."""
    rows = [(0, number, value) for number in range(count)]
    low, high = interval_over_blocks(rows)
    unseen = stats.beta.ppf(0.975, 1, count)  # Clopper and Pearson's bound for none out of count
    assert low[0] == pytest.approx(value * (1 - unseen) - unseen)
    assert high[0] == pytest.approx(value * (1 - unseen) + unseen)


def test_matches_of_one_block_are_one_observation():
    """Playing the same matches again within each block makes nothing surer."""
    rows = [(0, block, value) for block, value in enumerate([1.0, -1.0, 1.0])]
    once, often = interval_over_blocks(rows), interval_over_blocks(rows * 50)
    assert (once[0][0], once[1][0]) == pytest.approx((often[0][0], often[1][0]))


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
