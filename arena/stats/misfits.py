"""Pairs whose lead the ratings do not predict: a test valid for few blocks and for bots that always win.

The variance of a pair's own blocks is a poor estimate: uncertain for six blocks, and 0 if all were won. So the variance
of a lead is the one that the rating model predicts for independent matches, times a factor for what the matches of a
block have in common (dice, openings, seats). Pairs with few blocks borrow this factor from all pairs of the board, but
not a factor below 1: matches of a block cancel out for two copies of a bot, not in general.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import betainc, ndtr, ndtri

from arena.stats.board import Skills
from arena.stats.fit import PERFORMANCE_DIFFERENCE_SD
from arena.stats.multiple import FAMILY_WISE_ERROR, holm

MIN_RELEVANT_DIFFERENCE = 0.05
"""Least relevant difference from the predicted lead: no game fits the model exactly."""
BOARD_FACTOR_WEIGHT_BLOCKS = 10
"""Weight of the board's factor for a pair, in blocks with even chances."""
MAX_EXPLAINED_SHARE = 0.6
"""Largest share of a lead's variance that the fit may explain; ties make the model overconfident."""
MIN_PROBABILITY = 1e-12
"""Least probability."""


def ahead_and_behind(gap: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities that a bot with a mu higher by `gap` is ahead, and behind; within `margin` they tie.

    Herbrich, Minka and Graepel, "TrueSkill: A Bayesian Skill Rating System", 2006: Phi((gap - margin) / (sqrt(2) beta))
    and Phi((-gap - margin) / (sqrt(2) beta)).
    """
    return ndtr((gap - margin) / PERFORMANCE_DIFFERENCE_SD), ndtr((-gap - margin) / PERFORMANCE_DIFFERENCE_SD)


def misfits(compared: pd.DataFrame, skills: Skills, players: int) -> pd.DataFrame:
    """Return for every pair of `compare_pairs` the lead that ratings predict, and z and p of the actual one.

    z = Phi^-1(1 - p / 2) with the sign of lead - predicted, p of two tails of which the actual lead counts half
    (Lancaster, "Significance tests in discrete distributions", 1961), so that |z| > 1.96 comes in about 5 % of pairs
    when the model holds. `p_value` counts it whole.
    """
    bots = pd.Index(skills.bots)
    one, other = (bots.get_indexer(pd.Index(compared[name])) for name in ("bot", "opponent"))
    gap = skills.mu[one] - skills.mu[other]
    margin = skills.margin if players == 2 else _margin_of_ties(compared, gap)
    ahead, behind = ahead_and_behind(gap, margin)
    predicted = ahead - behind
    unsure = np.diagonal(skills.covariance)
    doubt = unsure[one] + unsure[other] - 2 * skills.covariance[one, other]
    slope = (
        _density((gap - margin) / PERFORMANCE_DIFFERENCE_SD) + _density((gap + margin) / PERFORMANCE_DIFFERENCE_SD)
    ) / PERFORMANCE_DIFFERENCE_SD
    variance = _variance(compared, np.maximum(ahead + behind - predicted**2, MIN_PROBABILITY), slope**2 * doubt)
    lead = compared["lead"].to_numpy()
    half, whole = _two_tails(lead, predicted, np.maximum((1 - predicted) / 2, MIN_PROBABILITY), variance)
    frame = compared[["bot", "opponent", "matches", "lead"]]
    return frame.assign(predicted=predicted, z=np.sign(lead - predicted) * -ndtri(half / 2), p_value=whole)


def misfitting(fitted: pd.DataFrame, level: float = FAMILY_WISE_ERROR) -> pd.DataFrame:
    """Return the relevant rows of `misfits` that are significant by Holm's test over all pairs, largest |z| first."""
    adjusted = fitted.assign(p_value=holm(fitted["p_value"].to_numpy()), size=fitted["z"].abs())
    apart = (fitted["lead"] - fitted["predicted"]).abs()
    found = adjusted[(adjusted["p_value"] <= level) & (apart >= MIN_RELEVANT_DIFFERENCE)]
    return found.sort_values("size", ascending=False, kind="stable", ignore_index=True).drop(columns="size")


def _density(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _margin_of_ties(compared: pd.DataFrame, gap: np.ndarray) -> float:
    """Return the margin at which as many meetings tie as did; with three and more players it differs from the fit's."""
    meetings, ties = compared["matches"].to_numpy(), compared["ties"].sum()
    if not ties:
        return 0.0

    def missing_ties(margin: float) -> float:
        ahead, behind = ahead_and_behind(gap, margin)
        return float(meetings @ (1 - ahead - behind) - ties)

    from scipy.optimize import brentq  # slow to load, and of no use to boards without ties

    return float(brentq(missing_ties, 0.0, np.abs(gap).max() + 10 * PERFORMANCE_DIFFERENCE_SD))


def _variance(compared: pd.DataFrame, match: np.ndarray, explained: np.ndarray) -> np.ndarray:
    """Return the variance of lead - predicted; `match` is that of one match, `explained` that of the predicted lead.

    With V = match / matches, D = the variance of a mean over blocks by that of as many independent matches, and
    h = explained / V, the share of a lead that ratings take up: V ((1 - h)^2 D of the pair + h (1 - h) D of the board);
    where both D are 1 that is V - explained (Pierce, "The asymptotic effect of substituting estimators for parameters
    in certain types of statistics", 1982).
    """
    blocks = compared["blocks"].to_numpy(dtype=float)
    size = compared["block_size"].to_numpy()
    several = blocks > 1
    seen = np.where(several, compared["lead_error"].to_numpy() ** 2 * blocks, 0.0)  # between blocks
    decided = (compared["wins"] + compared["losses"]).to_numpy() / compared["matches"].to_numpy()
    single = decided - compared["lead"].to_numpy() ** 2 + seen / np.maximum(blocks, 1)
    actual, independent = blocks * seen, np.where(several, blocks * single / size, 0.0)
    borrowed = BOARD_FACTOR_WEIGHT_BLOCKS / size
    of_board = max(1.0, actual.sum() / max(independent.sum(), MIN_PROBABILITY))
    of_pair = (actual + borrowed * of_board) / (independent + borrowed)
    alone = match / (size * np.maximum(blocks, 1))
    taken = np.minimum(explained / alone, MAX_EXPLAINED_SHARE)
    return alone * ((1 - taken) ** 2 * of_pair + taken * (1 - taken) * of_board)


def _two_tails(
    lead: np.ndarray, predicted: np.ndarray, failing: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return two-sided p-values of leads, with the lead itself counted half, and whole.

    (1 + lead) / 2 is taken for the mean of so many binomial trials as have its variance, which need be no whole number:
    P(at most k of n) = I_(1 - q)(n - k, k + 1) (Clopper and Pearson, 1934). `failing` is 1 - q, kept apart from q
    since it may be tiny.
    """
    share, chance = (1 + lead) / 2, (1 + predicted) / 2
    trials = 4 * chance * failing / variance

    def tail(share: np.ndarray, failing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        least, rest = trials * share, trials * (1 - share)
        with_it = np.where(rest > MIN_PROBABILITY, betainc(np.maximum(rest, MIN_PROBABILITY), least + 1, failing), 1.0)
        without = np.where(least > MIN_PROBABILITY, betainc(rest + 1, np.maximum(least, MIN_PROBABILITY), failing), 0.0)
        return (with_it + without) / 2, with_it

    below, above = tail(share, failing), tail(1 - share, np.maximum(chance, MIN_PROBABILITY))
    half, whole = (np.minimum(1.0, 2 * np.minimum(one, other)) for one, other in zip(below, above, strict=True))
    return np.maximum(half, np.finfo(float).tiny), whole
