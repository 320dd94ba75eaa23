"""Writing a log: one driver at a time."""

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
from typing import Any

from arena.dice import key_hash
from arena.errors import StoreError, UnwritableError
from arena.schedule import Block, Schedule
from arena.store.reading import StoreReader
from arena.store.rows import BotRow, Finished, SecretKey
from arena.store.schema import connect, lay_out, lock_log

LONG_COURSE = 256
LOCKED_LIMIT = 600.0
"""Seconds that a run waits while another program keeps the log locked; other writers wait `LOCKED_SHORT`."""
LOCKED_SHORT = 30.0
LOCKED_LOOK = 1000
"""Milliseconds from one look at the lock to the next."""


class Store(StoreReader):
    """An open log. Use `Store.create` or `Store.open` as a context manager."""

    keep_waiting: Callable[[float], bool] = staticmethod(lambda waited: waited < LOCKED_SHORT)
    """Asked, about once a second, when another program has kept the log locked for so long."""

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open for writing, made if need be. Raises `StoreError` when another driver holds it or it is no log."""
        lock = lock_log(path)
        try:
            with in_words(path):
                return cls(path, connect(path, "rwc", lay_out), lock)
        except StoreError:
            os.close(lock)
            raise

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing of what is written within; it may be part of a larger one."""
        if self._db.in_transaction:
            yield
            return
        with in_words(self.path), self._db:
            self._begin()
            yield

    def _begin(self) -> None:
        """Begin to write as soon as no other program does."""
        started = time.monotonic()
        self._db.execute(f"PRAGMA busy_timeout = {LOCKED_LOOK}")
        while True:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - started
                if primary(error) != sqlite3.SQLITE_BUSY or waited > LOCKED_LIMIT or not self.keep_waiting(waited):
                    raise

    def begin_run(self, plan: str, versions: str, started: str, bots: Iterable[BotRow], bundles: dict[str, str]) -> int:
        """Note a run, its bots and their source (JSON of hexadecimal files by bundle hash); return its number."""
        with self.transaction():
            for key, files in bundles.items():
                self._db.execute("INSERT OR IGNORE INTO bundles VALUES (?, ?)", (key, zlib.compress(files.encode())))
            for bot in bots:
                self._db.execute(
                    "INSERT OR IGNORE INTO bots (identity, spec, module, class, bundle) VALUES (?, ?, ?, ?, ?)",
                    (bot.identity, bot.spec, bot.module, bot.class_name, bot.bundle),
                )
            cursor = self._db.execute(
                "INSERT INTO runs (plan, versions, started) VALUES (?, ?, ?)", (plan, versions, started)
            )
        return int(cursor.lastrowid or 0)

    def finish_run(self, when: str, disclose: bool) -> None:
        """Note that every match of the latest run's plan is in the log and, if so, that its dice key is disclosed."""
        with self.transaction():
            self._db.execute(
                "UPDATE runs SET finished = ? WHERE run = (SELECT max(run) FROM runs) AND finished IS NULL", (when,)
            )
            if disclose:
                self._db.execute("UPDATE keys SET disclosed = ? WHERE disclosed IS NULL", (when,))

    def keep_key(self, key: bytes, drawn: str, disclosed: str | None = None) -> SecretKey:
        """Keep the key of secret dice for good; a second one is refused by the database."""
        with self.transaction():
            self._db.execute("INSERT INTO keys VALUES (1, ?, ?, ?, ?)", (key, key_hash(key), drawn, disclosed))
        return SecretKey(key, key_hash(key), drawn, disclosed)

    def add(self, schedule: Schedule, results: Sequence[Finished], run: int) -> None:
        """Write finished matches in one transaction; a match that is there already is refused by the database."""
        try:
            self._add(schedule, results, run)
        except BaseException:  # what was remembered of this transaction is not in the log
            self._blocks.clear()
            self._boards.clear()
            raise

    def _add(self, schedule: Schedule, results: Sequence[Finished], run: int) -> None:
        rows: tuple[list[tuple[Any, ...]], ...] = ([], [], [], [])
        matches, seats, timings, faults = rows
        with self.transaction():
            for spec, row, worker, attempts in results:
                key = self._block_key(schedule, spec.block)
                at = (key, row.lineup)
                course = row.course if len(row.course) < LONG_COURSE else zlib.compress(row.course.encode())
                notes = json.dumps(row.notes) if row.notes else None
                final = bytes.fromhex(row.final)
                matches.append((*at, row.ended, row.plies, int(row.timed), final, course, notes))
                for seat, (entry, result) in enumerate(zip(spec.seats, row.seats, strict=True)):
                    seats.append((*at, seat, self._bot_key(schedule.entries[entry].identity), *result))
                timings.append((*at, run, worker, row.seconds, row.clocks, int(row.again), attempts))
                faults.extend((*at, int(seat), detail) for seat, detail in row.details.items())
            self._db.executemany("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", matches)
            self._db.executemany("INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)", seats)
            self._db.executemany("INSERT INTO timings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", timings)
            self._db.executemany("INSERT INTO faults VALUES (?, ?, ?, ?)", faults)

    def _block_key(self, schedule: Schedule, block: Block) -> int:
        key = self._blocks.get(block.identity)
        if key is None:
            key = self._blocks[block.identity] = self._new_block(schedule, block)
        return key

    def _new_block(self, schedule: Schedule, block: Block) -> int:
        board = schedule.boards[block.board]
        at = (board.game, board.players)
        if at not in self._boards:
            self._db.execute("INSERT OR IGNORE INTO boards (game, players) VALUES (?, ?)", at)
            query = "SELECT board FROM boards WHERE game = ? AND players = ?"
            self._boards[at] = self._db.execute(query, at).fetchone()[0]
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO blocks (identity, id, board, round, opening, seed, secret) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(block.identity, block.id, self._boards[at], block.round, board.opening),
                *(schedule.seed, int(schedule.secret != "")),
            ),
        )
        if cursor.rowcount == 1:
            return int(cursor.lastrowid or 0)
        found = self._db.execute("SELECT block FROM blocks WHERE identity = ?", (block.identity,))
        return int(found.fetchone()[0])

    def _bot_key(self, identity: str) -> int:
        if identity not in self._bots:
            self._bots.update(self._db.execute("SELECT identity, bot FROM bots"))
        return self._bots[identity]


def primary(error: sqlite3.Error) -> int:
    """SQLite's number of an error, without what goes into detail."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextlib.contextmanager
def in_words(log: Path) -> Iterator[None]:
    """SQLite's errors as a `StoreError` that says what to do; a match that is there already is an error of ours."""
    try:
        yield
    except sqlite3.Error as error:
        if primary(error) == sqlite3.SQLITE_CONSTRAINT:
            raise
        told = {
            sqlite3.SQLITE_FULL: (f"{log}: the disk is full", "Make room"),
            sqlite3.SQLITE_IOERR: (f"{log}: the disk does not take it ({error})", "Make room, or see to the disk"),
            sqlite3.SQLITE_READONLY: (f"{log}: is read-only", "Make it writable"),
            sqlite3.SQLITE_CANTOPEN: (f"{log}: cannot be opened to write", "Make room, or make its folder writable"),
            sqlite3.SQLITE_BUSY: (f"{log}: another program keeps it locked", "End that program"),
        }.get(primary(error))
        if told is None:
            raise StoreError(f"{log}: cannot be used as a match log: {error}") from None
        raise UnwritableError(*told) from None


def set_aside(log: Path) -> Path | None:
    """Rename a log that is there, sound or not, to matches.1.db (or .2, .3 ...); its new path.

    Raises `StoreError` while a run writes to it.
    """
    if not log.exists():
        return None
    lock = lock_log(log)
    try:
        _bring_in(log)
        kept = next(path for n in itertools.count(1) if not (path := log.with_suffix(f".{n}.db")).exists())
        for suffix in ("-wal", "-shm", ""):  # SQLite's own files first: they are found by the name of the log
            part = Path(f"{log}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
    finally:
        os.close(lock)
    return kept


def _bring_in(log: Path) -> None:
    """Bring the write-ahead log into the database, so that one file is renamed and no moment is bad for a kill."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(log)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
