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
ADDING = ("import", "merge", "upgrade")
"""Commands that add to what those have played, or rearrange it: afterwards those still go on."""


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
    before: tuple[str, str] = ("", "")
    """Command line and folder of the writer before, when this one only adds to what it has played."""

    @property
    def before_adding(self) -> tuple[str, str]:
        """Command line and folder of the last writer that did more than add."""
        return self.before if _name_of(self.command) in ADDING else (self.command, self.folder)

    @property
    def resumes(self) -> str:
        """The command line that goes on with what is in the log; empty when there is none."""
        command, folder = self.before_adding
        if _name_of(command) not in RESUMABLE:
            return ""
        again = shlex.join(word for word in shlex.split(command) if word != "--fresh")
        return again if folder == _here() else f"cd {shlex.quote(folder)} && {again}"


def _name_of(command: str) -> str:
    """Which of the arena's commands a command line is; empty for another one."""
    words = shlex.split(command)
    return words[1] if len(words) > 1 and words[0] == "arena" else ""


def _here() -> str:
    """The working folder; empty when it has been removed."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def note_writer(lock: int) -> None:
    """Write into a locked file who holds it. Nothing depends on it, so a full disk is no reason to fail."""
    ours = Path(sys.argv[0]).stem in ("arena", "__main__") and len(sys.argv) > 1
    command = shlex.join(["arena", *sys.argv[1:]]) if ours else ""
    last = _parsed(os.pread(lock, MOST, 0)) if _name_of(command) in ADDING else None
    before = last.before_adding if last else ("", "")
    writer = Writer(os.getpid(), platform.node(), datetime.now(UTC).isoformat(), command, _here(), before)
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
        command, folder = found.get("before", ("", ""))
        told = [(found[name], kind) for name, kind in kinds.items()] + [(command, str), (folder, str)]
        if not all(isinstance(value, kind) and str(value).isprintable() for value, kind in told):
            return None
        writer = Writer(**{name: found[name] for name in kinds}, before=(command, folder))
        _name_of(writer.command), _name_of(command)
        return writer
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
