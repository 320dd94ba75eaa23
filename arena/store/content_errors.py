"""Tell errors that the content of a damaged log causes from those of the machine, and of other programs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from arena.core.errors import LockedError

CONTENT_ERRORS = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Errors that the content of a damaged log may cause."""
CONTENT_ERROR_CODES = (
    0,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_TOOBIG,
)
"""SQLite's errors that the content of a log causes; 0 are those of its Python module, such as of invalid UTF-8."""
LOCK_ERROR_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""SQLite's errors that other programs cause."""


def check_lock(error: BaseException, log: Path) -> None:
    """Raise `LockedError` for an error of a log that another program keeps locked."""
    if isinstance(error, sqlite3.Error) and primary_code(error) in LOCK_ERROR_CODES:
        raise LockedError(f"{log}: another program keeps it locked; try again when that has ended") from None


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary code of an error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
