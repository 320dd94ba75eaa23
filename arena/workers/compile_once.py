"""Compile once on a machine, however many workers start there together, and remember what has been compiled."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from arena.core.versions import code_hash
from arena.workers.messages import RATINGS, RULES, WorkerPlan
from engine import game_type
from engine.cache import kernel_cache

POLL_SECONDS = 0.1
COMPILER_MARKS = (b"engine.kernel", b"numba")
"""Texts in the source of a bot that compiles code."""


class CompiledCode:
    """Which code of a plan this machine has compiled: rules of games, and bots for boards.

    Marks of it lie in the cache that they are about, so that they go with it.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        plug_ins = hashlib.blake2b(repr(sorted(plan.games.items())).encode()).hexdigest() if plan.games else ""
        self._shared = f"{code_hash()} {plug_ins}"
        self.is_needed = functools.cache(self._is_needed)

    def _is_needed(self, board: int, entry: int) -> bool:
        """Return whether there is something to compile; board and entry are as in `messages.Compile`."""
        if board == RATINGS:
            return True
        if game_type(self.plan.boards[board].game).factory is not None:
            return False
        if entry == RULES:
            return True
        files = self.plan.bundles.get(self.plan.bots[entry].bundle, {})
        return any(
            trace in content for name, content in files.items() if name.endswith(".py") for trace in COMPILER_MARKS
        )

    def is_compiled(self, board: int, entry: int) -> bool:
        """Return whether nothing is left to compile, as far as is known."""
        return not self.is_needed(board, entry) or (_folder() / self._name(board, entry)).exists()

    def compiling(self, board: int, entry: int, waiting: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
        """Return the context to compile it in, as `compile_once`."""
        return compile_once(self._name(board, entry), waiting)

    def _name(self, board: int, entry: int) -> str:
        if board == RATINGS:
            return f"ratings-{hashlib.blake2b(code_hash().encode(), digest_size=16).hexdigest()}"
        planned = self.plan.boards[board]
        parts: list[object] = [self._shared, planned.game]
        if entry != RULES:
            bot = self.plan.bots[entry]
            parts += [
                planned.players,
                bot.module,
                bot.class_name,
                bot.bundle,
                sorted(bot.params.items()),
                bot.isolation,
            ]
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


@contextlib.contextmanager
def compile_once(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Let one process at a time fill the cache of compiled code with something, until one has done it.

    Those that come meanwhile wait, calling `waiting` time and again; those that come later do not. A process that ends
    before it is done leaves its place to the next one; where no lock can be kept, nobody waits. (`filelock` would
    replace the twelve lines of `_lock` and `_try_lock`, for 18 ms more of import in each worker.)
    """
    done = _folder() / name
    lock = None if done.exists() else _lock(done.with_suffix(".lock"))
    if lock is None:
        yield
        return
    with lock:
        while not done.exists() and not _try_lock(lock):
            waiting()
            time.sleep(POLL_SECONDS)
        yield
        with contextlib.suppress(OSError):
            done.touch()


def _folder() -> Path:
    return kernel_cache() / "warm"


def _lock(path: Path) -> IO[bytes] | None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
    return None


def _try_lock(lock: IO[bytes]) -> bool:
    """Return whether the lock is ours now; where files cannot be locked it counts as ours."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
