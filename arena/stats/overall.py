"""Overall standing of bots on several boards: the mean over the boards of the expected score against the field.

The expected score of a bot on a board is the mean, over all other bots there, of the probability that it finishes ahead
of the other one, half of that of a tie added, by the board's ratings. It means the same on every board, whatever the
number of players: 1/2 is as good as the field. A board that a bot does not play counts 0, as if it forfeited there; one
on which nobody has played does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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
"""Bots whose covariances are made at a time."""
INTERPOLATION_ERROR = 1e-13
"""Bound of what interpolation adds to the chance to finish ahead of a bot, and to its derivative in deviations."""
ELLIPSE_HEIGHTS = np.linspace(0.5, 12.0, 47)
"""In deviations: heights of Bernstein's ellipses by which the number of nodes is found."""


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


def overall(boards: Iterable[BoardField], bots: int) -> Overall:
    """Return the overall standing of `bots` bots from the ratings of all boards that have been played.

    Boards are taken one after the other, so that those of thousands of bots need not be in memory together.

    Matches of one board say nothing of another, so the covariances of the boards' scores add up; each is that of the
    ratings, carried over by the derivatives of the scores (the delta method).
    """
    score, matrix = np.zeros(bots), np.zeros((bots, bots))
    fewest, parts, told, taken = np.full(bots, np.inf), np.zeros(bots), np.zeros(bots), 0
    for board in boards:
        taken += 1
        at, field = board.bots, _Scores.of(board)
        score[at] += field.score
        variance = np.zeros(len(at))
        for rows, of_rows in field.covariances():
            matrix[at[rows, None], at] += of_rows
            variance[rows] = of_rows[np.arange(len(rows)), rows]
        fewest[at] = np.minimum(fewest[at], board.covariance.blocks)
        parts[at] += variance**2 / board.covariance.freedom
        told[at] += variance
        del board, field  # before the next ones are made: of thousands of bots they are large
    count = max(taken, 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # Satterthwaite (1946)
        freedom = np.where(parts > 0, told**2 / parts, np.inf)
    matrix /= count**2
    spread = Spread(score / count, Covariance(matrix, freedom, fewest))
    best, worst = rank_ranges(spread)
    known = fewest >= 2
    half = np.where(known, stdtrit(np.minimum(freedom, 1e9), (1 + CONFIDENCE) / 2) * spread.to_mean, np.nan)
    low, high = np.maximum(spread.mu - half, 0.0), np.minimum(spread.mu + half, 1.0)
    rank = 1 + np.searchsorted(np.sort(-spread.mu), -spread.mu)
    return Overall(spread.mu, low, high, rank, np.minimum(best, rank), np.maximum(worst, rank))


class _Scores(NamedTuple):
    """The expected scores of the bots of a board, and what their covariances are made from.

    The derivatives of scores by ratings are D = diag(slope) - basis kernel, the latter with a row for each node.
    """

    score: np.ndarray
    """(bots,)"""
    slope: np.ndarray
    """(bots,) derivative of each by the bot's own rating."""
    basis: np.ndarray
    """(bots, nodes) what a function is at each bot's rating, from what it is at the nodes."""
    kernel: np.ndarray
    """(nodes, bots) derivative by a bot's rating, its sign turned, of the score that a bot at a node would have."""
    ratings: np.ndarray
    """(bots, bots) covariance of ratings."""

    @classmethod
    def of(cls, board: BoardField) -> _Scores:
        """Return the scores of a board, whose sums over all bots are interpolated between nodes."""
        others, nodes, basis = max(len(board.mu) - 1, 1), *_nodes(board.mu)
        gap = nodes[:, None] - board.mu[None, :]
        ahead, behind = ((gap + change) / PERFORMANCE_DIFFERENCE_SD for change in (board.margin, -board.margin))
        chance = (ndtr(ahead) + ndtr(behind)).sum(axis=1) / 2
        density = (np.exp(-(ahead**2) / 2) + np.exp(-(behind**2) / 2)) / 2 / math.sqrt(2 * math.pi)
        kernel = density / PERFORMANCE_DIFFERENCE_SD / others
        score = (basis @ chance - 0.5) / others  # less the half that a bot has against itself
        return cls(score, basis @ kernel.sum(axis=1), basis, kernel, board.covariance.matrix)

    def covariances(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Return numbers of bots, some at a time, and (bots, all bots) covariances of their scores.

        D C D' = diag(slope) C diag(slope) - (half basis' + basis half'), with C the covariance of ratings: this takes
        products of as many columns as there are nodes, not bots.
        """
        across = self.ratings @ self.kernel.T
        half = self.slope[:, None] * across - self.basis @ (self.kernel @ across) / 2
        left, right = np.hstack([half, self.basis]), np.hstack([self.basis, half]).T
        for start in range(0, len(self.score), ROWS_AT_ONCE):
            rows = np.arange(start, min(start + ROWS_AT_ONCE, len(self.score)))
            yield rows, self.slope[rows, None] * self.ratings[rows] * self.slope - left[rows] @ right


def _nodes(mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, and (bots, nodes) the matrix that interpolates from them to ratings.

    Nodes are Chebyshev's, with barycentric weights (Berrut and Trefethen, "Barycentric Lagrange Interpolation", 2004).
    Where that would be as many as there are bots, they are the ratings themselves.
    """
    low, high = mu.min(initial=math.inf), mu.max(initial=-math.inf)
    half = max((high - low) / 2, PERFORMANCE_DIFFERENCE_SD)
    count = node_count(half / PERFORMANCE_DIFFERENCE_SD)
    if count >= len(mu):
        return mu, np.eye(len(mu))
    angle = (np.arange(count) + 0.5) * math.pi / count
    nodes = (low + high) / 2 + half * np.cos(angle)
    gap = mu[:, None] - nodes[None, :]
    met = gap == 0
    basis = np.where(np.arange(count) % 2, -1.0, 1.0) * np.sin(angle) / np.where(met, 1.0, gap)
    basis /= basis.sum(axis=1, keepdims=True)
    return nodes, np.where(met.any(axis=1, keepdims=True), met, basis)


def node_count(half_width: float) -> int:
    """Return how many nodes interpolate a normal density and its integral to `INTERPOLATION_ERROR`.

    `half_width` is of the interval, in standard deviations. The error of n nodes is at most 4 M r^-(n - 1) / (r - 1),
    M the most that the function reaches on Bernstein's ellipse of parameter r, which is b = half_width (r - 1/r) / 2
    high (Trefethen, "Approximation Theory and Approximation Practice", 2013, theorem 8.2): e^(b^2 / 2) for the density,
    1 + b e^(b^2 / 2) for its integral.
    """
    b = ELLIPSE_HEIGHTS
    r = np.exp(np.arcsinh(b / half_width))
    most = 1 + np.maximum(b, 1.0) * np.exp(b**2 / 2)
    return 1 + math.ceil(np.min(np.log(4 * most / (r - 1) / INTERPOLATION_ERROR) / np.log(r)))
