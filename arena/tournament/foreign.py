"""Foreign results in a log, whose plan does not say who met whom."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import cast

import numpy as np

from arena.core.errors import StoreError
from arena.schedule.blocks import Block, Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.schedule.tables import Table
from arena.store import Store
from arena.tournament.counted import BoardMatches, damaged


def foreign_blocks(store: Store, schedule: Schedule) -> Iterator[Block]:
    """Yield the matches of foreign results as blocks, by board and in the order of the log.

    Raises `StoreError` for a bot that is not in the plan.
    """
    entries = {entry.identity: number for number, entry in enumerate(schedule.entries)}
    of = {bot: entries.get(identity) for bot, (identity, _) in store.bot_names().items()}
    for index, board in enumerate(schedule.boards):
        rows = store.seat_rows(board.game, board.players, "b.identity, b.round, b.id, s.bot")
        for (identity, number, id), seats in itertools.groupby(rows, lambda row: row[:3]):
            table = tuple(of.get(row[3]) for row in seats)
            if None in table:
                raise StoreError(f"{store.path}: the log is damaged: a bot on {board.title} is not in its plan")
            yield Block(index, number, cast(Table, table), id, identity)


def read_foreign(store: Store, schedule: ForeignSchedule, board: int) -> BoardMatches:
    """Read the matches of a board of foreign results; blocks are in the order of their first matches in the log.

    Raises `StoreError` when a match has too few or too many seats, or bots that the plan does not have.
    """
    shape = schedule.boards[board]
    name, players = (shape.game, shape.players), shape.players
    seats, scores = store.seats(*name), store.scores(*name)
    numbers = {entry.identity: number for number, entry in enumerate(schedule.entries)}
    entry_of = {bot: numbers.get(identity, -1) for bot, (identity, _) in store.bot_names().items()}
    entries = np.fromiter((entry_of.get(bot, -1) for (bot,) in store.seat_rows(*name, "s.bot")), np.int64)
    rounds = np.fromiter((number for (number,) in store.match_rows(*name, "b.round")), np.int64)
    if len(seats) != len(rounds) * players or (entries < 0).any():
        raise damaged(store, f"matches on {shape.title} have missing seats, or bots that are not in the plan")
    ranks = seats["rank"].reshape(-1, players).astype(np.int64)
    if (seats["seat"].reshape(-1, players) != np.arange(players)).any() or ((ranks < 0) | (ranks >= players)).any():
        raise damaged(store, f"seats or ranks on {shape.title} that there are not")
    rows = np.argsort(rounds, kind="stable")
    _, block = np.unique(rounds[rows], return_inverse=True)
    return BoardMatches(
        labels=np.array([entry.label for entry in schedule.entries], dtype=object),
        block=block,
        round=rounds[rows],
        lineup=np.zeros(len(rows), np.int64),
        entries=entries.reshape(-1, players)[rows],
        ranks=ranks[rows],
        forfeited=seats["forfeited"].reshape(-1, players)[rows],
        scores=None if scores is None else scores.reshape(-1, players)[rows],
        distinct_share=np.ones(len(rows)),
        moves_hash=np.arange(len(rows)),  # nobody knows the moves: no match is taken for a copy of another
        rows=rows,
        utilities=shape.utilities,
        has_seats=schedule.has_seats,
        has_times=False,
    )
