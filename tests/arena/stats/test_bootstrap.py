"""Resampling of blocks against refits by hand, a textbook formula, and itself."""

import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from arena.stats import kernels
from arena.stats.board import Played, distinct_matches, rating_columns, ratings_of
from arena.stats.bootstrap import SEED, blocks_of, distinct_share, replicates
from arena.stats.factors import BlockKinds
from arena.stats.fit import BETA, MU, fit, fit_with_margin, results_of
from arena.stats.ranks import blocks_by_bot, spread_of
from tests.support.worlds import World, board_of


def rated(world):
    """Results, blocks and fit of a simulated board."""
    _, board = board_of(world)
    results = results_of(board.entries, board.ranks)
    blocks = blocks_of(results, board.block)
    return results, blocks, fit_with_margin(results, blocks.weights(results))


def block_kinds(kind, distinct_share):
    """Blocks of these kinds, whose results do not matter."""
    return BlockKinds(np.array(kind), distinct_share, np.zeros((len(distinct_share), 1), np.int64))


@given(st.integers(0, 2**40), st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_as_many_blocks_are_drawn_as_there_are(seed, kind):
    counts = np.zeros(4)
    kernels.resample(seed, block_kinds(kind, np.ones(4)), len(kind), counts)
    assert counts.sum() == len(kind)
    assert (counts[np.setdiff1d(range(4), kind)] == 0).all()


def test_every_block_comes_as_often_as_every_other():
    kinds, total, counts = block_kinds(range(5), np.ones(5)), np.zeros(5), np.zeros(5)
    for seed in range(4000):
        kernels.resample(seed, kinds, 5, counts)
        total += counts
    assert total / 4000 == pytest.approx(np.ones(5), abs=4 * math.sqrt(0.8 / 4000))


def drawn_by_hand(seed, kind, shares, draws):
    """How often each kind comes, by SplitMix64 with whole numbers of any size."""
    most, stride, state = 2**64, 0x9E3779B97F4A7C15, seed

    def below(limit):
        nonlocal state
        state = (state + stride) % most
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % most
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % most
        return ((z ^ (z >> 31)) >> 11) % limit

    state = below(2**53)
    counts = [0] * len(shares)
    while sum(counts) < draws:
        one = kind[below(len(kind))]
        counts[one] += shares[one] == 1 or below(2**30) < shares[one] * 2**30
    return counts


@pytest.mark.parametrize("size", [1, 2, 3, 1000, 1025, 5000])
@pytest.mark.parametrize("shares", [[1.0] * 5, [0.3] * 5, [1.0, 0.2, 1.0, 0.7, 1.0]])
def test_blocks_are_drawn_by_whole_numbers_whatever_makes_it_fast(size, shares):
    kind = np.sort(np.random.default_rng(size).integers(0, 5, size))
    counts = np.empty(5)
    for seed in (0, 1, SEED + 7):
        kernels.resample(seed, block_kinds(kind, np.array(shares)), size, counts)
        assert counts.tolist() == drawn_by_hand(seed, kind.tolist(), shares, size)


def test_copies_are_drawn_by_their_distinct_share():
    kinds, total, counts = block_kinds([0, 0, 0, 1], np.array([1 / 3, 1.0])), np.zeros(2), np.zeros(2)
    for seed in range(4000):
        kernels.resample(seed, kinds, 2, counts)
        total += counts
    assert total / 4000 == pytest.approx(np.ones(2), abs=4 * math.sqrt(0.5 / 4000))


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_replicate_is_a_refit_of_the_blocks_drawn(players):
    results, blocks, fitted = rated(World(3, players, 5, 0.3, 0.1))
    found = replicates(fitted, results, blocks, 40)
    counts, weights = np.zeros(len(blocks.results)), np.zeros(len(results.times))
    for number in range(40):
        kernels.resample(
            SEED + number, block_kinds(np.sort(blocks.kind), blocks.distinct_share), len(blocks.kind), counts
        )
        np.put(weights, range(len(weights)), 0)
        np.add.at(weights, blocks.results, counts[:, None])
        again = fit(results, weights, fitted.margin)
        assert found[number] == pytest.approx(again.mu, abs=0.05 * BETA)


def stepped_by_result(fitted, results, blocks, number):
    """One Newton step to a resampled board, from the messages and the curvature of every result in it."""
    bots, counts, weights = len(fitted.mu), np.empty(len(blocks.results)), np.zeros(len(results.times))
    kinds = block_kinds(np.sort(blocks.kind), blocks.distinct_share)
    kernels.resample(SEED + number, kinds, round(blocks.effective), counts)
    np.add.at(weights, blocks.results, counts[:, None])
    sums, total, step, growth = np.empty((bots, 2)), np.empty((bots, bots)), np.empty(bots), np.empty(bots)
    kernels.sum_messages(results.who, weights, fitted.messages, sums)
    kernels.curvature(results.who, weights, BETA**2, fitted.sites, total)
    kernels.newton_step(fitted.model, fitted.beliefs, sums, total, step, growth)
    return fitted.mu + kernels.bounded(fitted.model, step) * step


@pytest.mark.parametrize("players", [2, 3, 5])
def test_single_steps_by_kind_of_block_are_those_by_result(players):
    results, blocks, fitted = rated(World(6, players, 7, 0.3, 0.1))
    found = replicates(fitted, results, blocks, 30, most=0)
    for number in (0, 7, 29):
        assert found[number] == pytest.approx(stepped_by_result(fitted, results, blocks, number), abs=1e-9)


def test_single_steps_vary_like_refits_on_a_large_board():
    results, blocks, fitted = rated(World(6, 4, 60, 0.3, 0.1))
    steps, refits = (replicates(fitted, results, blocks, 200, most).std(axis=0) for most in (0, 10**6))
    assert steps == pytest.approx(refits, rel=0.03)


def test_replicates_do_not_depend_on_threads(monkeypatch):
    results, blocks, fitted = rated(World(5, 3, 5, 0.3, 0.1))
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: range(cores))
        found.append(replicates(fitted, results, blocks, 60))
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    assert (replicates(fitted, results, blocks, 30) == found[0][:30]).all()
    assert len(np.unique(found[0][:, 0])) > 30


def test_the_standard_error_of_two_bots_follows_from_the_share_of_blocks_won():
    """With decided blocks and much data the gap is sqrt(2) beta ppf(share), whose error the delta method gives."""
    won, count = 260, 400
    entries, block = np.tile([0, 1], (count, 1)), np.arange(count)
    ranks = np.where((block < won)[:, None], [0, 1], [1, 0])
    board = ratings_of(Played(entries, ranks, block, None))
    share, scale = won / count, math.sqrt(2) * BETA
    gap = scale * norm.ppf(share)
    error = scale * math.sqrt(share * (1 - share) / count) / norm.pdf(norm.ppf(share))
    assert board.fit.mu[0] - board.fit.mu[1] == pytest.approx(gap, rel=0.02)
    assert board.spread.between[0, 1] == pytest.approx(error, rel=0.1)
    assert board.spread.to_mean == pytest.approx([error / 2] * 2, rel=0.1)


def test_matches_of_a_block_are_no_independent_witnesses():
    """The same results as 400 blocks of one match and as 100 blocks of four that always agree."""
    entries, ranks = np.tile([0, 1], (400, 1)), np.where((np.arange(400) < 240)[:, None], [0, 1], [1, 0])
    alone = ratings_of(Played(entries, ranks, np.arange(400), None))
    together = ratings_of(Played(entries, ranks, np.arange(400) // 4, None))
    assert alone.fit.mu == pytest.approx(together.fit.mu)
    assert together.spread.between[0, 1] == pytest.approx(2 * alone.spread.between[0, 1], rel=0.1)


def copied(times, shares=True):
    """Two bots, 6 blocks of two line-ups with different moves, each played so many times over."""
    rng = np.random.default_rng(4)
    ranks = np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0]])
    entries, moves = np.tile([[0, 1], [1, 0]], (6 * times, 1)), np.tile(np.arange(12), times)
    block = np.repeat(rng.permutation(6 * times), 2)
    return Played(entries, np.tile(ranks, (times, 1)), block, distinct_share(block, entries, moves) if shares else None)


@pytest.mark.parametrize("times", [2, 49])
def test_copies_of_games_count_once(times):
    once, often = ratings_of(copied(1)), ratings_of(copied(times))
    assert often.blocks.effective == pytest.approx(6)
    assert often.spread.blocks.tolist() == [6, 6]
    assert often.fit.mu == pytest.approx(once.fit.mu, abs=1e-6)
    assert often.fit.sigma == pytest.approx(once.fit.sigma, abs=1e-6)
    assert often.spread.to_mean == pytest.approx(once.spread.to_mean, rel=0.15)
    assert rating_columns(often)["distinct_matches"].tolist() == [12, 12]


def test_without_shares_every_block_is_distinct():
    board = ratings_of(copied(2, shares=False))
    assert board.blocks.effective == 12
    assert (board.blocks.distinct_share == 1).all()


def test_one_game_played_over_and_over_leaves_intervals_open():
    entries, block = np.tile([0, 1], (40, 1)), np.arange(40)
    one = Played(entries, np.tile([0, 1], (40, 1)), block, distinct_share(block, entries, np.zeros(40, int)))
    columns = rating_columns(ratings_of(one, 50))
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
    assert blocks_by_bot(results, blocks).tolist() == [2, 1, 1]


def test_blocks_of_all_line_ups_of_three_are_one_unit_each():
    lineups = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    entries, block = np.tile(lineups, (5, 1)), np.repeat(np.arange(5), 6)
    ranks = np.argsort(np.random.default_rng(1).random((30, 3)), axis=1)
    board = ratings_of(Played(entries, ranks, block, None), 50)
    assert board.blocks.results.shape[1] == 6
    assert board.spread.blocks.tolist() == [5, 5, 5]


def test_few_blocks_are_corrected_for():
    """Drawn from b blocks with replacement, means vary by (b - 1) / b of their variance."""
    entries, block = np.tile([[0, 1], [1, 0]], (3, 1)), np.repeat(np.arange(3), 2)
    ranks = np.array([[0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0]])
    results = results_of(entries, ranks)
    blocks = blocks_of(results, block)
    fitted = fit(results, results.times, 0.1)
    spread = spread_of(fitted, results, blocks, np.zeros(2, bool), 200)
    plain = (spread.drawn[:, 0] - spread.drawn[:, 1]).std(ddof=1)
    assert spread.between[0, 1] == pytest.approx(plain * math.sqrt(3 / 2))
    assert fitted.mu.sum() == pytest.approx(2 * MU, abs=1e-6)


@given(st.integers(0, 2**32), st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_blocks_of_different_sizes_count_each_of_their_matches_once(seed, sizes):
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    entries = np.array([rng.permutation(4)[:2] for _ in block])
    results = results_of(entries, np.array([rng.permutation(2) for _ in block]))
    blocks = blocks_of(results, block)
    assert blocks.weights(results).tolist() == results.times.tolist()
    weights = np.empty(len(results.times))
    kernels.count_results(np.bincount(blocks.kind).astype(float), blocks.results, weights)
    assert weights.tolist() == results.times.tolist()
    played = [len({at for at, seats in zip(block, entries, strict=True) if bot in seats}) for bot in results.entries]
    assert blocks_by_bot(results, blocks).tolist() == played
    assert distinct_matches(results, blocks).tolist() == [(entries == bot).sum() for bot in results.entries]
