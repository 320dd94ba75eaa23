"""Start and order the preloaded parent of this process's workers (`arena.workers.preloaded`)."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import IO

from arena.core.errors import WorkerError
from arena.core.machine import REPRODUCIBLE_ENVIRONMENT
from arena.core.paths import ROOT
from arena.core.process_trees import wait_readable

WATCHED_VARIABLES = (
    "ARENA_CACHE ARENA_WORKER COVERAGE_ HOME LANG LC_ LD_ MALLOC_ MKL_ NUMBA_ OMP_ OPENBLAS_ PATH PYTHON TZ XDG_"
)
"""Beginnings of variables that decide what an interpreter loads, and how; others a worker gets as they are by then."""
CACHE_VARIABLE = "NUMBA_CACHE_DIR"
"""What Numba's own cache is set to when it is imported (`engine.kernel`), in this process later than in a parent."""
FORK, REAP, LOAD = b"f", b"r", b"l"
"""Orders: fork a supervisor, which gets three descriptors; report how one has ended; load a board."""
MAX_ORDER_BYTES = 2**16
START_SECONDS = 120.0
END_SECONDS = 2.0
"""Seconds in which a parent that has closed its socket is gone."""


class KilledWorkerError(WorkerError):
    """A worker process, or their parent, ended before it played, and did not say why."""


class PreloadedParent:
    """A driver's side of a preloaded parent, which ends when nothing refers to it any more."""

    def __init__(self, games: Sequence[str]) -> None:
        """Start it; what it is ordered meanwhile waits. `games` are folders that it imports games from first."""
        self._lock = threading.Lock()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as it lives
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena.workers.preloaded", str(os.getpid()), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                cwd="/",
                env=environment(games),
                start_new_session=True,
            )
        weakref.finalize(self, _end, os.getpid(), self._process, self._socket, self._complaints)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, descriptors: Sequence[int]) -> tuple[int, int]:
        """Return the number and a descriptor of a new supervisor; raises `WorkerError`."""
        content, (process,) = self._ask(FORK, descriptors)
        return int(content), process

    def reap(self, process: int) -> int:
        """Return how a supervisor that has ended did so, negative for a signal: as this process, if that is gone."""
        try:
            return int(self._ask(REAP + b"%d" % process)[0])
        except WorkerError:
            return self._process.wait()

    def load(self, boards: Iterable[tuple[str, int]]) -> None:
        """Have it load boards for workers to come, as far as they are compiled by now."""
        with self._lock, contextlib.suppress(OSError):  # that it has ended is noticed when it is to fork
            for board in boards:
                self._socket.send(LOAD + json.dumps(board).encode())

    def _ask(self, order: bytes, descriptors: Sequence[int] = ()) -> tuple[bytes, list[int]]:
        with self._lock, contextlib.suppress(OSError):
            socket.send_fds(self._socket, [order], descriptors)
            if wait_readable(self._socket.fileno(), self._process.pid, START_SECONDS):
                content, found, _, _ = socket.recv_fds(self._socket, MAX_ORDER_BYTES, 1)
                if content:
                    return content, found
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it is stuck
            self._process.kill()
            code = self._process.wait()
        else:
            if code < 0:
                raise KilledWorkerError(f"a worker process did not start: their parent was ended by signal {-code}")
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        raise WorkerError(f"a worker process did not start: {lines[-1] if lines else 'no word'}")


def _end(owner: int, process: subprocess.Popen[bytes], *files: socket.socket | IO[bytes]) -> None:
    """End a parent, and what is left of its workers, in the process that started it."""
    for file in files:
        file.close()
    if owner == os.getpid():
        process.kill()
        process.wait()


def environment(games: Sequence[str]) -> dict[str, str]:
    """Return the environment of a worker that imports games from these folders first."""
    path = os.pathsep.join([*games, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **REPRODUCIBLE_ENVIRONMENT, "PYTHONPATH": path}


_parents: weakref.WeakValueDictionary[tuple[object, ...], PreloadedParent] = weakref.WeakValueDictionary()
_latest: PreloadedParent | None = None
"""The parent that was asked for last, which waits for the next run; others live as long as their workers."""
_choosing = threading.Lock()


def parent_for(games: Sequence[str] = ()) -> PreloadedParent:
    """Return a parent to fork workers that import games from those folders first, as if they were started now.

    Who has a worker of it refers to it until that is reaped.
    """
    global _latest
    decisive = tuple(WATCHED_VARIABLES.split())
    variables = tuple(
        sorted(item for item in os.environ.items() if item[0].startswith(decisive) and item[0] != CACHE_VARIABLE)
    )
    api = (ROOT / "bots" / "base.py").stat()  # what bots inherit from is the installed one
    key = os.getpid(), tuple(games), variables, api.st_mtime_ns, api.st_size
    with _choosing:
        found = _parents.get(key)
        if found is None or not found.is_alive:
            found = _parents[key] = PreloadedParent(games)
        _latest = found
        return found


def preload(*boards: tuple[str, int]) -> None:
    """Start the parent of workers to come, if there is none, and have it load boards, while this process goes on."""
    parent_for().load(boards)
