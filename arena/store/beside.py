"""What lies beside a log under the names of SQLite's own files: looked at before SQLite opens it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from arena.core.errors import StoreError
from arena.core.files import open_regular
from arena.store.place import OF_SQLITE

JOURNAL = "-journal"
"""What the name of a file ends with that SQLite reads before all else; a log has it while it is made."""
POINTS = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The end of a journal that names another file, which SQLite would delete; the arena writes none."""


def check_beside(log: Path) -> None:
    """Raise `StoreError` for what would make SQLite wait, follow a link, or delete another file.

    Only the journal is opened: closing one of the others would release the locks that this process has on it.
    """
    for suffix in (JOURNAL, *OF_SQLITE):
        path = f"{log}{suffix}"
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise StoreError(f"{path}: is no regular file, which SQLite keeps there; remove it")
    with contextlib.suppress(OSError), open_regular(f"{log.name}{JOURNAL}", log.parent) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(POINTS)))
        if file.read(len(POINTS)) == POINTS:
            raise StoreError(f"{log}{JOURNAL}: names another file, for SQLite to delete; remove it")
