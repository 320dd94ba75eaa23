"""Reading a log, also while a run writes to it."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from arena.core.errors import ArenaError, StoreError
from arena.core.match_ids import Kind, check_match_id, match_id
from arena.match.stored import SecretKey, StoredMatch
from arena.schedule.blocks import Schedule
from arena.store.digests import damaged
from arena.store.rows import RunRow, read_clocks, read_moves, read_notes
from arena.store.shape import check_values
from arena.store.upgrading import connect_to_read

BATCH = 500
FROM_CONTENT = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What may be raised by whatever is read."""
OF_CONTENT = (0, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG)
"""SQLite's errors that come from what a log holds; 0 are those of Python, such as of text that is none."""
SHORT_ID = 12
"""Hexadecimal digits that tell the matches of all but the largest logs apart."""


class StoreReader:
    """An open log as it is read; `arena.store.Store` is the whole."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self._blocks: dict[bytes, tuple[int, str]] = {}
        self._boards: dict[tuple[str, int], int] = {}
        self._bots: dict[str, int] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open for reading, also while a run writes; an older log as it would be in this version.

        Raises `StoreError` when there is no log.
        """
        if not path.is_file():
            raise StoreError(f"{path}: no such match log; `arena run` makes one")
        try:
            db = connect_to_read(path)
            db.execute("BEGIN")  # everything read from now on is the log at one moment, whatever a run adds meanwhile
            return cls(path, db, None)
        except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes damaged names as they are
            raise StoreError(f"{path}: is not a match log: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the log. An error that its content explains becomes a `StoreError` of one line."""
        try:
            if isinstance(error, FROM_CONTENT) and not isinstance(error, ArenaError):
                self._explain(error)
        finally:
            self.close()

    def _explain(self, error: BaseException) -> None:
        """Raise what a user is told of an error, unless it has nothing to do with what was read."""
        if isinstance(error, sqlite3.Error) and primary(error) not in OF_CONTENT:
            return
        with contextlib.suppress(sqlite3.Error):
            check_values(self._db, self.path)
        if self._lock is None:  # who only reads
            raise StoreError(
                f"{self.path}: cannot be read: {error}; `arena verify` tells whether it is damaged"
            ) from error

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def last_plan(self) -> str:
        """The resolved plan of the latest run, JSON."""
        row = self._db.execute("SELECT plan FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        if row is None:
            raise StoreError(f"{self.path}: holds no run")
        return str(row[0])

    def last_versions(self) -> dict[str, str]:
        """Of Python and the packages, in the latest run."""
        row = self._db.execute("SELECT versions FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return json.loads(row[0]) if row else {}

    def is_finished(self) -> bool:
        """Whether every match of the latest run's plan was in the log."""
        row = self._db.execute("SELECT finished FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return row is not None and row[0] is not None

    def last_run(self) -> RunRow:
        """The latest run, and who has played how many matches in which."""
        row = self._db.execute("SELECT run, started FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        if row is None:
            raise StoreError(f"{self.path}: holds no run")
        query = "SELECT run, worker, count(*) FROM timings GROUP BY run, worker"
        return RunRow(row[0], row[1], self._db.execute(query).fetchall())

    def has_one_plan(self) -> bool:
        """Whether all runs had the same plan."""
        return bool(self._db.execute("SELECT count(DISTINCT plan) < 2 FROM runs").fetchone()[0])

    def secret_keys(self) -> list[SecretKey]:
        """The keys of secret dice in the order in which they were drawn, unchecked.

        Raises `StoreError` when one that matches were played with is gone.
        """
        found = self._keys()
        marks = ",".join("?" * len(found))
        lost = f"SELECT EXISTS (SELECT 1 FROM blocks WHERE key IS NOT NULL AND key NOT IN ({marks}))"
        if self._db.execute(lost, [*found]).fetchone()[0]:
            raise self._lost_key()
        return [*found.values()]

    def _keys(self) -> dict[int, SecretKey]:
        """The same by number."""
        query = "SELECT number, CAST(key AS BLOB), hash, created, disclosed FROM keys ORDER BY number"
        return {number: SecretKey(*row) for number, *row in self._db.execute(query)}

    def known(self, schedule: Schedule) -> Schedule:
        """A schedule with all keys of the log, so that a block is found with whichever it was played.

        The plan's own come last, as what is not there yet is drawn with the last one.
        """
        former = schedule.secret_dice == Kind.VERSION_1
        if former or schedule.count_matches is not None or not schedule.has_secret_dice:
            return schedule
        others = (key.hash for key in self._keys().values() if key.hash not in schedule.keys)
        return replace(schedule, keys=(*others, *schedule.keys), count_matches=self._count_matches)

    def _count_matches(self, identity: bytes) -> int:
        query = "SELECT count(*) FROM blocks JOIN matches USING (block) WHERE identity = ?"
        return int(self._db.execute(query, (identity,)).fetchone()[0])

    def _lost_key(self) -> StoreError:
        return StoreError(f"{self.path}: the log is damaged: it holds matches with secret dice, but not their key")

    def dice_kinds(self) -> set[Kind]:
        """The kinds of dice that blocks were played with."""
        return {Kind(kind) for (kind,) in self._db.execute("SELECT DISTINCT dice FROM blocks")}

    def finished(self, identities: Sequence[bytes]) -> dict[bytes, set[int]]:
        """The line-ups already played of each block that has any; in batches, for plans of any size."""
        found: dict[bytes, set[int]] = {}
        for start in range(0, len(identities), BATCH):
            part = identities[start : start + BATCH]
            query = (
                "SELECT b.identity, m.lineup FROM blocks b JOIN matches m USING (block) "
                f"WHERE b.identity IN ({','.join('?' * len(part))})"
            )
            for identity, lineup in self._db.execute(query, part):
                found.setdefault(identity, set()).add(lineup)
        return found

    def block_keys(self, game: str, players: int) -> dict[bytes, int]:
        """A board's blocks: their keys in the log by identity."""
        query = "SELECT identity, block FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return dict(self._db.execute(query, (game, players)))

    def match_rows(self, game: str, players: int) -> sqlite3.Cursor:
        """A board's matches by block and line-up: (block, lineup, timed, ended, moves as they are stored)."""
        return self._db.execute(
            "SELECT m.block, m.lineup, m.timed, m.ended, m.moves FROM boards o JOIN blocks b USING (board) "
            "JOIN matches m USING (block) WHERE o.game = ? AND o.players = ? ORDER BY m.block, m.lineup",
            (game, players),
        )

    def seat_rows(self, game: str, players: int) -> sqlite3.Cursor:
        """The seats of those matches in the same order: (block, lineup, seat, rank, score, cause)."""
        return self._db.execute(
            "SELECT s.block, s.lineup, s.seat, s.rank, s.score, s.cause FROM boards o JOIN blocks b USING (board) "
            "JOIN seats s USING (block) WHERE o.game = ? AND o.players = ? ORDER BY s.block, s.lineup, s.seat",
            (game, players),
        )

    def forfeits(self, game: str, players: int) -> dict[int, dict[bytes, list[tuple[int, int, str]]]]:
        """A board's forfeited seats by round and block: (line-up, seat, cause), in that order."""
        found: dict[int, dict[bytes, list[tuple[int, int, str]]]] = {}
        query = (
            "SELECT b.round, b.identity, s.lineup, s.seat, s.cause FROM seats s "
            "JOIN blocks b USING (block) JOIN boards o USING (board) "
            "WHERE s.cause IS NOT NULL AND o.game = ? AND o.players = ? ORDER BY s.block, s.lineup, s.seat"
        )
        for number, identity, *forfeit in self._db.execute(query, (game, players)):
            found.setdefault(number, {}).setdefault(identity, []).append(tuple(forfeit))
        return found

    def forfeits_of(self, identities: Sequence[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """The forfeited seats of each block that has any: (line-up, seat), in that order."""
        found: dict[bytes, list[tuple[int, int]]] = {}
        for start in range(0, len(identities), BATCH):
            part = identities[start : start + BATCH]
            query = (
                "SELECT b.identity, s.lineup, s.seat FROM blocks b JOIN seats s USING (block) "
                f"WHERE s.cause IS NOT NULL AND b.identity IN ({','.join('?' * len(part))}) "
                "ORDER BY s.block, s.lineup, s.seat"
            )
            for identity, lineup, seat in self._db.execute(query, part):
                found.setdefault(identity, []).append((lineup, seat))
        return found

    def block_sizes(self, game: str, players: int) -> dict[bytes, int]:
        """How many matches of each of a board's blocks are in the log."""
        query = (
            "SELECT b.identity, count(*) FROM blocks b JOIN boards o USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? GROUP BY b.block"
        )
        return dict(self._db.execute(query, (game, players)))

    def count(self, game: str, players: int, lineups: int) -> tuple[int, int]:
        """A board's matches, and its complete blocks."""
        query = (
            "SELECT coalesce(sum(n), 0), coalesce(sum(n = ?), 0) FROM (SELECT count(*) AS n FROM blocks b "
            "JOIN boards o USING (board) JOIN matches m USING (block) WHERE o.game = ? AND o.players = ? "
            "GROUP BY b.block)"
        )
        matches, blocks = self._db.execute(query, (lineups, game, players)).fetchone()
        return matches, blocks

    def forfeited(self, game: str, players: int) -> int:
        """A board's forfeited seats."""
        query = (
            "SELECT count(*) FROM seats JOIN blocks USING (block) JOIN boards USING (board) "
            "WHERE cause IS NOT NULL AND game = ? AND players = ?"
        )
        return int(self._db.execute(query, (game, players)).fetchone()[0])

    def seconds(self, game: str, players: int) -> float:
        """The median of what a board's matches took a worker; the first ones, which compile, hardly count. 0: none."""
        query = (
            "FROM timings t JOIN blocks b USING (block) JOIN boards o USING (board) WHERE o.game = ? AND o.players = ?"
        )
        count = self._db.execute(f"SELECT count(*) {query}", (game, players)).fetchone()[0]
        median = f"SELECT t.seconds {query} ORDER BY t.seconds LIMIT 1 OFFSET ?"
        row = self._db.execute(median, (game, players, count // 2)).fetchone()
        return float(row[0]) if row else 0.0

    def short_id(self, identity: bytes, lineup: int) -> str:
        """The beginning of a match's id, as much of it as means no other match of the log, and its line-up."""
        shortened = (f"{identity.hex()[:digits]}-{lineup}" for digits in range(SHORT_ID, 2 * len(identity)))
        return next((short for short in shortened if len(self.find_matches(short)) < 2), match_id(identity, lineup))

    def find_matches(self, prefix: str) -> list[tuple[bytes, int]]:
        """(identity, line-up) of the matches whose id begins with `prefix`, at most two of them."""
        check_match_id(prefix)
        stem, dash, lineup = prefix.partition("-")
        low = bytes.fromhex(stem.ljust(32, "0"))
        high = bytes.fromhex(stem.ljust(32, "f"))
        query = "SELECT identity, lineup FROM blocks JOIN matches USING (block) WHERE identity BETWEEN ? AND ?"
        parameters: list[object] = [low, high]
        if dash:
            query += " AND lineup = ?"
            parameters.append(int(lineup))
        return list(self._db.execute(query + " ORDER BY identity, lineup LIMIT 2", parameters))

    def match(self, identity: bytes, lineup: int) -> StoredMatch:
        """One match, whole; raises `StoreError` when it is not there or cannot be read."""
        found = self._whole("b.identity = ? AND lineup = ?", (identity, lineup))
        if not found:
            raise StoreError(f"{self.path}: has no match {match_id(identity, lineup)}")
        return found[0]

    def matches(self, identities: Sequence[bytes]) -> dict[bytes, list[StoredMatch]]:
        """The matches of each block that has any, by line-up; one query for up to `BATCH` blocks."""
        found: dict[bytes, list[StoredMatch]] = {}
        for start in range(0, len(identities), BATCH):
            part = identities[start : start + BATCH]
            for match in self._whole(f"b.identity IN ({','.join('?' * len(part))})", part):
                found.setdefault(match.identity, []).append(match)
        return found

    def _whole(self, where: str, parameters: Sequence[object]) -> list[StoredMatch]:
        """The matches that a condition on blocks and line-ups is true of."""
        seats: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
        query = (
            "SELECT block, lineup, o.spec, rank, score, cause, forfeit_ply FROM blocks b JOIN seats s USING (block) "
            f"JOIN bots o USING (bot) WHERE {where} ORDER BY block, lineup, seat"
        )
        for block, lineup, *seat in self._db.execute(query, parameters):
            seats.setdefault((block, lineup), []).append(tuple(seat))
        details: dict[tuple[int, int], dict[int, str]] = {}
        query = f"SELECT block, lineup, seat, detail FROM blocks b JOIN faults USING (block) WHERE {where}"
        for block, lineup, place, detail in self._db.execute(query, parameters):
            details.setdefault((block, lineup), {})[place] = detail
        query = (
            "SELECT block, lineup, identity, id, game, players, round, opening, seed, dice, b.key, ended, moves, "
            "final, timed, notes, clocks, retried FROM blocks b JOIN boards USING (board) JOIN matches m USING (block) "
            f"LEFT JOIN timings USING (block, lineup) WHERE {where} ORDER BY block, lineup"
        )
        rows = self._db.execute(query, parameters).fetchall()
        keys = self._keys() if any(row[10] is not None for row in rows) else {}
        if any(row[10] is not None and row[10] not in keys for row in rows):
            raise self._lost_key()
        return [_stored(row, seats.get(row[:2], []), details.get(row[:2], {}), keys.get(row[10])) for row in rows]

    def damaged(self) -> Iterator[str]:
        """What has changed since it was written, by digests: ids of matches, and names of rows of other tables."""
        return damaged(self._db)

    def totals(self) -> tuple[int, int]:
        """Matches and forfeited seats in the whole log."""
        matches = self._db.execute("SELECT count(*) FROM matches").fetchone()[0]
        return matches, self._db.execute("SELECT count(*) FROM seats WHERE cause IS NOT NULL").fetchone()[0]


def _stored(
    row: tuple[Any, ...], seats: list[tuple[Any, ...]], details: dict[int, str], key: SecretKey | None
) -> StoredMatch:
    _, lineup, identity, id, game, players, number, opening, seed, dice, _, ended, moves, final, *more = row
    timed, notes, clocks, retried = more
    return StoredMatch(
        identity=identity,
        block_id=id,
        lineup=lineup,
        game=game,
        players=players,
        round=number,
        opening=opening,
        seed=seed,
        ended=ended,
        moves=read_moves(moves).split(),
        final=final.hex(),
        timed=bool(timed),
        notes=read_notes(notes or "[]"),
        bots=[seat[0] for seat in seats],
        ranks=[seat[1] for seat in seats],
        scores=[seat[2] for seat in seats],
        forfeits={place: (seat[3], seat[4]) for place, seat in enumerate(seats) if seat[3] is not None},
        details=details,
        clocks=read_clocks(clocks or ""),
        retried=bool(retried),
        dice=Kind(dice),
        secret=key,
    )


def primary(error: sqlite3.Error) -> int:
    """SQLite's number of an error, without what goes into detail."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
