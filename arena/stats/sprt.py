"""Sequential probability ratio tests of two bots, with generalised likelihood ratios of discrete scores.

One block is one observation: the score of A over B in it, 1/2 + (return of A - return of B)/4, which of `steps` + 1
equally spaced values from 0 to 1. With two players a block is a seat-swapped pair and has the five values of the
pentanomial model; with n players it is a duel and has 4(n - 1) + 1.

Van den Bergh, "The generalized maximum likelihood ratio for the expectation value of a distribution" (2018): the most
likely distribution with expectation s is p_i = q_i / (1 + x (a_i - s)), q the observed one, x the root of
sum q_i (a_i - s) / (1 + x (a_i - s)) = 0. Van den Bergh, "A practical introduction to normalized Elo" (2020): the same
when (expectation - 1/2) / deviation is given, by iteration. Values that never occurred count 0.001 of a block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arena.core.errors import ConfigError

Model = Literal["logistic", "normalized"]
Verdict = Literal["H0", "H1"]

UNSEEN_VALUE_COUNT = 1e-3
"""Count of a value that did not occur, in blocks."""
EVEN_SCORE = 0.5
"""The score of equal strength."""
NORMALIZED_ELO_PER_SD = 800 / math.log(10)
"""Normalised Elo for one standard deviation of a match's score."""
MAX_ELO = {"logistic": 800.0, "normalized": 200.0}
MIN_SCORE = 1e-3
"""Scores nearer to 0 or 1 have the Elo of this one: +-1200."""


def score_from_elo(elo: float) -> float:
    """Return the score of logistic Elo (Elo, "The Rating of Chessplayers", 1978): 1 / (1 + 10^(-elo/400))."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_from_score(score: float) -> float:
    """Return the logistic Elo of an expected score: -400 log10(1/score - 1), at most 1,200 either way."""
    return -400 * math.log10(1 / min(max(score, MIN_SCORE), 1 - MIN_SCORE) - 1)


def block_values(steps: int) -> np.ndarray:
    """Return the scores that a block can have."""
    return np.arange(steps + 1) / steps


def regularised(counts: np.ndarray) -> np.ndarray:
    """Return counts by value, with a little for values that never occurred, so that any expectation is possible."""
    return np.where(counts > 0, counts, UNSEEN_VALUE_COUNT)


@dataclass(frozen=True)
class Sprt:
    """Sequential test of H0: the difference is elo0, against H1: it is elo1, with error probabilities alpha and beta.

    Wald, "Sequential tests of statistical hypotheses" (1945): stop when the log-likelihood ratio leaves
    (log(beta/(1 - alpha)), log((1 - beta)/alpha)).
    """

    elo0: float = 0.0
    elo1: float = 30.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ConfigError(f"{name} = {getattr(self, name):g}: must be between 0 and 0.5")
        if self.model not in MAX_ELO:
            raise ConfigError(f"model = '{self.model}': must be logistic or normalized")
        most = MAX_ELO[self.model]
        if not -most <= self.elo0 < self.elo1 <= most:
            raise ConfigError(
                f"elo0 = {self.elo0:g}, elo1 = {self.elo1:g}: elo0 must be below elo1, both from {-most:g} to {most:g} "
                f"({self.model} Elo)"
            )

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at or below which `elo0` is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at or above which `elo1` is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: np.ndarray, values: np.ndarray | None = None) -> float:
        """Return the generalised log-likelihood ratio: sum n_i log(p1_i / p0_i), p the most likely under each.

        `counts` are of the scores `values`, by default equally spaced ones.
        """
        from arena.stats.likelihoods import log_ratio, log_ratio_t  # imports Numba, which only a test needs

        values, weights = block_values(len(counts) - 1) if values is None else values, regularised(counts)
        if self.model == "logistic":
            scores = score_from_elo(self.elo0), score_from_elo(self.elo1)
            return float(log_ratio(values, weights, scores[0]) - log_ratio(values, weights, scores[1]))
        bounds = self.elo0 / NORMALIZED_ELO_PER_SD * math.sqrt(2), self.elo1 / NORMALIZED_ELO_PER_SD * math.sqrt(2)
        above = values - EVEN_SCORE
        return float(log_ratio_t(above, weights, bounds[0]) - log_ratio_t(above, weights, bounds[1]))

    def verdict(self, llr: float) -> Verdict | None:
        """Return the hypothesis that a log-likelihood ratio accepts, if any."""
        return "H1" if llr >= self.upper else "H0" if llr <= self.lower else None

    def scores(self, deviation: float) -> tuple[float, float]:
        """Return both hypotheses as expected scores; `deviation` is that of a block's score (for normalised Elo)."""
        if self.model == "logistic":
            return score_from_elo(self.elo0), score_from_elo(self.elo1)
        each = math.sqrt(2) * deviation / NORMALIZED_ELO_PER_SD
        return EVEN_SCORE + self.elo0 * each, EVEN_SCORE + self.elo1 * each
