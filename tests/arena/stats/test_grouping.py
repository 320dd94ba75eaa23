"""Rows are grouped as NumPy groups them, whatever whole numbers they hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.grouping import group_rows

NUMBERS = st.one_of(st.integers(0, 3), st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1))


@given(st.integers(1, 5).flatmap(lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)))
def test_groups_are_those_of_unique_rows(rows):
    rows = np.array(rows, np.int64)
    groups = group_rows(rows)
    distinct, first, number, times = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert (rows[groups.first] == distinct).all()
    assert groups.first.tolist() == first.tolist()
    assert groups.number.tolist() == number.ravel().tolist()
    assert groups.times.tolist() == times.tolist()


def test_many_wide_columns_are_grouped_by_ranks():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**40, (50, 9))[rng.integers(0, 50, 400)]
    groups = group_rows(rows)
    assert (rows[groups.first][groups.number] == rows).all()
    assert len(groups.first) == len(np.unique(rows, axis=0))


def test_nothing_has_no_groups():
    assert [len(each) for each in group_rows(np.zeros((0, 3), np.int64))] == [0, 0, 0]
