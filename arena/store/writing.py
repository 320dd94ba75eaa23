"""Write a log, one driver at a time."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from arena.core.database_shape import SQLITE_FILE_SUFFIXES, check_beside, check_file
from arena.core.errors import StoreError, UnwritableError
from arena.match.dice import key_hash
from arena.match.stored import SecretKey
from arena.schedule.blocks import Block, Schedule
from arena.schedule.tables import Table
from arena.store.content_errors import primary_code
from arena.store.digests import block_rows, match_digest, row_digest, timing_digest
from arena.store.file_guard import DATA_FILE_SUFFIXES, FileGuard, Row
from arena.store.locking import keep_locked, lock_log
from arena.store.plan_deltas import WHOLE_PLAN_RUNS, pack_plan
from arena.store.reading import StoreReader
from arena.store.rows import BotRow, EventRow, FinishedMatch, estimate_columns
from arena.store.schema import connect, create_tables

MIN_COMPRESSED_MOVES_CHARS = 256
"""Characters from which the moves of a match are compressed."""
RUN_LOCK_TIMEOUT_SECONDS = 600.0
"""Longest time in seconds that a run waits for another program to unlock the database."""
LOCK_TIMEOUT_SECONDS = 30.0
"""The same for other writers."""
LOCK_POLL_MILLISECONDS = 1000
"""Milliseconds between two attempts."""
MAX_WHOLE_FLOAT = 2.0**51
"""Bound of the whole floats that SQLite converts to integers in an integer column."""
MAX_CACHED_BLOCKS = 10_000
"""Blocks whose keys are cached."""


class Store(StoreReader):
    """An open log. Use `Store.create` or `Store.open` as a context manager."""

    keep_waiting: Callable[[float], bool] = staticmethod(lambda waited: waited < LOCK_TIMEOUT_SECONDS)
    """Return whether to go on waiting, given the seconds waited so far for another program to unlock the database."""
    _guard: FileGuard | None = None
    """The open files; None for a log that is only read."""
    _newest: Row = ("runs", None)
    """A recently written row."""
    checkpoint_bytes = 0
    """Size in bytes of the -wal at which it is copied into the log."""

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open a log for writing, create it if it is missing.

        Raises `StoreError` when another process writes to it or it is no log.
        """
        check_file(path)
        lock = lock_log(path)
        try:
            with explaining_errors(path):
                store = cls(path, connect(path, "rwc", create_tables), lock)
            store._steer()
            latest = store._db.execute("SELECT digest FROM runs ORDER BY run DESC LIMIT 1").fetchone()
            store._newest = ("runs", latest and latest[0])
            store._guard = FileGuard(path, store._newest)
            return store
        except BaseException:
            os.close(lock)
            raise

    def _steer(self) -> None:
        """Turn automatic checkpoints off, so that only `_checkpoint_if_grown` writes to the database file itself."""
        pages, page = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("wal_autocheckpoint", "page_size"))
        self.checkpoint_bytes = pages * page
        self._db.execute("PRAGMA wal_autocheckpoint = 0")
        self._db.execute("PRAGMA journal_size_limit = 0")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all writes within one transaction; an inner one is part of the outer one."""
        if self._db.in_transaction:
            yield
            return
        self.check_files()
        newest = self._newest
        try:
            with explaining_errors(self.path), self._db:
                self._begin()
                yield
                self._check_overwritten()
            self._check_overwritten()
            self._checkpoint_if_grown()
        except BaseException as error:
            self._newest = newest
            if isinstance(error, StoreError):
                self.check_files()
            raise
        self.check_files()

    def _check_overwritten(self) -> None:
        """Raise `StoreError` if the log was overwritten; own writes change only its -wal."""
        if self._guard is not None and not self._guard.is_unchanged(""):
            raise StoreError(f"{self.path}: has been overwritten")

    def _checkpoint_if_grown(self) -> None:
        """Copy the -wal into the log when it has grown, as SQLite's automatic checkpoint would, but only here."""
        if self._guard is not None:
            if self._guard.size("-wal") >= self.checkpoint_bytes:
                with contextlib.suppress(sqlite3.Error):  # then later: nothing is lost
                    self._db.execute("PRAGMA wal_checkpoint").fetchall()
            self._guard.record(self._newest)

    def check_files(self) -> None:
        """Raise `StoreError` if the log was removed, replaced or overwritten, or another process has its lock."""
        if self._guard is None or self._lock is None:
            return
        if not (self._guard.is_in_place and self._guard.is_unchanged(*DATA_FILE_SUFFIXES)):
            guard, self._guard = self._guard, None
            raise StoreError(guard.save(self._db))
        self._lock = keep_locked(self.path, self._lock)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                if self._guard is not None:
                    self._guard.next_check = 0.0
                self.check_files()
        finally:
            super().__exit__(kind, error, trace)

    def _begin(self) -> None:
        """Begin a write transaction, waiting until no other program writes."""
        started = time.monotonic()
        self._db.execute(f"PRAGMA busy_timeout = {LOCK_POLL_MILLISECONDS}")
        while True:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - started
                if (
                    primary_code(error) != sqlite3.SQLITE_BUSY
                    or waited > RUN_LOCK_TIMEOUT_SECONDS
                    or not self.keep_waiting(waited)
                ):
                    raise

    def begin_run(
        self,
        plan: str,
        versions: str,
        started: str,
        bots: Iterable[BotRow],
        bundles: dict[str, str],
        events: Iterable[EventRow] = (),
        has_rounds: bool = False,
    ) -> int:
        """Record a run, its bots and their bundles (JSON of hexadecimal files, by hash); return its number.

        `events` are those that a round of a contest is bound to. Plans that have rounds are kept as what differs.
        """
        with self.transaction():
            for event in events:
                self.insert_new("events", self._next("events", "number"), *event)
            for key, files in bundles.items():
                self.insert_new("bundles", key, zlib.compress(files.encode()))
            known = {identity for (identity,) in self._db.execute("SELECT identity FROM bots")}
            for bot in bots:
                if bot.identity not in known:
                    row = (bot.identity, bot.spec, bot.module, bot.class_name, bot.bundle)
                    self.insert_new("bots", self._next("bots", "bot"), *row)
                    known.add(bot.identity)
            run = self._next("runs", "run")
            if run > 1 and (run - 1) % WHOLE_PLAN_RUNS and has_rounds:
                self._pack_plan(run - 1, plan)
            self.insert_new("runs", run, plan, versions, started, None)
        return run

    def _pack_plan(self, run: int, following: str) -> None:
        """Keep the plan of a run as what differs from that of the following one."""
        plan = self.runs.last_plan()
        packed = pack_plan(plan, following)
        row = self._db.execute("SELECT versions, started, finished FROM runs WHERE run = ?", (run,)).fetchone()
        digest = row_digest("runs", (run, packed, *row))
        self._db.execute("UPDATE runs SET plan = ?, digest = ? WHERE run = ?", (packed, digest, run))

    def end_season(self, when: str) -> None:
        """Record that the season of a contest has ended, and disclose the keys of its secret dice."""
        with self.transaction():
            self._set("runs", "finished", when, "run = (SELECT max(run) FROM runs)")
            self._set("keys", "disclosed", when, "TRUE")

    def erase_sources(self, bundles: Iterable[str]) -> None:
        """Remove the files of bundles, also from the pages that become free; their bots and results stay."""
        self._db.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            for bundle in bundles:
                digest = row_digest("bundles", (bundle, b""))
                self._db.execute("UPDATE bundles SET files = x'', digest = ? WHERE bundle = ?", (digest, bundle))

    def _next(self, table: str, key: str) -> int:
        """Return one more than the largest key."""
        return int(self._db.execute(f"SELECT coalesce(max({key}), 0) + 1 FROM {table}").fetchone()[0])

    def insert_new(self, table: str, *row: Any) -> None:
        """Insert a row with its digest, unless a row with its key exists."""
        places = ",".join("?" * (len(row) + 1))
        digest = row_digest(table, row)
        self._db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", (*row, digest))
        if table == "runs":
            self._newest = table, digest

    def finish_run(self, when: str, counted: Iterable[Block] | None = None) -> None:
        """Record that every match of the latest run's plan is in the log.

        Given the blocks that count, disclose all keys of secret dice. Any other block in the log that has one of them
        is drawn anew if it comes to count, since whether it is there depended on what was played first.
        """
        with self.transaction():
            self._set("runs", "finished", when, "run = (SELECT max(run) FROM runs)")
            if counted is not None:
                query = "SELECT identity FROM blocks b JOIN keys k ON b.key = k.number WHERE k.disclosed IS NULL"
                there = {identity for (identity,) in self._db.execute(query)}
                for identity in sorted(there.difference(block.identity for block in counted) if there else ()):
                    self.insert_new("uncounted", identity)
                self._set("keys", "disclosed", when, "TRUE")

    def _set(self, table: str, column: str, value: str, where: str) -> None:
        """Set a table's last column before the digest in rows where it is NULL."""
        for at, *row, _, _ in self._db.execute(
            f"SELECT rowid, * FROM {table} WHERE {where} AND {column} IS NULL"
        ).fetchall():
            digest = row_digest(table, (*row, value))
            self._db.execute(f"UPDATE {table} SET {column} = ?, digest = ? WHERE rowid = ?", (value, digest, at))
            if table == "runs":
                self._newest = table, digest

    def keep_key(self, key: bytes, created: str, disclosed: str | None = None) -> SecretKey:
        """Store a key of secret dice; the database refuses the same key twice."""
        with self.transaction():
            row = (self._next("keys", "number"), key, key_hash(key), created, disclosed)
            self._db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)", (*row, row_digest("keys", row)))
        return SecretKey(key, key_hash(key), created, disclosed)

    def add(self, schedule: Schedule, results: Sequence[FinishedMatch], run: int) -> None:
        """Write finished matches in one transaction; the database refuses a match that it has."""
        try:
            self._add(schedule, results, run)
        except BaseException:  # cached keys of this transaction are not in the log
            self._blocks.clear()
            self._boards.clear()
            raise

    def _add(self, schedule: Schedule, results: Sequence[FinishedMatch], run: int) -> None:
        rows: tuple[list[tuple[Any, ...]], ...] = ([], [], [], [], [])
        matches, seats, timings, faults, estimates = rows
        sitting: dict[Table, list[tuple[int, str, int]]] = {}
        """By entries of the seats: seat, identity and key of each bot."""
        with self.transaction():
            for spec, row, worker, attempts in results:
                key, block = self._block(schedule, spec.block)
                lineup = row.lineup
                if spec.seats not in sitting:
                    names = [schedule.entries[entry].identity for entry in spec.seats]
                    sitting[spec.seats] = [(seat, name, self._bot_key(name)) for seat, name in enumerate(names)]
                moves = row.moves if len(row.moves) < MIN_COMPRESSED_MOVES_CHARS else zlib.compress(row.moves.encode())
                notes = json.dumps(row.notes) if row.notes else None
                match = (lineup, row.ended, row.plies, int(row.timed), bytes.fromhex(row.final), moves, notes)
                named: list[Any] = []
                for (seat, name, bot), (rank, score, cause, ply) in zip(sitting[spec.seats], row.seats, strict=True):
                    kept = _as_stored_score(score) if isinstance(score, float) else score
                    named += (seat, name, rank, kept, cause, ply)
                    seats.append((key, lineup, seat, bot, rank, kept, cause, ply))
                digest = match_digest(block, match, named)
                matches.append((key, *match, digest))
                details = sorted(row.details.items()) if row.details else ()
                timing = (run, worker, float(row.seconds), row.clocks, int(row.retried), attempts)
                estimate = estimate_columns(row.estimates, row.dropped) if row.estimates or row.dropped else ()
                second = timing_digest(digest, timing, itertools.chain.from_iterable(details), estimate)
                timings.append((key, lineup, *timing, second))
                faults += [(key, lineup, *detail) for detail in details]
                if estimate:
                    estimates.append((key, lineup, *estimate))
            self._db.executemany("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", matches)
            self._db.executemany("INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)", seats)
            self._db.executemany("INSERT INTO timings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", timings)
            self._db.executemany("INSERT INTO faults VALUES (?, ?, ?, ?)", faults)
            self._db.executemany("INSERT INTO estimates VALUES (?, ?, ?, ?)", estimates)
            if timings:
                self._newest = "timings", timings[-1][-1]

    def _block(self, schedule: Schedule, block: Block) -> tuple[int, str]:
        """Return a block's key in the log and its row as text, inserting it if it is missing."""
        found = self._blocks.get(block.identity)
        if found is None:
            if len(self._blocks) > MAX_CACHED_BLOCKS:
                self._blocks.clear()
            found = self._blocks[block.identity] = self._new_block(schedule, block)
        return found

    def _new_block(self, schedule: Schedule, block: Block) -> tuple[int, str]:
        row = _block_row(schedule, block)
        if key := self._insert_block(*row):
            return key, ascii(row)
        found = self._db.execute("SELECT block FROM blocks WHERE identity = ?", (block.identity,)).fetchone()
        return found[0], ascii(block_rows(self._db, found)[found[0]])

    def _insert_block(self, identity: bytes, id: bytes, game: str, players: int, *rest: Any) -> int:
        """Insert a block given its row and return its key, 0 if it was there."""
        *plain, hash = rest if len(rest) > 4 else (*rest, None)
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO blocks (identity, id, board, round, opening, seed, dice, key) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (identity, id, self._board_key(game, players), *plain, hash and self._number(hash)),
        )
        return int(cursor.lastrowid or 0) if cursor.rowcount == 1 else 0

    def _number(self, hash: str) -> int:
        """Return the number of a key of secret dice, given its hash."""
        row = self._db.execute("SELECT number FROM keys WHERE hash = ?", (hash,)).fetchone()
        if row is None:
            raise self.keys.lost_key()
        return int(row[0])

    def _board_key(self, game: str, players: int) -> int:
        at = (game, players)
        if at not in self._boards:
            self._db.execute("INSERT OR IGNORE INTO boards (game, players) VALUES (?, ?)", at)
            query = "SELECT board FROM boards WHERE game = ? AND players = ?"
            self._boards[at] = self._db.execute(query, at).fetchone()[0]
        return self._boards[at]

    def _bot_key(self, identity: str) -> int:
        if identity not in self._bots:
            self._bots.update(self._db.execute("SELECT identity, bot FROM bots"))
        return self._bots[identity]


@contextlib.contextmanager
def explaining_errors(log: Path) -> Iterator[None]:
    """Turn SQLite's errors within into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CONSTRAINT:
            what = f"another program has written to it ({error}); end that one, then start again: nothing is lost"
            raise StoreError(f"{log}: {what}") from None
        message = {
            sqlite3.SQLITE_FULL: (f"{log}: the disk is full", "Make room"),
            sqlite3.SQLITE_IOERR: (f"{log}: the disk does not take it ({error})", "Make room, or see to the disk"),
            sqlite3.SQLITE_READONLY: (f"{log}: is read-only", "Make it writable"),
            sqlite3.SQLITE_CANTOPEN: (f"{log}: cannot be opened to write", "Make room, or make its folder writable"),
            sqlite3.SQLITE_BUSY: (f"{log}: another program keeps it locked", "End that program"),
        }.get(primary_code(error))
        if message is None:
            raise StoreError(f"{log}: cannot be used as a match log: {error}") from None
        raise UnwritableError(*message) from None


def _block_row(schedule: Schedule, block: Block) -> tuple[Any, ...]:
    """Return a block's row as digests contain it."""
    board = schedule.boards[block.board]
    rest = (board.game, board.players, block.round, board.opening, schedule.seed, int(block.dice))
    return (block.identity, block.id, *rest, block.key) if block.key else (block.identity, block.id, *rest)


def _as_stored_score(score: float) -> float:
    """Return a score as SQLite stores it in an integer column."""
    return int(score) if score.is_integer() and abs(score) < MAX_WHOLE_FLOAT else score


def move_into_place(made: Path, log: Path) -> None:
    """Rename a new log to its final name; raises `StoreError` if another run has created that one meanwhile."""
    lock = lock_log(log)
    try:
        if log.exists():
            raise StoreError(f"{log}: another run has made this log meanwhile; try again")
        for suffix in SQLITE_FILE_SUFFIXES:  # left by a log that was removed: SQLite would take them for this one's
            Path(f"{log}{suffix}").unlink(missing_ok=True)
        made.rename(log)
    finally:
        os.close(lock)


def set_aside(log: Path) -> Path | None:
    """Rename an existing log, sound or not, to matches.1.db (or .2, .3 ...) and return its new path.

    Raises `StoreError` while a run writes to it.
    """
    if not log.exists():
        return None
    lock = lock_log(log)
    try:
        _checkpoint_fully(log)
        kept = next(path for n in itertools.count(1) if not (path := log.with_suffix(f".{n}.db")).exists())
        for suffix in (*SQLITE_FILE_SUFFIXES, ""):  # SQLite's own files first: they are found by the name of the log
            part = Path(f"{log}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
    finally:
        os.close(lock)
    return kept


def _checkpoint_fully(log: Path) -> None:
    """Copy the write-ahead log into the database, so that only one file has to be renamed."""
    with contextlib.suppress(sqlite3.Error, StoreError):
        check_beside(log)
        with contextlib.closing(sqlite3.connect(log)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
