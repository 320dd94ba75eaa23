"""Uncertainty of ratings and ranks: intervals, ranges of ranks, groups of bots that are not significantly different."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from arena.stats import kernels
from arena.stats.bootstrap import MOST_RESULTS, Blocks, blocks_of, replicates
from arena.stats.fit import BETA, PRIOR_PRECISION, Fit, Results, fit_with_margin, results_of
from arena.stats.grouping import group_rows
from arena.stats.means import CONFIDENCE, students_t, widening

STILL = 1e-6
"""Standard deviations of ratings over replicates below this are rounding."""
FEW = 200
"""Replicates for a standard error accurate to 5 %."""
MOST_RESULTS_IN_DOUBT = 200_000
"""Distinct results up to which `order_doubt` refits; the stages of adaptive boards in logs depend on it."""


@dataclass(frozen=True)
class Spread:
    """Standard errors of ratings relative to the board's mean, and between every two bots."""

    mu: np.ndarray
    to_mean: np.ndarray
    """(bots,)"""
    between: np.ndarray
    """(bots, bots)"""
    drawn: np.ndarray
    """(replicates, bots) means of refitted boards."""
    blocks: np.ndarray
    """(bots,) number of distinct blocks with each bot."""

    @property
    def low(self) -> np.ndarray:
        return self.mu - self._half_width

    @property
    def high(self) -> np.ndarray:
        return self.mu + self._half_width

    @property
    def _half_width(self) -> np.ndarray:
        """Student's t times the standard error, over the blocks of each bot."""
        return students_t(self.blocks) * self.to_mean

    def ahead(self) -> np.ndarray:
        """Return (bots, bots) the row's rating minus the column's in standard errors; 0 on the diagonal."""
        gaps = self.mu[:, None] - self.mu[None, :]
        errors = np.where(self.between > 0, self.between, 1.0)
        sure = np.where(gaps > 1e-9, np.inf, np.where(gaps < -1e-9, -np.inf, 0.0))
        return np.where(self.between > 0, gaps / errors, sure)

    @functools.cached_property
    def limits(self) -> np.ndarray:
        """(bots,) standard errors that a difference to a bot must exceed to be significant among all its differences.

        The quantile over replicates of the greatest distance of a difference from its estimate, in the replicates'
        standard deviations; at least that of a single one, as resampling is no witness where it moves nothing.
        """
        found = np.empty(len(self.mu))
        for bot in range(len(found)):
            drawn = self.drawn[:, [bot]] - self.drawn
            errors = drawn.std(axis=0, ddof=1)
            moved = np.abs(drawn - (self.mu[bot] - self.mu)) / np.where(errors > STILL, errors, np.inf)
            found[bot] = np.quantile(moved.max(axis=1), CONFIDENCE)
        return np.maximum(found, ndtri((1 + CONFIDENCE) / 2)) * widening(self.blocks)

    @property
    def apart(self) -> np.ndarray:
        """(bots, bots) whether two bots differ by more than the limits of both."""
        return np.abs(self.ahead()) > np.maximum.outer(self.limits, self.limits)


def spread_of(
    fitted: Fit,
    results: Results,
    blocks: Blocks,
    unvaried: np.ndarray,
    count: int,
    constant: np.ndarray | None = None,
    most: int = MOST_RESULTS,
) -> Spread:
    """Return standard errors by block bootstrap: sqrt(b / (b - 1)) times the deviation of replicates, b blocks.

    Resampling cannot see how sure a bot is that always did the same against the same bots: for `unvaried` (bots,) the
    model's own variance is taken where it is greater. Nor can it see how far apart two groups of bots are of which one
    won all matches against the other: `constant` (results,) are those of tables that did not vary, and what the model
    leaves open of these is added.
    """
    drawn = replicates(fitted, results, blocks, count, most)
    played = blocks_by_bot(results, blocks)
    correction = np.sqrt(played / np.maximum(played - 1, 1))
    relative = drawn - drawn.mean(axis=1, keepdims=True)
    variance = (relative.std(axis=0, ddof=1) * correction) ** 2
    unseen = np.where(unvaried, np.maximum(model_variance(fitted, results, blocks) - variance, 0.0), 0.0)
    apart = np.zeros((len(played), len(played)))
    if constant is not None and constant.any():
        apart = unseen_covariance(fitted, results, blocks, constant)
        unseen = np.maximum(unseen, np.diagonal(apart))
    centred = drawn - drawn.mean(axis=0)
    covariance = centred.T @ centred / (count - 1)
    alone = np.diagonal(covariance)
    between = np.maximum(alone[:, None] + alone[None, :] - 2 * covariance, 0.0)
    between *= np.maximum.outer(correction, correction) ** 2
    lone = np.where(unvaried, unseen, 0.0)
    groups_apart = np.diagonal(apart)[:, None] + np.diagonal(apart)[None, :] - 2 * apart
    between = np.sqrt(between + np.maximum(lone[:, None] + lone[None, :], groups_apart))
    between[played < 2] = between[:, played < 2] = np.inf
    np.fill_diagonal(between, 0.0)
    return Spread(fitted.mu, np.sqrt(variance + unseen), between, drawn, played)


def blocks_by_bot(results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots,) the number of distinct blocks with each bot."""
    tables = blocks.bots(results)
    counts = np.bincount(blocks.kind, minlength=len(tables)) * blocks.distinct_share
    here = np.zeros((len(tables), len(results.entries) + 1), bool)
    np.put_along_axis(here, tables.astype(np.int64), True, axis=1)
    return np.rint(counts @ here)[:-1]


def model_covariance(fitted: Fit, results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots, bots) covariances of skills from the curvature of the model's likelihood and prior."""
    bots = len(fitted.mu)
    total = np.empty((bots, bots))
    kernels.curvature(results.who, blocks.weights(results), BETA**2, fitted.sites, total)
    return np.linalg.inv(total + PRIOR_PRECISION * np.eye(bots))


def model_variance(fitted: Fit, results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots,) variances of skills relative to their mean, from `model_covariance`."""
    centre = np.eye(len(fitted.mu)) - 1 / len(fitted.mu)
    return np.diagonal(centre @ model_covariance(fitted, results, blocks) @ centre)


def unseen_covariance(fitted: Fit, results: Results, blocks: Blocks, constant: np.ndarray) -> np.ndarray:
    """Return (bots, bots) covariances of skills relative to their mean, from `constant` results and the prior.

    The sandwich H^-1 J H^-1 with H the curvature of all and J that of those (Huber, "The behavior of maximum likelihood
    estimates under nonstandard conditions", 1967).
    """
    bots = len(fitted.mu)
    never = np.empty((bots, bots))
    kernels.curvature(results.who, blocks.weights(results) * constant, BETA**2, fitted.sites, never)
    whole = model_covariance(fitted, results, blocks)
    centre = np.eye(bots) - 1 / bots
    found = centre @ whole @ (never + PRIOR_PRECISION * np.eye(bots)) @ whole @ centre
    return np.asarray((found + found.T) / 2)


def rank_ranges(spread: Spread) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank, from 1, of each bot: as many others are significantly better, or worse.

    Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks" (Review of Economic Studies, 2024): of bot i, all
    differences to others are bounded together by the bootstrap quantile of max_j |d*_ij - d_ij| / se_ij. A difference
    is sure when it exceeds the bounds of both bots.
    """
    ahead = np.where(spread.apart, spread.ahead(), 0.0)
    return 1 + (ahead < 0).sum(axis=1), len(ahead) - (ahead > 0).sum(axis=1)


def groups(spread: Spread) -> list[str]:
    """Return letters by bot; two bots with a letter in common are not significantly different.

    Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons" (Journal of Computational and
    Graphical Statistics, 2004), on runs of neighbouring ratings; a difference is sure as in `rank_ranges`.
    """
    order, apart = np.argsort(-spread.mu, kind="stable"), spread.apart
    letters = [""] * len(order)
    runs: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not apart[order[first : last + 1], order[last + 1]].any():
            last += 1
        if not runs or last > runs[-1][1]:
            runs.append((first, last))
    for number, (first, last) in enumerate(runs):
        for bot in order[first : last + 1]:
            letters[bot] += letter(number)
    return letters


def letter(number: int) -> str:
    """Return a to z, then a1 to z1, a2 ..."""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")


def order_doubt(entries: np.ndarray, ranks: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every two entries the probability of the other order: cdf(-|gap| / standard error of the gap).

    `entries` and `ranks` are (matches, seats), `block` (matches,). Returns the entries, ascending, and a matrix.
    """
    results = results_of(entries, ranks)
    blocks = blocks_of(results, block)
    fitted = fit_with_margin(results, results.times)
    spread = spread_of(fitted, results, blocks, unvaried_bots(results, blocks), FEW, most=MOST_RESULTS_IN_DOUBT)
    return results.entries, ndtr(-np.abs(spread.ahead()))


def unvaried_bots(results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots,) whether a bot's mean rank is constant over the blocks of every table, and some table has several.

    A table is a set of bots. A bot that is at no table twice must have one rank everywhere.
    """
    table, bots = _tables(results, blocks), len(results.entries)
    of, often, same = _constant(results, blocks, table)
    some_often, constant = np.zeros(bots, bool), np.ones(bots, bool)
    np.logical_or.at(some_often, of[:, 1], often)
    np.logical_and.at(constant, of[:, 1], same)
    of, _, same = _constant(results, blocks, np.zeros_like(table))
    everywhere = np.ones(bots, bool)
    everywhere[of[:, 1]] = same
    return np.where(some_often, constant, everywhere)


def constant_results(results: Results, blocks: Blocks) -> np.ndarray:
    """Return (results,) whether they are of a table with several blocks, in which all mean ranks are constant."""
    table = _tables(results, blocks)
    of, often, same = _constant(results, blocks, table)
    constant = np.ones(table.max() + 1, bool)
    np.logical_and.at(constant, of[:, 0], often & same)
    found = np.ones(len(results.times), bool)
    kind, result = blocks.members
    np.logical_and.at(found, result, constant[table][kind])
    return found


def _tables(results: Results, blocks: Blocks) -> np.ndarray:
    """Return (kinds,) the number of the set of bots of each kind of block."""
    return group_rows(blocks.bots(results)).number


def _constant(results: Results, blocks: Blocks, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every group of blocks and bot in it (pairs, 2), whether it has several, and one mean rank in all.

    `group` (kinds,) numbers the groups.
    """
    kind, result = blocks.members
    bots, kind = results.who[result], np.repeat(kind, results.who.shape[1])
    cells = group_rows(np.column_stack([kind, bots.ravel()]))
    of, bot = kind[cells.first], bots.ravel()[cells.first]
    means = np.bincount(cells.number, results.ranks[result].ravel()) / cells.times
    pairs = group_rows(np.column_stack([group[of], bot]))
    lowest, highest = np.full(len(pairs.first), np.inf), np.full(len(pairs.first), -np.inf)
    np.minimum.at(lowest, pairs.number, means)
    np.maximum.at(highest, pairs.number, means)
    count = np.bincount(pairs.number, np.bincount(blocks.kind)[of])
    return np.column_stack([group[of], bot])[pairs.first], count > 1, lowest == highest
