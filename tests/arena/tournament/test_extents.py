"""Which rows of an index of a log are in its plan."""

import numpy as np

from arena.tournament.extents import Extent, planned_matches

BOARDS = {1: ("epicycle", 2), 2: ("epicycle", 3)}


def rows(**columns):
    return {name: np.array(values) for name, values in columns.items()}


def planned(extents, **match):
    """Return which of some matches of seat entries 0 and 1 are in the plan."""
    matches = rows(**match)
    numbers = np.arange(len(matches["board"]))
    seat = {"match": np.repeat(numbers, 2), "entry": np.tile([0, 1], len(numbers))}
    return planned_matches(extents, BOARDS, matches, seat).tolist()


def test_a_match_counts_below_its_tables_count_and_up_to_a_bots_last_round():
    extents = {("epicycle", 2): Extent([2, 1], {}), ("epicycle", 3): Extent(None, {1: 3})}
    match = {"board": [1, 1, 1, 1, 2, 2, 2], "table": [0, 0, 1, 1, 0, 0, -1], "round": [1, 2, 0, 1, 3, 4, 0]}
    assert planned(extents, **match) == [True, False, True, False, True, False, False]


def test_boards_and_tables_of_a_later_run_than_the_extents_are_not_in_the_plan():
    extents = {("epicycle", 2): Extent([5], {})}
    assert planned(extents, board=[1, 1, 2], table=[0, 2, 0], round=[0, 0, 0]) == [True, False, False]
    assert planned({("epicycle", 2): Extent([], {})}, board=[1], table=[0], round=[0]) == [False]
