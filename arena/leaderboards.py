"""Leaderboards per game and player count: a pure function of log and plan, as pandas frames.

Only complete blocks count, folded in the order (round, table, line-up), and none that left the plan when a bot was
benched.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.benching import Bench, in_plan
from arena.ratings import rate
from arena.schedule import Block, Schedule, seat_places
from arena.store import Store

CONFIDENCE = 0.95
PAGE = 100_000
DECIMALS = 4


def benched(store: Store, schedule: Schedule, board: int) -> dict[int, int]:
    """By entry, the last round that it played on a board before it was benched there."""
    stage = schedule.stage(board)
    if stage is not None and stage.benched is not None:
        return dict(stage.benched)
    shape = schedule.boards[board]
    forfeits = store.forfeits(shape.game, shape.players) if schedule.bench_after else {}
    if sum(len(falls) for blocks in forfeits.values() for falls in blocks.values()) < max(schedule.bench_after, 1):
        return {}
    sizes = store.block_sizes(shape.game, shape.players)
    bench = Bench(schedule.tables[board], schedule.lineups(shape), schedule.bench_after)
    for number in range(min(max(schedule.counts(board), default=0), max(forfeits) + 1)):
        blocks = [schedule.block(board, number, table) for table in bench.tables]
        if any(sizes.get(block.identity, 0) < schedule.lineups(shape) for block in blocks):
            break
        falls = forfeits.get(number, {})
        bench.close_round(
            Counter(
                schedule.seats(block, lineup)[seat]
                for block in blocks
                for lineup, seat, _ in falls.get(block.identity, ())
            )
        )
    return bench.benched


def faults(store: Store, schedule: Schedule) -> pd.DataFrame:
    """Every bot that forfeited matches of the plan, by board and cause; described in reports/README.md.

    The rows are in the plan's order of their first matches.
    """
    counts: Counter[tuple[str, str, int, str]] = Counter()
    first: dict[tuple[str, str, int, str], tuple[tuple[int, ...], str]] = {}
    for index, board in enumerate(schedule.boards):
        forfeits = store.forfeits(board.game, board.players)
        out = benched(store, schedule, index)
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
    return pd.DataFrame(rows, columns=["bot", "game", "players", "cause", "count", "first_match"])


def board_matches(store: Store, schedule: Schedule, board: int, out: Mapping[int, int] | None = None) -> pd.DataFrame:
    """One row for each seat of every match in a complete block, in fold order.

    Columns: block (number in plan order), round, lineup, seat, entry, bot (its label), rank (0 is best), return_,
    score, margin (score minus the others' mean; NaN without scores), cause (why it forfeited, or None), timed, ended.
    `out` are the `benched` bots, if they are known already.
    """
    shape = schedule.boards[board]
    out = benched(store, schedule, board) if out is None else out
    known, rows = store.seat_rows(shape.game, shape.players)
    blocks = (block for block in schedule.blocks_of(board) if in_plan(out, block.round, block.table))
    orders, rounds, tables = _plan_order(blocks, shape.players, known)
    frame = _read(rows)
    order = np.full(max(known.values(), default=0) + 1, -1, np.int64)
    for place, key in enumerate(orders):
        order[key] = place
    frame.insert(0, "place", order[frame["block"].to_numpy()] if len(frame) else np.zeros(0, np.int64))
    sizes = frame.groupby("block")["seat"].transform("size") if len(frame) else 0
    frame = frame[(frame["place"] >= 0) & (sizes == schedule.lineups(shape) * shape.players)]
    frame = frame.sort_values(["place", "lineup", "seat"], kind="stable").reset_index(drop=True)
    places = np.array(seat_places(shape.players, schedule.permutations))
    at = frame["place"].to_numpy()
    who = tables[at, places[frame["lineup"].to_numpy(), frame["seat"].to_numpy()]] if len(frame) else np.zeros(0, int)
    labels = np.array([entry.label for entry in schedule.entries], dtype=object)
    frame["block"] = at
    frame.insert(2, "round", rounds[at] if len(frame) else np.zeros(0, int))
    frame.insert(5, "entry", who)
    frame.insert(6, "bot", labels[who] if len(frame) else [])
    ranks = frame["rank"].to_numpy().reshape(-1, shape.players)
    frame.insert(8, "return_", _returns(ranks).ravel())
    scores = frame["score"].to_numpy(dtype=float).reshape(-1, shape.players)
    others = (scores.sum(axis=1, keepdims=True) - scores) / (shape.players - 1)
    frame.insert(10, "margin", (scores - others).ravel())
    return frame.drop(columns="place")


def _plan_order(
    blocks: Iterable[Block], players: int, known: dict[bytes, int]
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The log's keys of a board's blocks in plan order, their rounds, and their tables in base order."""
    keys, rounds, tables = [], [], []
    for block in blocks:
        key = known.get(block.identity)
        if key is not None:
            keys.append(key)
            rounds.append(block.round)
            tables.append(block.table)
    return keys, np.array(rounds, np.int64), np.array(tables, np.int64).reshape(-1, players)


def _read(rows: Iterator[tuple]) -> pd.DataFrame:
    """The rows of a query as a frame, a page at a time (rows as Python objects take ten times the memory)."""
    columns = ["block", "lineup", "seat", "rank", "score", "cause", "timed", "ended"]
    pages = []
    while page := list(itertools.islice(rows, PAGE)):
        frame = pd.DataFrame(page, columns=columns)
        frame["score"] = frame["score"].astype(float)
        frame[["cause", "ended"]] = frame[["cause", "ended"]].astype("category")
        pages.append(frame)
    if not pages:
        empty = pd.DataFrame({name: np.zeros(0, np.int64) for name in columns})
        return empty.astype({"score": float, "cause": object, "ended": object, "timed": bool})
    whole = pd.concat(pages, ignore_index=True)
    return whole.astype({"cause": object, "ended": object, "timed": bool})


def _returns(ranks: np.ndarray) -> np.ndarray:
    """Utilities from ranks, as `engine.returns_from_ranks`, for all matches at once; shape (matches, seats)."""
    beaten = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    tied = (ranks[:, None, :] == ranks[:, :, None]).sum(axis=2) - 1
    return (2 * beaten + tied) / max(ranks.shape[1] - 1, 1) - 1


def leaderboard(matches: pd.DataFrame, players: int, out: Mapping[int, int] | None = None) -> pd.DataFrame:
    """The board of `board_matches`, best first, the `benched` bots last. Columns are described in reports/README.md."""
    if matches.empty:
        return pd.DataFrame(columns=["rank", "bot", "rating", "mu", "sigma", "matches"])
    entries = matches["entry"].to_numpy().reshape(-1, players)
    ranks = matches["rank"].to_numpy().reshape(-1, players)
    skill = rate(entries, ranks)
    first = matches["rank"] == 0
    shared = first & np.repeat((ranks == 0).sum(axis=1) > 1, players)
    groups = matches.assign(win=first & ~shared, tie=shared, forfeit=matches["cause"].notna()).groupby("entry")
    board = pd.DataFrame(
        {
            "bot": groups["bot"].first(),
            "mu": pd.Series({entry: mu for entry, (mu, _) in skill.items()}),
            "sigma": pd.Series({entry: sigma for entry, (_, sigma) in skill.items()}),
            "matches": groups.size(),
            "wins": groups["win"].sum(),
            "ties": groups["tie"].sum(),
            "mean_rank": groups["rank"].mean() + 1,
            "mean_return": groups["return_"].mean(),
        }
    )
    low, high = interval_over_blocks(matches)
    board["return_low"], board["return_high"] = low, high
    if matches["score"].notna().any():
        board["mean_margin"] = groups["margin"].mean()
    board["forfeits"] = groups["forfeit"].sum()
    if out:
        board["benched"] = pd.Series({entry: number + 1 for entry, number in out.items()}, dtype="Int64")
    by_seat = matches.pivot_table(index="entry", columns="seat", values="return_", aggfunc="mean")
    for seat in range(players):
        board[f"return_seat_{seat}"] = by_seat[seat]
    board.insert(1, "rating", board["mu"] - 3 * board["sigma"])
    board = board.round(DECIMALS).assign(out=[entry in (out or {}) for entry in board.index])
    board = board.sort_values(["out", "rating", "bot"], ascending=[True, False, True], ignore_index=True)
    board = board.drop(columns="out")
    floats = board.select_dtypes("float").columns
    board[floats] = board[floats] + 0.0  # no negative zeros in print
    board.insert(0, "rank", np.arange(1, len(board) + 1))
    return board


def interval_over_blocks(matches: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Student's 95 % interval of the mean return by entry; blocks are the independent units, not matches.

    Seats of one block share dice and opening, so their mean is one observation. NaN below two blocks.
    """
    means = matches.groupby(["entry", "block"])["return_"].mean().groupby("entry")
    count = means.size()
    half = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * means.std(ddof=1) / np.sqrt(count)
    return means.mean() - half, means.mean() + half


def leaderboards(store: Store, schedule: Schedule) -> dict[int, pd.DataFrame]:
    """The leaderboard of every board of the plan, by its number."""
    boards = {}
    for index, board in enumerate(schedule.boards):
        out = benched(store, schedule, index)
        boards[index] = leaderboard(board_matches(store, schedule, index, out), board.players, out)
    return boards
