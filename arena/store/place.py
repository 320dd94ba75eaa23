"""Whether a log that is written to is still where it was, and what can be saved of it when it is not."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from pathlib import Path

from arena.files import own_folder

OF_SQLITE = ("-wal", "-shm")
"""What the names of the two files end with that SQLite keeps beside an open database."""


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that is found under a path."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


class Place:
    """The files of an open log, as they were found when it was opened."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._known = {suffix: found for suffix in ("", *OF_SQLITE) if (found := self._found(suffix)) is not None}

    def _found(self, suffix: str) -> tuple[int, int] | None:
        """Device and number of a file; None when it is not there."""
        try:
            found = os.stat(f"{self.log}{suffix}")
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _is_ours(self, suffix: str) -> bool:
        return self._known.setdefault(suffix, self._found(suffix) or (0, 0)) == self._found(suffix)

    @property
    def is_whole(self) -> bool:
        """Whether all of them are still there; those of SQLite are made with the first write."""
        return all(map(self._is_ours, self._known)) and all(
            self._is_ours(suffix) for suffix in OF_SQLITE if self._found(suffix) is not None
        )

    def save(self, db: sqlite3.Connection) -> str:
        """Save what an open log of which a file is gone held; what has happened and where it is now, in words."""
        if self._is_ours("") and _brought_in(db):
            return f"{self.log}: its -wal or -shm file has been taken away; all that was written is in it: start again"
        gone = "has been replaced by another file" if self._found("") else "has been removed"
        self._remove_ours()
        try:
            saved = self._copy_out(db)
        except (OSError, sqlite3.Error) as error:
            return f"{self.log}: {gone} while it was written to, and cannot be copied out ({error})"
        return f"{self.log}: {gone} while it was written to; what it held is in {saved}: rename that to go on"

    def _remove_ours(self) -> None:
        """Nobody is to take our SQLite files for those of the file that is there now."""
        for suffix in OF_SQLITE:
            if self._is_ours(suffix) and not self._is_ours(""):
                Path(f"{self.log}{suffix}").unlink(missing_ok=True)

    def _copy_out(self, db: sqlite3.Connection) -> Path:
        """Copy an open database, wherever its file is, into a new one beside its place."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(self.log.parent, ".saved-") as folder:
            made = folder / "saved.db"
            with contextlib.closing(sqlite3.connect(made)) as copy:
                db.backup(copy)
            names = (self.log.with_suffix(f".saved.{n}.db") for n in itertools.count(1))
            saved = next(name for name in names if not name.exists())
            made.rename(saved)
        return saved


def _brought_in(db: sqlite3.Connection) -> bool:
    """Whether all of the write-ahead log could be brought into the database."""
    with contextlib.suppress(sqlite3.Error):
        return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
