"""How certain the order of a board's bots is."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import ndtr


def order_doubt(entries: np.ndarray, ranks: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries, ascending, and for each pair the probability that their order is the other way, at most 0.5.

    Strengths by least squares over all pairs' differences of rank; White's (1980) sandwich over blocks.
    """
    who, at = np.unique(entries, return_inverse=True)
    at = at.reshape(entries.shape)
    _, block = np.unique(blocks, return_inverse=True)
    count = len(who)
    normal, right = np.zeros((count, count)), np.zeros(count)
    pairs = list(itertools.combinations(range(entries.shape[1]), 2))
    for a, b in pairs:
        np.add.at(normal, (at[:, a], at[:, a]), 1)
        np.add.at(normal, (at[:, b], at[:, b]), 1)
        np.add.at(normal, (at[:, a], at[:, b]), -1)
        np.add.at(normal, (at[:, b], at[:, a]), -1)
        np.add.at(right, at[:, a], ranks[:, b] - ranks[:, a])
        np.add.at(right, at[:, b], ranks[:, a] - ranks[:, b])
    inverse = np.linalg.pinv(normal)
    strength = inverse @ right
    scores = np.zeros((block.max() + 1, count))
    for a, b in pairs:
        rest = ranks[:, b] - ranks[:, a] - strength[at[:, a]] + strength[at[:, b]]
        np.add.at(scores, (block, at[:, a]), rest)
        np.add.at(scores, (block, at[:, b]), -rest)
    spread = inverse @ (scores.T @ scores) @ inverse
    gaps = np.abs(strength[:, None] - strength)
    variance = np.diag(spread)[:, None] + np.diag(spread) - 2 * spread
    error = np.sqrt(np.maximum(variance, 1e-12))
    return who, ndtr(-gaps / error)
