"""Covariance of ratings: how they would vary if the tournament were repeated with other dice.

The matches of a block share dice and opening, so blocks are independent of each other, matches are not. What a block
says of its bots is its score: how far, and how strongly, it would have their ratings move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from arena.stats import kernels
from arena.stats.blocks import Blocks
from arena.stats.fit import BETA, PRIOR_PRECISION, Fit, MarginResponse, Results, margin_response

TRUSTED_BLOCKS = 10
"""Blocks of a bot at which their own variance weighs as much as that of the model."""
PRESUMED_BLOCKS = 3
"""Even blocks that are added, varying as the model says, to those of a board."""
EVEN_MATCH_INFORMATION = 2 / np.pi / BETA**2
"""Trace of the curvature of a match of two equal bots without ties, which tells most."""
MAX_LEVERAGE = 0.9
MAX_BOTS_AT_ONCE = 256
"""Bots up to which a matrix is inverted in one piece."""
ROWS_AT_ONCE = 512
"""Rows of a large matrix that are made at a time."""


class Covariance(NamedTuple):
    """Covariance of the ratings of a board, and what it is known from."""

    matrix: np.ndarray
    """(bots, bots) of ratings relative to the board's mean."""
    freedom: np.ndarray
    """(bots,) degrees of freedom of the variance of each."""
    blocks: np.ndarray
    """(bots,) number of distinct blocks with each bot."""


class _BlockKinds(NamedTuple):
    """What the kinds of blocks say."""

    times: np.ndarray
    """(kinds,) distinct blocks of each."""
    scores: csr_array
    """(kinds, bots)"""
    has: csr_array
    """(kinds, bots) 1 for the bots of each."""
    told: np.ndarray
    """(kinds,) trace of the curvature."""
    evenness: np.ndarray
    """(kinds,) from 0 to 1: that as a share of what even matches tell."""
    even: float
    """Trace of the curvature of an even block."""
    growth: np.ndarray
    """(kinds,) factor that makes up for what the fit has taken of the square of a score."""


def covariance_of(fitted: Fit, results: Results, blocks: Blocks) -> Covariance:
    """Return the sandwich H^-1 (S + P) H^-1: H is the curvature of likelihood and prior, P that of the prior.

    S is the covariance of the sum of all scores (Huber, "The behavior of maximum likelihood estimates under nonstandard
    conditions", 1967). Their squares estimate it, made larger by the leverage that a block has in the fit (Bell and
    McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples", 2002). But few blocks
    estimate it badly, and blocks that one bot always wins not at all. So a block's part of S is (1 - w) times its
    square plus w times its curvature, which is what the model expects, times `variance_factor`. w = k / (k + n), where
    k is `TRUSTED_BLOCKS` and n the number of even blocks that tell as much as those like this one, as many as the bot
    with the fewest has. How far a block moves the draw margin, and that the ratings, is added to its score.
    """
    curved, weights = curvatures(fitted), blocks.weights(results)
    inverse = inverse_precision(results, weights, curved)
    kinds = _kinds(fitted, results, blocks, curved, inverse)
    played = np.rint(kinds.times @ kinds.has)
    fewest = np.minimum.reduceat(played[kinds.has.indices], kinds.has.indptr[:-1])
    own = fewest * kinds.evenness / (fewest * kinds.evenness + TRUSTED_BLOCKS)
    kind, result = blocks.members
    of_model = np.bincount(result, (kinds.times * (1 - own))[kind], len(curved)) * variance_factor(kinds)
    seen = kinds.times * kinds.growth
    total = kinds.scores.T @ kinds.scores.multiply((seen * own)[:, None]).tocsr() + precision(results, of_model, curved)
    inverse -= inverse.mean(axis=1, keepdims=True)
    matrix = _sandwich(inverse, total)
    response = margin_response(results, weights, fitted)
    if response is not None:
        shift = _margin_shifts(kinds.scores, response, blocks)
        slope = response.slope - response.slope.mean()
        along = inverse.T @ (kinds.scores.T @ (seen * own * shift))
        along += (seen @ shift**2) / 2 * slope
        for start in range(0, len(matrix), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            matrix[rows] += np.outer(along[rows], slope) + np.outer(slope[rows], along)
    return Covariance(matrix, _freedom(kinds, own, played), played)


def _sandwich(inverse: np.ndarray, total: csr_array) -> np.ndarray:
    """Return inverse' total inverse, `total` being symmetric.

    With thousands of bots these matrices are most of the memory and time, so it is made by parts, and each is mirrored.
    """
    matrix = np.empty_like(inverse)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        part = (total @ inverse[:, rows]).T @ inverse[:, start:]
        matrix[rows, start:] = part
        matrix[start:, rows] = part.T
        matrix[rows, rows] = (matrix[rows, rows] + matrix[rows, rows].T) / 2  # its own mirror, but for rounding
    return matrix


def _margin_shifts(scores: csr_array, response: MarginResponse, blocks: Blocks) -> np.ndarray:
    """Return (kinds,) how far a block of each moves the draw margin."""
    kind, result = blocks.members
    gradient = np.bincount(kind, response.gradients[result], len(blocks.results))
    return np.asarray(gradient + scores @ response.slope) / response.curvature


def variance_factor(kinds: _BlockKinds) -> float:
    """Return how many times the variance of scores is what the model expects, on the whole board.

    What the matches of a block share makes it differ from 1: with two players and the same dice, luck that belongs to a
    seat comes to both bots, and that of a bot twice.
    """
    presumed = PRESUMED_BLOCKS * kinds.even
    seen = kinds.times * kinds.growth @ kinds.scores.power(2).sum(axis=1)
    return float((seen + presumed) / (kinds.times @ kinds.told + presumed))


def _freedom(kinds: _BlockKinds, own: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Return (bots,) degrees of freedom, of which a bot's own blocks give as many as they are, less one.

    Those of a mean of one estimate from these and one from the whole board (Satterthwaite, "An Approximate Distribution
    of Estimates of Variance Components", 1946).
    """
    told = kinds.times * kinds.told
    share = (told * own) @ kinds.has / np.maximum(told @ kinds.has, 1e-300)
    board = kinds.times @ kinds.evenness + PRESUMED_BLOCKS
    return np.asarray(1 / (share**2 / np.maximum(played - 1, 1) + (1 - share**2) / board))


def _kinds(fitted: Fit, results: Results, blocks: Blocks, curved: np.ndarray, inverse: np.ndarray) -> _BlockKinds:
    seats = results.who.shape[1]
    kind, result = blocks.members
    score = fitted.messages[..., kernels.SHIFT] - fitted.messages[..., kernels.PRECISION] * fitted.mu[results.who]
    cells = np.repeat(kind, seats), results.who[result].ravel()
    shape = len(blocks.results), len(results.entries)
    scores = csr_array((score[result].ravel(), cells), shape)
    has = csr_array((np.ones(len(scores.data)), scores.indices, scores.indptr), shape)

    def by_kind(of_results: np.ndarray) -> np.ndarray:
        return np.bincount(kind, of_results[result], len(blocks.results))

    even = by_kind(np.full(len(curved), (seats - 1) * EVEN_MATCH_INFORMATION))
    told = by_kind(np.einsum("rss->r", curved))
    leverage = by_kind(_leverage(results, curved, inverse)) / np.maximum(np.diff(has.indptr) - 1, 1)
    growth = 1 / (1 - np.minimum(leverage, MAX_LEVERAGE))
    return _BlockKinds(blocks.times, scores, has, told, np.minimum(told / even, 1.0), float(even.mean()), growth)


def _leverage(results: Results, curved: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return (results,) the trace of each one's curvature times the covariance of its bots."""
    found, seats = np.zeros(len(curved)), range(results.who.shape[1])
    for one in seats:
        for other in seats:
            found += curved[:, one, other] * inverse[results.who[:, one], results.who[:, other]]
    return found


def curvatures(fitted: Fit) -> np.ndarray:
    """Return (results, seats, seats) the precision matrix of its bots that each result implies."""
    count, between, _ = fitted.sites.shape
    found = np.empty((count, between + 1, between + 1))
    kernels.curvatures(BETA**2, fitted.sites, found)
    return found


def precision(results: Results, weights: np.ndarray, curved: np.ndarray) -> csr_array:
    """Return (bots, bots) the precision matrix of all skills, prior included, from the curvatures of results."""
    bots, seats = len(results.entries), results.who.shape[1]
    every = np.arange(bots)
    one = np.concatenate([np.repeat(results.who, seats, axis=1).ravel(), every])
    other = np.concatenate([np.tile(results.who, seats).ravel(), every])
    values = np.concatenate([(curved * weights[:, None, None]).ravel(), np.full(bots, PRIOR_PRECISION)])
    return csr_array((values, (one, other)), (bots, bots))


def inverse_precision(results: Results, weights: np.ndarray, curved: np.ndarray) -> np.ndarray:
    """Return (bots, bots) the covariances of skills in the model, which takes matches for independent."""
    matrix = precision(results, weights, curved).toarray()
    invert(matrix)
    return matrix


def invert(matrix: np.ndarray) -> None:
    """Invert a positive definite matrix in place; a large one by its halves and the Schur complement of the first.

    With thousands of bots it takes seconds, and other threads have to run meanwhile, such as the one that ends a
    command after Ctrl-C. NumPy lets them; SciPy's LAPACK does not.
    """
    if len(matrix) <= MAX_BOTS_AT_ONCE:
        matrix[:] = np.linalg.inv(matrix)
        return
    half = len(matrix) // 2
    first, second, between = matrix[:half, :half], matrix[half:, half:], matrix[:half, half:]
    invert(first)
    across = first @ between
    second -= between.T @ across
    invert(second)
    between[:] = -(across @ second)
    first -= between @ across.T
    matrix[half:, :half] = between.T


def model_covariance(fitted: Fit, results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots, bots) covariances of skills from the curvature of the model's likelihood and prior."""
    return inverse_precision(results, blocks.weights(results), curvatures(fitted))
