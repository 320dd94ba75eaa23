"""Ranges of ranks and groups against their definitions, by hand and on boards drawn at random."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtrit

from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.covariance import Covariance
from arena.stats.fit import BETA, MU
from arena.stats.means import students_t
from arena.stats.ranks import MAX_GROUP_LETTERS, Spread, groups, letter, order_doubt, rank_ranges
from tests.support.worlds import World, board_of, ranks_of


def known(mu, error, blocks=10_000):
    """A spread of independent ratings with these standard errors."""
    mu, error = np.array(mu, float), np.broadcast_to(error, len(mu))
    many = np.full(len(mu), float(blocks))
    return Spread(mu, Covariance(np.diag(error**2), many - 1, many))


def between_all(spread):
    """How far each bot is ahead of each other one, in standard errors."""
    bots = np.arange(len(spread.mu))
    return spread.ahead(bots[:, None], bots)


def letters_of(written):
    """The numbers of a bot's letters, of which the first and the last may stand for all."""
    found = [26 * int(number or 0) + ord(name) - ord("a") for name, number in re.findall("([a-z])([0-9]*)", written)]
    return set(range(found[0], found[1] + 1)) if "-" in written else set(found)


@st.composite
def spreads(draw):
    bots = draw(st.integers(2, 40))
    mu = draw(st.lists(st.floats(0, 50), min_size=bots, max_size=bots))
    error = draw(st.lists(st.floats(0.1, 5), min_size=bots, max_size=bots))
    return known(mu, np.array(error), draw(st.integers(2, 50)))


@given(spreads())
def test_a_range_of_ranks_holds_the_rank(spread):
    best, worst = rank_ranges(spread)
    rank = 1 + (spread.mu[:, None] < spread.mu).sum(axis=1)
    assert (best >= 1).all() and (worst <= len(rank)).all()
    assert (best <= rank).all() and (rank <= worst).all()


@given(spreads())
def test_neighbouring_ratings_share_a_letter_exactly_when_nothing_between_them_is_apart(spread):
    held = [letters_of(written) for written in groups(spread)]
    apart = np.abs(between_all(spread)) > np.maximum.outer(spread.limits, spread.limits)
    order = np.argsort(-spread.mu, kind="stable")
    assert all(held)
    for first, last in itertools.combinations(range(len(order)), 2):
        run = order[first : last + 1]
        assert bool(held[run[0]] & held[run[-1]]) == (not apart[np.ix_(run, run)].any())


def test_far_apart_bots_have_one_rank_and_a_letter_each():
    spread = known([30, 10, 20], 0.1)
    best, worst = rank_ranges(spread)
    assert best.tolist() == worst.tolist() == [1, 3, 2]
    assert groups(spread) == ["a", "c", "b"]


def test_equal_bots_share_all_ranks_and_one_letter():
    spread = known([20, 20, 20], 1)
    best, worst = rank_ranges(spread)
    assert best.tolist() == [1, 1, 1] and worst.tolist() == [3, 3, 3]
    assert groups(spread) == ["a", "a", "a"]


def test_a_bot_between_two_others_carries_both_letters():
    assert groups(known([22.5, 20, 17.5], 0.9)) == ["a", "ab", "b"]


@given(spreads())
def test_bots_that_share_no_letter_are_apart_and_one_that_counts_as_surely_better_shares_none(spread):
    held = [letters_of(written) for written in groups(spread)]
    best, worst = rank_ranges(spread)
    for one, other in itertools.permutations(range(len(held)), 2):
        if worst[one] < best[other]:
            assert not held[one] & held[other]


def test_of_one_difference_the_limit_is_the_normal_quantile_and_of_many_it_is_more():
    assert known([20, 20], 1).limits == pytest.approx([ndtri(0.975)] * 2, rel=1e-3)
    assert known([20] * 6, 1).limits == pytest.approx([ndtri((1 + 0.95**0.2) / 2)] * 6, rel=1e-3)
    assert known([20, 20], 1, blocks=5).limits == pytest.approx([stdtrit(4, 0.975)] * 2)


def test_of_many_letters_the_first_and_the_last_are_written():
    written = groups(known(np.arange(40.0), 2))
    assert max(len(letters_of(each)) for each in written) > MAX_GROUP_LETTERS
    assert all(("-" in each) == (len(letters_of(each)) > MAX_GROUP_LETTERS) for each in written)


def test_few_blocks_have_a_greater_quantile():
    assert students_t(np.array([2.0, 5, 10_000])) == pytest.approx(
        [stdtrit(1, 0.975), stdtrit(4, 0.975), 1.96], rel=1e-3
    )
    assert np.isnan(students_t(np.array([0.0, 1]))).all()


def winner_of_all(blocks, others=2):
    """Bot 0 wins every match of two; the others beat each other by turns."""
    pairs = [(0, other) for other in range(1, others + 1)] + list(itertools.combinations(range(1, others + 1), 2))
    entries = np.array([pair for _ in range(blocks) for pair in pairs])
    ranks = np.array([[0, 1] if 0 in pair or number % 2 else [1, 0] for number in range(blocks) for pair in pairs])
    return MatchArrays(entries, ranks, np.arange(len(entries)), None)


def test_a_bot_that_only_wins_is_not_surer_than_the_model_lets_it_be():
    """Resampling never sees it lose: with 3 wins, its lead must not be certain."""
    few, many = ratings_of(winner_of_all(3)), ratings_of(winner_of_all(60))
    assert few.spread.to_mean[0] > 0.3 * few.fit.sigma[0]
    assert rank_ranges(few.spread)[1][0] > 1
    assert rank_ranges(many.spread)[0][0] == rank_ranges(many.spread)[1][0] == 1


def test_a_bot_that_loses_to_all_and_ties_with_its_like_is_no_surer_than_the_model_lets_it_be():
    """Against each opponent it always did the same; that it met different ones is no luck to learn from."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    rng = np.random.default_rng(5)
    entries = np.array(pairs * 20)
    ranks = np.array([[0, 0] if pair == (2, 3) else [0, 1] for pair in pairs] * 20)
    ranks[::6] = np.where(rng.random(20)[:, None] < 0.7, [0, 1], [1, 0])  # only the upper two take turns
    board = MatchArrays(entries, ranks, np.arange(120), None)
    ratings = ratings_of(board)
    assert (ratings.spread.to_mean[2:] > ratings.fit.sigma[2:] / 3).all()


@pytest.mark.parametrize("ranks", [[0, 1], [0, 0]])
@pytest.mark.parametrize("blocks", [1, 2, 30])
def test_boards_on_which_nothing_varies_have_finite_ratings_and_ranges(ranks, blocks):
    board = MatchArrays(np.tile([3, 8], (blocks, 1)), np.tile(ranks, (blocks, 1)), np.arange(blocks), None)
    columns = rating_columns(ratings_of(board))
    assert np.isfinite(columns[["rating", "sigma"]]).all(axis=None)
    assert columns[["rating_ci_low", "rating_ci_high"]].isna().all(axis=None) == (blocks == 1)
    sure = blocks == 30 and ranks == [0, 1]
    assert columns["rank_ci_high"].tolist() == ([1, 2] if sure else [2, 2])
    assert columns["group"].tolist() == (["a", "b"] if sure else ["a", "a"])


def test_a_bot_with_a_single_block_has_no_interval_and_every_rank():
    entries = np.array([[0, 1]] * 40 + [[1, 2]])
    ranks = np.array([[0, 1]] * 30 + [[1, 0]] * 10 + [[0, 1]])
    columns = rating_columns(ratings_of(MatchArrays(entries, ranks, np.arange(41), None)))
    assert columns["rating_ci_low"].isna().tolist() == [False, False, True]
    assert columns.loc[2, ["rank_ci_low", "rank_ci_high"]].tolist() == [1, 3]
    assert (columns["distinct_matches"] == [40, 41, 1]).all()


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([2, 5, 20]), st.sampled_from([0.0, 0.3, 2.0]))
def test_any_board_has_intervals_around_ratings_and_ranges_around_ranks(seed, players, blocks, margin):
    _, board = board_of(World(seed, players, blocks, margin, 0.2))
    columns = rating_columns(ratings_of(board))
    rank = columns["rating"].rank(ascending=False)
    assert (columns["rank_ci_low"] <= rank).all() and (rank <= columns["rank_ci_high"]).all()
    several = columns["distinct_matches"] >= 2 * players
    inside = (columns["rating_ci_low"] <= columns["rating"]) & (columns["rating"] <= columns["rating_ci_high"])
    assert inside[several].all()
    assert columns.loc[~several, "rating_ci_low"].isna().all()


def test_doubt_of_an_order_is_the_chance_that_it_is_the_other_way():
    _, board = board_of(World(3, 3, 15, 0.2, 0.1))
    entries, doubt = order_doubt(board.entries, board.ranks, board.block)
    ratings = ratings_of(board)
    assert entries.tolist() == ratings.results.entries.tolist()
    gaps = np.abs(ratings.fit.mu[:, None] - ratings.fit.mu)
    bots = np.arange(len(gaps))
    errors = ratings.spread.between(bots[:, None], bots) + np.eye(len(bots))
    assert doubt == pytest.approx(ndtr(-gaps / errors))
    assert (np.diagonal(doubt) == 0.5).all()


def test_letters_go_on_after_z():
    assert [letter(number) for number in (0, 1, 25, 26, 51, 52)] == ["a", "b", "z", "a1", "z1", "a2"]


def two_groups(blocks, seed):
    """Two groups of three bots, of which the one wins nearly always against the other: true skills and the board."""
    rng = np.random.default_rng([3, seed])
    skill = np.repeat([MU + 4 * BETA, MU], 3) + rng.normal(0, BETA / 2, 6)
    tables = np.array(list(itertools.combinations(range(6), 2)) * blocks)
    entries = tables[:, [[0, 1], [1, 0]]]
    performance = (skill[entries] + rng.normal(0, BETA, entries.shape)).reshape(-1, 2)
    return skill, MatchArrays(
        entries.reshape(-1, 2), ranks_of(performance, 0), np.repeat(np.arange(len(tables)), 2), None
    )


def test_how_far_apart_groups_are_is_no_surer_than_matches_that_one_always_won_can_tell():
    held = []
    for seed in range(25):
        skill, board = two_groups(10, seed)
        table = rating_columns(ratings_of(board)).sort_index()
        error = (table["rating"] - table["rating"].mean()).to_numpy() - (skill - skill.mean())
        held.append(np.abs(error) <= (table["rating_ci_high"] - table["rating"]).to_numpy())
    assert np.mean(held) > 0.93
