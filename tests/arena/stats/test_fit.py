"""The converged fit against two packages, against plain expectation propagation, and against itself."""

import math

import numpy as np
import pytest
import trueskill
import trueskillthroughtime
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from arena.core.errors import ArenaError
from arena.stats import fit as fitting
from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.fit import BETA, MU, SIGMA, fit, fit_with_margin, results_of
from arena.stats.online_trueskill import margin_of
from tests.support.worlds import World, board_of, ranks_of

DRAWS = 0.25


def small_board(seed, players, bots, matches, margin=0.5):
    """Entries and ranks of matches among bots of unequal strength."""
    rng = np.random.default_rng(seed)
    entries = np.array([rng.permutation(bots)[:players] for _ in range(matches)])
    return entries, ranks_of(rng.normal(-0.7 * entries, 1), margin)


def fitted(entries, ranks, draws=DRAWS):
    results = results_of(np.asarray(entries), np.asarray(ranks))
    return results, fit(results, results.times, margin_of(draws))


@pytest.mark.parametrize(
    "ranks", [(0, 1), (0, 0), (0, 1, 2), (0, 1, 1), (2, 0, 0, 3), (4, 0, 1, 3, 1), (0, 0, 0, 0, 0)]
)
def test_of_one_match_it_says_what_the_package_says(ranks):
    results, found = fitted([range(len(ranks))], [ranks])
    environment = trueskill.TrueSkill(25, 25 / 3, 25 / 6, 0, DRAWS, backend="scipy")
    teams = [(environment.create_rating(),) for _ in ranks]
    expected = [rating for (rating,) in environment.rate(teams, ranks=list(ranks), min_delta=1e-12)]
    assert found.mu == pytest.approx([rating.mu for rating in expected], abs=1e-6)
    assert found.sigma == pytest.approx([rating.sigma for rating in expected], abs=1e-6)
    assert results.entries.tolist() == list(range(len(ranks)))


def through_time(entries, ranks, times):
    """(mu, sigma) by entry from the package `trueskillthroughtime` without drift.

    Seats are given from best to worst: the package returns the messages of three or more in a wrong order otherwise.
    """
    order = np.argsort(ranks, axis=1, kind="stable")
    entries, ranks = np.take_along_axis(entries, order, axis=1), np.take_along_axis(ranks, order, axis=1)
    history = trueskillthroughtime.History(
        [[[str(entry)] for entry in who] for who in entries],
        [[float(-rank) for rank in places] for places in ranks.tolist()],
        times,
        mu=MU, sigma=SIGMA, beta=BETA, gamma=0.0, p_draw=DRAWS,
    )  # fmt: skip
    history.convergence(epsilon=1e-7, iterations=300, verbose=False)
    last = {name: curve[-1][1] for name, curve in history.learning_curves().items()}
    return {int(name): (skill.mu, skill.sigma) for name, skill in last.items()}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(("players", "bots", "matches"), [(2, 2, 3), (2, 5, 12), (3, 4, 8), (4, 5, 6), (5, 6, 5)])
def test_it_agrees_with_trueskill_through_time(players, bots, matches, at_once):
    entries, ranks = small_board(bots, players, bots, matches, 0.9)
    results, found = fitted(entries, ranks)
    assert results.tied.any()
    expected = through_time(entries, ranks, [0] * matches if at_once else list(range(matches)))
    for name, mu, sigma in zip(results.entries.tolist(), found.mu, found.sigma, strict=True):
        assert (mu, sigma) == pytest.approx(expected[name], abs=1e-3)


def test_bots_that_never_met_are_rated_apart():
    first, second = small_board(1, 2, 3, 6), small_board(2, 2, 3, 6)
    together = np.concatenate([first[0], second[0] + 10]), np.concatenate([first[1], second[1]])
    alone = [fitted(*board)[1] for board in (first, second)]
    results, found = fitted(*together)
    assert results.entries.tolist() == [0, 1, 2, 10, 11, 12]
    assert found.mu == pytest.approx(np.concatenate([each.mu for each in alone]), abs=1e-6)
    expected = through_time(*together, list(range(12)))
    assert found.mu == pytest.approx([expected[name][0] for name in results.entries.tolist()], abs=1e-3)


def cut(mean, variance, tied, margin):
    """Mean and variance of N(mean, variance) above the margin, or within it, by textbook formulas."""
    spread = math.sqrt(variance)
    low, high = ((-margin if tied else margin) - mean) / spread, ((margin if tied else math.inf) - mean) / spread
    mass = norm.cdf(high) - norm.cdf(low)
    shift = (norm.pdf(low) - norm.pdf(high)) / mass
    edges = low * norm.pdf(low) - (high * norm.pdf(high) if tied else 0)
    return mean + spread * shift, variance * (1 + edges / mass - shift**2)


def plain_match(before, tied, margin):
    """What a match of seats (mean, variance) in the final order says of them, on all performances together.

    Expectation propagation with dense matrices: no messages along a chain, and nothing of the kernels.
    """
    seats = len(before)
    prior = np.diag([1 / (variance + BETA**2) for _, variance in before])
    shift = np.array([mean / (variance + BETA**2) for mean, variance in before])
    difference = np.eye(seats)[:-1] - np.eye(seats)[1:]
    sites = np.zeros((seats - 1, 2))
    for _ in range(200):
        for place, row in enumerate(difference):
            covariance = np.linalg.inv(prior + difference.T @ np.diag(sites[:, 0]) @ difference)
            mean = row @ covariance @ (shift + difference.T @ sites[:, 1])
            cavity = 1 / (row @ covariance @ row) - sites[place, 0]
            cavity_mean = (mean * (cavity + sites[place, 0]) - sites[place, 1]) / cavity
            new_mean, new_variance = cut(cavity_mean, 1 / cavity, tied[place], margin)
            sites[place] = 1 / new_variance - cavity, new_mean / new_variance - cavity_mean * cavity
    covariance = np.linalg.inv(prior + difference.T @ np.diag(sites[:, 0]) @ difference)
    mean = covariance @ (shift + difference.T @ sites[:, 1])
    found = []
    for seat in range(seats):  # performances carry to skills as noise of variance beta^2
        precision = 1 / covariance[seat, seat] - prior[seat, seat]
        noise = 1 / precision + BETA**2
        found.append((1 / noise, (mean[seat] / covariance[seat, seat] - shift[seat]) / precision / noise))
    return np.array(found)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_one_more_pass_of_plain_expectation_propagation_moves_nothing(players):
    entries, ranks = small_board(5, players, players + 1, 6)
    results, found = fitted(entries, ranks)
    precision = found.beliefs.precision
    sums = np.tile([SIGMA**-2, MU * SIGMA**-2], (len(found.mu), 1))
    for who, tied, times, messages in zip(results.who, results.tied, results.times, found.messages, strict=True):
        rest = precision[who] - messages[:, 0]
        before = [((precision[b] * found.mu[b] - s[1]) / r, 1 / r) for b, s, r in zip(who, messages, rest, strict=True)]
        again = plain_match(before, tied, found.margin)
        assert again == pytest.approx(messages, rel=1e-5, abs=1e-7)
        np.add.at(sums, who, times * again)
    assert sums[:, 0] == pytest.approx(precision, rel=1e-6)
    assert sums[:, 1] / sums[:, 0] == pytest.approx(found.mu, abs=1e-5)


@pytest.mark.parametrize("players", [2, 4])
def test_a_result_with_a_multiplicity_is_that_many_matches(players):
    entries, ranks = small_board(3, players, 5, 8)
    thrice = results_of(np.repeat(entries, 3, axis=0), np.repeat(ranks, 3, axis=0))
    once = results_of(entries, ranks)
    assert len(thrice.times) == len(once.times)
    weighted = fit(once, 3 * once.times, 1.0)
    assert (fit(thrice, thrice.times, 1.0).mu == weighted.mu).all()
    seats = players
    spelt = fitting.Results(
        once.entries, np.repeat(once.who, 3, axis=0), np.repeat(once.tied, 3, axis=0),
        np.ones(3 * len(once.times)), np.arange(3 * len(once.times)),
    )  # fmt: skip
    rows = fit(spelt, spelt.times * np.repeat(once.times, 3), 1.0)
    assert rows.messages.shape == (3 * len(once.times), seats, 2)
    assert rows.mu == pytest.approx(weighted.mu, abs=1e-6)
    assert rows.sigma == pytest.approx(weighted.sigma, abs=1e-6)


def test_a_result_without_weight_says_nothing():
    entries, ranks = small_board(3, 3, 4, 9)
    results = results_of(entries, ranks)
    kept = np.arange(9) < 6
    weights = np.bincount(results.number[kept], minlength=len(results.times)).astype(float)
    fewer = results_of(entries[kept], ranks[kept])
    assert fit(results, weights, 1.0).mu == pytest.approx(fit(fewer, fewer.times, 1.0).mu, abs=1e-6)


@pytest.mark.parametrize("players", [2, 3])
def test_shuffling_matches_and_renumbering_blocks_changes_no_bit_of_a_leaderboard(players):
    _, board = board_of(World(7, players, 8, 0.3, 0.1))
    rng = np.random.default_rng(1)
    order = rng.permutation(len(board.block))
    names = rng.permutation(1000)[board.block]
    shuffled = MatchArrays(board.entries[order], board.ranks[order], names[order], None)
    before, after = (rating_columns(ratings_of(each)) for each in (board, shuffled))
    assert len(before) > players
    assert before.to_csv() == after.to_csv()
    assert before.equals(after)


@st.composite
def boards(draw):
    players, bots = draw(st.integers(2, 5)), draw(st.integers(0, 4))
    order = st.permutations(range(players + bots)).map(lambda names: names[:players])
    rank = st.lists(st.integers(0, players - 1), min_size=players, max_size=players)
    matches = draw(st.lists(st.tuples(order, rank, st.integers(1, 400)), min_size=1, max_size=12))
    entries, ranks, times = (np.array(column) for column in zip(*matches, strict=True))
    return np.repeat(entries, times, axis=0), np.repeat(ranks, times, axis=0)


@settings(max_examples=60)
@given(boards())
def test_any_board_converges_to_finite_ratings(board):
    results = results_of(*board)
    found = fit_with_margin(results, results.times)
    assert np.isfinite(found.mu).all()
    assert (found.sigma > 0).all() and (found.sigma < SIGMA).all()
    again = fit(results, results.times, found.margin, found)
    assert again.mu == pytest.approx(found.mu, abs=1e-6)


@settings(max_examples=30)
@given(boards(), st.permutations(range(100, 109)))
def test_names_of_bots_do_not_matter(board, names):
    entries, ranks = board
    results, found = fitted(entries, ranks)
    other_results, other = fitted(np.array(names)[entries], ranks)
    moved = np.searchsorted(other_results.entries, np.array(names)[results.entries])
    assert other.mu[moved] == pytest.approx(found.mu, abs=1e-5)
    assert other.sigma[moved] == pytest.approx(found.sigma, abs=1e-5)


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 500), st.permutations(range(5)))
def test_whoever_wins_is_above_whoever_loses(players, times, names):
    order = [name for name in names if name < players]
    ranks = [order.index(seat) for seat in range(players)]
    _, found = fitted([range(players)] * times, [ranks] * times)
    assert np.argsort(-found.mu).tolist() == order
    assert np.sum(found.mu - MU) == pytest.approx(0, abs=1e-6)


def test_equal_bots_that_only_tie_stay_equal():
    results, found = fitted([range(4)] * 300, [[0] * 4] * 300, 0.9)
    assert found.mu == pytest.approx(np.full(4, MU))
    assert (found.sigma < SIGMA).all()
    assert fit_with_margin(results, results.times).margin == pytest.approx(margin_of(fitting.MAX_DRAW_PROBABILITY))


def test_three_hundred_bots_converge():
    entries, ranks = small_board(8, 2, 300, 3000)
    results = results_of(entries, ranks)
    found = fit_with_margin(results, results.times)
    assert np.corrcoef(found.mu, -results.entries)[0, 1] > 0.95


def test_a_fit_that_does_not_converge_is_an_error(monkeypatch):
    monkeypatch.setattr(fitting, "MAX_FIT_ROUNDS", 1)
    with pytest.raises(
        ArenaError, match=r"ratings of 4 bots did not converge: after 1 rounds they still move by .* sigma"
    ):
        fitted(*small_board(1, 3, 4, 20))


@pytest.mark.parametrize(("wins", "ties", "losses"), [(3, 4, 3), (5, 3, 2), (8, 1, 1)])
def test_the_draw_margin_of_two_bots_is_where_they_win_and_tie_as_often_as_they_did(wins, ties, losses):
    results = results_of(np.array([[0, 1]] * 10), np.array([[0, 1]] * wins + [[0, 0]] * ties + [[1, 0]] * losses))
    found = fit_with_margin(results, 3000 * results.times)
    by_hand = (norm.isf(losses / 10) - norm.ppf(wins / 10)) / 2 * math.sqrt(2) * BETA
    assert found.margin == pytest.approx(by_hand, abs=2e-3 * BETA)


@pytest.mark.parametrize("ranks", [[[0, 1]] * 5, [[0, 0]] * 5])
def test_the_draw_margin_keeps_within_bounds(ranks):
    results = results_of(np.array([[0, 1]] * 5), np.array(ranks))
    bound = fitting.MIN_DRAW_PROBABILITY if ranks[0] == [0, 1] else fitting.MAX_DRAW_PROBABILITY
    assert fit_with_margin(results, results.times).margin == pytest.approx(margin_of(bound))


def evidence(results, found):
    """Log probability of all results by expectation propagation, skills taken for known, with dense matrices."""
    players = results.who.shape[1]
    differences = np.eye(players)[:-1] - np.eye(players)[1:]
    means = found.mu[results.who] @ differences.T
    inverse = np.linalg.inv(BETA**2 * differences @ differences.T)
    precision, shift = found.sites[..., 0], found.sites[..., 1]
    joint = np.linalg.inv(inverse + precision[:, :, None] * np.eye(players - 1))
    after = np.einsum("gkl,gl->gk", joint, means @ inverse + shift)
    spread = np.einsum("gkk->gk", joint)
    before = 1 / (1 / spread - precision)
    centre = before * (after / spread - shift)
    gap = found.margin / np.sqrt(before)
    inside = ndtr(gap - centre / np.sqrt(before)) - ndtr(-gap - centre / np.sqrt(before))
    mass = np.where(results.tied, np.log(np.maximum(inside, 1e-300)), log_ndtr(centre / np.sqrt(before) - gap))
    held = 1 + precision * before
    mass += np.log(held) / 2 - (shift * centre + (shift**2 * before - precision * centre**2) / 2) / held
    whole = np.linalg.slogdet(np.eye(players - 1) + precision[:, :, None] * np.linalg.inv(inverse))[1]
    whole = (np.einsum("gk,gk->g", means @ inverse + shift, after) - whole) / 2
    whole -= np.einsum("gk,kl,gl->g", means, inverse, means) / 2
    return float(results.times @ (mass.sum(axis=1) + whole))


@pytest.mark.parametrize("players", [2, 4])
def test_the_draw_margin_makes_the_results_most_probable(players):
    results = results_of(*small_board(3, players, 6, 3000))
    found = fit_with_margin(results, results.times)
    best = evidence(results, found)
    for factor in (0.93, 1.07):
        assert evidence(results, fit(results, results.times, factor * found.margin, found)) < best


@pytest.mark.parametrize(("players", "margin"), [(3, 1.0), (5, 0.6), (5, 1.0)])
def test_gaps_are_recovered_also_where_most_neighbours_tie(players, margin):
    rng = np.random.default_rng(players)
    skill = rng.normal(0, 0.8, 8)
    entries = rng.permuted(np.tile(np.arange(8), (4000, 1)), axis=1)[:, :players]
    results = results_of(entries, ranks_of(skill[entries] + rng.normal(0, 1, entries.shape), margin))
    found = fit_with_margin(results, results.times).mu / BETA
    true = skill - skill.mean()
    assert (found - found.mean()) @ true / (true @ true) == pytest.approx(1, abs=0.08)
