"""Who writes to a log: a lock file says it, and a lock on it whether that is still so.

What keeps two writers apart is the lock of `arena.store.schema.lock_log`. To see whether it is held one would have to
take it, and get into the way of whoever starts then; so a writer holds another one too, an open file description lock,
which can be asked after.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shlex
import stat
import struct
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FLOCK = "hhqqi4x"
"""The kernel's record of a lock: kind, where it starts from, start, length (0: all), process."""
MOST = 65536
"""Bytes of a lock file that are read."""
RESUMABLE = ("run", "compare")
"""Commands that go on where they ended when they are given again."""


@dataclass(frozen=True)
class Writer:
    """Whoever locked a log last, by its own account; nobody checks what stands in the file."""

    pid: int
    host: str
    started: str
    """UTC."""
    command: str
    """The command line, empty when it was no command of the arena's."""
    folder: str
    """Where it was given."""

    @property
    def resumes(self) -> str:
        """The command line that goes on with what it did; empty when there is none."""
        words = shlex.split(self.command)
        if len(words) < 2 or words[0] != "arena" or words[1] not in RESUMABLE:
            return ""
        again = shlex.join(word for word in words if word != "--fresh")
        return again if self.folder == _here() else f"cd {shlex.quote(self.folder)} && {again}"


def _here() -> str:
    """The working folder; empty when it has been removed."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def note_writer(lock: int) -> None:
    """Write into a locked file who holds it. Nothing depends on it, so a full disk is no reason to fail."""
    ours = Path(sys.argv[0]).stem in ("arena", "__main__") and len(sys.argv) > 1
    command = shlex.join(["arena", *sys.argv[1:]]) if ours else ""
    writer = Writer(os.getpid(), platform.node(), datetime.now(UTC).isoformat(), command, _here())
    with contextlib.suppress(OSError):
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    with contextlib.suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps(vars(writer)).encode() + b"\n", 0)


def read_writer(log: Path) -> tuple[bool, Writer | None]:
    """Whether anybody holds a log's lock now, and who locked it last, as far as that can be told."""
    try:
        lock = os.open(log.with_suffix(".lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False, None
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            return False, None
        return _is_held(lock), _parsed(os.pread(lock, MOST, 0))
    finally:
        os.close(lock)


def _is_held(lock: int) -> bool:
    found = fcntl.fcntl(lock, fcntl.F_OFD_GETLK, struct.pack(FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))
    return bool(struct.unpack(FLOCK, found)[0] != fcntl.F_UNLCK)


def _parsed(content: bytes) -> Writer | None:
    try:
        found = json.loads(content)
        kinds = {"pid": int, "host": str, "started": str, "command": str, "folder": str}
        if not all(isinstance(found[name], kind) and str(found[name]).isprintable() for name, kind in kinds.items()):
            return None
        writer = Writer(**{name: found[name] for name in kinds})
        shlex.split(writer.command)
        return writer
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
