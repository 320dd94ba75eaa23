"""The file of a log: whether it is a whole database with the tables of a log. It is never written to."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from arena.errors import OlderLogError, StoreError
from arena.store.schema import OLDEST, SCHEMA, SCHEMA_VERSION, connect, is_at_rest, remedy, version_of
from arena.verifying.findings import MOST_TOLD, Findings

HEADER = b"SQLite format 3\0"
OF_BLOCKS = ("matches", "seats", "timings", "faults")


def open_log(path: Path) -> sqlite3.Connection:
    """A log for reading, whatever it may hold; texts that are no UTF-8 are read as they come.

    Raises `OlderLogError` for a log of an older version, `StoreError` for whatever else is no log of this one.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(HEADER)) != HEADER:
                raise StoreError("is no SQLite database: its header is damaged, or it never was one")
        db = connect(path, "ro&immutable=1" if is_at_rest(path) else "ro", lambda db: _refuse_older(db, path))
    except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes damaged names as they are
        raise StoreError(f"cannot be opened: {error}") from None
    db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    return db


def _refuse_older(db: sqlite3.Connection, path: Path) -> None:
    """Tell a log of an older version, which lacks kinds of dice, from one whose version is damaged."""
    version = version_of(db)
    columns = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('blocks')")}
    if OLDEST <= version < SCHEMA_VERSION and "dice" not in columns:
        raise OlderLogError(f"{path}: has log version {version}; {remedy(version, path)}")


def check_file(db: sqlite3.Connection, path: Path, findings: Findings) -> bool:
    """SQLite's own checks, and the tables; whether these are those of a log, so that they can be read."""
    with findings.guard("its tables cannot be read", file=path.name):
        if _shape(db) != _expected():
            findings.add("its tables are not those of a match log", file=path.name)
            return False
        with findings.guard("cannot be read", file=path.name):
            size, page = path.stat().st_size, db.execute("PRAGMA page_size").fetchone()[0]
            if size % page:
                findings.add(f"truncated: {size:,} bytes are no whole pages of {page:,}", file=path.name)
        with findings.guard("cannot be read", file=path.name):
            for (told,) in db.execute(f"PRAGMA integrity_check({MOST_TOLD})"):
                for line in () if told == "ok" else told.splitlines():
                    findings.add(f"damaged: {line}", file=path.name)
        with findings.guard("references cannot be checked", file=path.name):
            for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
                which = "a row" if row is None else f"row {row}"
                findings.add(f"{which} refers to something that is not in {parent}", table=table)
        return True
    return False


def check_orphans(db: sqlite3.Connection, findings: Findings) -> None:
    """That every row of a match belongs to a block; those of a block's other matches are seen with it."""
    for table in OF_BLOCKS:
        with findings.guard("cannot be read", table=table):
            query = f"SELECT block, count(*) FROM {table} WHERE block NOT IN (SELECT block FROM blocks) GROUP BY block"
            for block, count in db.execute(query):
                findings.add(f"{count} rows of block {block}, which is not in the log", table=table)
    with findings.guard("cannot be read", table="blocks"):
        query = "SELECT hex(identity) FROM blocks WHERE block NOT IN (SELECT block FROM matches) ORDER BY identity"
        for (identity,) in db.execute(query):
            findings.add(f"block {identity.lower()} has no match", table="blocks")


def _expected() -> list[Any]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        return _shape(db)


def _shape(db: sqlite3.Connection) -> list[Any]:
    """Tables and indexes with their columns and references, however their text is laid out."""
    query = "SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name"
    found: list[Any] = []
    for kind, name, table in db.execute(query).fetchall():
        about = ("table_xinfo", "foreign_key_list", "index_list") if kind == "table" else ("index_xinfo",)
        parts = [db.execute(f"SELECT * FROM pragma_{pragma}(?)", (name,)).fetchall() for pragma in about]
        found.append((kind, name, table, parts))
    return found
