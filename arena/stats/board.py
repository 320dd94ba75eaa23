"""Ratings of a board with their intervals, as leaderboards show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.stats import kernels
from arena.stats.blocks import Blocks, blocks_of
from arena.stats.covariance import covariance_of, model_covariance
from arena.stats.fit import FIT_ACCURACY_SIGMAS, Fit, Results, fit_with_margin, results_of
from arena.stats.ranks import Spread, groups, rank_ranges


class MatchArrays(NamedTuple):
    """Matches of a board as arrays, in any order."""

    entries: np.ndarray
    """(matches, seats)"""
    ranks: np.ndarray
    """(matches, seats), from 0."""
    block: np.ndarray
    """(matches,)"""
    distinct_share: np.ndarray | None
    """(matches,) as of `arena.stats.blocks.distinct_share`; None when every block is distinct."""


def match_arrays(matches: pd.DataFrame, players: int) -> MatchArrays:
    """Return the matches of `arena.results.matches.board_matches` as arrays."""
    shaped = {name: matches[name].to_numpy().reshape(-1, players) for name in ("entry", "rank", "block")}
    share = matches["distinct_share"].to_numpy()[::players] if "distinct_share" in matches else None
    return MatchArrays(shaped["entry"], shaped["rank"], shaped["block"][:, 0], share)


class Ratings(NamedTuple):
    """Converged fit of a board with its uncertainty."""

    results: Results
    blocks: Blocks
    fit: Fit
    spread: Spread


def ratings_of(board: MatchArrays) -> Ratings:
    """Fit the ratings of a board, with the covariance of what its blocks say."""
    results = results_of(board.entries, board.ranks)
    blocks = blocks_of(results, board.block, board.distinct_share)
    fitted = fit_with_margin(results, blocks.weights(results))
    return Ratings(results, blocks, fitted, Spread(fitted.mu, covariance_of(fitted, results, blocks)))


def warm_up() -> None:
    """Compile what rates a board, by three made-up matches."""
    ratings = ratings_of(
        MatchArrays(np.array([[0, 1], [1, 0], [0, 1]]), np.array([[0, 1], [0, 1], [0, 0]]), np.arange(3), None)
    )
    results, margin = ratings.results, ratings.fit.margin
    kernels.rate_in_order(results.orders, results.number, np.zeros(2), np.ones(2), 1.0, margin, FIT_ACCURACY_SIGMAS)


class Skills(NamedTuple):
    """Converged ratings of a board, without intervals."""

    bots: list[str]
    """Labels of the bots."""
    mu: np.ndarray
    covariance: np.ndarray
    """(bots, bots) covariance in the model, which takes matches for independent."""
    margin: float


def skills_of(matches: pd.DataFrame, players: int) -> Skills:
    """Return the ratings of the matches of `arena.results.matches.board_matches`."""
    if matches.empty:
        return Skills([], np.zeros(0), np.zeros((0, 0)), 0.0)
    number, labels = pd.factorize(matches["bot"])
    board = match_arrays(matches.assign(entry=number), players)
    results = results_of(board.entries, board.ranks)
    blocks = blocks_of(results, board.block, board.distinct_share)
    fitted = fit_with_margin(results, blocks.weights(results))
    return Skills(list(labels), fitted.mu, model_covariance(fitted, results, blocks), fitted.margin)


def distinct_matches(results: Results, blocks: Blocks) -> np.ndarray:
    """Return (bots,) the matches of each bot in distinct blocks."""
    who = np.sort(results.who, axis=1)
    first = np.diff(who, axis=1, prepend=-1) > 0  # a bot in several seats plays one match
    result, seat = np.nonzero(first)
    return np.rint(np.bincount(who[result, seat], blocks.weights(results)[result])).astype(np.int64)


def rating_columns(ratings: Ratings) -> pd.DataFrame:
    """Return rating, sigma, intervals, ranges of ranks, groups and distinct matches, by entry."""
    fitted, spread = ratings.fit, ratings.spread
    best, worst = rank_ranges(spread)
    columns = {
        "rating": fitted.mu,
        "rating_ci_low": spread.low,
        "rating_ci_high": spread.high,
        "rank_ci_low": best,
        "rank_ci_high": worst,
        "group": groups(spread),
        "sigma": fitted.sigma,
        "distinct_matches": distinct_matches(ratings.results, ratings.blocks),
    }
    return pd.DataFrame(columns, index=pd.Index(ratings.results.entries, name="entry"))
