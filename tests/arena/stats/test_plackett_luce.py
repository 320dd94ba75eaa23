"""The second opinion: against the model's own closed forms, and on ties and multiplicities."""

import math

import numpy as np
import pytest

from arena.stats.fit import results_of
from arena.stats.plackett_luce import log_worths, shares, with_ties_reversed


def worths(entries, ranks, weights=None):
    results = results_of(np.array(entries), np.array(ranks))
    return log_worths(results, results.times if weights is None else np.array(weights, float))


def test_two_bots_differ_by_the_logarithm_of_their_wins():
    found = worths([[0, 1]] * 40, [[0, 1]] * 30 + [[1, 0]] * 10)
    assert found[0] - found[1] == pytest.approx(math.log(3), abs=1e-3)
    assert found.sum() == pytest.approx(0)


def test_a_tie_is_half_a_win_for_either():
    tied = worths([[0, 1]] * 40, [[0, 1]] * 20 + [[1, 0]] * 10 + [[0, 0]] * 10)
    assert tied[0] - tied[1] == pytest.approx(math.log(25 / 15), abs=1e-3)


def test_results_that_come_often_weigh_as_much_as_if_they_were_listed_often():
    entries, ranks = [[0, 1, 2]] * 3, [[0, 1, 2], [1, 0, 2], [2, 0, 0]]
    weights = [0.0] * 3
    for number, count in zip(results_of(np.array(entries), np.array(ranks)).number.tolist(), (5, 3, 2), strict=True):
        weights[number] = count
    listed = [0] * 5 + [1] * 3 + [2] * 2
    expected = worths([entries[i] for i in listed], [ranks[i] for i in listed])
    assert worths(entries, ranks, weights) == pytest.approx(expected, abs=1e-6)


def test_worths_are_those_that_the_orders_were_drawn_with():
    rng = np.random.default_rng(5)
    true = np.array([1.0, 0.3, -0.2, -1.1])
    noise = rng.gumbel(size=(6000, 4)) + true
    ranks = (-noise).argsort(axis=1).argsort(axis=1)
    found = worths(np.tile(np.arange(4), (6000, 1)), ranks)
    assert found == pytest.approx(true, abs=0.08)


def test_a_bot_that_only_wins_has_a_finite_worth_above_all_others():
    found = worths([[0, 1, 2]] * 20, [[0, 1, 2]] * 10 + [[0, 2, 1]] * 10)
    assert np.isfinite(found).all()
    assert found.argmax() == 0


def test_ties_are_turned_around_and_nothing_else():
    results = results_of(np.array([[4, 5, 6, 7]]), np.array([[1, 0, 1, 1]]))
    assert results.who.tolist() == [[1, 0, 2, 3]]
    assert with_ties_reversed(results).tolist() == [[1, 3, 2, 0]]


def test_shares_add_up_and_are_in_proportion():
    assert shares(np.array([1.0, 1.0, 1.0]), 10).tolist() == [4, 3, 3]
    assert shares(np.array([2.0, 1.0]), 3).tolist() == [2, 1]
