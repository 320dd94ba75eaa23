"""Whether a log that is written to is still where it was, and what can be saved of it when it is not."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import time
from pathlib import Path

from arena.core.files import own_folder
from arena.store.shape import harden

OF_SQLITE = ("-wal", "-shm")
"""What the names of the two files end with that SQLite keeps beside an open database."""
WRITTEN = ("", "-wal")
"""What the names of those end with that hold what is written."""
RARELY = 20
"""A log that others change is looked through anew after so many times as long as that has taken."""
Row = tuple[str, bytes | None]
"""One of a log's rows: its table, and its digest; None when the table is empty."""


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that is found under a path."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


class Place:
    """The files of an open log, as they were found when it was opened, and as its only writer left them last."""

    def __init__(self, log: Path, newest: Row) -> None:
        """`newest` is a row that was written lately."""
        self.log = log
        self._known = {suffix: found for suffix in ("", *OF_SQLITE) if (found := self._found(suffix)) is not None}
        self.next_look = 0.0
        """When what others have changed is looked through again, by the clock `time.monotonic`."""
        self.leave(newest)

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

    def leave(self, newest: Row) -> None:
        """Remember the files as they are after a transaction, and a row that it has written."""
        self.newest = newest
        self._left = {suffix: self._state(suffix) for suffix in WRITTEN}

    def _state(self, suffix: str) -> tuple[int, int] | None:
        """Size of a file, and when it was written to; None when it is not there."""
        try:
            found = os.stat(f"{self.log}{suffix}")
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def size(self, suffix: str) -> int:
        """Bytes of a file, as far as it is there."""
        return (self._state(suffix) or (0, 0))[0]

    def holds_what_we_left(self, *suffixes: str) -> bool:
        """Whether nobody has overwritten files, of `WRITTEN`, since they were left.

        What others may do to a log in use (bring its -wal into it) changes them too, so then its content decides.
        """
        now = {suffix: self._state(suffix) for suffix in suffixes}
        changed = [suffix for suffix, state in now.items() if self._left[suffix] != state]
        started = time.monotonic()
        if not changed or started < self.next_look:
            return True
        if not self._is_sound("mode=ro") or ("" in changed and not self._is_sound("mode=ro&immutable=1")):
            return False
        self._left.update(now)
        self.next_look = time.monotonic() + RARELY * (time.monotonic() - started)
        return True

    def _is_sound(self, how: str) -> bool:
        """Whether the files are sound and hold what was written; if `immutable`, the log without its -wal.

        Without it: a -wal of which nothing has been brought in hides what stands in the log now.
        """
        with contextlib.suppress(sqlite3.Error):
            address = f"{self.log.absolute().as_uri()}?{how}"
            with contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as db:
                harden(db)
                return _holds(db, self.newest)
        return False

    def save(self, db: sqlite3.Connection) -> str:
        """Save what an open log of which a file is gone held; what has happened and where it is now, in words."""
        ours = self._is_ours("")
        if ours and self._state("") == self._left[""] and not self.is_whole and _brought_in(db):
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
        """Nothing of ours is to be brought from the -wal into what stands in the log now, by us or by others."""
        for path in Path("/proc/self/fd").glob("*"):
            with contextlib.suppress(OSError):
                found = path.stat()
                if (found.st_dev, found.st_ino) == self._known.get("-wal"):
                    os.truncate(path, 0)
        for suffix in OF_SQLITE:
            Path(f"{self.log}{suffix}").unlink(missing_ok=True)

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
                if not _holds(copy, self.newest):
                    raise sqlite3.DatabaseError("it is no longer whole")
            names = (self.log.with_suffix(f".saved.{n}.db") for n in itertools.count(1))
            saved = next(name for name in names if not name.exists())
            made.rename(saved)
        return saved


def _holds(db: sqlite3.Connection, newest: Row) -> bool:
    """Whether a log is sound, as far as SQLite can tell, and holds a row."""
    table, digest = newest
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE ? IN (digest, 0)) = ?"
    there = db.execute(query, (digest or 0, digest is not None)).fetchone()[0]
    return bool(there) and db.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)


def _brought_in(db: sqlite3.Connection) -> bool:
    """Whether all of the write-ahead log could be brought into the database."""
    with contextlib.suppress(sqlite3.Error):
        return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
