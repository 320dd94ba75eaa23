"""Matches of a board as a frame, read from a log."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError, UnknownTargetError
from arena.results.columns import BOARD_MATCHES
from arena.results.parameters import with_parameters
from arena.schedule.blocks import Schedule
from arena.store import Store, read_moves
from arena.tournament.counted import BoardMatches
from arena.tournament.tournament import Tournament
from engine.errors import did_you_mean

BoardName = tuple[str, int]
"""Canonical game spec and number of players."""


def board_matches(tournament: Tournament, board: int) -> pd.DataFrame:
    """Return a row for each seat of every match in a complete block, in canonical order.

    Columns: `arena.results.columns.BOARD_MATCHES`.
    """
    frame = match_frame(tournament.store, tournament.schedule.boards[board].game, tournament.counted(board))
    return with_parameters(frame, tournament.schedule, board)


def match_frame(store: Store, game: str, found: BoardMatches) -> pd.DataFrame:
    """Return `board_matches` of the matches of `Tournament.counted`."""
    players = found.ranks.shape[1]
    timed, ended, plies, hashes = [], [], [], []
    for one, word, count, moves in store.board(game, players).match_rows("m.timed, m.ended, m.plies, m.moves"):
        timed.append(bool(one))
        ended.append(sys.intern(word))
        plies.append(count)
        hashes.append(_moves_hash(read_moves(moves)))
    causes = [cause for (cause,) in store.board(game, players).seat_rows("s.cause")]
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
    """Return the numbers of a schedule's boards of a game and a number of players."""
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
