"""Matches of a board as a frame, read from a log."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError, StoreError, UnknownTargetError
from arena.plan.dice_keys import has_own_dice
from arena.plan.disqualification import disqualified, in_plan
from arena.plan.logs import open_log
from arena.results.columns import BOARD_MATCHES
from arena.schedule.blocks import Schedule
from arena.schedule.foreign import ForeignSchedule
from arena.stats.blocks import distinct_share
from arena.store import Store, read_moves
from engine.errors import did_you_mean

BoardName = tuple[str, int]
"""Canonical game spec and number of players."""


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


def read_board(store: Store, schedule: Schedule, board: int, out: Mapping[int, int] | None = None) -> BoardMatches:
    """Read the matches of a board, without an object for each; `out` are the disqualified bots, if known already.

    Raises `StoreError` when a match has too few or too many seats, or a block other line-ups than the plan.
    """
    if isinstance(schedule, ForeignSchedule):
        return read_foreign(store, schedule, board)
    shape = schedule.boards[board]
    name, players, lineups = (shape.game, shape.players), shape.players, schedule.lineups(shape)
    out = disqualified(store, schedule, board) if out is None else out
    known = store.block_keys(*name)
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
    seats = store.seats(*name)
    blocks, hashes = store.moves_hashes(*name)
    if len(blocks) * players != len(seats) or (np.repeat(blocks, players) != seats["block"]).any():
        raise _damaged(store, f"matches on {shape.title} have missing seats")
    ranks = seats["rank"].reshape(-1, players)
    if (seats["seat"].reshape(-1, players) != np.arange(players)).any() or ((ranks < 0) | (ranks >= players)).any():
        raise _damaged(store, f"seats or ranks on {shape.title} that there are not")
    first = np.flatnonzero(np.diff(blocks, prepend=blocks[:1] - 1))
    whole = first[np.diff(first, append=len(blocks)) == lineups]
    at = np.searchsorted(blocks[whole], planned["key"])
    here = np.flatnonzero(blocks[whole][np.minimum(at, len(whole) - 1)] == planned["key"]) if len(whole) else at[:0]
    rows = (whole[at[here]][:, None] + np.arange(lineups)).ravel()
    lineup = seats["lineup"][::players][rows]
    if (lineup.reshape(-1, lineups) != np.arange(lineups)).any():
        raise _damaged(store, f"line-ups on {shape.title} that there are not")
    number = planned["round"][here]
    of_seats = places[number % len(places)].reshape(len(here), lineups * players)
    entries = np.take_along_axis(planned["table"][here], of_seats, axis=1).reshape(-1, players)
    block, scores = np.repeat(np.arange(len(here)), lineups), store.scores(*name)
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
        raise _damaged(store, f"matches on {shape.title} have missing seats, or bots that are not in the plan")
    ranks = seats["rank"].reshape(-1, players).astype(np.int64)
    if (seats["seat"].reshape(-1, players) != np.arange(players)).any() or ((ranks < 0) | (ranks >= players)).any():
        raise _damaged(store, f"seats or ranks on {shape.title} that there are not")
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


def _damaged(store: Store, what: str) -> StoreError:
    return StoreError(f"{store.path}: the log is damaged: {what}")


def board_matches(store: Store, schedule: Schedule, board: int, out: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return a row for each seat of every match in a complete block, in canonical order.

    Columns: `arena.results.columns.BOARD_MATCHES`. `out` are the disqualified bots, if they are known already.
    """
    return match_frame(store, schedule.boards[board].game, read_board(store, schedule, board, out))


def match_frame(store: Store, game: str, found: BoardMatches) -> pd.DataFrame:
    """Return `board_matches` of matches that `read_board` has read."""
    players = found.ranks.shape[1]
    timed, ended, plies, hashes = [], [], [], []
    for one, word, count, moves in store.match_rows(game, players, "m.timed, m.ended, m.plies, m.moves"):
        timed.append(bool(one))
        ended.append(sys.intern(word))
        plies.append(count)
        hashes.append(_moves_hash(read_moves(moves)))
    causes = [cause for (cause,) in store.seat_rows(game, players, "s.cause")]
    frame = seat_frame(found).assign(
        seat=np.tile(np.arange(players), len(found.rows)),
        score=np.full(found.ranks.size, np.nan) if found.scores is None else found.scores.ravel(),
        margin=found.margins.ravel(),
        cause=np.array(causes, object).reshape(-1, players)[found.rows].ravel(),
        timed=np.repeat(np.array(timed, bool)[found.rows], players),
        ended=np.repeat(np.array(ended, object)[found.rows], players),
        plies=np.repeat(np.array(plies, np.int64)[found.rows], players),
        moves_hash=np.repeat(np.array(hashes, np.int64)[found.rows], players),
    )
    return BOARD_MATCHES.arrange(frame)


def seat_frame(matches: BoardMatches) -> pd.DataFrame:
    """Return a row for each seat with what statistics need: some of the columns of `board_matches`."""
    each = {name: getattr(matches, name).astype(np.int64) for name in ("block", "round", "lineup")}
    each["distinct_share"] = matches.distinct_share
    columns = {name: np.repeat(values, matches.ranks.shape[1]) for name, values in each.items()}
    entries, ranks = matches.entries.ravel(), matches.ranks.ravel()
    bots = {"entry": entries, "bot": matches.labels[entries], "rank": ranks, "return_": returns(matches.ranks).ravel()}
    return pd.DataFrame({**columns, **bots}, copy=False)


def _moves_hash(moves: str) -> int:
    """Return the BLAKE2b-64 hash of moves, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(moves.encode(), digest_size=8).digest(), "little", signed=True)


def returns(ranks: np.ndarray) -> np.ndarray:
    """Return utilities from ranks, as `engine.returns_from_ranks`, of shape (matches, seats)."""
    found = np.zeros(ranks.shape, np.int64)
    for other in range(ranks.shape[1]):
        found += np.sign(ranks[:, [other]] - ranks)
    return found / max(ranks.shape[1] - 1, 1)


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
        raise UnknownTargetError(f"{target}: has no such board; it has {listed}")
    return chosen


def chosen_boards(target: str | Path, schedule: Schedule, game: str | None, players: int | None) -> list[int]:
    """Return the numbers of the boards in a schedule that `choose_boards` chooses."""
    names = [(board.game, board.players) for board in schedule.boards]
    return [names.index(name) for name in choose_boards(target, names, game, players)]


def two_entries(target: str | Path, schedule: Schedule, a: str, b: str) -> tuple[int, int]:
    """Return the entries of two bots by their labels; raises an `ArenaError` unless they are two of the schedule's."""
    labels = [entry.label for entry in schedule.entries]
    for label in (a, b):
        if label not in labels:
            raise UnknownTargetError(f"{target}: has no bot '{label}'{did_you_mean(label, labels)}")
    if a == b:
        raise ConfigError(f"A and B are the same bot, {a}: there is nothing to compare")
    return labels.index(a), labels.index(b)


def board_frames(
    target: str | Path, game: str | None, players: int | None, home: str | Path | None
) -> Iterator[tuple[BoardName, pd.DataFrame, dict[int, int], bool]]:
    """Yield name, matches and disqualified bots of every chosen board, and whether matches draw their own dice."""
    store, resolved = open_log(target, home)
    with store:
        schedule = store.known(resolved.schedule())
        for board in chosen_boards(target, schedule, game, players):
            name = (schedule.boards[board].game, schedule.boards[board].players)
            out = disqualified(store, schedule, board)
            yield name, seat_frame(read_board(store, schedule, board, out)), out, has_own_dice(schedule, board)
