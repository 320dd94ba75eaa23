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
from types import TracebackType
from typing import Any

from arena.core.errors import StoreError, UnwritableError
from arena.match.dice import key_hash
from arena.match.stored import SecretKey
from arena.schedule.blocks import Block, Schedule
from arena.store.beside import check_beside
from arena.store.digests import block_rows, match_digest, row_digest, timing_digest
from arena.store.place import WRITTEN, Place, Row
from arena.store.reading import StoreReader, primary
from arena.store.rows import BotRow, Finished
from arena.store.schema import check_file, connect, keep_locked, lay_out, lock_log
from arena.store.upgrading import upgrade
from arena.store.waiting import Match, end_waiting, key_of, read_waiting, write_waiting

LONG_MOVES = 256
LOCKED_LIMIT = 600.0
"""Seconds that a run waits while another program keeps the log locked; other writers wait `LOCKED_SHORT`."""
LOCKED_SHORT = 30.0
LOCKED_LOOK = 1000
"""Milliseconds from one look at the lock to the next."""
WHOLE = 2.0**51
"""Whole floats below it go into an integer column as integers."""
MOST_BLOCKS = 10_000
"""Blocks of which is remembered where they are in the log."""


class Store(StoreReader):
    """An open log. Use `Store.create` or `Store.open` as a context manager."""

    keep_waiting: Callable[[float], bool] = staticmethod(lambda waited: waited < LOCKED_SHORT)
    """Asked, about once a second, when another program has kept the log locked for so long."""
    remarks: tuple[str, ...] = ()
    """What a user is to be told of its opening."""
    _place: Place | None = None
    """None for one that is only read."""
    _newest: Row = ("runs", None)
    """Of the rows that were written, one of the last."""
    _checkpoint = 0
    """Bytes of the -wal from which it is brought into the log."""

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open for writing, made or brought to this version if need be.

        Raises `StoreError` when another driver holds it or it is no log.
        """
        check_file(path)
        lock = lock_log(path)
        try:
            with in_words(path):
                remarks = upgrade(path) if path.exists() else ()
                store = cls(path, connect(path, "rwc", lay_out), lock)
            store._steer()
            latest = store._db.execute("SELECT digest FROM runs ORDER BY run DESC LIMIT 1").fetchone()
            store._newest = ("runs", latest and latest[0])
            store._place = Place(path, store._newest)
            store.remarks = remarks
            return store
        except BaseException:
            os.close(lock)
            raise

    def _steer(self) -> None:
        """See to it that nothing but `_bring_in` writes to the log itself, and that the size of its -wal tells."""
        pages, page = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("wal_autocheckpoint", "page_size"))
        self._checkpoint = pages * page
        self._db.execute("PRAGMA wal_autocheckpoint = 0")
        self._db.execute("PRAGMA journal_size_limit = 0")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing of what is written within; it may be part of a larger one."""
        if self._db.in_transaction:
            yield
            return
        self.check_place()
        newest = self._newest
        try:
            with in_words(self.path), self._db:
                self._begin()
                yield
                self._check_file()
            self._check_file()
            self._bring_in()
        except BaseException as error:
            self._newest = newest
            if isinstance(error, StoreError):
                self.check_place()
            raise
        self.check_place()

    def _check_file(self) -> None:
        """Raise `StoreError` when the log has been overwritten; what is written goes to its -wal alone."""
        if self._place is not None and not self._place.holds_what_we_left(""):
            raise StoreError(f"{self.path}: has been overwritten")

    def _bring_in(self) -> None:
        """Bring the -wal into the log when it has grown; as SQLite would by itself, but at no other moment."""
        if self._place is not None:
            if self._place.size("-wal") >= self._checkpoint:
                with contextlib.suppress(sqlite3.Error):  # then later: nothing is lost
                    self._db.execute("PRAGMA wal_checkpoint").fetchall()
            self._place.leave(self._newest)

    def check_place(self) -> None:
        """Raise `StoreError` when somebody has taken the log away, or overwritten it, or has its lock."""
        if self._place is None or self._lock is None:
            return
        if not (self._place.is_whole and self._place.holds_what_we_left(*WRITTEN)):
            place, self._place = self._place, None
            raise StoreError(place.save(self._db))
        self._lock = keep_locked(self.path, self._lock)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                if self._place is not None:
                    self._place.next_look = 0.0
                self.check_place()
        finally:
            super().__exit__(kind, error, trace)

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
                self._insert_new("bundles", key, zlib.compress(files.encode()))
            known = {identity for (identity,) in self._db.execute("SELECT identity FROM bots")}
            for bot in bots:
                if bot.identity not in known:
                    row = (bot.identity, bot.spec, bot.module, bot.class_name, bot.bundle)
                    self._insert_new("bots", self._next("bots", "bot"), *row)
                    known.add(bot.identity)
            run = self._next("runs", "run")
            self._insert_new("runs", run, plan, versions, started, None)
        return run

    def _next(self, table: str, key: str) -> int:
        """One more than the largest key."""
        return int(self._db.execute(f"SELECT coalesce(max({key}), 0) + 1 FROM {table}").fetchone()[0])

    def _insert_new(self, table: str, *row: Any) -> None:
        """Insert a row of a table with digests, unless one with its key is there."""
        places = ",".join("?" * (len(row) + 1))
        digest = row_digest(table, row)
        self._db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", (*row, digest))
        if table == "runs":
            self._newest = table, digest

    def finish_run(self, when: str, disclose: bool) -> None:
        """Note that every match of the latest run's plan is in the log and, if so, that its dice key is disclosed."""
        with self.transaction():
            self._set("runs", "finished", when, "run = (SELECT max(run) FROM runs)")
            if disclose:
                self._set("keys", "disclosed", when, "TRUE")
            self._db.execute("DELETE FROM waiting")  # of plans that nobody plays any more

    def _set(self, table: str, column: str, value: str, where: str) -> None:
        """Set a table's last column but for the digest, where it has no value yet."""
        for at, *row, _, _ in self._db.execute(
            f"SELECT rowid, * FROM {table} WHERE {where} AND {column} IS NULL"
        ).fetchall():
            digest = row_digest(table, (*row, value))
            self._db.execute(f"UPDATE {table} SET {column} = ?, digest = ? WHERE rowid = ?", (value, digest, at))
            if table == "runs":
                self._newest = table, digest

    def keep_key(self, key: bytes, created: str, disclosed: str | None = None) -> SecretKey:
        """Keep a key of secret dice for good; the same one twice is refused by the database."""
        with self.transaction():
            row = (self._next("keys", "number"), key, key_hash(key), created, disclosed)
            self._db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)", (*row, row_digest("keys", row)))
        return SecretKey(key, key_hash(key), created, disclosed)

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
            for spec, row, worker, attempts, earlier in results:
                key, block = self._block(schedule, spec.block)
                at = (key, row.lineup)
                moves = row.moves if len(row.moves) < LONG_MOVES else zlib.compress(row.moves.encode())
                notes = json.dumps(row.notes) if row.notes else None
                match = (row.lineup, row.ended, row.plies, int(row.timed), bytes.fromhex(row.final), moves, notes)
                named: list[Any] = []
                for seat, (entry, (rank, score, *forfeit)) in enumerate(zip(spec.seats, row.seats, strict=True)):
                    identity = schedule.entries[entry].identity
                    result = (rank, _as_kept(score) if isinstance(score, float) else score, *forfeit)
                    named += (seat, identity, *result)
                    seats.append((*at, seat, self._bot_key(identity), *result))
                digest = match_digest(block, match, named)
                matches.append((key, *match, digest))
                details = sorted(row.details.items())
                timing = (earlier or run, worker, float(row.seconds), row.clocks, int(row.retried), attempts)
                second = timing_digest(digest, timing, itertools.chain.from_iterable(details))
                timings.append((*at, *timing, second))
                faults.extend((*at, *detail) for detail in details)
            self._db.executemany("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", matches)
            self._db.executemany("INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)", seats)
            self._db.executemany("INSERT INTO timings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", timings)
            self._db.executemany("INSERT INTO faults VALUES (?, ?, ?, ?)", faults)
            if timings:
                self._newest = "timings", timings[-1][-1]

    def keep_apart(self, schedule: Schedule, new: Sequence[Finished], over: Sequence[Match], run: int) -> None:
        """Keep results that wait for earlier ones; forget those `over`, which have passed or left the plan."""
        with self.transaction():
            end_waiting(self._db, over)
            write_waiting(self._db, ((self._as_text(schedule, each.spec.block), each) for each in new), run)

    def waiting(self, schedule: Schedule, blocks: Sequence[Block]) -> dict[Match, Finished]:
        """Results of blocks that wait for earlier ones."""
        found = read_waiting(self._db, {block.identity: self._as_text(schedule, block) for block in blocks})
        if not found:
            return {}
        specs = {key_of(spec): spec for block in blocks for spec in schedule.matches(block)}
        shapes = ((specs[key], result) for key, result in found.items() if key in specs)
        fits = ((spec, result) for spec, result in shapes if len(result[0].seats) == len(spec.seats))
        return {key_of(spec): Finished(spec, *result) for spec, result in fits}

    def _block(self, schedule: Schedule, block: Block) -> tuple[int, str]:
        """A block's key in the log, and its row there as text; made if need be."""
        found = self._blocks.get(block.identity)
        if found is None:
            if len(self._blocks) > MOST_BLOCKS:
                self._blocks.clear()
            found = self._blocks[block.identity] = self._new_block(schedule, block)
        return found

    def _as_text(self, schedule: Schedule, block: Block) -> str:
        """A block's row as it goes into digests."""
        board = schedule.boards[block.board]
        rest = (board.game, board.players, block.round, board.opening, schedule.seed, int(block.dice))
        named = (block.key,) if block.key else ()
        return ascii((block.identity, block.id, *rest, *named))

    def _new_block(self, schedule: Schedule, block: Block) -> tuple[int, str]:
        board = schedule.boards[block.board]
        at = (board.game, board.players)
        rest = (block.round, board.opening, schedule.seed, int(block.dice))
        key = self._number(block.key) if block.key else None
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO blocks (identity, id, board, round, opening, seed, dice, key) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (block.identity, block.id, self._board_key(*at), *rest, key),
        )
        if cursor.rowcount == 1:
            return int(cursor.lastrowid or 0), self._as_text(schedule, block)
        found = self._db.execute("SELECT block FROM blocks WHERE identity = ?", (block.identity,)).fetchone()
        return found[0], ascii(block_rows(self._db, found)[found[0]])

    def _number(self, hash: str) -> int:
        """Of a key of secret dice."""
        row = self._db.execute("SELECT number FROM keys WHERE hash = ?", (hash,)).fetchone()
        if row is None:
            raise self._lost_key()
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
def in_words(log: Path) -> Iterator[None]:
    """SQLite's errors as a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if primary(error) == sqlite3.SQLITE_CONSTRAINT:
            what = f"another program has written to it ({error}); end that one, then start again: nothing is lost"
            raise StoreError(f"{log}: {what}") from None
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


def _as_kept(score: float) -> float:
    """The database turns a whole score into an integer, and so do we."""
    return int(score) if score.is_integer() and abs(score) < WHOLE else score


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
    with contextlib.suppress(sqlite3.Error, StoreError):
        check_beside(log)
        with contextlib.closing(sqlite3.connect(log)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
