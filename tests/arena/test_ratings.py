"""Ratings against the formulas of the paper and against the `trueskill` package used by hand."""

import math
import random
from statistics import NormalDist

import numpy as np
import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings import BETA, LEAST_DRAWS, MOST_DRAWS, MU, SIGMA, draw_probability, rate

NORMAL = NormalDist()


def random_matches(count, players, entries, seed=1):
    """Entries and ranks of made-up matches; entry 0 is the strongest, and ties happen."""
    rng = random.Random(seed)
    who, ranks = [], []
    for _ in range(count):
        seats = rng.sample(range(entries), players)
        strengths = [round(rng.gauss(-entry, 2)) for entry in seats]
        who.append(seats)
        ranks.append([sum(other > mine for other in strengths) for mine in strengths])
    return np.array(who), np.array(ranks)


def rated_by_hand(entries, ranks, draws):
    """One match after the other through the package's plain interface."""
    environment = trueskill.TrueSkill(mu=25, sigma=25 / 3, beta=25 / 6, tau=0, draw_probability=draws)
    known = {}
    for who, places in zip(entries, ranks, strict=True):
        teams = [(known.get(entry) or environment.create_rating(),) for entry in who]
        for entry, (rating,) in zip(who, environment.rate(teams, ranks=list(places)), strict=True):
            known[entry] = rating
    return {entry: (rating.mu, rating.sigma) for entry, rating in known.items()}


@pytest.mark.parametrize(("players", "entries"), [(2, 2), (2, 6), (3, 5), (5, 7)])
def test_ratings_are_those_of_the_package_match_by_match(players, entries):
    who, ranks = random_matches(60, players, entries)
    found = rate(who, ranks)
    by_hand = rated_by_hand(who.tolist(), ranks.tolist(), draw_probability(ranks))
    assert found.keys() == by_hand.keys()
    for entry, (mu, sigma) in by_hand.items():
        assert found[entry] == pytest.approx((mu, sigma), rel=1e-12)


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


@pytest.mark.parametrize(("ranks", "draws"), [([0, 1], LEAST_DRAWS), ([0, 0], MOST_DRAWS)])
def test_the_first_match_of_two_follows_the_closed_form(ranks, draws):
    found = rate(np.array([[7, 3]]), np.array([ranks]))
    first, second = after_one_match(draws, tie=ranks == [0, 0])
    assert found[7] == pytest.approx(first, rel=1e-5)
    assert found[3] == pytest.approx(second, rel=1e-5)


def test_a_tie_never_raises_sigma():
    for count in (1, 30):
        found = rate(np.array([[0, 1]] * count), np.array([[0, 0]] * count))
        assert all(sigma < SIGMA for _, sigma in found.values())
        assert found[0][0] == pytest.approx(MU)


def test_the_better_bot_is_rated_higher_and_more_matches_make_it_surer():
    who, ranks = random_matches(300, 3, 4)
    early, late = rate(who[:60], ranks[:60]), rate(who, ranks)
    assert sorted(late, key=lambda entry: -late[entry][0]) == [0, 1, 2, 3]
    assert all(late[entry][1] < early[entry][1] for entry in late)


def test_matches_are_taken_in_the_order_given():
    who, ranks = random_matches(60, 2, 4)
    assert rate(who, ranks) == rate(who, ranks)
    assert rate(who[::-1], ranks[::-1]) != rate(who, ranks)


def test_seats_do_not_matter_to_ratings():
    who, ranks = random_matches(40, 2, 4)
    turned = rate(who[:, ::-1], ranks[:, ::-1])
    for entry, found in rate(who, ranks).items():
        assert turned[entry] == pytest.approx(found, rel=1e-9)


def test_a_result_too_surprising_to_be_computed_changes_nothing(monkeypatch):
    environment = trueskill.TrueSkill(draw_probability=LEAST_DRAWS)
    champion, beginner = environment.create_rating(1000, 1), environment.create_rating(0, 1)
    with pytest.raises(FloatingPointError):
        environment.rate([(champion,), (beginner,)], ranks=[1, 0])
    genuine = trueskill.TrueSkill.rate

    def surprised(self, teams, ranks):
        if ranks == [1, 0]:
            raise FloatingPointError
        return genuine(self, teams, ranks)

    monkeypatch.setattr(trueskill.TrueSkill, "rate", surprised)
    who = np.array([[0, 1], [0, 1], [0, 1]])
    assert rate(who, np.array([[0, 1], [1, 0], [0, 1]])) == rate(who[:2], np.array([[0, 1], [0, 1]]))


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=1)))
def test_the_draw_probability_is_the_share_of_neighbours_that_tied(ranks):
    pairs = tied = 0
    for match in ranks:
        ordered = sorted(match)
        for place in range(1, len(ordered)):
            pairs += 1
            tied += ordered[place] == ordered[place - 1]
    share = tied / pairs if pairs else 0
    assert draw_probability(np.array(ranks)) == pytest.approx(min(max(share, 0.001), 0.9))
