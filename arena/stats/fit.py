"""TrueSkill ratings that do not depend on the order of matches: expectation propagation to its fixed point.

Equal results of the same bots are one row with a multiplicity, and the rows are sorted, so that the same matches give
the same ratings in any order, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from arena.errors import ArenaError
from arena.stats import kernels

MU = 25.0
SIGMA = MU / 3
BETA = MU / 6
PRIOR_PRECISION = 1 / SIGMA**2
SPREAD = BETA * 2**0.5
"""Standard deviation of the difference of two performances."""
LEAST_DRAWS, MOST_DRAWS = 0.001, 0.9
"""Bounds of the chance that two equal bots tie: at 0 a tie is impossible, at 1 nothing else is."""
MARGIN_ROUNDS = 8
MARGIN_ACCURACY = 1e-4
"""In units of beta."""
GRID = 0.5
"""In units of beta."""
ACCURACY = 1e-9
"""In sigmas: the distance from the fixed point at which a fit has converged."""
MOST_ROUNDS = 2000


def in_final_order(entries: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entries from best to worst, equal ranks in the order of seats, and which neighbours tied.

    `entries` and `ranks` have the shape (matches, seats).
    """
    order = np.argsort(ranks, axis=1, kind="stable")
    ordered = np.take_along_axis(ranks, order, axis=1)
    return np.take_along_axis(entries, order, axis=1), ordered[:, 1:] == ordered[:, :-1]


@dataclass(frozen=True)
class Results:
    """A board's matches as distinct results with multiplicities, and the blocks they came in."""

    entries: np.ndarray
    """(bots,) the entries that played, ascending; elsewhere bots are places in it."""
    who: np.ndarray
    """(results, seats) bots from best to worst."""
    tied: np.ndarray
    """(results, seats - 1) whether neighbours tied."""
    times: np.ndarray
    """(results,) how often each result came."""
    number: np.ndarray
    """(matches,) each match's result."""


def results_of(entries: np.ndarray, ranks: np.ndarray) -> Results:
    """Group matches by their result; both arrays are (matches, seats), and ranks count from 0."""
    who, tied = in_final_order(entries, ranks)
    names, bots = np.unique(who, return_inverse=True)
    rows = np.concatenate([bots.reshape(who.shape), tied], axis=1).astype(np.int32)
    distinct, number, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    seats = who.shape[1]
    return Results(
        names,
        np.ascontiguousarray(distinct[:, :seats]),
        np.ascontiguousarray(distinct[:, seats:].astype(bool)),
        times.astype(float),
        number.ravel(),
    )


@dataclass(frozen=True)
class Fit:
    """The fixed point: for every bot N(mu, sigma^2), and what the results say there."""

    mu: np.ndarray
    sigma: np.ndarray
    margin: float
    sites: np.ndarray
    said: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        return self.sigma**-2


def fit(results: Results, weights: np.ndarray, margin: float, start: Fit | None = None) -> Fit:
    """Expectation propagation over all results at once: prod_i N(s_i; mu_i, sigma_i^2) with every factor matched.

    Minka, "Expectation Propagation for approximate Bayesian inference" (UAI 2001), on the factor graph of Herbrich,
    Minka and Graepel (NIPS 2006). `weights` (results,) says how often each result counts, `margin` is the draw margin;
    another fit of the same results to `start` from saves time. Raises `ArenaError` when `MOST_ROUNDS` do not suffice.
    """
    bots, (count, seats) = len(results.entries), results.who.shape
    if start is None:
        appearances = np.bincount(results.who.ravel(), np.repeat(weights, seats), bots)
        mu, precision = np.full(bots, MU), PRIOR_PRECISION + 0.15 * appearances / BETA**2
        sites, said = np.zeros((count, seats - 1, 2)), np.zeros((count, seats, 2))
    else:
        mu, precision, sites, said = start.mu.copy(), start.precision, start.sites.copy(), start.said.copy()
    distance = kernels.settle(
        results.who, results.tied, weights, BETA**2, margin, PRIOR_PRECISION, PRIOR_PRECISION * MU,
        mu, precision, sites, said, ACCURACY, MOST_ROUNDS,
    )  # fmt: skip
    if not distance < ACCURACY:
        raise ArenaError(
            f"ratings of {bots} bots did not converge: after {MOST_ROUNDS} rounds they still move by "
            f"{distance:.1g} sigma, {ACCURACY:.1g} would be settled"
        )
    return Fit(mu, precision**-0.5, margin, sites, said)


def fit_with_margin(results: Results, weights: np.ndarray) -> Fit:
    """The fit at the draw margin that makes as many neighbours tie, in the mean, as did.

    The model knows of tied seats only that neighbours in the order of seats are close. Where half of the neighbours of
    three or more seats tie, it therefore shows gaps between bots smaller than they are; their order is not affected.
    """
    fitted = None
    margin = draw_margin(results, weights, np.full(len(results.entries), MU))
    for _ in range(MARGIN_ROUNDS):
        fitted = fit(results, weights, margin, fitted)
        last, margin = margin, draw_margin(results, weights, fitted.mu)
        if abs(margin - last) < MARGIN_ACCURACY * BETA:
            break
    assert fitted is not None
    return fitted


def draw_margin(results: Results, weights: np.ndarray, mu: np.ndarray) -> float:
    """The draw margin at which as many neighbours in the final order are expected to tie as did.

    The method of moments, within the margins of `LEAST_DRAWS` and `MOST_DRAWS`.
    """
    ties = float(weights @ results.tied.sum(axis=1))
    tables, table = np.unique(np.sort(results.who, axis=1), axis=0, return_inverse=True)
    matches = np.bincount(table.ravel(), weights)

    def too_many(margin: float) -> float:
        return float(matches @ expected_ties(tables, mu, margin)) - ties

    low, high = (float(ndtri((1 + share) / 2) * SPREAD) for share in (LEAST_DRAWS, MOST_DRAWS))
    if too_many(low) >= 0:
        return low
    return high if too_many(high) <= 0 else float(brentq(too_many, low, high, xtol=1e-6))


def expected_ties(tables: np.ndarray, mu: np.ndarray, margin: float) -> np.ndarray:
    """(tables,) how many performances have the next better one within the margin, in the mean; tables are rows of bots.

    sum_i integral f_i(x) (1 - prod_{j != i} (1 - F_j(x + margin) + F_j(x))) dx, performances being N(mu, beta^2); the
    trapezoidal rule is exact to rounding on such smooth functions.
    """
    grid = np.arange(mu.min() / BETA - 7, mu.max() / BETA + 7, GRID)
    x = grid - mu[:, None] / BETA
    empty = 1 - (ndtr(x + margin / BETA) - ndtr(x))
    alone = GRID * np.exp(-(x**2) / 2) / (2 * np.pi) ** 0.5 / empty
    nobody, here = np.ones((len(tables), len(grid))), np.zeros((len(tables), len(grid)))
    for bots in tables.T:
        nobody *= empty[bots]
        here += alone[bots]
    return tables.shape[1] - (nobody * here).sum(axis=1)
