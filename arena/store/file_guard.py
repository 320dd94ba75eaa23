"""Detect that a log was removed, replaced or overwritten while it is written to, and save its content.

The lock cannot do this, since `rm`, `mv`, `cp` and programs that synchronise folders ask for none. Without it SQLite
goes on writing to a file that has no name any more, or into one that is not the log, and says nothing: hours of play
would be lost at the end of the run. It costs 0.05 ms of processor time a transaction, of which a run has two a second.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import time
from pathlib import Path

from arena.core.database_shape import SQLITE_FILE_SUFFIXES, harden
from arena.core.files import temporary_folder

DATA_FILE_SUFFIXES = ("", "-wal")
"""Endings of the names of the files that hold the data."""
CHECK_PAUSE_FACTOR = 20
"""Pause between two checks of a log that others change, in multiples of the duration of a check."""
Row = tuple[str, bytes | None]
"""Table and digest of a row; None when the table is empty."""


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


class FileGuard:
    """The files of an open log: their inodes when it was opened, their states after its writer's last transaction."""

    def __init__(self, log: Path, newest: Row) -> None:
        """Take the files as they are; `newest` is a recently written row."""
        self.log = log
        self._known = {
            suffix: found for suffix in ("", *SQLITE_FILE_SUFFIXES) if (found := self._found(suffix)) is not None
        }
        self.next_check = 0.0
        """Time of the next check of changed files, by `time.monotonic`."""
        self.record(newest)

    def _stat(self, suffix: str) -> os.stat_result | None:
        with contextlib.suppress(OSError):
            return os.stat(f"{self.log}{suffix}")
        return None

    def _found(self, suffix: str) -> tuple[int, int] | None:
        """Return device and inode of a file; None when it is missing."""
        found = self._stat(suffix)
        return found and (found.st_dev, found.st_ino)

    def _is_ours(self, suffix: str) -> bool:
        return self._known.setdefault(suffix, self._found(suffix) or (0, 0)) == self._found(suffix)

    @property
    def is_in_place(self) -> bool:
        """Whether all files are still the same; SQLite creates its own with the first write."""
        return all(map(self._is_ours, self._known)) and all(
            self._is_ours(suffix) for suffix in SQLITE_FILE_SUFFIXES if self._found(suffix) is not None
        )

    def record(self, newest: Row) -> None:
        """Record the files' states after a transaction, and a row that it wrote."""
        self.newest = newest
        self._recorded = {suffix: self._state(suffix) for suffix in DATA_FILE_SUFFIXES}

    def _state(self, suffix: str) -> tuple[int, int] | None:
        """Return size and modification time of a file; None when it is missing."""
        found = self._stat(suffix)
        return found and (found.st_size, found.st_mtime_ns)

    def size(self, suffix: str) -> int:
        """Return the size of a file in bytes, 0 when it is missing."""
        return (self._state(suffix) or (0, 0))[0]

    def is_unchanged(self, *suffixes: str) -> bool:
        """Whether files, of `DATA_FILE_SUFFIXES`, still hold what the last transaction left.

        Other programs may copy the -wal of a log in use into it, which changes both files; so of changed files the
        content is checked.
        """
        now = {suffix: self._state(suffix) for suffix in suffixes}
        changed = [suffix for suffix, state in now.items() if self._recorded[suffix] != state]
        started = time.monotonic()
        if not changed or started < self.next_check:
            return True
        if not self._is_sound("mode=ro") or ("" in changed and not self._is_sound("mode=ro&immutable=1")):
            return False
        self._recorded.update(now)
        self.next_check = time.monotonic() + CHECK_PAUSE_FACTOR * (time.monotonic() - started)
        return True

    def _is_sound(self, how: str) -> bool:
        """Whether the database is sound and holds the newest row; with `immutable`, the log without its -wal.

        The second is needed because a -wal that was not copied yet hides what is in the log itself.
        """
        with contextlib.suppress(sqlite3.Error):
            address = f"{self.log.absolute().as_uri()}?{how}"
            with contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as db:
                harden(db)
                return _is_sound_with(db, self.newest)
        return False

    def save(self, db: sqlite3.Connection) -> str:
        """Save the content of an open log that lost a file; return what happened and where the content is now."""
        ours = self._is_ours("")
        if ours and self._state("") == self._recorded[""] and not self.is_in_place and _checkpointed(db):
            return f"{self.log}: its -wal or -shm file has been taken away; all that was written is in it: start again"
        gone = "has been replaced by another file" if self._found("") else "has been removed"
        gone = "has been overwritten" if ours else gone
        self._remove_ours()
        try:
            saved = self._copy_out(db)
        except (OSError, sqlite3.Error) as error:
            return f"{self.log}: {gone} while it was written to, and cannot be copied out ({error})"
        finally:
            if ours:
                self._cut_off()
        return f"{self.log}: {gone} while it was written to; what it held is in {saved}: rename that to go on"

    def _cut_off(self) -> None:
        """Empty our -wal, so that nothing of it is ever copied into the file that now has the log's name."""
        for path in Path("/proc/self/fd").glob("*"):
            with contextlib.suppress(OSError):
                found = path.stat()
                if (found.st_dev, found.st_ino) == self._known.get("-wal"):
                    os.truncate(path, 0)
        for suffix in SQLITE_FILE_SUFFIXES:
            Path(f"{self.log}{suffix}").unlink(missing_ok=True)

    def _remove_ours(self) -> None:
        """Remove our SQLite files if the log was replaced: they do not belong to the new file."""
        for suffix in SQLITE_FILE_SUFFIXES:
            if self._is_ours(suffix) and not self._is_ours(""):
                Path(f"{self.log}{suffix}").unlink(missing_ok=True)

    def _copy_out(self, db: sqlite3.Connection) -> Path:
        """Copy an open database, also one whose file was removed, into a new file beside the log's path."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(self.log.parent, ".saved-") as folder:
            made = folder / "saved.db"
            with contextlib.closing(sqlite3.connect(made)) as copy:
                db.backup(copy)
                if not _is_sound_with(copy, self.newest):
                    raise sqlite3.DatabaseError("it is no longer whole")
            names = (self.log.with_suffix(f".saved.{n}.db") for n in itertools.count(1))
            saved = next(name for name in names if not name.exists())
            made.rename(saved)
        return saved


def _is_sound_with(db: sqlite3.Connection, newest: Row) -> bool:
    """Whether a database passes SQLite's integrity check and holds a row."""
    table, digest = newest
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE ? IN (digest, 0)) = ?"
    there = db.execute(query, (digest or 0, digest is not None)).fetchone()[0]
    return bool(there) and db.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)


def _checkpointed(db: sqlite3.Connection) -> bool:
    """Copy the whole -wal into the database; return whether that was possible."""
    with contextlib.suppress(sqlite3.Error):
        return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
