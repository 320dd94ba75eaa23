"""Read the matches of one board of a log, as rows, columns and counts."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from arena.match.result import CallDuration
from arena.match.stored import read_clocks
from arena.store.rows import estimates_of_columns, read_moves

SEAT_DTYPE = np.dtype(
    [("block", np.int64), ("lineup", np.int32), ("seat", np.int16), ("rank", np.int16), ("forfeited", np.bool_)]
)

DURATION_SAMPLE_MATCHES = 10_000
"""Matches of which the usual duration is the mean."""


class BoardReader:
    """The matches of one board of a log."""

    def __init__(self, connection: sqlite3.Connection, game: str, players: int) -> None:
        self._db, self._name = connection, (game, players)

    def complete_blocks(self, lineups: int, keys: Sequence[str]) -> set[bytes]:
        """Return the identities of a board's complete blocks whose dice were drawn with any of some keys, by hash."""
        query = (
            "SELECT b.identity FROM blocks b JOIN boards USING (board) JOIN matches USING (block) JOIN keys k "
            f"ON k.number = b.key WHERE game = ? AND players = ? AND k.hash IN ({','.join('?' * len(keys))}) "
            "GROUP BY b.block HAVING count(*) = ?"
        )
        return {bytes(identity) for (identity,) in self._db.execute(query, (*self._name, *keys, lineups))}

    def block_keys(self) -> dict[bytes, int]:
        """Return the keys of a board's blocks by identity."""
        query = "SELECT identity, block FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return dict(self._db.execute(query, self._name))

    def match_rows(self, columns: str) -> sqlite3.Cursor:
        """Return columns of a board's matches, by block and line-up."""
        return self._db.execute(
            f"SELECT {columns} FROM boards o JOIN blocks b USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? ORDER BY m.block, m.lineup",
            self._name,
        )

    def seat_rows(self, columns: str, where: str = "TRUE") -> sqlite3.Cursor:
        """Return columns of the seats of a board's matches, by block, line-up and seat."""
        return self._db.execute(
            f"SELECT {columns} FROM boards o JOIN blocks b USING (board) JOIN seats s USING (block) "
            f"WHERE o.game = ? AND o.players = ? AND {where} ORDER BY s.block, s.lineup, s.seat",
            self._name,
        )

    def seats(self) -> np.ndarray:
        """Return the seats of a board's matches as records (`SEAT_DTYPE`), by block, line-up and seat."""
        columns = "s.block, s.lineup, s.seat, s.rank, s.cause IS NOT NULL"
        return np.fromiter(self.seat_rows(columns), SEAT_DTYPE)

    def scores(self) -> np.ndarray | None:
        """Return the scores of those seats, NaN where there is none; None if there are none at all."""
        if self.seat_rows("1", "s.score IS NOT NULL").fetchone() is None:
            return None
        rows = self.seat_rows("ifnull(s.score, 9e999)")
        found = np.fromiter(rows, np.dtype([("score", np.float64)]))["score"]
        return np.where(np.isinf(found), np.nan, found)

    def moves_hashes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the blocks of a board's matches, by block and line-up, and 64-bit hashes of their moves.

        Equal moves, however they are compressed, have equal hashes within one process.
        """
        rows = self.match_rows("m.block, m.moves")
        found = np.fromiter(
            ((block, hash(read_moves(moves))) for block, moves in rows), np.dtype([("block", "i8"), ("hash", "i8")])
        )
        return found["block"], found["hash"]

    def forfeits(self) -> dict[int, dict[bytes, list[tuple[int, int, str]]]]:
        """Return a board's forfeited seats by round and block: (line-up, seat, cause), in that order."""
        found: dict[int, dict[bytes, list[tuple[int, int, str]]]] = {}
        query = (
            "SELECT b.round, b.identity, s.lineup, s.seat, s.cause FROM seats s "
            "JOIN blocks b USING (block) JOIN boards o USING (board) "
            "WHERE s.cause IS NOT NULL AND o.game = ? AND o.players = ? ORDER BY s.block, s.lineup, s.seat"
        )
        for number, identity, *forfeit in self._db.execute(query, self._name):
            found.setdefault(number, {}).setdefault(identity, []).append(tuple(forfeit))
        return found

    def block_sizes(self) -> dict[bytes, int]:
        """Return how many matches of each of a board's blocks are in the log."""
        query = (
            "SELECT b.identity, count(*) FROM blocks b JOIN boards o USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? GROUP BY b.block"
        )
        return dict(self._db.execute(query, self._name))

    def count(self, lineups: int) -> tuple[int, int]:
        """Return the numbers of a board's matches and complete blocks."""
        query = (
            "SELECT coalesce(sum(n), 0), coalesce(sum(n = ?), 0) FROM (SELECT count(*) AS n FROM blocks b "
            "JOIN boards o USING (board) JOIN matches m USING (block) WHERE o.game = ? AND o.players = ? "
            "GROUP BY b.block)"
        )
        matches, blocks = self._db.execute(query, (lineups, *self._name)).fetchone()
        return matches, blocks

    def count_ids(self) -> int:
        """Return how many different ids a board's blocks have."""
        query = "SELECT count(DISTINCT id) FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return int(self._db.execute(query, self._name).fetchone()[0])

    def seconds(self) -> float:
        """Return the median duration of a board's matches in seconds; the first ones, which compile, count little."""
        query = (
            "FROM timings t JOIN blocks b USING (block) JOIN boards o USING (board) WHERE o.game = ? AND o.players = ?"
        )
        count = self._db.execute(f"SELECT count(*) {query}", self._name).fetchone()[0]
        median = f"SELECT t.seconds {query} ORDER BY t.seconds LIMIT 1 OFFSET ?"
        row = self._db.execute(median, (*self._name, count // 2)).fetchone()
        return float(row[0]) if row else 0.0

    def usual_seconds(self) -> float | None:
        """Return the mean duration of up to `DURATION_SAMPLE_MATCHES` matches of a board; None where there are none.

        Matches of the first round, in which code compiles, are left out.
        """
        query = (
            "SELECT avg(seconds) FROM (SELECT t.seconds FROM timings t JOIN blocks b USING (block) JOIN boards o "
            "USING (board) WHERE o.game = ? AND o.players = ? AND b.round > 0 LIMIT ?)"
        )
        mean = self._db.execute(query, (*self._name, DURATION_SAMPLE_MATCHES)).fetchone()[0]
        return None if mean is None else float(mean)

    def clocks(self, rows: Iterable[int]) -> Iterator[tuple[int, list[CallDuration]]]:
        """Yield what the calls of bots took in some matches of a board, with their places among them.

        Places are by block and line-up, from 0; `rows` are ascending.
        """
        yield from ((row, calls) for row, calls, *_ in self.costs(rows, with_estimates=False))

    def costs(
        self, rows: Iterable[int], with_estimates: bool = True
    ) -> Iterator[tuple[int, list[CallDuration], int, str]]:
        """Yield `clocks` of some matches, with their numbers of plies and what bots told of moves, still packed."""
        wanted = list(rows)
        of_match = "WHERE t.block = m.block AND t.lineup = m.lineup"
        told = f"(SELECT t.moves FROM estimates t {of_match})" if with_estimates else "NULL"
        columns = f"(SELECT clocks FROM timings t {of_match}), m.plies, {told}"
        first = itertools.islice(self.match_rows(columns), wanted[-1] + 1 if wanted else 0)
        chosen = set(wanted)
        for row, (text, plies, packed) in enumerate(first):
            if row in chosen:
                yield row, read_clocks(text or ""), plies, estimates_of_columns(packed, "")[0]
