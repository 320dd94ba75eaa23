"""What a file has to be before it is read or written as a log: nothing in it may run, or stand for something else.

Anybody may have made a log. A view or a trigger in it would run with every query; an index of another collation, or a
default, would change what queries find. So the tables and indexes are compared with the schema word for word, and the
types of values, which SQLite does not enforce, column by column.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from arena.core.errors import StoreError

COMMENT = re.compile(r"--[^\n]*")
SPACE = re.compile(r"[ \t\n\f\r]+")
"""What SQLite passes over between words."""
MAX_VALUE = 2**28
"""Bytes of a value, and of a row."""
MAX_SQL = 2**16
"""Bytes of a statement, those in the file among them."""
TYPES = {"INTEGER": "'integer'", "TEXT": "'text'", "BLOB": "'blob'", "REAL": "'real'", "": "'text', 'blob'"}
"""By a column's type: the types of its values. Scores may have fractions, in a column of integers."""

Parts = frozenset[tuple[str, str, str, str | None]]
"""Of a database: kind, name, table and SQL of everything in it."""


def harden(db: sqlite3.Connection) -> None:
    """Let a file that anybody may have made run nothing, and take no more memory than a log needs."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL)
    db.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def check_shape(db: sqlite3.Connection, expected: Parts, path: Path, schema: str = "main") -> None:
    """Raise `StoreError` for a database whose tables and indexes are not exactly those of a log."""
    found = parts(db, schema)
    if found != expected:
        kind, name, *_ = min(found - expected or expected - found, key=str)
        what = f"another {kind} '{name[:80]}'" if found - expected else f"it lacks {kind} '{name}'"
        raise StoreError(f"{path}: its tables are not those of a match log: {what}")


def parts(db: sqlite3.Connection, schema: str = "main") -> Parts:
    """What a database holds, however its text is laid out."""
    query = f"SELECT type, name, tbl_name, sql FROM {schema}.sqlite_master LIMIT 100"
    return frozenset((str(kind), str(name), str(table), _words(sql)) for kind, name, table, sql in db.execute(query))


def _words(sql: object) -> str | None:
    return None if sql is None else SPACE.sub(" ", COMMENT.sub("", str(sql))).strip(" ")


def laid_out(schema: str) -> Parts:
    """What a schema makes."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema)
        return parts(db)


def check_values(db: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` for values of other types than their columns'."""
    for table, column, found in _wrong_values(db):
        raise StoreError(f"{path}: is damaged: {column} of {table} cannot be {found}; `arena verify` tells more")


def _wrong_values(db: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    """Table, column and type of the values that are not of their column's type, a few of each."""
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, kind, required, _, key in db.execute(f"PRAGMA table_info({table})").fetchall():
            types = TYPES[kind] + ("" if required or key else ", 'null'") + (", 'real'" if column == "score" else "")
            query = f"SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({types}) LIMIT 1"
            yield from ((table, column, found) for (found,) in db.execute(query))
