"""Sequential ratings against the formulas of the paper and against the `trueskill` package used by hand."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from arena.stats import kernels
from arena.stats.factors import FinalOrders
from arena.stats.fit import BETA, MU, SIGMA, fit_with_margin, results_of
from arena.stats.online_trueskill import draw_probability_at, margin_of, rate, shuffled
from tests.support.worlds import ranks_of, round_robin

NORMAL = NormalDist()
DRAWS = 0.2


def random_matches(count, players, entries, seed=1):
    """Entries and ranks of made-up matches; entry 0 is the strongest, and ties happen."""
    rng = np.random.default_rng(seed)
    who = np.array([rng.permutation(entries)[:players] for _ in range(count)])
    return who, ranks_of(rng.normal(-who, 2), 0.7)


def rated_by_hand(entries, ranks, draws, backend="scipy"):
    """One match after the other through the package's plain interface."""
    environment = trueskill.TrueSkill(25, 25 / 3, 25 / 6, 0, draws, backend=backend)
    known = {}
    for who, places in zip(entries.tolist(), ranks.tolist(), strict=True):
        teams = [(known.get(entry) or environment.create_rating(),) for entry in who]
        for entry, (rating,) in zip(who, environment.rate(teams, ranks=places, min_delta=1e-12), strict=True):
            known[entry] = rating
    return {entry: (rating.mu, rating.sigma) for entry, rating in known.items()}


@pytest.mark.parametrize(("backend", "tolerance"), [("scipy", {"abs": 1e-6}), (None, {"rel": 1e-6})])
@pytest.mark.parametrize(("players", "entries"), [(2, 2), (2, 6), (3, 5), (4, 4), (5, 7)])
def test_ratings_are_those_of_the_package_after_every_match(players, entries, backend, tolerance):
    who, ranks = random_matches(40, players, entries)
    assert (np.sort(ranks, axis=1)[:, 1:] == np.sort(ranks, axis=1)[:, :-1]).any()
    for count in (1, 2, 3, 40):
        found = rate(results_of(who[:count], ranks[:count]), margin_of(DRAWS))
        by_hand = rated_by_hand(who[:count], ranks[:count], DRAWS, backend)
        assert found.keys() == by_hand.keys()
        for entry, expected in by_hand.items():
            assert found[entry] == pytest.approx(expected, **tolerance)


def after_one_match(draws, tie):
    """(mu, sigma) of winner and loser from equal starts, by the closed form of Herbrich, Minka and Graepel."""
    spread = math.sqrt(2 * BETA**2 + 2 * SIGMA**2)
    margin = NORMAL.inv_cdf((draws + 1) / 2) * math.sqrt(2) * BETA / spread
    if tie:
        inside = NORMAL.cdf(margin) - NORMAL.cdf(-margin)
        shift, shrink = 0.0, 2 * margin * NORMAL.pdf(margin) / inside
    else:
        shift = NORMAL.pdf(-margin) / NORMAL.cdf(-margin)
        shrink = shift * (shift - margin)
    sigma = SIGMA * math.sqrt(1 - SIGMA**2 / spread**2 * shrink)
    return (MU + SIGMA**2 / spread * shift, sigma), (MU - SIGMA**2 / spread * shift, sigma)


@pytest.mark.parametrize("draws", [0.001, 0.3, 0.9])
@pytest.mark.parametrize("ranks", [[0, 1], [0, 0]])
def test_the_first_match_of_two_follows_the_closed_form(ranks, draws):
    found = rate(results_of(np.array([[7, 3]]), np.array([ranks])), margin_of(draws))
    first, second = after_one_match(draws, tie=ranks == [0, 0])
    assert found[7] == pytest.approx(first, rel=1e-9)
    assert found[3] == pytest.approx(second, rel=1e-9)


def test_a_tie_never_raises_sigma():
    for count in (1, 30):
        found = rate(results_of(np.array([[0, 1]] * count), np.array([[0, 0]] * count)), margin_of(0.9))
        assert all(sigma < SIGMA for _, sigma in found.values())
        assert found[0][0] == pytest.approx(MU)


def test_the_better_bot_is_rated_higher_and_more_matches_make_it_surer():
    who, ranks = random_matches(300, 3, 4)
    early, late = (
        rate(results_of(who[:60], ranks[:60]), margin_of(DRAWS)),
        rate(results_of(who, ranks), margin_of(DRAWS)),
    )
    assert sorted(late, key=lambda entry: -late[entry][0]) == [0, 1, 2, 3]
    assert all(late[entry][1] < early[entry][1] for entry in late)


def test_matches_are_taken_in_the_order_given():
    who, ranks = random_matches(60, 2, 4)
    assert rate(results_of(who, ranks), 1.0) == rate(results_of(who, ranks), 1.0)
    assert rate(results_of(who[::-1], ranks[::-1]), 1.0) != rate(results_of(who, ranks), 1.0)


def test_without_times_the_order_is_a_shuffle_that_only_results_decide():
    number = np.repeat(np.arange(5), [40, 1, 30, 20, 9])
    once = shuffled(number)
    assert (shuffled(np.random.default_rng(1).permutation(number)) == once).all()
    assert np.bincount(once).tolist() == [40, 1, 30, 20, 9]
    runs = 1 + np.count_nonzero(np.diff(once))
    assert runs > 50, "equal results are apart"


def test_shuffles_move_ratings_in_order_alike_whatever_sigma_is():
    """By 0.7 to 1.2 points for bots of different skill; sigma goes on shrinking, and docs say both."""
    for blocks in (5, 25, 100):
        _, board = round_robin(1, 2, blocks)
        results = results_of(board.entries, board.ranks)
        margin, rng = fit_with_margin(results, results.times).margin, np.random.default_rng(1)
        orders = [replace(results, number=rng.permutation(results.number)) for _ in range(60)]
        rated = np.array([[mu for mu, _ in rate(each, margin).values()] for each in orders])
        assert 0.4 < rated.std(axis=0).mean() < 1.5


def test_seats_do_not_matter_to_ratings_of_two():
    who, ranks = random_matches(40, 2, 4)
    turned = rate(results_of(who[:, ::-1], ranks[:, ::-1]), 1.0)
    for entry, found in rate(results_of(who, ranks), 1.0).items():
        assert turned[entry] == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seats", [2, 3])
def test_a_result_too_surprising_for_the_package_brings_both_together_and_leaves_sense(tied, seats):
    mu, sigma = np.array([0.0, 1000.0, 500.0]), np.array([1.0, 1.0, 1.0])
    who, ties = np.array([[0, 1, 2][:seats]], np.int32), np.array([[tied] * (seats - 1)])
    kernels.rate_in_order(FinalOrders(who, ties), np.arange(len(who)), mu, sigma, BETA**2, 1.0, 1e-9)
    assert np.isfinite(mu).all() and np.isfinite(sigma).all()
    assert (sigma > 0).all() and (sigma <= 1).all()
    assert 0 < mu[0] < mu[1] < 1000


@pytest.mark.parametrize("margin", [1e-6, 0.001, 0.01, 0.1, 1.0, 5.0])
def test_far_truncations_continue_near_ones(margin):
    far, further = -kernels.FAR_TAIL_SDS + 1e-9, -kernels.FAR_TAIL_SDS - 1e-9
    assert kernels.win_corrections(far) == pytest.approx(kernels.win_corrections(further), rel=1e-6)
    near = [margin + kernels.FAR_TAIL_SDS - 1e-9, margin + kernels.FAR_TAIL_SDS + 1e-9]
    left, right = (kernels.draw_corrections(x, margin) for x in near)
    assert left == pytest.approx(right, rel=1e-5)
    assert kernels.draw_corrections(-near[0], margin)[0] == pytest.approx(-left[0])


@given(st.floats(-60, 60), st.floats(1e-3, 10))
def test_cutting_a_normal_distribution_never_widens_it(x, margin):
    for shift, shrinkage in (kernels.win_corrections(x), kernels.draw_corrections(x, margin)):
        assert math.isfinite(shift)
        assert -1e-9 <= shrinkage <= 1 + 1e-5


@given(st.floats(0.001, 0.9))
def test_margin_and_draw_probability_are_each_others_inverse(draws):
    margin = margin_of(draws)
    assert draw_probability_at(margin) == pytest.approx(draws, rel=1e-6)
    assert margin == pytest.approx(NORMAL.inv_cdf((draws + 1) / 2) * math.sqrt(2) * BETA, rel=1e-6)
