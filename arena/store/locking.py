"""The lock file of a log: one writer at a time, and a record of who that is.

Writers are kept apart by `flock`. Testing that lock would mean taking it, and could stop a run that starts at that
moment. So a writer also holds an open file description lock, which can be queried. A lock file may be removed or
replaced by anybody, so its holder compares its inode with what is found under its name whenever it writes.

`filelock` takes the same `flock` and would replace ten lines, for 18 ms more of import and as much processor time a
lock (0.3 ms): it keeps the descriptor, which all else here needs, to itself, and lets two processes hold a lock whose
file was renamed. SQLite's own exclusive lock keeps readers of the log out and does not tell who holds it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
import shlex
import stat
import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from arena.core.command import COMMAND
from arena.core.errors import StoreError
from arena.store.file_guard import is_file

FLOCK_FORMAT = "hhqqi4x"
"""The kernel's record of a lock: kind, where it starts from, start, length (0: all), process."""
MAX_LOCK_FILE_BYTES = 65536
"""How much of a lock file is read."""


@dataclass(frozen=True)
class Writer:
    """The last process that locked a log, by its own account: the file is not authenticated."""

    pid: int
    host: str
    started: str
    """UTC."""
    command: str
    """Its command line, empty for a program that called the Python API."""
    folder: str
    """Its working folder."""
    before: tuple[str, str] = ("", "")
    """Command line and folder of the previous writer, if this one only adds to the log."""

    @property
    def player(self) -> tuple[str, str]:
        """Command line and folder of the last writer that did more than add."""
        return self.before if self.before[0] else (self.command, self.folder)


def _working_folder() -> str:
    """Return the working folder; empty when it has been removed."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def lock_log(log: Path) -> int:
    """Return the descriptor that locks a log until it is closed; the lock file names this process as the writer.

    Raises `StoreError` while another process holds the lock.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    path = log.with_suffix(".lock")
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise StoreError(f"{path}: is a link; remove it") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise StoreError(f"{log}: another run is writing to this log; wait for it or choose another name") from None
        if is_file(lock, path):  # else it was removed before it was locked
            _note_writer(lock)
            return lock
        os.close(lock)


def keep_locked(log: Path, lock: int) -> int:
    """Return the descriptor of a log's lock, a new one if the lock file was removed.

    Raises `StoreError` if another process has locked the log since.
    """
    if is_file(lock, log.with_suffix(".lock")):
        return lock
    new = lock_log(log)
    os.close(lock)
    return new


def _note_writer(lock: int) -> None:
    """Write the command of this process into a lock file that it holds, as far as possible: nothing depends on it."""
    command = COMMAND.get()
    last = _parsed(os.pread(lock, MAX_LOCK_FILE_BYTES, 0)) if command.adds else None
    before = last.player if last else ("", "")
    writer = Writer(
        os.getpid(), platform.node(), datetime.now(UTC).isoformat(), command.line, _working_folder(), before
    )
    with contextlib.suppress(OSError):
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack(FLOCK_FORMAT, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    with contextlib.suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps(vars(writer)).encode() + b"\n", 0)


def read_writer(log: Path) -> tuple[bool, Writer | None]:
    """Return whether a process holds a log's lock now, and the last one that locked it, if its record can be read."""
    try:
        lock = os.open(log.with_suffix(".lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False, None
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            return False, None
        return _is_held(lock), _parsed(os.pread(lock, MAX_LOCK_FILE_BYTES, 0))
    finally:
        os.close(lock)


def _is_held(lock: int) -> bool:
    found = fcntl.fcntl(lock, fcntl.F_OFD_GETLK, struct.pack(FLOCK_FORMAT, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))
    return bool(struct.unpack(FLOCK_FORMAT, found)[0] != fcntl.F_UNLCK)


def _parsed(content: bytes) -> Writer | None:
    try:
        found = json.loads(content)
        kinds = {"pid": int, "host": str, "started": str, "command": str, "folder": str}
        command, folder = found.get("before", ("", ""))
        values = [(found[name], kind) for name, kind in kinds.items()] + [(command, str), (folder, str)]
        if not all(isinstance(value, kind) and str(value).isprintable() for value, kind in values):
            return None
        writer = Writer(**{name: found[name] for name in kinds}, before=(command, folder))
        shlex.split(writer.command), shlex.split(command)  # raises ValueError for an open quotation mark
        return writer
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
