"""The overall standing is the mean of the boards' expected scores, with intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from arena.stats.board import ratings_of
from arena.stats.covariance import Covariance
from arena.stats.fit import PERFORMANCE_DIFFERENCE_SD
from arena.stats.overall import BoardField, node_count, overall
from tests.support import overall_worlds
from tests.support.worlds import round_robin


def field(bots: list[int], mu: list[float], variance: float = 1.0, blocks: int = 20) -> BoardField:
    count = len(bots)
    known = Covariance(np.eye(count) * variance, np.full(count, 50.0), np.full(count, blocks))
    return BoardField(np.array(bots), np.array(mu), known, 0.0)


def test_bots_of_equal_ratings_have_half_and_all_ranks_are_possible() -> None:
    found = overall([field([0, 1, 2], [25.0, 25.0, 25.0])], 3)
    assert found.score == pytest.approx([0.5, 0.5, 0.5])
    assert found.rank.tolist() == [1, 1, 1]
    assert found.best_rank.tolist() == [1, 1, 1]
    assert found.worst_rank.tolist() == [3, 3, 3]


def test_the_score_is_the_mean_over_boards_and_a_board_not_played_counts_nothing() -> None:
    both = field([0, 1], [30.0, 25.0])
    score = overall([both], 2).score[0]
    assert overall([both, field([0, 1], [25.0, 25.0])], 2).score[0] == pytest.approx((score + 0.5) / 2)
    assert overall([both, field([1, 2], [25.0, 25.0])], 3).score == pytest.approx(
        [score / 2, (1 - score + 0.5) / 2, 0.25]
    )
    assert overall([both], 2).score.sum() == pytest.approx(1.0)


def test_boards_shift_and_order_of_bots_change_nothing() -> None:
    one, other = field([0, 1, 2], [30.0, 25.0, 20.0]), field([2, 1, 0], [21.0, 22.0, 23.0])
    found = overall([one, other], 3)
    turned = overall([other, one._replace(mu=one.mu + 7)], 3)
    assert turned.score == pytest.approx(found.score)
    assert turned.low == pytest.approx(found.low)


def test_sure_orders_leave_one_rank_and_intervals_stay_between_nought_and_one() -> None:
    found = overall([field([0, 1, 2], [60.0, 25.0, -10.0], 0.01)], 3)
    assert found.best_rank.tolist() == found.worst_rank.tolist() == [1, 2, 3]
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()
    assert (found.low <= found.score).all()
    assert (found.score <= found.high).all()


def test_too_few_blocks_give_no_interval_and_every_rank() -> None:
    found = overall([field([0, 1], [60.0, -10.0], 0.01, blocks=1)], 2)
    assert np.isnan(found.low).all()
    assert found.best_rank.tolist() == [1, 1]
    assert found.worst_rank.tolist() == [2, 2]


def test_a_bot_alone_and_nobody_at_all_have_a_standing() -> None:
    assert overall([field([0], [25.0])], 1).score.tolist() == [0.0]
    assert len(overall([], 0).score) == 0


def test_intervals_and_possible_ranks_hold_the_truth_in_simulated_worlds() -> None:
    """The small version of `python -m tests.support.overall_worlds`."""
    held, ranks, _ = zip(*(overall_worlds.judge(seed, (2, 3), 12) for seed in range(12)), strict=True)
    assert np.mean(held) > 0.88
    assert np.mean(ranks) > 0.95


def test_the_variance_of_a_score_is_that_of_the_ratings_carried_over() -> None:
    _, board = round_robin(1, 2, 40)
    ratings = ratings_of(board)
    found = overall([BoardField.of(np.arange(6), ratings)], 6)
    draws = np.random.default_rng(0).multivariate_normal(ratings.fit.mu, ratings.spread.covariance.matrix, 4000)
    scores = [
        overall([BoardField(np.arange(6), mu, ratings.spread.covariance, ratings.fit.margin)], 6).score for mu in draws
    ]
    half = (found.high - found.low) / 2
    assert half / 2 == pytest.approx(np.std(scores, axis=0), rel=0.25)


def test_a_standing_of_thousands_has_them_in_their_order() -> None:
    bots = 1500
    board = field([*range(bots)], np.linspace(35, 15, bots).tolist())
    assert overall([board, board], bots).rank.tolist() == [*range(1, bots + 1)]


def scores_of_every_pair(board: BoardField) -> tuple[np.ndarray, np.ndarray]:
    """Return expected scores and their covariance by the sums over every two bots."""
    others, gap = len(board.mu) - 1, board.mu[:, None] - board.mu
    ahead, behind = ((gap + change) / PERFORMANCE_DIFFERENCE_SD for change in (board.margin, -board.margin))
    score = ((ndtr(ahead) + ndtr(behind)).sum(axis=1) - 1) / 2 / others
    slope = (np.exp(-(ahead**2) / 2) + np.exp(-(behind**2) / 2)) / (8 * np.pi) ** 0.5
    slope /= PERFORMANCE_DIFFERENCE_SD * others
    derivative = np.diag(slope.sum(axis=1)) - slope
    return score, derivative @ board.covariance.matrix @ derivative.T


@pytest.mark.parametrize("bots", [2, 30, 300])
@pytest.mark.parametrize("spread", [0.1, 4.0, 12.0])
@pytest.mark.parametrize("margin", [0.0, 3.0])
def test_scores_and_intervals_are_those_of_every_pair(bots: int, spread: float, margin: float) -> None:
    chance = np.random.default_rng(bots)
    root = chance.normal(size=(bots, bots + 3)) / bots**0.5
    known = Covariance(root @ root.T, np.full(bots, 1e9), np.full(bots, 9))
    board = BoardField(np.arange(bots), chance.normal(25, spread, bots), known, margin)
    found = overall([board], bots)
    score, covariance = scores_of_every_pair(board)
    half = 1.959963984 * np.sqrt(np.diagonal(covariance))
    assert found.score == pytest.approx(score, abs=1e-12)
    assert found.low == pytest.approx(np.maximum(score - half, 0), abs=1e-8)
    assert found.high == pytest.approx(np.minimum(score + half, 1), abs=1e-8)


def test_a_large_field_needs_few_nodes() -> None:
    assert [node_count(half_width) < most for half_width, most in ((1, 25), (4, 50), (20, 200))] == [True] * 3
