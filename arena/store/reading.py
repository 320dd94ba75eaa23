"""Read a log, also while a run writes to it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from arena.core.database_shape import check_values
from arena.core.errors import ArenaError, StoreError, UnknownTargetError
from arena.core.match_ids import DiceKind, check_match_id, match_id
from arena.match.result import MatchRow, SeatRow
from arena.match.stored import PlannedMatch, SecretKey, StoredMatch, stored_match
from arena.store.boards import BoardReader
from arena.store.bots import BotReader
from arena.store.content_errors import CONTENT_ERROR_CODES, CONTENT_ERRORS, check_lock, primary_code
from arena.store.digests import damaged
from arena.store.keys import KeyReader
from arena.store.rows import SeatResult, estimates_of_columns, read_moves, read_notes
from arena.store.runs import RunReader
from arena.store.schema import connect

BATCH_ROWS = 500
SHORT_ID_CHARS = 12
"""Hexadecimal digits that distinguish the matches of all but the largest logs."""


class StoreReader:
    """The reading half of `arena.store.Store`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self._blocks: dict[bytes, tuple[int, str]] = {}
        self._boards: dict[tuple[str, int], int] = {}
        self._bots: dict[str, int] = {}
        self.runs = RunReader(path, connection)
        self.keys = KeyReader(path, connection)
        self.bots = BotReader(path, connection)

    def board(self, game: str, players: int) -> BoardReader:
        """Return a reader of the matches of one board."""
        return BoardReader(self._db, game, players)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a log for reading, also while a run writes.

        Raises `StoreError` if there is no log, `LockedError` while another program lets nobody read it, `NoRunError`
        while a run creates it.
        """
        if not path.is_file():
            raise UnknownTargetError(f"{path}: no such match log; `arena run` makes one")
        try:
            db = connect(path, "ro")
            db.execute("BEGIN")  # all reads see the log at this moment, whatever a run adds meanwhile
            return cls(path, db, None)
        except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes damaged names as they are
            check_lock(error, path)
            raise StoreError(f"{path}: is not a match log: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the log; turn an error that its content causes into a `StoreError` of one line."""
        try:
            if isinstance(error, CONTENT_ERRORS) and not isinstance(error, ArenaError):
                self._explain(error)
        finally:
            self.close()

    def _explain(self, error: BaseException) -> None:
        """Raise a `StoreError` for an error, unless it has nothing to do with the content or a lock."""
        if self._lock is None:
            check_lock(error, self.path)
        if isinstance(error, sqlite3.Error) and primary_code(error) not in CONTENT_ERROR_CODES:
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

    def finished(self, identities: Sequence[bytes]) -> dict[bytes, set[int]]:
        """Return the finished line-ups of each block that has any."""
        found: dict[bytes, set[int]] = {}
        query = "SELECT identity, lineup FROM blocks JOIN matches USING (block) WHERE identity IN"
        for identity, lineup in in_batches(self._db, query, identities):
            found.setdefault(identity, set()).add(lineup)
        return found

    def forfeits_of(self, identities: Sequence[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """Return the forfeited seats of each block that has any: (line-up, seat), in that order."""
        found: dict[bytes, list[tuple[int, int]]] = {}
        query = (
            "SELECT identity, lineup, seat FROM blocks JOIN seats USING (block) WHERE cause IS NOT NULL AND identity IN"
        )
        for identity, *forfeit in in_batches(self._db, query, identities, "ORDER BY block, lineup, seat"):
            found.setdefault(identity, []).append(tuple(forfeit))
        return found

    def seat_results(self, identities: Sequence[bytes]) -> dict[bytes, list[SeatResult]]:
        """Return the seats of all matches of each block that has any, in order."""
        found: dict[bytes, list[SeatResult]] = {}
        query = (
            "SELECT identity, lineup, seat, rank, cause IS NOT NULL FROM blocks JOIN seats USING (block) "
            "WHERE identity IN"
        )
        for identity, *seat in in_batches(self._db, query, identities, "ORDER BY block, lineup, seat"):
            found.setdefault(identity, []).append(SeatResult(*seat))
        return found

    def board_names(self) -> dict[int, tuple[str, int]]:
        """Return game and number of players of every board in the log, by key."""
        return {board: (game, players) for board, game, players in self._db.execute("SELECT * FROM boards")}

    def digest_of(self, block: int, lineup: int) -> bytes | None:
        """Return the digest of a match by its key; None where there is none."""
        query = "SELECT digest FROM matches WHERE block = ? AND lineup = ?"
        found = self._db.execute(query, (block, lineup)).fetchone()
        return found[0] if found else None

    def match_digests(self) -> Iterator[tuple[bytes, int, bytes]]:
        """Yield the identity of the block, line-up and digest of every match, in the order of the log."""
        yield from self._db.execute(
            "SELECT identity, lineup, digest FROM blocks JOIN matches USING (block) ORDER BY block, lineup"
        )

    def outlines(self, where: str, parameters: Sequence[int]) -> tuple[sqlite3.Cursor, sqlite3.Cursor]:
        """Return block, line-up, board, round, plies and ending of matches, and bot, rank and cause of their seats.

        Both in the order of block and line-up; `where` is a condition on `block`.
        """
        matches = (
            "SELECT block, lineup, board, round, plies, ended FROM matches CROSS JOIN blocks USING (block) "
            f"WHERE {where} ORDER BY block, lineup"
        )
        seats = f"SELECT block, lineup, bot, rank, cause FROM seats WHERE {where} ORDER BY block, lineup, seat"
        return self._db.execute(matches, parameters), self._db.execute(seats, parameters)

    def identity_of(self, block: int) -> bytes:
        """Return the identity of a block by its key; raises `StoreError` where there is none."""
        found = self._db.execute("SELECT identity FROM blocks WHERE block = ?", (block,)).fetchone()
        if found is None:
            raise StoreError(f"{self.path}: has no block {block}")
        return bytes(found[0])

    def identities_of(self, blocks: Sequence[int]) -> dict[int, bytes]:
        """Return the identities of blocks by their keys."""
        found: dict[int, bytes] = {}
        for start in range(0, len(blocks), BATCH_ROWS):
            part = blocks[start : start + BATCH_ROWS]
            query = f"SELECT block, identity FROM blocks WHERE block IN ({','.join('?' * len(part))})"
            found.update((block, bytes(identity)) for block, identity in self._db.execute(query, part))
        return found

    def short_id(self, identity: bytes, lineup: int) -> str:
        """Return the shortest beginning of a match's id that is unique in the log, with its line-up."""
        shortened = (f"{identity.hex()[:digits]}-{lineup}" for digits in range(SHORT_ID_CHARS, 2 * len(identity)))
        return next((short for short in shortened if len(self.find_matches(short)) < 2), match_id(identity, lineup))

    def find_matches(self, prefix: str) -> list[tuple[bytes, int]]:
        """Return (identity, line-up) of the matches whose id begins with `prefix`, at most two of them."""
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
        """Return one match; raises `StoreError` if it is missing or cannot be read."""
        found = self._whole("b.identity = ? AND lineup = ?", (identity, lineup))
        if not found:
            raise StoreError(f"{self.path}: has no match {match_id(identity, lineup)}")
        return found[0]

    def matches(self, identities: Sequence[bytes]) -> dict[bytes, list[StoredMatch]]:
        """Return the matches of each block that has any, by line-up."""
        found: dict[bytes, list[StoredMatch]] = {}
        for start in range(0, len(identities), BATCH_ROWS):
            part = identities[start : start + BATCH_ROWS]
            for match in self._whole(f"b.identity IN ({','.join('?' * len(part))})", part):
                found.setdefault(match.identity, []).append(match)
        return found

    def _whole(self, where: str, parameters: Sequence[object]) -> list[StoredMatch]:
        """Return the matches that fulfil a condition on blocks and line-ups."""
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
            "SELECT block, lineup, identity, id, game, players, round, opening, seed, dice, b.key, ended, m.moves, "
            "final, timed, notes, clocks, retried, e.moves, dropped "
            "FROM blocks b JOIN boards USING (board) JOIN matches m USING (block) "
            "LEFT JOIN timings USING (block, lineup) LEFT JOIN estimates e USING (block, lineup) "
            f"WHERE {where} ORDER BY block, lineup"
        )
        rows = self._db.execute(query, parameters).fetchall()
        keys = self.keys.by_number() if any(row[10] is not None for row in rows) else {}
        if any(row[10] is not None and row[10] not in keys for row in rows):
            raise self.keys.lost_key()
        return [
            _stored_match_of(row, seats.get(row[:2], []), details.get(row[:2], {}), keys.get(row[10])) for row in rows
        ]

    def damaged(self) -> Iterator[str]:
        """Yield what does not fit its digest: ids of matches, and names of rows of other tables."""
        return damaged(self._db)

    def totals(self) -> tuple[int, int]:
        """Return the numbers of matches and forfeited seats in the whole log."""
        matches = self._db.execute("SELECT count(*) FROM matches").fetchone()[0]
        return matches, self._db.execute("SELECT count(*) FROM seats WHERE cause IS NOT NULL").fetchone()[0]


def in_batches(db: sqlite3.Connection, query: str, identities: Sequence[bytes], order: str = "") -> Iterator[Any]:
    """Yield the rows that a query, ending in `identity IN`, finds for any number of identities of blocks."""
    for start in range(0, len(identities), BATCH_ROWS):
        part = identities[start : start + BATCH_ROWS]
        yield from db.execute(f"{query} ({','.join('?' * len(part))}) {order}", part)


@contextlib.contextmanager
def readable(log: StoreReader) -> Iterator[None]:
    """Turn errors that rows of a damaged log cause within into a `StoreError` that names the log."""
    try:
        yield
    except CONTENT_ERRORS as error:
        check_lock(error, log.path)
        ours = isinstance(error, sqlite3.Error) and primary_code(error) not in CONTENT_ERROR_CODES
        if ours or isinstance(error, ArenaError):
            raise
        raise StoreError(f"{log.path}: is damaged: {error}; `arena verify` tells more") from None


def _stored_match_of(
    row: tuple[Any, ...], seats: list[tuple[Any, ...]], details: dict[int, str], key: SecretKey | None
) -> StoredMatch:
    _, lineup, identity, id, game, players, number, opening, seed, dice, _, ended, moves, final, *more = row
    timed, notes, clocks, retried, *estimates = more
    packed, dropped = estimates_of_columns(*estimates)
    place = PlannedMatch(identity, id, lineup, game, players, number, opening, seed, DiceKind(dice), key)
    text = read_moves(moves)
    of_seats = [SeatRow(*seat) for _, *seat in seats]
    played = MatchRow(
        *(lineup, ended, len(text.split()), bool(timed), final.hex(), text),
        *(read_notes(notes or "[]"), of_seats, details),
        clocks=clocks or "",
        retried=bool(retried),
        estimates=packed,
        dropped=dropped,
    )
    return stored_match(place, played, [spec for spec, *_ in seats])
