"""What a seat is worth, and how much of a match's return bots, seats, dice and opening decide.

In a block every bot sits in every seat equally often (in rotations once), with the same dice and opening. A block is
thus a Latin square of bots by seats, and a board is many of them: a two-way analysis of variance within blocks tells
what bots and seats do, and what they do differently from block to block is what the matches of a block share.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.errors import StoreError
from arena.stats.means import CONFIDENCE
from arena.stats.pairs import rounded

SHARES = ("bots", "seats", "bots by seat", "dice and opening", "rest")
GROUPS = 20
"""Parts of the blocks that the jackknife leaves out in turn."""

TINY = 1e-12
"""A variance below it is rounding."""


def luck(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """Mean returns by seat and shares of variance, of the frame of `arena.leaderboards.board_matches`.

    Columns: statistic ("mean_return" or "share"), part, value, low, high, cut (a negative estimate taken as 0).
    """
    return rounded(pd.concat([seat_advantage(matches, players), variance_shares(matches, players)], ignore_index=True))


def seat_advantage(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """Mean return by seat with Student's 95 % interval over block means (Student, 1908): m ± t s / sqrt(blocks)."""
    cells, _, _ = _squares(matches, players)
    seats, count = cells.mean(axis=1), len(cells)
    mean = seats.mean(axis=0) if count else np.full(players, np.nan)
    half = np.full(players, np.nan)
    if count > 1:
        half = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * seats.std(axis=0, ddof=1) / math.sqrt(count)
    parts = [f"seat {seat}" for seat in range(players)]
    return _frame("mean_return", parts, mean, mean - half, mean + half, np.zeros(players, bool))


def variance_shares(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """Shares of a return's variance; they sum to 1. 95 % intervals by the jackknife over blocks.

    Tukey, "Bias and Confidence in Not-Quite Large Samples", 1958: error^2 = (g - 1) / g * sum (share without part -
    mean)^2 over g parts of the blocks.
    """
    cells, within, table = _squares(matches, players)
    lineups = len(matches) // players // len(cells) if len(cells) else 0
    estimates = components(cells, within, table, lineups)
    value = _shares(estimates)
    low = high = np.full(len(SHARES), np.nan)
    parts = min(GROUPS, len(cells))
    part = np.empty(len(cells), np.int64)
    part[np.argsort(table, kind="stable")] = np.arange(len(cells)) % max(parts, 1)  # each table's blocks spread out
    left = [part != number for number in range(parts)]
    without = np.array([_shares(components(cells[kept], within[kept], table[kept], lineups)) for kept in left])
    if parts > 1 and np.isfinite(without).all():
        error = np.sqrt((parts - 1) * without.var(axis=0))
        half = stdtrit(parts - 1, (1 + CONFIDENCE) / 2) * error
        low, high = np.clip(value - half, 0, 1), np.clip(value + half, 0, 1)
    return _frame("share", SHARES, value, low, high, estimates < -TINY)


def components(cells: np.ndarray, within: np.ndarray, table: np.ndarray, lineups: int) -> np.ndarray:
    """Variance of a return due to each of `SHARES`, by the method of moments, before negative ones are cut.

    Searle, Casella and McCulloch, "Variance Components", 1992 (Henderson's method I): mean squares equal their
    expectations. `cells` are mean returns by block, bot and seat, `within` the mean square around them, `table` the
    number of each block's set of bots. NaN where no set of bots has two blocks.

    Of an effect's block means m(b): noise = their variance between a table's blocks, fixed = mean m(table)^2 - noise /
    blocks. The rest's variance R adds R / lineups to the noise of bots and of seats, and R (lineups - 2) / lineups is
    what they both leave. With two players they leave nothing: then R / lineups is the smaller one's noise, so that dice
    and opening get the least that fits.
    """
    bots, seats = cells.mean(axis=2), cells.mean(axis=1)
    left = cells - bots[:, :, None] - seats[:, None, :]
    moments = [
        _fixed_and_noise(effect.reshape(len(cells), math.prod(effect.shape[1:])), table)
        for effect in (bots, seats, left)
    ]
    (by_bot, bot_noise), (by_seat, seat_noise), (by_both, noise) = moments
    shared = min(bot_noise, seat_noise)
    if lineups > 2:
        shared = (noise + within.mean()) / (lineups - 2)
    return np.array([by_bot, by_seat, by_both, bot_noise + seat_noise - 2 * shared, lineups * shared])


def _fixed_and_noise(effects: np.ndarray, table: np.ndarray) -> tuple[float, float]:
    """Mean square of the tables' effects without noise, and variance between the blocks of a table; over columns."""
    count = np.bincount(table)
    tables = np.count_nonzero(count)
    freedom = len(table) - tables
    if freedom < 1:
        return math.nan, math.nan
    means = np.stack([np.bincount(table, column) / np.maximum(count, 1) for column in effects.T], axis=1)
    noise = ((effects - means[table]) ** 2).mean(axis=1).sum() / freedom
    fixed = (count @ (means**2).mean(axis=1)) / len(table) - noise * tables / len(table)
    return float(fixed), float(noise)


def _shares(estimates: np.ndarray) -> np.ndarray:
    """Components as shares, negative ones cut to 0; NaN when nothing varies."""
    kept = np.maximum(estimates, 0.0)
    total = kept.sum()
    return kept / total if total > TINY else np.full(len(kept), np.nan)


def _squares(matches: pd.DataFrame, players: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By block: mean returns by bot (in the order of labels) and seat, mean square around them, number of its table."""
    _, block = np.unique(matches["block"].to_numpy().reshape(-1, players)[:, 0], return_inverse=True)
    who = pd.factorize(matches["bot"], sort=True)[0].reshape(-1, players)
    returns = matches["return_"].to_numpy(dtype=float).reshape(-1, players)
    blocks = int(block.max(initial=-1)) + 1
    order = np.sort(who, axis=1)
    tables = np.zeros((blocks, players), np.int64)
    tables[block] = order
    place = np.argsort(np.argsort(who, axis=1), axis=1)
    cell = (block[:, None] * players + place) * players + np.arange(players)
    count = np.bincount(cell.ravel(), minlength=blocks * players**2)
    if (order != tables[block]).any() or (count != count[:1]).any():
        raise StoreError("blocks in which bots do not sit in every seat equally often do not tell luck from skill")
    cells = np.bincount(cell.ravel(), returns.ravel(), minlength=len(count)) / np.maximum(count, 1)
    square = ((returns - cells[cell]) ** 2).mean(axis=1)
    within = np.bincount(block, square, minlength=blocks) / np.maximum(np.bincount(block, minlength=blocks), 1)
    number = np.unique(tables, axis=0, return_inverse=True)[1].ravel() if blocks else np.zeros(0, np.int64)
    return cells.reshape(blocks, players, players), within, number


def _frame(
    statistic: str, parts: object, value: np.ndarray, low: np.ndarray, high: np.ndarray, cut: np.ndarray
) -> pd.DataFrame:
    columns = {"statistic": statistic, "part": parts, "value": value, "low": low, "high": high, "cut": cut}
    return pd.DataFrame(columns)
