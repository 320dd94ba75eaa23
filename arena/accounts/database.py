"""How `arena.db` is opened, read and changed: every change is one transaction, with a row in the audit log."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from arena.accounts.schema import SCHEMA, SCHEMA_VERSION
from arena.core.database_shape import Parts, check_beside, check_file, check_shape, check_values, harden, schema_parts
from arena.core.errors import AccountError, LockedError, StoreError
from arena.core.names import DATABASE_FILE
from arena.core.paths import home_folder

BUSY_TIMEOUT_SECONDS = 30.0
"""Time to wait while another process writes."""
MODE = 0o600
"""Rights of the file: it holds names, and hashes of tokens."""
WHAT = "a home's database"
OPERATOR, ARENA = "operator", "arena"
"""Actors that are no authors: who has the command line, and the arena itself."""
LOCKED_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def as_text(time: datetime) -> str:
    """Return a time as the database has it; texts are in the order of their times."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class AuditRow(NamedTuple):
    """A change that somebody made."""

    number: int
    time: str
    actor: str
    action: str
    contest: str | None
    subject: str
    details: dict[str, Any]


class Event(NamedTuple):
    """Something that happened in a contest, for everybody to know."""

    number: int
    contest: str
    time: str
    kind: str
    data: dict[str, Any]


class Change:
    """A transaction that changes the database."""

    def __init__(self, db: sqlite3.Connection, actor: str, now: datetime) -> None:
        self._db, self.actor, self.time = db, actor, now
        self.now = as_text(now)

    def run(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Run a statement."""
        return self._db.execute(sql, values)

    def one(self, sql: str, *values: object) -> Any:
        """Return the first row of a query; None without one."""
        return self.run(sql, *values).fetchone()

    def audit(self, action: str, subject: str, contest: str | None = None, **details: object) -> None:
        """Record who changes what."""
        self.run(
            "INSERT INTO audit (time, actor, action, contest, subject, details) VALUES (?, ?, ?, ?, ?, ?)",
            *(self.now, self.actor, action, contest, subject, json.dumps(details, sort_keys=True)),
        )

    def publish(self, contest: str, kind: str, **data: object) -> None:
        """Tell everybody what happened in a contest."""
        self.run(
            "INSERT INTO events (contest, time, kind, data) VALUES (?, ?, ?, ?)",
            *(contest, self.now, kind, json.dumps(data, sort_keys=True)),
        )


class Database:
    """The open database of a home; safe to use from several threads."""

    def __init__(self, home: str | Path | None = None, clock: Clock = utc_now) -> None:
        """Open the database of a home, or create it; raises `StoreError` for a file that is none."""
        self.path, self.clock = home_folder(home) / DATABASE_FILE, clock
        self._lock = threading.RLock()
        with _explained(self.path):
            self._db = _connect(self.path)

    @contextlib.contextmanager
    def change(self, actor: str, wait: bool = True) -> Iterator[Change]:
        """Begin a change, which is kept when the block ends and undone when it raises.

        Without `wait` it raises `LockedError` at once where another process is writing.
        """
        with self._lock, _explained(self.path):
            self._begin(wait)
            try:
                yield Change(self._db, actor, self.clock())
                self._db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    def _begin(self, wait: bool) -> None:
        if wait:
            self._db.execute("BEGIN IMMEDIATE")
            return
        self._db.execute("PRAGMA busy_timeout = 0")
        try:
            self._db.execute("BEGIN IMMEDIATE")
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {1000 * BUSY_TIMEOUT_SECONDS:.0f}")

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Return the rows of a query."""
        with self._lock, _explained(self.path):
            return self._db.execute(sql, values).fetchall()

    def one(self, sql: str, *values: object) -> Any:
        """Return the first row of a query; None without one."""
        return next(iter(self.rows(sql, *values)), None)

    def audit(self, contest: str | None = None, after: int = 0, most: int = 100) -> list[AuditRow]:
        """Return changes after a number, of a contest or all, in their order."""
        of, values = ("", ()) if contest is None else ("contest = ? AND ", (contest,))
        query = f"SELECT number, time, actor, action, contest, subject, details FROM audit WHERE {of}number > ?"
        found = self.rows(f"{query} ORDER BY number LIMIT ?", *values, after, most)
        return [AuditRow._make((*row[:6], json.loads(row[6]))) for row in found]

    def latest_audit(self, contest: str, most: int) -> list[AuditRow]:
        """Return the latest changes of a contest, the newest first."""
        query = "SELECT number, time, actor, action, contest, subject, details FROM audit WHERE contest = ?"
        found = self.rows(f"{query} ORDER BY number DESC LIMIT ?", contest, most)
        return [AuditRow._make((*row[:6], json.loads(row[6]))) for row in found]

    def audit_of_author(self, author: str) -> list[AuditRow]:
        """Return all changes that an author made, or that concern the author, the author's bots and their versions."""
        query = (
            "SELECT number, time, actor, action, contest, subject, details FROM audit WHERE actor = ?1 OR subject = ?1 "
            "OR substr(subject, 1, instr(subject || '.', '.') - 1) IN "
            "(SELECT 'b' || bot FROM bots WHERE 'a' || author = ?1) ORDER BY number"
        )
        return [AuditRow._make((*row[:6], json.loads(row[6]))) for row in self.rows(query, author)]

    def events(self, contest: str, after: int = 0, most: int = 100) -> list[Event]:
        """Return what happened in a contest after a number, in order."""
        query = "SELECT number, contest, time, kind, data FROM events WHERE contest = ? AND number > ?"
        found = self.rows(f"{query} ORDER BY number LIMIT ?", contest, after, most)
        return [Event._make((*row[:4], json.loads(row[4]))) for row in found]

    def copy(self, target: Path) -> None:
        """Write a copy of the database as it is now, while others go on reading and writing."""
        with self._lock, _explained(self.path), contextlib.closing(sqlite3.connect(target)) as copy:
            self._db.backup(copy)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()


@functools.cache
def database_parts() -> Parts:
    """Return the tables and indexes of the database."""
    return schema_parts(SCHEMA)


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    check_beside(path)
    check_file(path, WHAT)
    with contextlib.suppress(FileExistsError):  # so that nobody else can read it for a moment
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, MODE))
    with contextlib.ExitStack() as undo:
        db = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        undo.enter_context(contextlib.closing(db))
        harden(db)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            db.execute(f"PRAGMA {setting}")
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif version != SCHEMA_VERSION:
            raise StoreError(f"{path}: has version {version}, and this arena reads version {SCHEMA_VERSION} alone")
        db.execute("COMMIT")
        check_shape(db, database_parts(), path, WHAT)
        check_values(db, path)
        undo.pop_all()
    return db


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of files into one line."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in LOCKED_CODES:
            raise LockedError(f"{path}: another process has been writing for {BUSY_TIMEOUT_SECONDS:g} s") from None
        raise StoreError(f"{path}: {error}") from None
    except OverflowError:
        raise AccountError("a number is larger than any id") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be used: {error.strerror}") from None
