"""Read a log, also while a run writes to it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from arena.core.errors import ArenaError, StoreError, UnknownTargetError
from arena.core.match_ids import Kind, check_match_id, match_id
from arena.match.result import Clocking, MatchRow, SeatRow
from arena.match.stored import Place, SecretKey, StoredMatch, read_clocks, stored_match
from arena.store.content_errors import FROM_CONTENT, OF_CONTENT, check_lock, primary
from arena.store.digests import damaged
from arena.store.rows import RunRow, read_estimates, read_moves, read_notes
from arena.store.schema import connect
from arena.store.shape import check_values

BATCH = 500
SEAT = np.dtype(
    [("block", np.int64), ("lineup", np.int32), ("seat", np.int16), ("rank", np.int16), ("forfeited", np.bool_)]
)
SHORT_ID = 12
"""Hexadecimal digits that distinguish the matches of all but the largest logs."""

SAMPLE = 10_000
"""Matches of which the usual duration is the mean."""


class StoreReader:
    """The reading half of `arena.store.Store`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self._blocks: dict[bytes, tuple[int, str]] = {}
        self._boards: dict[tuple[str, int], int] = {}
        self._bots: dict[str, int] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a log for reading, also while a run writes.

        Raises `StoreError` if there is no log, `LockedError` while another program lets nobody read it.
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
            if isinstance(error, FROM_CONTENT) and not isinstance(error, ArenaError):
                self._explain(error)
        finally:
            self.close()

    def _explain(self, error: BaseException) -> None:
        """Raise a `StoreError` for an error, unless it has nothing to do with the content or a lock."""
        if self._lock is None:
            check_lock(error, self.path)
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

    def _latest(self, columns: str) -> Any:
        """Return columns of the latest run; raises `StoreError` if there is none."""
        if (row := self._db.execute(f"SELECT {columns} FROM runs ORDER BY run DESC LIMIT 1").fetchone()) is None:
            raise StoreError(f"{self.path}: holds no run")
        return row

    def last_plan(self) -> str:
        """Return the resolved plan of the latest run, as JSON."""
        return str(self._latest("plan")[0])

    def plans(self) -> list[str]:
        """Return the different plans of all runs, as JSON."""
        return [plan for (plan,) in self._db.execute("SELECT DISTINCT plan FROM runs ORDER BY run")]

    def last_versions(self) -> dict[str, str]:
        """Return the versions of Python and the packages in the latest run."""
        row = self._db.execute("SELECT versions FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return json.loads(row[0]) if row else {}

    def has_run(self) -> bool:
        """Whether there is a run."""
        return self._db.execute("SELECT 1 FROM runs LIMIT 1").fetchone() is not None

    def is_finished(self) -> bool:
        """Whether every match of the latest run's plan was in the log."""
        return self._db.execute("SELECT finished FROM runs ORDER BY run DESC LIMIT 1").fetchone() not in (None, (None,))

    def last_run(self) -> RunRow:
        """Return the latest run, and how many matches each worker played in which run."""
        query = "SELECT run, worker, count(*) FROM timings GROUP BY run, worker"
        run, started = self._latest("run, started")
        return RunRow(run, started, self._db.execute(query).fetchall())

    def has_one_plan(self) -> bool:
        """Whether all runs had the same plan."""
        return bool(self._db.execute("SELECT count(DISTINCT plan) < 2 FROM runs").fetchone()[0])

    def secret_keys(self) -> list[SecretKey]:
        """Return the keys of secret dice in the order of their creation, unchecked.

        Raises `StoreError` if a key that matches were played with is missing.
        """
        found = self._keys()
        marks = ",".join("?" * len(found))
        lost = f"SELECT EXISTS (SELECT 1 FROM blocks WHERE key IS NOT NULL AND key NOT IN ({marks}))"
        if self._db.execute(lost, [*found]).fetchone()[0]:
            raise self._lost_key()
        return [*found.values()]

    def _keys(self) -> dict[int, SecretKey]:
        """Return the keys of secret dice by number."""
        query = "SELECT number, CAST(key AS BLOB), hash, created, disclosed FROM keys ORDER BY number"
        return {number: SecretKey(*row) for number, *row in self._db.execute(query)}

    def key_hashes(self) -> list[str]:
        """Return the hashes of the keys of secret dice, in the order of their creation."""
        return [hash for (hash,) in self._db.execute("SELECT hash FROM keys ORDER BY number")]

    def whole_blocks(self, game: str, players: int, lineups: int, keys: Sequence[str]) -> set[bytes]:
        """Return the identities of a board's complete blocks whose dice were drawn with any of some keys, by hash."""
        query = (
            "SELECT b.identity FROM blocks b JOIN boards USING (board) JOIN matches USING (block) JOIN keys k "
            f"ON k.number = b.key WHERE game = ? AND players = ? AND k.hash IN ({','.join('?' * len(keys))}) "
            "GROUP BY b.block HAVING count(*) = ?"
        )
        return {bytes(identity) for (identity,) in self._db.execute(query, (game, players, *keys, lineups))}

    def uncounted_blocks(self) -> frozenset[bytes]:
        """Return the identities of blocks with secret dice that did not count when their key was disclosed."""
        return frozenset(bytes(identity) for (identity,) in self._db.execute("SELECT identity FROM uncounted"))

    def _lost_key(self) -> StoreError:
        return StoreError(f"{self.path}: the log is damaged: it holds matches with secret dice, but not their key")

    def dice_kinds(self) -> set[Kind]:
        """Return the kinds of dice that blocks were played with."""
        return {Kind(kind) for (kind,) in self._db.execute("SELECT DISTINCT dice FROM blocks")}

    def finished(self, identities: Sequence[bytes]) -> dict[bytes, set[int]]:
        """Return the finished line-ups of each block that has any."""
        found: dict[bytes, set[int]] = {}
        query = "SELECT identity, lineup FROM blocks JOIN matches USING (block) WHERE identity IN"
        for identity, lineup in in_batches(self._db, query, identities):
            found.setdefault(identity, set()).add(lineup)
        return found

    def block_keys(self, game: str, players: int) -> dict[bytes, int]:
        """Return the keys of a board's blocks by identity."""
        query = "SELECT identity, block FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return dict(self._db.execute(query, (game, players)))

    def match_rows(self, game: str, players: int, columns: str) -> sqlite3.Cursor:
        """Return columns of a board's matches, by block and line-up."""
        return self._db.execute(
            f"SELECT {columns} FROM boards o JOIN blocks b USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? ORDER BY m.block, m.lineup",
            (game, players),
        )

    def seat_rows(self, game: str, players: int, columns: str, where: str = "TRUE") -> sqlite3.Cursor:
        """Return columns of the seats of a board's matches, by block, line-up and seat."""
        return self._db.execute(
            f"SELECT {columns} FROM boards o JOIN blocks b USING (board) JOIN seats s USING (block) "
            f"WHERE o.game = ? AND o.players = ? AND {where} ORDER BY s.block, s.lineup, s.seat",
            (game, players),
        )

    def seats(self, game: str, players: int) -> np.ndarray:
        """Return the seats of a board's matches as records (`SEAT`), by block, line-up and seat."""
        columns = "s.block, s.lineup, s.seat, s.rank, s.cause IS NOT NULL"
        return np.fromiter(self.seat_rows(game, players, columns), SEAT)

    def scores(self, game: str, players: int) -> np.ndarray | None:
        """Return the scores of those seats, NaN where there is none; None if there are none at all."""
        if self.seat_rows(game, players, "1", "s.score IS NOT NULL").fetchone() is None:
            return None
        rows = self.seat_rows(game, players, "ifnull(s.score, 9e999)")
        found = np.fromiter(rows, np.dtype([("score", np.float64)]))["score"]
        return np.where(np.isinf(found), np.nan, found)

    def moves_hashes(self, game: str, players: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the blocks of a board's matches, by block and line-up, and 64-bit hashes of their moves.

        Equal moves, however they are compressed, have equal hashes within one process.
        """
        rows = self.match_rows(game, players, "m.block, m.moves")
        found = np.fromiter(
            ((block, hash(read_moves(moves))) for block, moves in rows), np.dtype([("block", "i8"), ("hash", "i8")])
        )
        return found["block"], found["hash"]

    def forfeits(self, game: str, players: int) -> dict[int, dict[bytes, list[tuple[int, int, str]]]]:
        """Return a board's forfeited seats by round and block: (line-up, seat, cause), in that order."""
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
        """Return the forfeited seats of each block that has any: (line-up, seat), in that order."""
        found: dict[bytes, list[tuple[int, int]]] = {}
        query = (
            "SELECT identity, lineup, seat FROM blocks JOIN seats USING (block) WHERE cause IS NOT NULL AND identity IN"
        )
        for identity, *forfeit in in_batches(self._db, query, identities, "ORDER BY block, lineup, seat"):
            found.setdefault(identity, []).append(tuple(forfeit))
        return found

    def block_sizes(self, game: str, players: int) -> dict[bytes, int]:
        """Return how many matches of each of a board's blocks are in the log."""
        query = (
            "SELECT b.identity, count(*) FROM blocks b JOIN boards o USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? GROUP BY b.block"
        )
        return dict(self._db.execute(query, (game, players)))

    def count(self, game: str, players: int, lineups: int) -> tuple[int, int]:
        """Return the numbers of a board's matches and complete blocks."""
        query = (
            "SELECT coalesce(sum(n), 0), coalesce(sum(n = ?), 0) FROM (SELECT count(*) AS n FROM blocks b "
            "JOIN boards o USING (board) JOIN matches m USING (block) WHERE o.game = ? AND o.players = ? "
            "GROUP BY b.block)"
        )
        matches, blocks = self._db.execute(query, (lineups, game, players)).fetchone()
        return matches, blocks

    def count_ids(self, game: str, players: int) -> int:
        """Return how many different ids a board's blocks have."""
        query = "SELECT count(DISTINCT id) FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return int(self._db.execute(query, (game, players)).fetchone()[0])

    def seconds(self, game: str, players: int) -> float:
        """Return the median duration of a board's matches in seconds; the first ones, which compile, count little."""
        query = (
            "FROM timings t JOIN blocks b USING (block) JOIN boards o USING (board) WHERE o.game = ? AND o.players = ?"
        )
        count = self._db.execute(f"SELECT count(*) {query}", (game, players)).fetchone()[0]
        median = f"SELECT t.seconds {query} ORDER BY t.seconds LIMIT 1 OFFSET ?"
        row = self._db.execute(median, (game, players, count // 2)).fetchone()
        return float(row[0]) if row else 0.0

    def usual_seconds(self, game: str, players: int) -> float | None:
        """Return the mean duration of up to `SAMPLE` matches of a board after its first round, in which code compiles.

        None where there are none.
        """
        query = (
            "SELECT avg(seconds) FROM (SELECT t.seconds FROM timings t JOIN blocks b USING (block) JOIN boards o "
            "USING (board) WHERE o.game = ? AND o.players = ? AND b.round > 0 LIMIT ?)"
        )
        mean = self._db.execute(query, (game, players, SAMPLE)).fetchone()[0]
        return None if mean is None else float(mean)

    def clocks(self, game: str, players: int, rows: Iterable[int]) -> Iterator[tuple[int, list[Clocking]]]:
        """Yield what the calls of bots took in some matches of a board, with their places among them.

        Places are by block and line-up, from 0; `rows` are ascending.
        """
        wanted = list(rows)
        calls = "(SELECT clocks FROM timings t WHERE t.block = m.block AND t.lineup = m.lineup)"
        first = itertools.islice(self.match_rows(game, players, calls), wanted[-1] + 1 if wanted else 0)
        chosen = set(wanted)
        for row, (text,) in enumerate(first):
            if row in chosen:
                yield row, read_clocks(text or "")

    def board_names(self) -> dict[int, tuple[str, int]]:
        """Return game and number of players of every board in the log, by key."""
        return {board: (game, players) for board, game, players in self._db.execute("SELECT * FROM boards")}

    def bot_names(self) -> dict[int, tuple[str, str]]:
        """Return identity and spec of every bot in the log, by key."""
        return {
            bot: (identity, spec) for bot, identity, spec in self._db.execute("SELECT bot, identity, spec FROM bots")
        }

    def latest_run(self) -> tuple[int, str]:
        """Return the number of the latest run, and when it was started."""
        number, started = self._latest("run, started")
        return int(number), str(started)

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
        for start in range(0, len(blocks), BATCH):
            part = blocks[start : start + BATCH]
            query = f"SELECT block, identity FROM blocks WHERE block IN ({','.join('?' * len(part))})"
            found.update((block, bytes(identity)) for block, identity in self._db.execute(query, part))
        return found

    def bots_of(self, identity: bytes, lineup: int) -> list[str]:
        """Return the identities of a match's bots by seat."""
        query = (
            "SELECT o.identity FROM blocks b JOIN seats s USING (block) JOIN bots o USING (bot) "
            "WHERE b.identity = ? AND lineup = ? ORDER BY seat"
        )
        return [bot for (bot,) in self._db.execute(query, (identity, lineup))]

    def short_id(self, identity: bytes, lineup: int) -> str:
        """Return the shortest beginning of a match's id that is unique in the log, with its line-up."""
        shortened = (f"{identity.hex()[:digits]}-{lineup}" for digits in range(SHORT_ID, 2 * len(identity)))
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
        for start in range(0, len(identities), BATCH):
            part = identities[start : start + BATCH]
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
        keys = self._keys() if any(row[10] is not None for row in rows) else {}
        if any(row[10] is not None and row[10] not in keys for row in rows):
            raise self._lost_key()
        return [_stored(row, seats.get(row[:2], []), details.get(row[:2], {}), keys.get(row[10])) for row in rows]

    def wrong_estimates(self) -> dict[str, int]:
        """Return how many evaluations, lines and visit counts were wrong in all matches, by the bots' identities."""
        counts: dict[str, int] = {}
        query = (
            "SELECT block, lineup, dropped, group_concat(identity, ' ') FROM (SELECT s.block, s.lineup, dropped, "
            "identity FROM estimates e JOIN seats s USING (block, lineup) JOIN bots USING (bot) WHERE dropped <> '' "
            "ORDER BY s.block, s.lineup, seat) GROUP BY block, lineup"
        )
        for _, _, dropped, identities in self._db.execute(query):
            bots = identities.split(" ")
            for seat, count in read_estimates(b"", dropped)[1].items():
                if seat >= len(bots):
                    raise StoreError(f"{self.path}: the log is damaged: wrong evaluations of a seat that there is not")
                counts[bots[seat]] = counts.get(bots[seat], 0) + count
        return counts

    def damaged(self) -> Iterator[str]:
        """Yield what does not fit its digest: ids of matches, and names of rows of other tables."""
        return damaged(self._db)

    def totals(self) -> tuple[int, int]:
        """Return the numbers of matches and forfeited seats in the whole log."""
        matches = self._db.execute("SELECT count(*) FROM matches").fetchone()[0]
        return matches, self._db.execute("SELECT count(*) FROM seats WHERE cause IS NOT NULL").fetchone()[0]


def in_batches(db: sqlite3.Connection, query: str, identities: Sequence[bytes], order: str = "") -> Iterator[Any]:
    """Yield the rows that a query, ending in `identity IN`, finds for any number of identities of blocks."""
    for start in range(0, len(identities), BATCH):
        part = identities[start : start + BATCH]
        yield from db.execute(f"{query} ({','.join('?' * len(part))}) {order}", part)


@contextlib.contextmanager
def readable(log: StoreReader) -> Iterator[None]:
    """Turn errors that rows of a damaged log cause within into a `StoreError` that names the log."""
    try:
        yield
    except FROM_CONTENT as error:
        check_lock(error, log.path)
        ours = isinstance(error, sqlite3.Error) and primary(error) not in OF_CONTENT
        if ours or isinstance(error, ArenaError):
            raise
        raise StoreError(f"{log.path}: is damaged: {error}; `arena verify` tells more") from None


def _stored(
    row: tuple[Any, ...], seats: list[tuple[Any, ...]], details: dict[int, str], key: SecretKey | None
) -> StoredMatch:
    _, lineup, identity, id, game, players, number, opening, seed, dice, _, ended, moves, final, *more = row
    timed, notes, clocks, retried, *estimates = more
    packed, dropped = read_estimates(*estimates)
    place = Place(identity, id, lineup, game, players, number, opening, seed, Kind(dice), key)
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
