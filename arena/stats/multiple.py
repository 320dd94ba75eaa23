"""Several tests at once: p-values that hold for all of them together."""

from __future__ import annotations

import numpy as np

FAMILY_WISE_ERROR = 0.05
"""Family-wise error rate: probability that equal bots show any significant pair."""
P_VALUE_DIGITS = 4
"""Significant digits of p-values in tables: rounded to decimals, small ones would all be 0."""


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for their number: the running maximum of (m - k) p_(k), k from 0, at most 1.

    Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def p_value_digits(p: np.ndarray) -> np.ndarray:
    """Return p-values with the digits that tables have."""
    return np.array([float(f"{value:.{P_VALUE_DIGITS}g}") for value in p.tolist()], float)
