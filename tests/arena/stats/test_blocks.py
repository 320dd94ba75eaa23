"""Blocks of a board: what counts as one, and what copies and sizes of blocks do to ratings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.blocks import blocks_of, distinct_share
from arena.stats.board import MatchArrays, distinct_matches, rating_columns, ratings_of
from arena.stats.covariance import covariance_of
from arena.stats.fit import fit_with_margin, results_of


def test_matches_of_a_block_are_no_independent_witnesses():
    """The same results as 400 blocks of one match and as 100 blocks of four that always agree."""
    entries, ranks = np.tile([0, 1], (400, 1)), np.where((np.arange(400) < 240)[:, None], [0, 1], [1, 0])
    alone = ratings_of(MatchArrays(entries, ranks, np.arange(400), None))
    together = ratings_of(MatchArrays(entries, ranks, np.arange(400) // 4, None))
    assert alone.fit.mu == pytest.approx(together.fit.mu)
    assert together.spread.between(0, 1) == pytest.approx(2 * alone.spread.between(0, 1), rel=0.1)


def copied(times, shares=True):
    """Two bots, 6 blocks of two line-ups with different moves, each played so many times over."""
    rng = np.random.default_rng(4)
    ranks = np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0]])
    entries, moves = np.tile([[0, 1], [1, 0]], (6 * times, 1)), np.tile(np.arange(12), times)
    block = np.repeat(rng.permutation(6 * times), 2)
    return MatchArrays(
        entries, np.tile(ranks, (times, 1)), block, distinct_share(block, entries, moves) if shares else None
    )


@pytest.mark.parametrize("times", [2, 49])
def test_copies_of_games_count_once(times):
    once, often = ratings_of(copied(1)), ratings_of(copied(times))
    assert often.blocks.times.sum() == pytest.approx(6)
    assert often.spread.covariance.blocks.tolist() == [6, 6]
    assert often.fit.mu == pytest.approx(once.fit.mu, abs=1e-6)
    assert often.fit.sigma == pytest.approx(once.fit.sigma, abs=1e-6)
    assert often.spread.to_mean == pytest.approx(once.spread.to_mean, rel=0.15)
    assert rating_columns(often)["distinct_matches"].tolist() == [12, 12]


def test_without_shares_every_block_is_distinct():
    board = ratings_of(copied(2, shares=False))
    assert board.blocks.times.sum() == 12
    assert (board.blocks.distinct_share == 1).all()


def test_one_game_played_over_and_over_leaves_intervals_open():
    entries, block = np.tile([0, 1], (40, 1)), np.arange(40)
    one = MatchArrays(entries, np.tile([0, 1], (40, 1)), block, distinct_share(block, entries, np.zeros(40, int)))
    columns = rating_columns(ratings_of(one))
    assert columns["distinct_matches"].tolist() == [1, 1]
    assert columns[["rating_ci_low", "rating_ci_high"]].isna().all(axis=None)
    assert columns["rank_ci_low"].tolist() == [1, 1] and columns["rank_ci_high"].tolist() == [2, 2]
    assert columns["group"].tolist() == ["a", "a"]


def test_two_games_as_many_copies_of_each_are_two_blocks():
    """49 copies count 49 * (1 / 49), which is a little less than 1 in floating point."""
    entries = np.repeat([[0, 1], [0, 2]], 49, axis=0)
    ranks = np.tile([0, 1], (98, 1))
    results = results_of(entries, ranks)
    blocks = blocks_of(results, np.arange(98), distinct_share(np.arange(98), entries, np.repeat([0, 1], 49)))
    fitted = fit_with_margin(results, blocks.weights(results))
    assert covariance_of(fitted, results, blocks).blocks.tolist() == [2, 1, 1]


def test_blocks_of_all_line_ups_of_three_are_one_unit_each():
    lineups = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    entries, block = np.tile(lineups, (5, 1)), np.repeat(np.arange(5), 6)
    ranks = np.argsort(np.random.default_rng(1).random((30, 3)), axis=1)
    board = ratings_of(MatchArrays(entries, ranks, block, None))
    assert board.blocks.results.shape[1] == 6
    assert board.spread.covariance.blocks.tolist() == [5, 5, 5]


@given(st.integers(0, 2**32), st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_blocks_of_different_sizes_count_each_of_their_matches_once(seed, sizes):
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    entries = np.array([rng.permutation(4)[:2] for _ in block])
    results = results_of(entries, np.array([rng.permutation(2) for _ in block]))
    blocks = blocks_of(results, block)
    assert blocks.weights(results).tolist() == results.times.tolist()
    played = [len({at for at, seats in zip(block, entries, strict=True) if bot in seats}) for bot in results.entries]
    fitted = fit_with_margin(results, blocks.weights(results))
    assert covariance_of(fitted, results, blocks).blocks.tolist() == played
    assert distinct_matches(results, blocks).tolist() == [(entries == bot).sum() for bot in results.entries]
