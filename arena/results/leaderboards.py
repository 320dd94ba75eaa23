"""Leaderboards per game and player count: a pure function of log and plan, as pandas frames.

Only complete blocks count, in canonical order (round, table, line-up), without blocks dropped by a disqualification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from arena.core.match_ids import listed_dice
from arena.plan.disqualification import disqualified, in_plan
from arena.results.columns import FAULTS, LEADERBOARD
from arena.results.matches import board_matches
from arena.schedule.blocks import Schedule
from arena.stats.board import played, rating_columns, ratings_of
from arena.stats.means import interval
from arena.stats.online_trueskill import rate, rating_model
from arena.store import Store

DECIMALS = 4


def faults(store: Store, schedule: Schedule) -> pd.DataFrame:
    """Return the bots that forfeited matches of the plan; columns: `arena.results.columns.FAULTS`.

    The rows are in the plan's order of their first matches.
    """
    counts: Counter[tuple[str, str, int, str]] = Counter()
    first: dict[tuple[str, str, int, str], tuple[tuple[int, ...], str]] = {}
    for index, board in enumerate(schedule.boards):
        forfeits = store.forfeits(board.game, board.players)
        out = disqualified(store, schedule, index)
        given = schedule.counts(index)
        for number in sorted(forfeits):
            for place, table in enumerate(schedule.tables[index]):
                if number >= given[place]:
                    continue
                block = schedule.block(index, number, table)
                for lineup, seat, cause in forfeits[number].get(block.identity, ()):
                    if in_plan(out, number, table):
                        label = schedule.entries[schedule.seats(block, lineup)[seat]].label
                        key = (label, board.game, board.players, cause)
                        counts[key] += 1
                        if key not in first:
                            first[key] = ((number, index, place, lineup, seat), store.short_id(block.identity, lineup))
    rows = [(*key, counts[key], first[key][1]) for key in sorted(first, key=first.__getitem__)]
    return pd.DataFrame(rows, columns=FAULTS.names)


def summary(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """Return matches, wins, ranks, returns with intervals, and forfeits, by entry."""
    ranks = matches["rank"].to_numpy().reshape(-1, players)
    first = matches["rank"] == 0
    shared = first & np.repeat((ranks == 0).sum(axis=1) > 1, players)
    groups = matches.assign(win=first & ~shared, tie=shared, forfeit=matches["cause"].notna()).groupby("entry")
    board = pd.DataFrame(
        {
            "bot": groups["bot"].first(),
            "matches": groups.size(),
            "wins": groups["win"].sum(),
            "ties": groups["tie"].sum(),
            "mean_rank": groups["rank"].mean() + 1,
            "mean_return": groups["return_"].mean(),
        }
    )
    board["mean_return_ci_low"], board["mean_return_ci_high"] = interval_over_blocks(matches)
    if matches["score"].notna().any():
        board["mean_margin"] = groups["margin"].mean()
    board["forfeits"] = groups["forfeit"].sum()
    return board


def leaderboard(
    matches: pd.DataFrame, players: int, out: Mapping[int, int] | None = None, plackett_luce: bool = False
) -> pd.DataFrame:
    """Return the leaderboard of `board_matches`, best first, disqualified bots (`out`) last.

    Columns are described in docs/reference/columns.md.
    `plackett_luce` adds the column `worth`. `attrs["ratings"]` holds the constants of the ratings' model.
    """
    if matches.empty:
        empty = pd.DataFrame(columns=["rank", "bot", "rating", "matches"])
        empty.attrs["ratings"] = None
        return empty
    number, entries = pd.factorize(matches["entry"])  # in canonical order, not in that of the plan
    board = played(matches.assign(entry=number), players)
    ratings = ratings_of(board)
    rated = rating_columns(ratings)
    counted = summary(matches, players).loc[entries].reset_index(drop=True)
    frame = pd.concat([counted, rated.reset_index(drop=True)], axis=1)
    if out:
        last = [out[entry] + 1 if entry in out else pd.NA for entry in entries]
        frame["disqualified"] = pd.array(last, "Int64")
    by_seat = matches.pivot_table(index="entry", columns="seat", values="return_", aggfunc="mean").loc[entries]
    for seat in range(players):
        frame[f"return_seat_{seat}"] = by_seat[seat].to_numpy()
    in_order = rate(board.entries, board.ranks, ratings.fit.margin)
    frame["trueskill_mu"], frame["trueskill_sigma"] = zip(
        *(in_order[place] for place in range(len(entries))), strict=True
    )
    if plackett_luce:
        from arena.stats.plackett_luce import log_worths

        frame["worth"] = log_worths(ratings.results, ratings.blocks.weights(ratings.results))
    frame = frame.round(DECIMALS).assign(out=[entry in (out or {}) for entry in entries])
    frame = frame.sort_values(["out", "rating", "bot"], ascending=[True, False, True])
    order = frame.index.to_numpy()
    leads = ratings.spread.ahead()[order[:-1], order[1:]].tolist()
    same = frame["out"].to_numpy()
    frame["lead_over_next"] = np.where(np.append(same[1:], True), np.nan, np.round([*leads, np.nan], DECIMALS))
    frame = frame.reset_index(drop=True).drop(columns="out")
    floats = frame.select_dtypes("float").columns
    frame[floats] = frame[floats] + 0.0  # no negative zeros in print
    frame = LEADERBOARD.arrange(frame.assign(rank=np.arange(1, len(frame) + 1)))
    frame.attrs["ratings"] = rating_model(ratings.fit.margin)
    return frame


def interval_over_blocks(matches: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the 95 % interval of the mean return by entry, as of `arena.stats.means.interval`.

    Seats of one block share dice and opening, so their mean is one observation: mean ± t s / sqrt(b) where b blocks
    vary. Blocks that repeat others move by move are no observations (column `distinct_share`). NaN below two blocks.
    """
    groups = matches.groupby(["entry", "block"])
    means = groups["return_"].mean().groupby("entry")
    count = groups["distinct_share"].first().groupby("entry").sum() if "distinct_share" in matches else means.size()
    error = means.std(ddof=1) / np.sqrt(count)
    low, high = interval(means.mean().to_numpy(), error.to_numpy(), count.to_numpy(), 1.0)
    return pd.Series(low, count.index), pd.Series(high, count.index)


def leaderboards(store: Store, schedule: Schedule, plackett_luce: bool = False) -> dict[int, pd.DataFrame]:
    """Return the leaderboard of every board of the plan, by its number; `attrs` hold the kinds of dice."""
    boards = {}
    for index, board in enumerate(schedule.boards):
        out = disqualified(store, schedule, index)
        frame = leaderboard(board_matches(store, schedule, index, out), board.players, out, plackett_luce)
        frame.attrs["dice"] = listed_dice(schedule.dice_of(index))
        boards[index] = frame
    return boards
