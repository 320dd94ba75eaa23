"""TrueSkill ratings that do not depend on the order of matches: expectation propagation to its fixed point.

Equal results of the same bots are one row with a multiplicity, and the rows are sorted, so that the same matches give
the same ratings in any order, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from arena.core.errors import ArenaError
from arena.stats import kernels
from arena.stats.factors import Beliefs, FinalOrders, Model
from arena.stats.grouping import group_rows

MU = 25.0
SIGMA = MU / 3
BETA = MU / 6
PRIOR_PRECISION = 1 / SIGMA**2
PERFORMANCE_DIFFERENCE_SD = BETA * 2**0.5
"""Standard deviation of the difference of two performances."""
MIN_DRAW_PROBABILITY, MAX_DRAW_PROBABILITY = 0.001, 0.9
"""Bounds of the chance that two equal bots tie: at 0 a tie is impossible, at 1 nothing else is."""
MARGIN_SEARCH_FACTOR = 1.5
"""The step, as a factor, with which the draw margin is looked for."""
MARGIN_ACCURACY_BETAS = 1e-4
"""Of the margin, in units of beta; and of fits on the way there, in sigmas."""
MARGIN_STEP_SHARE = 0.01
"""The step, as a share of the margin, by which `margin_response` is measured."""
FIT_ACCURACY_SIGMAS = 1e-9
"""In sigmas: the distance from the fixed point at which a fit has converged."""
MAX_FIT_ROUNDS = 2000


def in_final_order(entries: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return entries from best to worst, equal ranks in the order of seats, and which neighbours tied.

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

    @property
    def ranks(self) -> np.ndarray:
        """(results, seats) ranks of the bots in `who`, from 0; ties share the better one."""
        places = np.arange(self.who.shape[1])
        ahead = np.where(np.pad(self.tied, ((0, 0), (1, 0))), 0, places)
        return np.maximum.accumulate(ahead, axis=1)

    @property
    def orders(self) -> FinalOrders:
        """The results as kernels take them."""
        return FinalOrders(self.who, self.tied)


def results_of(entries: np.ndarray, ranks: np.ndarray) -> Results:
    """Group matches by their result; both arrays are (matches, seats), and ranks count from 0."""
    seated = group_rows(np.concatenate([entries, ranks], axis=1))
    who, tied = in_final_order(entries[seated.first], ranks[seated.first])
    names, bots = np.unique(who, return_inverse=True)
    bots = bots.reshape(who.shape).astype(np.int32)
    distinct = group_rows(np.concatenate([bots, tied], axis=1))
    times = np.bincount(distinct.number, seated.times, len(distinct.first))
    return Results(names, bots[distinct.first], tied[distinct.first], times, distinct.number[seated.number])


@dataclass(frozen=True)
class Fit:
    """The fixed point: N(mu, sigma^2) for every bot, and the results' sites and messages there."""

    mu: np.ndarray
    sigma: np.ndarray
    margin: float
    sites: np.ndarray
    messages: np.ndarray

    @property
    def beliefs(self) -> Beliefs:
        """The fit as kernels take it."""
        return Beliefs(self.mu, self.sigma**-2, self.sites, self.messages)

    @property
    def model(self) -> Model:
        """The model that was fitted."""
        return model(self.margin)


def model(margin: float) -> Model:
    """Return the rating model with a draw margin."""
    return Model(BETA**2, margin, PRIOR_PRECISION, PRIOR_PRECISION * MU)


def fit(
    results: Results,
    weights: np.ndarray,
    margin: float,
    start: Fit | None = None,
    accuracy: float = FIT_ACCURACY_SIGMAS,
) -> Fit:
    """Fit by expectation propagation over all results at once: prod_i N(s_i; mu_i, sigma_i^2), every factor matched.

    Minka, "Expectation Propagation for approximate Bayesian inference" (UAI 2001), on the factor graph of Herbrich,
    Minka and Graepel (NIPS 2006). `weights` (results,) says how often each result counts, `margin` is the draw margin;
    `start`, another fit of the same results, saves time. Raises `ArenaError` when `MAX_FIT_ROUNDS` do not suffice.
    """
    bots, (count, seats) = len(results.entries), results.who.shape
    if start is None:
        appearances = np.bincount(results.who.ravel(), np.repeat(weights, seats), bots)
        mu, precision = np.full(bots, MU), PRIOR_PRECISION + 0.15 * appearances / BETA**2
        found = Beliefs(mu, precision, np.zeros((count, seats - 1, 2)), np.zeros((count, seats, 2)))
    else:
        found = Beliefs(*(each.copy() for each in start.beliefs))
    distance = kernels.converge(results.orders, weights, model(margin), found, accuracy, MAX_FIT_ROUNDS)
    if not distance < accuracy:
        raise ArenaError(
            f"ratings of {bots} bots did not converge: after {MAX_FIT_ROUNDS} rounds they still move by "
            f"{distance:.1g} sigma, {accuracy:.1g} would be settled"
        )
    return Fit(found.mu, found.precision**-0.5, margin, found.sites, found.messages)


def fit_with_margin(results: Results, weights: np.ndarray) -> Fit:
    """Fit at the draw margin that makes the results most probable.

    It stays within those of `MIN_DRAW_PROBABILITY` and `MAX_DRAW_PROBABILITY`. It is the maximum of the evidence
    (MacKay, "Bayesian Interpolation", 1992), as expectation propagation approximates it. With two seats it is the
    margin at which the expected share of ties is the observed one. With more seats it also corrects for what the chain
    of neighbours leaves out: when three bots tie, only neighbouring pairs count as close, not the first and the third.
    """
    tied = float(weights @ results.tied.sum(axis=1)) / max(float(weights.sum()) * results.tied.shape[1], 1e-300)
    low, guess, high = (
        float(ndtri((1 + share) / 2) * PERFORMANCE_DIFFERENCE_SD)
        for share in (MIN_DRAW_PROBABILITY, tied, MAX_DRAW_PROBABILITY)
    )
    found: Fit | None = None

    def gradient(margin: float) -> float:
        nonlocal found
        found = fit(results, weights, margin, found, MARGIN_ACCURACY_BETAS)
        return float(weights @ _margin_gradients(results, found))

    return fit(results, weights, _root_of_falling(gradient, low, min(max(guess, low), high), high), found)


class MarginResponse(NamedTuple):
    """How a fit depends on the draw margin, which is estimated too."""

    slope: np.ndarray
    """(bots,) derivative of `mu` by the margin."""
    gradients: np.ndarray
    """(results,) derivative of the log evidence of each by the margin."""
    curvature: float
    """Minus the second derivative of the evidence of all by the margin, ratings following it."""


def margin_response(results: Results, weights: np.ndarray, fitted: Fit) -> MarginResponse | None:
    """Return how a fit of `fit_with_margin` follows its margin; None where a bound decides that."""
    gradients, step = _margin_gradients(results, fitted), MARGIN_STEP_SHARE * fitted.margin
    low, high = (fit(results, weights, fitted.margin + change, fitted) for change in (-step, step))
    totals = [float(weights @ _margin_gradients(results, each)) for each in (low, high)]
    curvature = (totals[0] - totals[1]) / (2 * step)
    if not totals[0] > 0 > totals[1]:
        return None
    return MarginResponse((high.mu - low.mu) / (2 * step), gradients, curvature)


def _margin_gradients(results: Results, fitted: Fit) -> np.ndarray:
    found = np.empty(len(results.who))
    beliefs = fitted.beliefs._replace(sites=fitted.sites.copy())  # which are brought up to date on the way
    kernels.margin_gradients(results.orders, fitted.model, beliefs, found)
    return found


def _root_of_falling(falling: Callable[[float], float], low: float, guess: float, high: float) -> float:
    """Return where a falling function is 0, searched from a guess on, or the bound beyond which it is."""
    start = falling(guess)
    near, far = guess, guess
    while (falling(far) if far != guess else start) * start > 0:
        if far == (high if start > 0 else low):
            return far
        near, far = far, min(far * MARGIN_SEARCH_FACTOR, high) if start > 0 else max(far / MARGIN_SEARCH_FACTOR, low)
    from scipy.optimize import brentq  # slow to load, and of no use to boards without draws

    return float(brentq(falling, min(near, far), max(near, far), xtol=MARGIN_ACCURACY_BETAS * BETA))
