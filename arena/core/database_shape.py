"""Checks of a database before it is used: nothing in it may run code or mislead queries.

A log may come from a stranger, and so may a home. A view or a trigger in it would run with every query; an index with
another collation, or a default, would change what queries find. So tables and indexes are compared with the schema word
for word, and the types of values, which SQLite does not enforce, column by column.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from arena.core.errors import StoreError
from arena.core.files import SQLITE_HEADER, open_regular

SQLITE_FILE_SUFFIXES = ("-wal", "-shm")
"""Endings of the names of the two files that SQLite keeps beside an open database."""
JOURNAL_SUFFIX = "-journal"
"""Ending of the name of a rollback journal, which SQLite reads first; a log has one while it is created."""
SUPER_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Last bytes of a journal that names a super-journal, a file that SQLite would delete; the arena writes none."""
COMMENT_PATTERN = re.compile(r"--[^\n]*")
SPACE_PATTERN = re.compile(r"[ \t\n\f\r]+")
"""White space of SQL."""
MAX_VALUE_BYTES = 2**28
"""Largest value and row, in bytes."""
MAX_SQL_BYTES = 2**16
"""Longest SQL statement, in bytes, those stored in the file included."""
SQLITE_VALUE_TYPES = {
    "INTEGER": "'integer'",
    "TEXT": "'text'",
    "BLOB": "'blob'",
    "REAL": "'real'",
    "": "'text', 'blob'",
}
"""Types of values by the type of their column; a score may be a float in a column of integers."""

Parts = frozenset[tuple[str, str, str, str | None]]
"""Kind, name, table and SQL of everything in a database."""


def check_file(path: Path, what: str = "a match log") -> None:
    """Raise `StoreError` if a file exists and is no SQLite database, before a lock file is made beside it."""
    try:
        with open_regular(path) as file:
            head = file.read(len(SQLITE_HEADER))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path}: cannot be used as {what}: {error.strerror}") from None
    if head and head != SQLITE_HEADER:
        raise StoreError(f"{path}: cannot be used as {what}: file is not a database")


def check_beside(log: Path) -> None:
    """Raise `StoreError` for files beside a log that would make SQLite wait, follow a link, or delete another file.

    Only the journal is opened: closing one of the others would release this process's locks on it.
    """
    for suffix in (JOURNAL_SUFFIX, *SQLITE_FILE_SUFFIXES):
        path = f"{log}{suffix}"
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise StoreError(f"{path}: is no regular file, which SQLite keeps there; remove it")
    with contextlib.suppress(OSError), open_regular(f"{log.name}{JOURNAL_SUFFIX}", log.parent) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(SUPER_JOURNAL_MAGIC)))
        if file.read(len(SUPER_JOURNAL_MAGIC)) == SUPER_JOURNAL_MAGIC:
            raise StoreError(f"{log}{JOURNAL_SUFFIX}: names another file, for SQLite to delete; remove it")


def harden(db: sqlite3.Connection) -> None:
    """Keep a database from running code of its own, and from taking more memory than a log needs."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES)
    db.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def check_shape(db: sqlite3.Connection, expected: Parts, path: Path, what: str = "a match log") -> None:
    """Raise `StoreError` unless the tables and indexes of a database are exactly those expected of `what` it is."""
    found = parts(db)
    if found != expected:
        kind, name, *_ = min(found - expected or expected - found, key=str)
        wrong = f"another {kind} '{name[:80]}'" if found - expected else f"it lacks {kind} '{name}'"
        raise StoreError(f"{path}: its tables are not those of {what}: {wrong}")


def parts(db: sqlite3.Connection) -> Parts:
    """Return the tables and indexes of a database; white space and comments do not count."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100"
    return frozenset((str(kind), str(name), str(table), _words(sql)) for kind, name, table, sql in db.execute(query))


def _words(sql: object) -> str | None:
    return None if sql is None else SPACE_PATTERN.sub(" ", COMMENT_PATTERN.sub("", str(sql))).strip(" ")


def schema_parts(schema: str) -> Parts:
    """Return the tables and indexes that a schema creates."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema)
        return parts(db)


def check_values(db: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` if a value is not of its column's type."""
    for table, column, found in _wrong_values(db):
        raise StoreError(f"{path}: is damaged: {column} of {table} cannot be {found}; `arena verify` tells more")


def _wrong_values(db: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    """Yield table, column and type of values that are not of their column's type, one of each."""
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, kind, required, _, key in db.execute(f"PRAGMA table_info({table})").fetchall():
            types = (
                SQLITE_VALUE_TYPES[kind]
                + ("" if required or key else ", 'null'")
                + (", 'real'" if column == "score" else "")
            )
            query = f"SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({types}) LIMIT 1"
            yield from ((table, column, found) for (found,) in db.execute(query))
