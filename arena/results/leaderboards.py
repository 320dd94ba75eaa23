"""Leaderboards per game and player count: a pure function of log and plan, as pandas frames.

Only complete blocks count, in canonical order (round, table, line-up), without blocks dropped by a disqualification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from arena.core.match_ids import list_dice_kinds
from arena.results.adjudication import adjudicated_note
from arena.results.columns import DECIMALS, FAULTS, LEADERBOARD
from arena.results.matches import returns
from arena.results.parameters import with_parameters
from arena.stats.blocks import Blocks
from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.fit import Results
from arena.stats.grouping import group_rows
from arena.stats.means import interval, over_blocks
from arena.stats.online_trueskill import rate, rating_model
from arena.tournament.counted import BoardMatches
from arena.tournament.tournament import Tournament

FEW_BLOCKS = 4
"""Blocks of a bot below which a note under the leaderboard says what its intervals rest on."""


def no_faults() -> pd.DataFrame:
    """Return an empty table of faults."""
    return pd.DataFrame([], columns=FAULTS.names)


def faults(tournament: Tournament) -> pd.DataFrame:
    """Return the bots that forfeited matches of the plan; columns: `arena.results.columns.FAULTS`.

    The rows are in the plan's order of their first matches.
    """
    counts: Counter[tuple[str, str, int, str]] = Counter()
    first: dict[tuple[str, str, int, str], tuple[tuple[int, ...], str]] = {}
    schedule, store = tournament.schedule, tournament.store
    for index, board in enumerate(schedule.boards):
        for block, place, lineup, seat, cause in tournament.forfeits(index):
            label = schedule.entries[schedule.seats(block, lineup)[seat]].label
            key = (label, board.game, board.players, cause)
            counts[key] += 1
            if key not in first:
                first[key] = ((block.round, index, place, lineup, seat), store.short_id(block.identity, lineup))
    rows = [(*key, counts[key], first[key][1]) for key in sorted(first, key=first.__getitem__)]
    return pd.DataFrame(rows, columns=FAULTS.names)


def summary(matches: BoardMatches, results: Results, blocks: Blocks) -> pd.DataFrame:
    """Return matches, wins, ranks, returns with intervals, and forfeits, by entry.

    `results` and `blocks` are those of the matches. Everything is counted by distinct result and kind of block.
    """
    entries, players = results.entries, matches.ranks.shape[1]
    seated = group_rows(np.concatenate([matches.entries, matches.ranks], axis=1))
    bots, ranks = np.searchsorted(entries, matches.entries[seated.first]), matches.ranks[seated.first]
    value, first = returns(ranks), ranks == 0
    alone = first.sum(axis=1, keepdims=True) == 1

    def total(of_seats: np.ndarray, seats: slice = slice(None)) -> np.ndarray:
        """Return by entry the sum of what each of its seats has."""
        weighted = (of_seats * seated.times[:, None])[:, seats].ravel()
        return np.bincount(bots[:, seats].ravel(), weighted, len(entries))

    count = total(np.ones_like(ranks))
    board = pd.DataFrame(
        {"bot": matches.labels[entries], "matches": count.astype(np.int64)}, pd.Index(entries, name="entry")
    )
    board["wins"] = total(first & alone).astype(np.int64)
    board["ties"] = total(first & ~alone).astype(np.int64)
    board["mean_rank"] = total(ranks) / count + 1
    board["mean_return"] = total(value) / count
    board["mean_return_ci_low"], board["mean_return_ci_high"] = interval_over_blocks(results, blocks)
    if matches.scores is not None:
        name, values = ("mean_utility", matches.scores) if matches.utilities else ("mean_margin", matches.margins)
        at, known = np.searchsorted(entries, matches.entries), ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            sums = np.bincount(at[known], values[known], len(entries))
            board[name] = sums / np.bincount(at[known], minlength=len(entries))
    forfeits = np.searchsorted(entries, matches.entries[matches.forfeited])
    board["forfeits"] = np.bincount(forfeits, minlength=len(entries))
    with np.errstate(invalid="ignore"):
        for seat in range(players if matches.has_seats else 0):
            here = slice(seat, seat + 1)
            board[f"return_seat_{seat}"] = total(value, here) / total(np.ones_like(ranks), here)
    return board


def interval_over_blocks(results: Results, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % interval of the mean return by entry, as of `arena.stats.means.interval`.

    Seats of one block share dice and opening, so their mean is one observation: mean ± t s / sqrt(b) where b blocks
    vary. Blocks that repeat others move by move are no observations. NaN below two blocks.
    """
    of, result = blocks.members
    bots, value = (each[result].ravel() for each in (results.who, returns(results.ranks)))
    kind = np.repeat(of, results.who.shape[1])
    share, times = blocks.distinct_share, np.bincount(blocks.kind)
    mean, error, count, _ = over_blocks(bots, kind, value, len(results.entries), share, times)
    return interval(mean, error, count, 1.0)


def leaderboard(
    matches: BoardMatches, out: Mapping[int, int] | None = None, plackett_luce: bool = False
) -> pd.DataFrame:
    """Return the leaderboard of the matches of `Tournament.counted`, best first, disqualified bots (`out`) last.

    Columns are described in docs/reference/columns.md.
    `plackett_luce` adds the column `worth`. `attrs["ratings"]` holds the constants of the ratings' model,
    `attrs["blocks"]` the number of distinct blocks of a bot, in the median.
    """
    if not len(matches.rows):
        empty = pd.DataFrame(columns=["rank", "bot", "rating", "matches"])
        empty.attrs["ratings"] = None
        return empty
    matches, entries = by_label(matches)
    ratings = ratings_of(as_played(matches))
    counted = summary(matches, ratings.results, ratings.blocks)
    frame = pd.concat([counted, rating_columns(ratings)], axis=1)
    if out:
        last = [out[entry] + 1 if entry in out else pd.NA for entry in entries]
        frame["disqualified"] = pd.array(last, "Int64")
    in_order = rate(ratings.results, ratings.fit.margin, matches.has_times)
    frame["trueskill_mu"], frame["trueskill_sigma"] = zip(
        *(in_order[place] for place in range(len(entries))), strict=True
    )
    if plackett_luce:
        from arena.stats.plackett_luce import log_worths

        frame["worth"] = log_worths(ratings.results, ratings.blocks.weights(ratings.results))
    frame = frame.round(DECIMALS).assign(out=[entry in (out or {}) for entry in entries])
    frame = frame.sort_values(["out", "rating", "bot"], ascending=[True, False, True])
    order = frame.index.to_numpy()
    leads = ratings.spread.ahead(order[:-1], order[1:]).tolist()
    same = frame["out"].to_numpy()
    frame["lead_over_next"] = np.where(np.append(same[1:], True), np.nan, np.round([*leads, np.nan], DECIMALS))
    frame = frame.reset_index(drop=True).drop(columns="out")
    floats = frame.select_dtypes("float").columns
    frame[floats] = frame[floats] + 0.0  # no negative zeros in print
    frame = LEADERBOARD.arrange(frame.assign(rank=np.arange(1, len(frame) + 1)))
    frame.attrs["ratings"] = rating_model(ratings.fit.margin)
    frame.attrs["blocks"] = int(np.median(ratings.spread.covariance.blocks))
    return frame


def by_label(matches: BoardMatches) -> tuple[BoardMatches, np.ndarray]:
    """Return matches whose entries are numbered by label, and the numbers that they had in the plan.

    So nothing depends on the order of the plan, or of a file.
    """
    used = np.unique(matches.entries)
    used = used[np.argsort(matches.labels[used].astype(str), kind="stable")]
    number = np.empty(len(matches.labels), np.int64)
    number[used] = np.arange(len(used))
    return matches._replace(entries=number[matches.entries], labels=matches.labels[used]), used


def as_played(matches: BoardMatches) -> MatchArrays:
    """Return the matches as arrays to rate; without seats, bots that tied are in the order of labels."""
    entries, ranks = matches.entries, matches.ranks
    if not matches.has_seats:
        order = np.argsort(ranks * len(matches.labels) + entries, axis=1)
        entries, ranks = (np.take_along_axis(each, order, axis=1) for each in (entries, ranks))
    return MatchArrays(entries, ranks, matches.block, matches.distinct_share)


def ratings_with_intervals(matches: BoardMatches) -> pd.DataFrame:
    """Return bot, rating and interval, by label."""
    matches, _ = by_label(matches)
    found = rating_columns(ratings_of(as_played(matches)))[["rating", "rating_ci_low", "rating_ci_high"]]
    return found.round(DECIMALS).add(0.0).assign(bot=matches.labels[found.index])


def cells(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the cells of a leaderboard as text by heading; forfeits only where there are any."""
    if not len(frame):
        return {}
    return LEADERBOARD.cells(frame if frame["forfeits"].any() else frame.drop(columns="forfeits"))


def disqualified_lines(frame: pd.DataFrame) -> list[str]:
    """Return the notes under a leaderboard about disqualified bots."""
    if "disqualified" not in frame:
        return []
    columns = frame[frame["disqualified"].notna()][["disqualified", "bot", "forfeits", "matches"]]
    return [
        f"disqualified after round {number:,}: {bot} ({forfeits:,} of {matches:,} matches forfeited)"
        for number, bot, forfeits, matches in columns.itertuples(index=False)
    ]


def notes_below(frame: pd.DataFrame) -> list[str]:
    """Return all notes under a leaderboard."""
    adjudicated = [frame.attrs["adjudicated"]] if "adjudicated" in frame.attrs else []
    return disqualified_lines(frame) + adjudicated + few_blocks_lines(frame)


def few_blocks_lines(frame: pd.DataFrame) -> list[str]:
    """Return the note under a leaderboard of few blocks that says what its intervals rest on."""
    blocks = frame.attrs.get("blocks", FEW_BLOCKS)
    if blocks >= FEW_BLOCKS:
        return []
    if blocks < 2:
        return [f"{blocks} block a bot: an interval takes two at least."]
    return [f"{blocks} blocks a bot: too few to tell how much results vary, so intervals rest on the rating model."]


def leaderboards(
    tournament: Tournament,
    plackett_luce: bool = False,
    begin: Callable[[int], None] = lambda number: None,
    early: Mapping[int, pd.DataFrame] | None = None,
) -> dict[int, pd.DataFrame]:
    """Return the leaderboard of every board of the plan, by its number; `attrs` hold the kinds of dice.

    `early` are those that have been made before (`arena.results.early`). `begin` is called with each other number
    before that board is rated.
    """
    boards = {}
    for index in range(len(tournament.schedule.boards)):
        if early is not None and index in early:
            boards[index] = early[index]
            continue
        begin(index)
        boards[index], _ = board_leaderboard(tournament, index, plackett_luce)
        boards[index].attrs["dice"] = list_dice_kinds(tournament.schedule.dice_kinds(index))
    for index, frame in (early or {}).items():
        _note_adjudicated(frame, tournament, index)
    return {index: with_parameters(frame, tournament.schedule, index) for index, frame in boards.items()}


def board_leaderboard(tournament: Tournament, index: int, plackett_luce: bool = False) -> tuple[pd.DataFrame, int]:
    """Return the leaderboard of a board, by its number in the plan, and from how many matches it was made."""
    played = tournament.counted(index)
    frame = leaderboard(played, tournament.disqualified(index), plackett_luce)
    _note_adjudicated(frame, tournament, index)
    return frame, len(played.rows)


def _note_adjudicated(frame: pd.DataFrame, tournament: Tournament, index: int) -> None:
    """Keep in `attrs["adjudicated"]` of a leaderboard how many of its matches were adjudicated, if any can be."""
    if note := adjudicated_note(tournament, index):
        frame.attrs["adjudicated"] = note


def best(frame: pd.DataFrame, most: int = 10) -> list[tuple[str, float]]:
    """Return label and rating of the best bots of a leaderboard that are not disqualified."""
    if not len(frame):
        return []
    stay = frame[frame["disqualified"].isna()] if "disqualified" in frame else frame
    return list(zip(stay["bot"][:most].tolist(), stay["rating"][:most].tolist(), strict=True))
