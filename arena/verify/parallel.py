"""Check blocks in this process or in several; those import only what they need, so that they start quickly."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from arena.core.errors import WorkerError
from arena.core.process_trees import signal_at_parents_end
from arena.verify.matches import BlockChecker, BlockTask, CheckedBlocks

TASKS_PER_PROCESS = 4
"""Tasks queued for each process."""


def check_here(tasks: Iterator[BlockTask], arguments: tuple[Any, ...]) -> Iterator[CheckedBlocks]:
    """Yield the result of each task, checked in this process; `arguments` are those of `BlockChecker`."""
    checker = BlockChecker(*arguments)
    try:
        yield from map(checker.check, tasks)
    finally:
        checker.close()


_checker: BlockChecker | None = None
"""The checker of a process of `check_in_processes`."""


def _set_up(*arguments: Any) -> None:
    global _checker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    signal_at_parents_end(signal.SIGKILL)
    _checker = BlockChecker(*arguments)


def _check(task: BlockTask) -> CheckedBlocks:
    assert _checker is not None
    return _checker.check(task)


def check_in_processes(tasks: Iterator[BlockTask], arguments: tuple[Any, ...], workers: int) -> Iterator[CheckedBlocks]:
    """Yield the result of each task, in order; only a few are queued at a time, so that plans may have any size."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _set_up, arguments) as pool:
        under_way: deque[Future[CheckedBlocks]] = deque()
        try:
            for task in tasks:
                under_way.append(pool.submit(_check, task))
                if len(under_way) > TASKS_PER_PROCESS * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool:
            raise WorkerError("a process that checked matches has ended; --workers 1 does without") from None
        finally:
            pool.shutdown(cancel_futures=True)
