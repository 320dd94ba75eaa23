"""Variance decomposition: advantage of seats, and shares of bots, seats, dice and opening in the variance.

In a block every bot sits in every seat equally often (in rotations once), with the same dice and opening. A block is
thus a Latin square of bots by seats, and a board is many of them: a two-way analysis of variance within blocks
separates the effects of bots and seats; their variation from block to block is what the matches of a block share.

The effect of a seat is its mean return over the whole board; it is reported as mean return and as share of variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ncfdtr, stdtrit

from arena.core.errors import StoreError
from arena.stats.head_to_head import distinct_shares, rounded
from arena.stats.means import CONFIDENCE, interval, over_blocks

VARIANCE_SOURCES = ("bots", "seats", "bots by seat", "dice and opening", "rest")
DICE_INDEX, REST_INDEX = VARIANCE_SOURCES.index("dice and opening"), VARIANCE_SOURCES.index("rest")
WITHOUT_DICE = np.eye(len(VARIANCE_SOURCES))
"""Matrix that merges dice and opening into the rest."""
WITHOUT_DICE[REST_INDEX, DICE_INDEX], WITHOUT_DICE[DICE_INDEX, DICE_INDEX] = 1.0, 0.0
JACKKNIFE_GROUPS = 20
"""Groups of blocks that the jackknife leaves out in turn."""

ZERO_VARIANCE = 1e-12
"""Variances below this are rounding."""
FAR_MEAN_SQUARE_RATIO = 400.0
"""Mean squares this many times above chance level get their intervals from the jackknife alone."""


class LatinSquares(NamedTuple):
    """Blocks of a board as Latin squares: every bot of the table in every seat."""

    cells: np.ndarray
    """(blocks, players, players) mean returns by block, bot (in the order of labels) and seat."""
    within: np.ndarray
    """(blocks,) mean square within cells."""
    table: np.ndarray
    """(blocks,) number of each block's set of bots."""
    lineups: int
    """Matches in a block."""

    def part(self, kept: np.ndarray) -> LatinSquares:
        """Return some of the blocks."""
        return LatinSquares(self.cells[kept], self.within[kept], self.table[kept], self.lineups)


def variance_table(matches: pd.DataFrame, players: int, own_dice: bool = False) -> pd.DataFrame:
    """Return mean returns by seat and shares of variance of a frame of `arena.results.matches.board_matches`.

    Columns: `arena.results.columns.VARIANCE`. With `own_dice` the matches of some blocks do not share their dice.
    """
    tables = [seat_advantage(matches, players), variance_shares(matches, players, own_dice)]
    return rounded(pd.concat(tables, ignore_index=True))


def seat_advantage(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """Return the mean return by seat with the 95 % interval of `arena.stats.means.interval` over block means.

    Copies of a block, move by move, are no further ones. NaN below two blocks.
    """
    seat, block = np.arange(len(matches)) % players, matches["block"].to_numpy()
    value = matches["return_"].to_numpy(dtype=float)
    mean, error, count, _ = over_blocks(seat, block, value, players, distinct_shares(matches))
    parts = [f"seat {seat}" for seat in range(players)]
    return _frame("mean_return", parts, np.where(count > 0, mean, np.nan), *interval(mean, error, count, 1.0))


def variance_shares(matches: pd.DataFrame, players: int, own_dice: bool = False) -> pd.DataFrame:
    """Return the shares of a return's variance, which sum to 1, with 95 % intervals by the jackknife over blocks.

    If matches draw their own dice (`own_dice`), dice cannot be separated from the bots' own chance: the share of dice
    and opening is NaN then, and they are a part of the rest.

    Estimates are unbiased, so that those of small shares may be below 0; intervals begin at 0 then. Tukey, "Bias and
    Confidence in Not-Quite Large Samples", 1958: error^2 = (g - 1) / g * sum (share without part - mean)^2 over g parts
    of the blocks. Near 0, where squares of effects do not vary as the jackknife takes them to, `effect_limits` holds.
    """
    squares = _squares(matches, players)
    merge = WITHOUT_DICE if own_dice else np.eye(len(VARIANCE_SOURCES))
    found, chance = components(squares)
    found = merge @ found
    total = found.sum()
    if not total > ZERO_VARIANCE:
        nothing = np.full(len(VARIANCE_SOURCES), np.nan)
        return _frame("share", VARIANCE_SOURCES, nothing, nothing, nothing)
    value, low, high = found / total, np.full(len(VARIANCE_SOURCES), np.nan), np.full(len(VARIANCE_SOURCES), np.nan)
    half = _jackknife(squares, merge)
    if half is not None:
        if players == 2 and value[DICE_INDEX] < -half[DICE_INDEX]:  # see `components`
            value[DICE_INDEX], value[REST_INDEX] = -value[DICE_INDEX], value[REST_INDEX] + 2 * value[DICE_INDEX]
        low, high = np.maximum(value - half, 0.0), np.minimum(np.maximum(value, 0.0) + half, 1.0)
        for part, (level, *freedom) in enumerate(chance):
            seats = VARIANCE_SOURCES[part] == "seats"
            if level > ZERO_VARIANCE and found[part] < FAR_MEAN_SQUARE_RATIO * level and (seats or not low[part]):
                least, most = np.array(effect_limits(found[part], level, *freedom)) / total
                low[part] = min(least, 1.0) if seats else 0.0
                high[part] = min(max(most, 0.0 if seats else high[part]), 1.0)
    if own_dice:
        value[DICE_INDEX] = low[DICE_INDEX] = high[DICE_INDEX] = np.nan
    return _frame("share", VARIANCE_SOURCES, value, low, high)


def components(squares: LatinSquares) -> tuple[np.ndarray, list[tuple[float, int, int]]]:
    """Return the variance of a return due to each of `VARIANCE_SOURCES`, by the method of moments, unbiased.

    Searle, Casella and McCulloch, "Variance Components", 1992 (Henderson's method I): mean squares equal their
    expectations. NaN where no set of bots has two blocks. Beside them, of bots, seats and bots by seat, the mean square
    that chance alone makes, and its degrees of freedom and those of the noise it is measured by.

    Of an effect's block means m(b): noise = their variance between a table's blocks, fixed = mean m(table)^2 - noise /
    blocks. A seat's effect is that of the whole board; what it does at one table beyond that is bots by seat. The
    rest's variance R adds R / lineups to the noise of bots and of seats, and R (lineups - 2) / lineups is what they
    both leave. With two players they leave nothing. Then what dice and openings do is taken to be done to seats, so
    that R / lineups is the noise of bots; or, where these vary more, that of seats.
    """
    cells, within, table, lineups = squares
    bots, seats = cells.mean(axis=2), cells.mean(axis=1)
    left = cells - bots[:, :, None] - seats[:, None, :]
    blocks, players = seats.shape
    moments = [
        _fixed_and_noise(effect.reshape(blocks, math.prod(effect.shape[1:])), table) for effect in (bots, seats, left)
    ]
    (by_bot, bot_noise), (by_table, seat_noise), (by_both, noise) = moments
    if math.isnan(noise):
        return np.full(len(VARIANCE_SOURCES), np.nan), []
    tables, free = np.unique(table).size, players - 1
    level = seats.var(axis=0, ddof=1).mean() / blocks
    by_seat = (seats.mean(axis=0) ** 2).mean() - level
    shared = bot_noise if lineups == 2 else (noise + within.mean()) / (lineups - 2)
    found = [by_bot, by_seat, by_table - by_seat + by_both, bot_noise + seat_noise - 2 * shared, lineups * shared]
    rest = (blocks - tables) * free
    by_chance = [
        (bot_noise * tables / blocks, tables * free, rest),
        (level, free, (blocks - 1) * free),
        (
            (seat_noise + noise) * tables / blocks - level,
            max(tables - 1, 1) * free + tables * free**2 * (free > 1),
            rest,
        ),
    ]
    return np.array(found), by_chance


def effect_limits(found: float, level: float, freedom: int, rest: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean square of effects, of which `found` is an unbiased estimate; 0 or more.

    `level` is the mean square that chance alone makes. F = (found + level) / level has a non-central F distribution;
    its non-centrality is `freedom` times the effects' mean square by `level` (Steiger and Fouladi, "Noncentrality
    interval estimation and the evaluation of statistical models", 1997). The interval leaves out 0 when the F test does
    at 5 %, which of two seats is the t test.
    """
    from scipy.optimize import brentq  # slow to load

    ratio = max(found / level + 1, 0.0)

    def limit(probability: float) -> float:
        def excess(noncentrality: float) -> float:
            return float(ncfdtr(freedom, rest, noncentrality, ratio)) - probability

        if excess(0.0) <= 0:
            return 0.0
        high = 10.0 + 2 * freedom * ratio
        while excess(high) > 0:
            high *= 2
        return float(brentq(excess, 0.0, high)) / freedom * level

    return limit((1 + CONFIDENCE) / 2) or limit(CONFIDENCE), limit((1 - CONFIDENCE) / 2)


def _jackknife(squares: LatinSquares, merge: np.ndarray) -> np.ndarray | None:
    """Return half the widths of the intervals of shares, merged; None where parts of the blocks have no shares."""
    count = len(squares.table)
    parts = min(JACKKNIFE_GROUPS, count)
    part = np.empty(count, np.int64)
    part[np.argsort(squares.table, kind="stable")] = np.arange(count) % max(parts, 1)  # each table's blocks spread out
    found = np.array([merge @ components(squares.part(part != number))[0] for number in range(parts)])
    totals = found.sum(axis=1, keepdims=True)
    if parts < 2 or not (totals > ZERO_VARIANCE).all():
        return None
    error = np.sqrt((parts - 1) * (found / totals).var(axis=0))
    return stdtrit(parts - 1, (1 + CONFIDENCE) / 2) * error


def _fixed_and_noise(effects: np.ndarray, table: np.ndarray) -> tuple[float, float]:
    """Return the mean square of the tables' effects without noise, and the variance between blocks of a table."""
    count = np.bincount(table)
    tables = np.count_nonzero(count)
    freedom = len(table) - tables
    if freedom < 1:
        return math.nan, math.nan
    means = np.stack([np.bincount(table, column) / np.maximum(count, 1) for column in effects.T], axis=1)
    noise = ((effects - means[table]) ** 2).mean(axis=1).sum() / freedom
    fixed = (count @ (means**2).mean(axis=1)) / len(table) - noise * tables / len(table)
    return float(fixed), float(noise)


def _squares(matches: pd.DataFrame, players: int) -> LatinSquares:
    """Return the blocks of a frame of `board_matches`; raise `StoreError` when they are no Latin squares."""
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
        raise StoreError("blocks in which bots do not sit in every seat equally often cannot be decomposed")
    cells = np.bincount(cell.ravel(), returns.ravel(), minlength=len(count)) / np.maximum(count, 1)
    square = ((returns - cells[cell]) ** 2).mean(axis=1)
    within = np.bincount(block, square, minlength=blocks) / np.maximum(np.bincount(block, minlength=blocks), 1)
    number = np.unique(tables, axis=0, return_inverse=True)[1].ravel() if blocks else np.zeros(0, np.int64)
    lineups = len(matches) // players // blocks if blocks else 0
    return LatinSquares(cells.reshape(blocks, players, players), within, number, lineups)


def _frame(statistic: str, parts: object, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"statistic": statistic, "part": parts, "value": value, "value_ci_low": low, "value_ci_high": high}
    )
