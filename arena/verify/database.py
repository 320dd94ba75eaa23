"""Open the database of a log read-only, and check that it is undamaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from arena.core.errors import StoreError
from arena.core.files import SQLITE_HEADER, open_regular
from arena.store.digests import MATCH_TABLES
from arena.store.schema import connect, is_read_only_copy
from arena.verify.findings import MAX_LISTED, Findings


def open_log(path: Path) -> sqlite3.Connection:
    """Open a log for reading, whatever it holds; invalid UTF-8 is read too.

    Raises `LogVersionError` for a log of another version, `StoreError` for anything else that is no log.
    """
    try:
        with open_regular(path) as file:
            head = file.read(len(SQLITE_HEADER))
            if not head:
                raise StoreError("is an empty file")
            if head != SQLITE_HEADER:
                raise StoreError("is no SQLite database: its header is damaged, or it never was one")
        db = connect(path, "ro&immutable=1" if is_read_only_copy(path) else "ro")
    except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes damaged names as they are
        raise StoreError(f"cannot be opened: {error}") from None
    db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    return db


def check_database_file(db: sqlite3.Connection, path: Path, findings: Findings) -> None:
    """Run SQLite's own checks."""
    with findings.guard("cannot be read", file=path.name):
        size, page = path.stat().st_size, db.execute("PRAGMA page_size").fetchone()[0]
        if size % page:
            findings.add(f"truncated: {size:,} bytes are no whole pages of {page:,}", file=path.name)
    with findings.guard("cannot be read", file=path.name):
        for (text,) in db.execute(f"PRAGMA integrity_check({MAX_LISTED})"):
            for line in () if text == "ok" else text.splitlines():
                findings.add(f"damaged: {line}", file=path.name)
    with findings.guard("references cannot be checked", file=path.name):
        for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
            which = "a row" if row is None else f"row {row}"
            findings.add(f"{which} refers to something that is not in {parent}", table=table)


def check_orphans(db: sqlite3.Connection, findings: Findings) -> None:
    """Check that every row of a match belongs to a block, and every block has a match."""
    for table in MATCH_TABLES:
        with findings.guard("cannot be read", table=table):
            query = f"SELECT block, count(*) FROM {table} WHERE block NOT IN (SELECT block FROM blocks) GROUP BY block"
            for block, count in db.execute(query):
                findings.add(f"{count} rows of block {block}, which is not in the log", table=table)
    with findings.guard("cannot be read", table="blocks"):
        query = "SELECT hex(identity) FROM blocks WHERE block NOT IN (SELECT block FROM matches) ORDER BY identity"
        for (identity,) in db.execute(query):
            findings.add(f"block {identity.lower()} has no match", table="blocks")
