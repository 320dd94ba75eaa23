"""Compile once on a machine, however many workers start there together."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from arena.core.versions import code_hash

LOOK = 0.1


@contextlib.contextmanager
def compile_once(what: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Let one process at a time fill the cache of compiled code with something, until one has done it.

    Those that come meanwhile wait, calling `waiting` time and again; those that come later do not. A process that ends
    before it is done leaves its place to the next one; where no lock can be kept, nobody waits.
    """
    done = _folder() / f"{what}-{code_hash()[:16]}"
    lock = None if done.exists() else _lock(done.with_suffix(".lock"))
    if lock is None:
        yield
        return
    with lock:
        while not done.exists() and not _taken(lock):
            waiting()
            time.sleep(LOOK)
        yield
        with contextlib.suppress(OSError):
            done.touch()


def _folder() -> Path:
    """Return the folder of locks and marks: in the cache that they are about, so that they go with it."""
    from engine.kernel import numba_cache  # slow to import, and of no use to games without kernels

    return Path(numba_cache()) / "warm"


def _lock(path: Path) -> IO[bytes] | None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
    return None


def _taken(lock: IO[bytes]) -> bool:
    """Return whether the lock is ours now; where files cannot be locked it counts as ours."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
