"""The file of a log: whether it is a whole database with the tables of a log. It is never written to."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from arena.core.errors import StoreError
from arena.core.files import open_regular
from arena.store.schema import HEADER, connect, is_at_rest
from arena.verify.findings import MOST_TOLD, Findings

OF_BLOCKS = ("matches", "seats", "timings", "faults")


def open_log(path: Path) -> sqlite3.Connection:
    """A log for reading, whatever it may hold; texts that are no UTF-8 are read as they come.

    Raises `OlderLogError` for a log of an older version, `StoreError` for whatever else is no log of this one.
    """
    try:
        with open_regular(path) as file:
            head = file.read(len(HEADER))
            if not head:
                raise StoreError("is an empty file")
            if head != HEADER:
                raise StoreError("is no SQLite database: its header is damaged, or it never was one")
        db = connect(path, "ro&immutable=1" if is_at_rest(path) else "ro")
    except (sqlite3.Error, UnicodeError) as error:  # SQLite quotes damaged names as they are
        raise StoreError(f"cannot be opened: {error}") from None
    db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    return db


def check_file(db: sqlite3.Connection, path: Path, findings: Findings) -> None:
    """SQLite's own checks."""
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
