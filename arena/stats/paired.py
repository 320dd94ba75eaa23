"""Variance reduction by common dice, in the difference of two bots."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Saving:
    """Blocks with independent dice that are worth one with common dice, with a 95 % interval; NaN if unknown."""

    factor: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """Share of the variance that common dice remove."""
        return 1 - 1 / self.factor


def dice_saving(a: np.ndarray, b: np.ndarray, seats: np.ndarray, confidence: float = 0.95) -> Saving:
    """Return (Var a + Var b) / Var(a - b), within seats, for the returns of A and B by block.

    Common random numbers: Kahn and Marshall, "Methods of reducing sample size in Monte Carlo computations" (1953);
    Var(a - b) = Var a + Var b - 2 Cov(a, b). The interval is the jackknife's of the logarithm (Miller, "Jackknifing
    variances", 1968), over blocks. With two players B's return is what it gets in the seat in which A got a.
    """
    _, group = np.unique(seats, return_inverse=True)
    sizes = np.bincount(group)
    if len(a) < 3 or sizes.min() < 2:
        return Saving(math.nan, math.nan, math.nan)
    apart = _leave_one_out(a, group, sizes) + _leave_one_out(b, group, sizes)
    paired = _leave_one_out(a - b, group, sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(apart / paired)
    if not np.isfinite(logs).all():
        return Saving(math.nan, math.nan, math.nan)
    whole, others = logs[0], logs[1:]
    spread = math.sqrt((len(a) - 1) / len(a) * float(((others - others.mean()) ** 2).sum()))
    half = stdtrit(len(a) - 1, (1 + confidence) / 2) * spread
    return Saving(math.exp(whole), math.exp(whole - half), math.exp(whole + half))


def _leave_one_out(values: np.ndarray, group: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sum of squares within groups: of all values, then without each one."""
    centred = values - (np.bincount(group, values) / sizes)[group]
    whole = float(centred @ centred)
    return np.concatenate([[whole], whole - centred**2 * (sizes / (sizes - 1))[group]])
