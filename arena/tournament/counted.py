"""The matches of a board that count, as arrays; of foreign results those in the log, whose plan does not tell them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

import numpy as np

from arena.core.errors import StoreError
from arena.schedule.blocks import Block, Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.schedule.tables import Table
from arena.stats.blocks import distinct_share
from arena.store import Store
from arena.tournament.disqualification import in_plan


class BoardMatches(NamedTuple):
    """Matches of a board in complete blocks, in canonical order, as arrays."""

    labels: np.ndarray
    """Labels of the plan's entries."""
    block: np.ndarray
    """(matches,) number of the block, in the order of the plan."""
    round: np.ndarray
    lineup: np.ndarray
    entries: np.ndarray
    """(matches, seats)"""
    ranks: np.ndarray
    """(matches, seats), from 0."""
    forfeited: np.ndarray
    """(matches, seats)"""
    scores: np.ndarray | None
    """(matches, seats), NaN where there is none; None for a game without scores."""
    distinct_share: np.ndarray
    """(matches,) as of `arena.stats.blocks.distinct_share`."""
    moves_hash: np.ndarray
    """(matches,) equal for equal moves, within one process."""
    rows: np.ndarray
    """(matches,) their places among the board's matches in the log."""
    utilities: bool
    """Whether scores are the game's own utilities."""
    has_seats: bool = True
    """Whether seats mean anything; foreign results may not tell them."""
    has_times: bool = True
    """Whether matches have an order; that of foreign results is the order of a file, which means nothing."""

    def first(self, count: int) -> BoardMatches:
        """Return the first matches alone, a number of whole blocks."""
        arrays = {name: value[:count] for name, value in self._asdict().items() if isinstance(value, np.ndarray)}
        part = self._replace(**{**arrays, "labels": self.labels})  # type: ignore[arg-type]  # arrays for arrays
        return part._replace(distinct_share=distinct_share(part.block, part.entries, part.moves_hash))

    @property
    def margins(self) -> np.ndarray:
        """(matches, seats) own score minus the others' mean."""
        if self.scores is None:
            return np.full(self.ranks.shape, np.nan)
        return self.scores - (self.scores.sum(axis=1, keepdims=True) - self.scores) / (self.ranks.shape[1] - 1)


def read_board(store: Store, schedule: Schedule, board: int, out: Mapping[int, int]) -> BoardMatches:
    """Read the matches of a board, without an object for each; `out` are the disqualified bots.

    Raises `StoreError` when a match has too few or too many seats, or a block other line-ups than the plan.
    """
    shape = schedule.boards[board]
    name, players, lineups = (shape.game, shape.players), shape.players, schedule.lineups(shape)
    known = store.board(*name).block_keys()
    places = np.array(schedule.places(players))
    planned = np.fromiter(
        (
            (known[identity], number, table)
            for number, table, identity in schedule.identities(board)
            if identity in known and in_plan(out, number, table)
        ),
        np.dtype([("key", np.int64), ("round", np.int64), ("table", np.int64, (places.max() + 1,))]),
    )
    del known
    seats = store.board(*name).seats()
    blocks, hashes = store.board(*name).moves_hashes()
    if len(blocks) * players != len(seats) or (np.repeat(blocks, players) != seats["block"]).any():
        raise damaged(store, f"matches on {shape.title} have missing seats")
    ranks = seats["rank"].reshape(-1, players)
    if (seats["seat"].reshape(-1, players) != np.arange(players)).any() or ((ranks < 0) | (ranks >= players)).any():
        raise damaged(store, f"seats or ranks on {shape.title} that there are not")
    first = np.flatnonzero(np.diff(blocks, prepend=blocks[:1] - 1))
    whole = first[np.diff(first, append=len(blocks)) == lineups]
    at = np.searchsorted(blocks[whole], planned["key"])
    here = np.flatnonzero(blocks[whole][np.minimum(at, len(whole) - 1)] == planned["key"]) if len(whole) else at[:0]
    rows = (whole[at[here]][:, None] + np.arange(lineups)).ravel()
    lineup = seats["lineup"][::players][rows]
    if (lineup.reshape(-1, lineups) != np.arange(lineups)).any():
        raise damaged(store, f"line-ups on {shape.title} that there are not")
    number = planned["round"][here]
    of_seats = places[number % len(places)].reshape(len(here), lineups * players)
    entries = np.take_along_axis(planned["table"][here], of_seats, axis=1).reshape(-1, players)
    block, scores = np.repeat(np.arange(len(here)), lineups), store.board(*name).scores()
    return BoardMatches(
        np.array([entry.label for entry in schedule.entries], dtype=object),
        *(block, np.repeat(number, lineups), lineup, entries, ranks[rows].astype(np.int64)),
        seats["forfeited"].reshape(-1, players)[rows],
        None if scores is None else scores.reshape(-1, players)[rows],
        distinct_share(block, entries, hashes[rows]),
        hashes[rows],
        rows,
        shape.utilities,
    )


def foreign_blocks(store: Store, schedule: Schedule) -> Iterator[Block]:
    """Yield the matches of foreign results as blocks, by board and in the order of the log.

    Raises `StoreError` for a bot that is not in the plan.
    """
    entries = {entry.identity: number for number, entry in enumerate(schedule.entries)}
    of = {bot: entries.get(identity) for bot, (identity, _) in store.bots.names().items()}
    for index, board in enumerate(schedule.boards):
        rows = store.board(board.game, board.players).seat_rows("b.identity, b.round, b.id, s.bot")
        for (identity, number, id), seats in itertools.groupby(rows, lambda row: row[:3]):
            table = tuple(of.get(row[3]) for row in seats)
            if None in table:
                raise damaged(store, f"a bot on {board.title} is not in its plan")
            yield Block(index, number, cast(Table, table), id, identity)


def read_foreign(store: Store, schedule: ForeignSchedule, board: int) -> BoardMatches:
    """Read the matches of a board of foreign results; blocks are in the order of their first matches in the log.

    Raises `StoreError` when a match has too few or too many seats, or bots that the plan does not have.
    """
    shape = schedule.boards[board]
    name, players = (shape.game, shape.players), shape.players
    seats, scores = store.board(*name).seats(), store.board(*name).scores()
    numbers = {entry.identity: number for number, entry in enumerate(schedule.entries)}
    entry_of = {bot: numbers.get(identity, -1) for bot, (identity, _) in store.bots.names().items()}
    entries = np.fromiter((entry_of.get(bot, -1) for (bot,) in store.board(*name).seat_rows("s.bot")), np.int64)
    rounds = np.fromiter((number for (number,) in store.board(*name).match_rows("b.round")), np.int64)
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


def damaged(store: Store, what: str) -> StoreError:
    """Return the error of a log whose rows contradict its plan."""
    return StoreError(f"{store.path}: the log is damaged: {what}")
