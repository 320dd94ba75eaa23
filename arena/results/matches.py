"""Matches of a board as a frame, read from a log."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.core.errors import StoreError
from arena.plan.dice_keys import has_own_dice
from arena.plan.disqualification import disqualified, in_plan
from arena.plan.logs import open_log
from arena.results.columns import BOARD_MATCHES
from arena.schedule.blocks import Block, Board, Schedule
from arena.stats.bootstrap import distinct_share
from arena.store import Store

PAGE = 100_000
"""Rows read at a time."""
BoardName = tuple[str, int]
"""Canonical game spec and number of players."""


def board_matches(store: Store, schedule: Schedule, board: int, out: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return a row for each seat of every match in a complete block, in canonical order.

    Columns: `arena.results.columns.BOARD_MATCHES`. `out` are the disqualified bots, if they are known already.
    """
    shape = schedule.boards[board]
    out = disqualified(store, schedule, board) if out is None else out
    known = store.block_keys(shape.game, shape.players)
    blocks = (block for block in schedule.blocks_of(board) if in_plan(out, block.round, block.table))
    orders, rounds, tables = _plan_order(blocks, known)
    frame = _read(store, shape)
    keys = np.sort(np.fromiter(known.values(), np.int64, len(known)))  # any numbers: they may be a stranger's
    order = np.full(len(keys), -1, np.int64)
    order[np.searchsorted(keys, orders)] = np.arange(len(orders))
    at = np.searchsorted(keys, frame["block"].to_numpy())
    frame.insert(0, "place", order[at])
    sizes = np.bincount(at)[at]
    frame = frame[(frame["place"] >= 0) & (sizes == schedule.lineups(shape) * shape.players)]
    frame = frame.sort_values(["place", "lineup", "seat"], kind="stable").reset_index(drop=True)
    places = np.array(schedule.places(shape.players))
    at = frame["place"].to_numpy()
    seats = (frame["lineup"].to_numpy(), frame["seat"].to_numpy())
    who = tables[at, places[(rounds[at] % len(places), *seats)]] if len(frame) else np.zeros(0, int)
    labels = np.array([entry.label for entry in schedule.entries], dtype=object)
    ranks = frame["rank"].to_numpy().reshape(-1, shape.players)
    scores = frame["score"].to_numpy(dtype=float).reshape(-1, shape.players)
    others = (scores.sum(axis=1, keepdims=True) - scores) / (shape.players - 1)
    frame = frame.drop(columns="place").assign(
        block=at,
        round=rounds[at] if len(frame) else np.zeros(0, int),
        entry=who,
        bot=labels[who],
        return_=_returns(ranks).ravel(),
        margin=(scores - others).ravel(),
    )
    return BOARD_MATCHES.arrange(frame.assign(distinct_share=_distinct_share(frame, shape.players)))


def _distinct_share(frame: pd.DataFrame, players: int) -> np.ndarray:
    if frame.empty:
        return np.zeros(0)
    matches = frame.iloc[::players]
    entries = frame["entry"].to_numpy().reshape(-1, players)
    share = distinct_share(matches["block"].to_numpy(), entries, matches["moves_hash"].to_numpy())
    return np.repeat(share, players)


def _plan_order(blocks: Iterable[Block], known: dict[bytes, int]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the log's keys of blocks in the order of the plan, with their rounds and tables."""
    keys, rounds, tables = [], [], []
    for block in blocks:
        key = known.get(block.identity)
        if key is not None:
            keys.append(key)
            rounds.append(block.round)
            tables.append(block.table)
    return keys, np.array(rounds, np.int64), np.array(tables, np.int64)


def _read(store: Store, board: Board) -> pd.DataFrame:
    """Read every seat of a board's matches; raise `StoreError` when a match has too few or too many."""
    matches = _pages(store.match_rows(board.game, board.players), ["block", "lineup", "timed", "ended", "moves_hash"])
    seats = _pages(
        store.seat_rows(board.game, board.players), ["block", "lineup", "seat", "rank", "score", "cause"]
    ).astype({"score": float, "cause": object})
    of = np.repeat(np.arange(len(matches)), board.players)
    if len(of) != len(seats) or (matches["block"].to_numpy()[of] != seats["block"]).any():
        raise StoreError(f"{store.path}: the log is damaged: matches on {board.title} have missing seats")
    places = np.arange(board.players)
    if (seats["seat"].to_numpy().reshape(-1, board.players) != places).any() or not seats["rank"].isin(places).all():
        raise StoreError(f"{store.path}: the log is damaged: seats or ranks on {board.title} that there are not")
    for name, kind in (("timed", bool), ("ended", object), ("moves_hash", np.int64)):
        seats[name] = matches[name].to_numpy()[of].astype(kind)
    return seats


def _pages(rows: Iterator[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    """Return the rows of a query as a frame, made in pages: rows as Python objects take ten times the memory."""
    pages = []
    while page := list(itertools.islice(rows, PAGE)):
        frame = pd.DataFrame(page, columns=columns)
        if "moves_hash" in frame:
            frame["moves_hash"] = [_moves_hash(moves) for moves in frame["moves_hash"]]
        for name in {"score"} & set(columns):
            frame[name] = frame[name].astype(float)
        for name in {"cause", "ended"} & set(columns):
            frame[name] = frame[name].astype("category")
        pages.append(frame)
    return pd.concat(pages, ignore_index=True) if pages else pd.DataFrame(columns=columns, dtype=np.int64)


def _moves_hash(moves: str | bytes) -> int:
    """Return the BLAKE2b-64 hash of moves as the log holds them."""
    content = moves.encode() if isinstance(moves, str) else bytes(moves)
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def _returns(ranks: np.ndarray) -> np.ndarray:
    """Return utilities from ranks, as `engine.returns_from_ranks`, of shape (matches, seats)."""
    beaten = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    beaten_by = (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2)
    return (beaten - beaten_by) / max(ranks.shape[1] - 1, 1)


def choose_boards(
    target: str | Path, boards: Iterable[BoardName], game: str | None, players: int | None
) -> list[BoardName]:
    """Return the boards of a game (a spec or a bare name) and a number of players."""
    known = list(boards)
    chosen = [
        (name, count)
        for name, count in known
        if (game is None or game in (name, name.partition("(")[0])) and (players is None or players == count)
    ]
    if not chosen:
        listed = "; ".join(f"{name}, {count} players" for name, count in known)
        raise StoreError(f"{target}: has no such board; it has {listed}")
    return chosen


def board_frames(
    target: str | Path, game: str | None, players: int | None, home: str | Path | None
) -> Iterator[tuple[BoardName, pd.DataFrame, dict[int, int], bool]]:
    """Yield name, matches and disqualified bots of every chosen board, and whether matches draw their own dice."""
    store, resolved = open_log(target, home)
    with store:
        schedule = store.known(resolved.schedule())
        names = [(board.game, board.players) for board in schedule.boards]
        for name in choose_boards(target, names, game, players):
            board = names.index(name)
            out = disqualified(store, schedule, board)
            yield name, board_matches(store, schedule, board, out), out, has_own_dice(schedule, board)
