"""The covariance of ratings against dense matrices, refits without one block, a textbook formula, and known limits."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from arena import stats
from arena.stats import covariance
from arena.stats.blocks import blocks_of
from arena.stats.board import MatchArrays, ratings_of
from arena.stats.covariance import MAX_BOTS_AT_ONCE, covariance_of, curvatures, inverse_precision, invert, precision
from arena.stats.fit import BETA, MU, PRIOR_PRECISION, fit_with_margin, margin_response, results_of
from tests.support.worlds import World, board_of, round_robin


def rated(board):
    """Results, blocks and fit of a board."""
    results = results_of(board.entries, board.ranks)
    blocks = blocks_of(results, board.block)
    return results, blocks, fit_with_margin(results, blocks.weights(results))


@pytest.mark.parametrize("players", [2, 3, 5])
def test_the_precision_of_skills_is_that_of_all_sites_with_dense_matrices(players):
    results, blocks, fitted = rated(board_of(World(3, players, 6, 0.3, 0.1))[1])
    curved, weights = curvatures(fitted), blocks.weights(results)
    dense = PRIOR_PRECISION * np.eye(len(fitted.mu))
    neighbours = np.eye(players)[:-1] - np.eye(players)[1:]
    for who, sites, times in zip(results.who, fitted.sites, weights, strict=True):
        noise = np.diag(1 / sites[:, 0]) + BETA**2 * neighbours @ neighbours.T
        dense[np.ix_(who, who)] += times * neighbours.T @ np.linalg.inv(noise) @ neighbours
    assert precision(results, weights, curved).toarray() == pytest.approx(dense)
    assert inverse_precision(results, weights, curved) == pytest.approx(np.linalg.inv(dense))


@pytest.mark.parametrize("bots", [1, 2, 3, 7, 40])
def test_a_matrix_is_inverted_by_halves_as_in_one_piece(bots, monkeypatch):
    monkeypatch.setattr(covariance, "MAX_BOTS_AT_ONCE", 2)
    rows = np.random.default_rng(bots).standard_normal((bots, 2 * bots))
    matrix = rows @ rows.T
    expected = np.linalg.inv(matrix)
    invert(matrix)
    assert matrix == pytest.approx(expected)


def test_no_decomposition_of_all_bots_keeps_ctrl_c_waiting(monkeypatch):
    sizes, inverse = [], np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: sizes.append(len(matrix)) or inverse(matrix))
    bots = 4 * MAX_BOTS_AT_ONCE
    ring = np.column_stack([np.arange(bots), np.roll(np.arange(bots), 1)])
    ratings_of(MatchArrays(ring, np.tile([0, 1], (bots, 1)), np.arange(bots), None))
    assert sum(sizes) == bots
    assert max(sizes) == MAX_BOTS_AT_ONCE


def test_the_statistics_do_without_scipy_s_decompositions():
    """They let no other thread run, and so hold up the one that ends a command after Ctrl-C."""
    files = sorted(Path(stats.__file__).parent.glob("*.py"))
    assert files
    assert [path.name for path in files if "scipy.linalg" in path.read_text()] == []


def without_one(board, block):
    """Ratings relative to their mean without a block, draw margin and all."""
    kept = board.block != block
    results = results_of(board.entries[kept], board.ranks[kept])
    mu = fit_with_margin(results, results.times).mu
    return mu - mu.mean()


@pytest.mark.parametrize(("players", "margin", "shared"), [(2, 0.0, 0.0), (2, 0.5, 1.0), (3, 0.3, 0.0), (4, 0.5, 0.5)])
def test_standard_errors_are_those_that_refits_without_a_block_give(players, margin, shared, monkeypatch):
    """Tukey's jackknife; what of the model stands in for few blocks is left away."""
    monkeypatch.setattr(covariance, "TRUSTED_BLOCKS", 1e-9)
    board = round_robin(1, players, {2: 25, 3: 8, 4: 16}[players], bots=5, margin=margin, shared=shared)[1]
    results, blocks, fitted = rated(board)
    errors = ratings_of(board).spread.to_mean
    refits = np.array([without_one(board, block) for block in np.unique(board.block)])
    jackknife = ((refits - refits.mean(axis=0)) ** 2).sum(axis=0) * (len(refits) - 1) / len(refits)
    inverse = inverse_precision(results, blocks.weights(results), curvatures(fitted))
    of_prior = PRIOR_PRECISION * ((inverse - inverse.mean(axis=0)) ** 2).sum(axis=0)
    expected = np.sqrt(jackknife + of_prior)
    assert errors.mean() == pytest.approx(expected.mean(), rel=0.02)
    assert errors == pytest.approx(expected, rel=0.1)


def test_the_draw_margin_moves_as_in_refits_of_a_few_results_more_or_less():
    results, blocks, fitted = rated(round_robin(2, 3, 8, margin=0.5)[1])
    weights = blocks.weights(results)
    response = margin_response(results, weights, fitted)
    scores = fitted.messages[..., 1] - fitted.messages[..., 0] * fitted.mu[results.who]
    gradients = response.gradients + (scores * response.slope[results.who]).sum(axis=1)
    rng = np.random.default_rng(1)
    for _ in range(5):
        change = weights * rng.uniform(-0.05, 0.05, len(weights))
        moved = fit_with_margin(results, weights + change).margin - fitted.margin
        assert change @ gradients / response.curvature == pytest.approx(moved, abs=2e-3 + 0.1 * abs(moved))


def test_where_a_bound_decides_the_draw_margin_nothing_moves_it():
    results, blocks, fitted = rated(round_robin(2, 2, 8)[1])
    assert not results.tied.any()
    assert margin_response(results, blocks.weights(results), fitted) is None


def test_the_standard_error_of_two_bots_follows_from_the_share_of_blocks_won():
    """With decided blocks and much data the gap is sqrt(2) beta ppf(share), whose error the delta method gives."""
    won, count = 260, 400
    entries, block = np.tile([0, 1], (count, 1)), np.arange(count)
    ranks = np.where((block < won)[:, None], [0, 1], [1, 0])
    board = ratings_of(MatchArrays(entries, ranks, block, None))
    share, scale = won / count, math.sqrt(2) * BETA
    gap = scale * norm.ppf(share)
    error = scale * math.sqrt(share * (1 - share) / count) / norm.pdf(norm.ppf(share))
    assert board.fit.mu[0] - board.fit.mu[1] == pytest.approx(gap, rel=0.02)
    assert board.spread.between(0, 1) == pytest.approx(error, rel=0.1)
    assert board.spread.to_mean == pytest.approx([error / 2] * 2, rel=0.1)


def test_dice_that_a_seat_has_in_both_matches_make_intervals_shorter():
    """Equal luck for whoever sits there: of two equal bots each wins one match, and nothing is left to chance."""
    own, shared = (
        np.mean([ratings_of(round_robin(seed, 2, 24, spread=0.5, shared=share)[1]).spread.to_mean for seed in range(3)])
        for share in (0.0, 1.0)
    )
    assert shared < 0.75 * own


def test_boards_that_do_not_know_each_other_have_the_errors_that_each_has_alone():
    one, other = (round_robin(seed, 2, 20, bots=4)[1] for seed in (1, 2))
    both = MatchArrays(
        np.concatenate([one.entries, other.entries + 10]),
        np.concatenate([one.ranks, other.ranks]),
        np.concatenate([one.block, other.block + 1 + one.block.max()]),
        None,
    )
    alone, together = ratings_of(one).spread, ratings_of(both).spread
    bots = np.arange(4)
    assert together.between(bots[:, None], bots) == pytest.approx(alone.between(bots[:, None], bots), rel=0.05)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([1, 2, 5, 20]), st.sampled_from([0.0, 0.3, 2.0]))
def test_it_is_symmetric_has_no_negative_variance_and_none_along_the_mean_of_all(seed, players, blocks, margin):
    results, known, fitted = rated(board_of(World(seed, players, blocks, margin, 0.2))[1])
    found = covariance_of(fitted, results, known)
    scale = np.abs(found.matrix).max()
    assert (found.matrix == found.matrix.T).all()
    assert np.linalg.eigvalsh(found.matrix).min() > -1e-9 * scale
    assert np.abs(found.matrix.sum(axis=0)).max() < 1e-8 * scale
    assert (found.freedom >= 1).all()
    assert (found.blocks >= 1).all()


def test_thousands_of_bots_have_intervals_that_hold():
    rng = np.random.default_rng(1)
    skill = rng.normal(MU, BETA, 1500)
    entries = np.concatenate([rng.permutation(1500).reshape(-1, 2) for _ in range(8)])
    ranks = np.argsort(-(skill[entries] + rng.normal(0, BETA, entries.shape)), axis=1)
    spread = ratings_of(MatchArrays(entries, ranks, np.arange(len(entries)), None)).spread
    error = (spread.mu - spread.mu.mean()) - (skill - skill.mean())
    assert 0.93 < np.mean(np.abs(error) <= spread.high - spread.mu) < 0.99
