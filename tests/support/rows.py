"""Rows of a log as SQLite has them, read and changed from outside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def rows_of(log: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what a query finds in a log."""
    with closing(sqlite3.connect(log)) as db:
        return db.execute(query, values).fetchall()


def change_rows(log: Path, statement: str, *values: object) -> None:
    """Run a statement on a log that nothing writes to."""
    with closing(sqlite3.connect(log)) as db, db:
        db.execute(statement, values)
