"""Non-transitivity: significant cycles A > B > C > A, and alpha-rank, a ranking that allows for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError
from arena.stats.head_to_head import p_values
from arena.stats.multiple import FAMILY_WISE_ERROR, holm

POPULATION_SIZE = 50
SELECTION_INTENSITY = 0.1
"""Selection intensity: of two bots one that leads by 0.1 gets e times the other's share, by 0.5 e^5 times."""
MAX_EXPONENT = 300.0
"""Fixation probabilities are at least exp of minus this, so that no product of two underflows."""


def significant(compared: pd.DataFrame, level: float = FAMILY_WISE_ERROR) -> pd.DataFrame:
    """Return the pairs of `compare_pairs` with a significant lead: ahead, behind, p_value (of t, adjusted by Holm)."""
    lead = compared["lead"].to_numpy()
    p = holm(p_values(lead, compared["lead_error"].to_numpy(), compared["blocks"].to_numpy()))
    frame = pd.DataFrame(
        {
            "ahead": np.where(lead > 0, compared["bot"], compared["opponent"]),
            "behind": np.where(lead > 0, compared["opponent"], compared["bot"]),
            "p_value": p,
        }
    )
    return frame[p <= level].reset_index(drop=True)


def cycles(edges: pd.DataFrame, bots: Sequence[str]) -> pd.DataFrame:
    """Return all cycles of three bots, each ahead of the next: first, second, third, p_value; least p first.

    `edges` comes from `significant`; a cycle's p-value is its weakest pair's (Berger, "Multiparameter Hypothesis
    Testing and Acceptance Sampling", 1982: intersection-union, p = max p_i). It starts at the bot that is first in
    `bots`.
    """
    p = _p_matrix(edges, bots)
    beats = np.isfinite(p)
    rows = []
    for first in range(len(bots)):
        second, third = np.nonzero(beats & beats[first][:, None] & beats[:, first][None, :])
        for b, c in zip(second.tolist(), third.tolist(), strict=True):
            if first < min(b, c):
                rows.append((bots[first], bots[b], bots[c], max(p[first, b], p[b, c], p[c, first])))
    frame = pd.DataFrame(rows, columns=["first", "second", "third", "p_value"]).astype({"p_value": float})
    return frame.sort_values("p_value", kind="stable", ignore_index=True)


def cyclic_groups(edges: pd.DataFrame, bots: Sequence[str]) -> list[list[str]]:
    """Return groups of bots linked by cycles: the strongly connected components of "is ahead of" beyond one bot.

    Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.
    """
    from scipy.sparse import csr_array  # slow to load, and leaderboards do without
    from scipy.sparse.csgraph import connected_components

    graph = csr_array(np.isfinite(_p_matrix(edges, bots)))
    _, component = connected_components(graph, directed=True, connection="strong")
    groups: dict[int, list[str]] = {}
    for bot, number in zip(bots, component.tolist(), strict=True):
        groups.setdefault(number, []).append(bot)
    return [group for group in groups.values() if len(group) > 1]


def _p_matrix(edges: pd.DataFrame, bots: Sequence[str]) -> np.ndarray:
    """Return p-values by (ahead, behind); infinite where neither is ahead."""
    index = pd.Index(bots)
    ahead, behind = (index.get_indexer(pd.Index(edges[name])) for name in ("ahead", "behind"))
    p = np.full((len(bots), len(bots)), np.inf)
    p[ahead, behind] = edges["p_value"]
    return p


def alpha_rank(
    payoffs: pd.DataFrame, alpha: float = SELECTION_INTENSITY, population: int = POPULATION_SIZE
) -> pd.Series:
    """Return the share of each bot in an evolving population with rare mutations.

    Omidshafiei et al., "alpha-Rank: Multi-Agent Evaluation by Evolution", 2019, one population: the stationary
    distribution of C[s, r] = rho / (bots - 1), rho = (1 - exp(-u)) / (1 - exp(-population u)), u = alpha (M[r, s] -
    M[s, r]). `payoffs` is M, mean returns of the row's bot against the column's; bots that never met count as even.
    """
    if not alpha > 0 or population < 2:
        raise ConfigError(f"alpha-rank: alpha = {alpha}, population = {population}: must be above 0 and at least 2")
    returns = np.nan_to_num(payoffs.to_numpy(dtype=float), nan=0.0)
    advantage = alpha * (returns.T - returns)  # of the column's bot, who comes, over the row's, whose population it is
    steps = _fixation(advantage, population) / max(len(returns) - 1, 1)
    return pd.Series(_stationary(steps), index=payoffs.index, name="alpha_rank")


def _fixation(advantage: np.ndarray, population: int) -> np.ndarray:
    """Return the fixation probability rho of `alpha_rank`, without overflow; 1 / population without advantage."""
    size = np.abs(advantage)
    even = size < 1e-12
    size = np.where(even, 1.0, size)
    climbing = np.expm1(-size) / np.expm1(-population * size)
    falling = np.exp(-np.minimum((population - 1) * size, MAX_EXPONENT))
    return np.where(even, 1 / population, np.where(advantage > 0, climbing, climbing * falling))


def _stationary(steps: np.ndarray) -> np.ndarray:
    """Return the stationary distribution of a Markov chain with given rates, each entry exact to rounding.

    Grassmann, Taksar and Heyman, "Regenerative Analysis and Steady State Distributions for Markov Chains", 1985: Gauss
    elimination without subtractions.
    """
    rates = steps.copy()
    count = len(rates)
    for last in range(count - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    weights = np.ones(count)
    for state in range(1, count):
        weights[state] = weights[:state] @ rates[:state, state]
        weights[: state + 1] /= weights[: state + 1].max()
    return weights / weights.sum()
