"""Overall standing of bots on several boards: the mean over the boards of the expected score against the field.

The expected score of a bot on a board is the mean, over all other bots there, of the probability that it finishes ahead
of the other one, half of that of a tie added, by the board's ratings. It means the same on every board, whatever the
number of players: 1/2 is as good as the field. A board that a bot does not play counts 0, as if it forfeited there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from arena.stats.board import Ratings
from arena.stats.covariance import Covariance
from arena.stats.fit import PERFORMANCE_DIFFERENCE_SD
from arena.stats.means import CONFIDENCE
from arena.stats.ranks import Spread, rank_ranges

ROWS_AT_ONCE = 256
"""Bots that are compared with all others at a time."""


class BoardField(NamedTuple):
    """The ratings of a board."""

    bots: np.ndarray
    """(bots on the board,) their numbers over all boards."""
    mu: np.ndarray
    covariance: Covariance
    margin: float
    """Of draws."""

    @classmethod
    def of(cls, numbers: np.ndarray, ratings: Ratings) -> BoardField:
        """Return the field of a board whose entries have these numbers over all boards, by entry."""
        fitted = ratings.fit
        return cls(numbers[ratings.results.entries], fitted.mu, ratings.spread.covariance, fitted.margin)


@dataclass(frozen=True)
class Overall:
    """The standing of bots over all boards, by their numbers."""

    score: np.ndarray
    """From 0 to 1."""
    low: np.ndarray
    """Lower end of the 95 % interval; NaN where a board has less than two blocks with the bot."""
    high: np.ndarray
    rank: np.ndarray
    """By score, from 1; equal scores share the better rank."""
    best_rank: np.ndarray
    """The best that is possible at 95 %, as of `arena.stats.ranks.rank_ranges`."""
    worst_rank: np.ndarray


def overall(boards: Sequence[BoardField], bots: int, number: int | None = None) -> Overall:
    """Return the overall standing of `bots` bots from the ratings of all boards.

    `number` is how many boards there are, where nobody has played on some of them yet.

    Matches of one board say nothing of another, so the covariances of the boards' scores add up; each is that of the
    ratings, carried over by the derivatives of the scores (the delta method).
    """
    score, matrix = np.zeros(bots), np.zeros((bots, bots))
    fewest, parts, told = np.full(bots, np.inf), np.zeros(bots), np.zeros(bots)
    for board in boards:
        scores, of_board = _scores(board)
        at, variance = board.bots, np.diagonal(of_board)
        score[at] += scores
        matrix[np.ix_(at, at)] += of_board
        fewest[at] = np.minimum(fewest[at], board.covariance.blocks)
        parts[at] += variance**2 / board.covariance.freedom
        told[at] += variance
    count = max(len(boards) if number is None else number, 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # Satterthwaite (1946)
        freedom = np.where(parts > 0, told**2 / parts, np.inf)
    spread = Spread(score / count, Covariance(matrix / count**2, freedom, fewest))
    best, worst = rank_ranges(spread)
    known = fewest >= 2
    half = np.where(known, stdtrit(np.minimum(freedom, 1e9), (1 + CONFIDENCE) / 2) * spread.to_mean, np.nan)
    low, high = np.maximum(spread.mu - half, 0.0), np.minimum(spread.mu + half, 1.0)
    rank = 1 + np.searchsorted(np.sort(-spread.mu), -spread.mu)
    return Overall(spread.mu, low, high, rank, np.minimum(best, rank), np.maximum(worst, rank))


def _scores(board: BoardField) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected scores of the bots of a board, and their covariance."""
    bots = len(board.mu)
    if bots < 2:
        return np.zeros(bots), np.zeros((bots, bots))
    score, derivative = np.zeros(bots), np.zeros((bots, bots))
    deviation = PERFORMANCE_DIFFERENCE_SD
    for start in range(0, bots, ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, bots))
        gap = board.mu[rows, None] - board.mu[None, :]
        ahead, behind = (gap + board.margin) / deviation, (gap - board.margin) / deviation
        score[rows] = ((ndtr(ahead) + ndtr(behind)).sum(axis=1) - 1) / 2 / (bots - 1)
        slope = (np.exp(-(ahead**2) / 2) + np.exp(-(behind**2) / 2)) / (2 * np.pi) ** 0.5 / deviation / 2
        slope[np.arange(len(rows)), rows] = 0.0
        derivative[rows] = -slope / (bots - 1)
        derivative[rows, rows] = slope.sum(axis=1) / (bots - 1)
    return score, derivative @ board.covariance.matrix @ derivative.T
