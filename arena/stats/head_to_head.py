"""Head-to-head results of pairs of bots, for any number of players.

A bot is ahead of another in a match when its place is better; its *lead* over the other is the share of matches in
which it is ahead minus the share in which it is behind. With two players the difference of returns is twice the lead.
With more players it also depends on the results against the rest of the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import stdtr

from arena.stats.means import decided_blocks, interval, over_blocks

DECIMALS = 4
HEAD_TO_HEAD_COLUMNS = [
    *("bot", "opponent", "matches", "blocks", "wins", "ties", "losses"),
    *("difference", "difference_ci_low", "difference_ci_high"),
]


def head_to_head(matches: pd.DataFrame, players: int, order: Iterable[str] | None = None) -> pd.DataFrame:
    """Return a row for every two bots that met, rounded; columns as in `arena.results.columns.CROSSTABLE`.

    `matches` comes from `arena.results.matches.board_matches`. Of each two the one that is earlier in `order`
    (bots, best first; by default by mean return) comes first, and so the rows are ordered.
    """
    return rounded(compare_pairs(matches, players, order)[HEAD_TO_HEAD_COLUMNS])


def compare_pairs(matches: pd.DataFrame, players: int, order: Iterable[str] | None = None) -> pd.DataFrame:
    """Return `head_to_head` in full precision, with `block_size`, `error` (of the difference), `lead`, `lead_error`,
    and `decided`: the blocks whose difference is not 0.

    The interval is that of `arena.stats.means.interval` over block means, difference ± t(blocks - 1) * s / sqrt(blocks)
    where they vary; copies of a block, move by move, are no further ones. NaN below two blocks.
    """
    bots = list(order) if order is not None else by_mean_return(matches)
    pair, block, difference = _meetings(matches, players, bots)
    share = distinct_shares(matches)
    ahead = np.sign(difference)
    met, place = np.unique(pair, return_inverse=True)
    lead, lead_error, _, count = over_blocks(place, block, ahead, len(met), share)
    mean, error, blocks, _ = over_blocks(place, block, difference, len(met), share)
    low, high = interval(mean, error, blocks, 2.0)
    names = np.array(bots, dtype=object)
    return pd.DataFrame(
        {
            "bot": names[met // len(bots)] if len(met) else names[:0],
            "opponent": names[met % len(bots)] if len(met) else names[:0],
            "matches": np.bincount(place, minlength=len(met)),
            "blocks": np.rint(blocks).astype(np.int64),
            "wins": np.bincount(place[ahead > 0], minlength=len(met)),
            "ties": np.bincount(place[ahead == 0], minlength=len(met)),
            "losses": np.bincount(place[ahead < 0], minlength=len(met)),
            "difference": mean,
            "difference_ci_low": low,
            "difference_ci_high": high,
            "block_size": np.bincount(place, minlength=len(met)) / count,
            "error": error,
            "lead": lead,
            "lead_error": lead_error,
            "decided": decided_blocks(place, block, difference, len(met), share),
        }
    )


def by_mean_return(matches: pd.DataFrame) -> list[str]:
    """Return the bots of `board_matches`, best first; equal ones by label."""
    means = matches.groupby("bot")["return_"].mean().round(DECIMALS)
    return sorted(means.index, key=lambda bot: (-means[bot], bot))


def _meetings(matches: pd.DataFrame, players: int, bots: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every meeting of two bots: number of the pair, block, return of the earlier bot minus the other's.

    Returns and places say the same about who is ahead: a seat returns more than another if and only if it beat it.
    """
    found, labels = pd.factorize(matches["bot"])
    numbers = pd.Index(bots).get_indexer(labels)
    who = numbers[found].reshape(-1, players)
    returns = matches["return_"].to_numpy(dtype=float).reshape(-1, players)
    blocks = matches["block"].to_numpy().reshape(-1, players)[:, 0]
    parts = []
    for one, other in itertools.combinations(range(players), 2):
        first, second = who[:, one], who[:, other]
        kept = (first >= 0) & (second >= 0) & (first != second)
        pair = np.minimum(first, second) * len(bots) + np.maximum(first, second)
        difference = np.where(first < second, 1, -1) * (returns[:, one] - returns[:, other])
        parts.append((pair[kept], blocks[kept], difference[kept]))
    pairs, at, differences = zip(*parts, strict=True)
    return np.concatenate(pairs), np.concatenate(at), np.concatenate(differences)


def distinct_shares(matches: pd.DataFrame) -> np.ndarray:
    """Return `distinct_share` by number of the block; 1 where a frame does not have it."""
    blocks = matches["block"].to_numpy()
    share = np.ones(int(blocks.max(initial=-1)) + 1)
    if "distinct_share" in matches:
        share[blocks] = matches["distinct_share"]
    return share


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Round a frame to four decimals, without negative zeros."""
    frame = frame.round(DECIMALS)
    floats = frame.select_dtypes("float").columns
    frame[floats] = frame[floats] + 0.0
    return frame


def matrix(pairs: pd.DataFrame, value: str = "difference") -> pd.DataFrame:
    """Return a column of `head_to_head` as a matrix: the bot of the row against the bot of the column.

    Bots are in the order of the pairs; NaN where two never met. `wins` and `losses` are shared out to either side.
    """
    bots = list(dict.fromkeys([*pairs["bot"], *pairs["opponent"]]))
    turned = {"wins": "losses", "losses": "wins"}.get(value, value)
    sign = -1.0 if value in ("difference", "lead") else 1.0
    view = pd.DataFrame(np.nan, index=pd.Index(bots, name="bot"), columns=bots)
    row, column = (view.index.get_indexer(pd.Index(pairs[name])) for name in ("bot", "opponent"))
    cells = view.to_numpy(copy=True)
    cells[row, column] = pairs[value]
    cells[column, row] = sign * pairs[turned] + 0.0
    return pd.DataFrame(cells, index=view.index, columns=view.columns)


def p_values(mean: np.ndarray, error: np.ndarray, blocks: np.ndarray, decided: np.ndarray | None = None) -> np.ndarray:
    """Return two-sided p-values of means over blocks against 0: Student's t, but never below 2 / 2^decided.

    That is the least that turning blocks' signs around could give (Fisher, "The Design of Experiments", 1935, section
    21): a few blocks that agree wholly have no spread, and t would take them for certain. `decided` are the blocks
    whose own mean is not 0, by default all. 1 below two blocks.
    """
    least = np.minimum(2.0 ** (1 - (blocks if decided is None else decided)), 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        student = 2 * stdtr(np.maximum(blocks - 1, 1), -np.abs(mean / error))
    student = np.where((error == 0) & (mean == 0), 1.0, student)
    return np.where(blocks < 2, 1.0, np.maximum(np.nan_to_num(student, nan=1.0), least))
