"""The machine."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

THREAD_COUNT_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
WORKER_VARIABLE = "ARENA_WORKER"
"""Set in a worker, and in processes of bots: it may crash, as its driver goes on."""
REPRODUCIBLE_ENVIRONMENT = {
    **dict.fromkeys(THREAD_COUNT_VARIABLES, "1"),
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    WORKER_VARIABLE: "1",
}
"""Environment of every process that bots run in: sums of several threads, and hashes, would differ from run to run."""
_memory_limit_lock = threading.Lock()


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """Return the model of this machine's processor, or as much as is known of it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip().isprintable():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


@contextlib.contextmanager
def bounded_memory(more: int) -> Iterator[None]:
    """Let this process take so many bytes of private memory more and not beyond; what needs them is a `MemoryError`.

    It bounds all threads meanwhile; on systems other than Linux it does nothing.
    """
    with _memory_limit_lock:
        before = resource.getrlimit(resource.RLIMIT_DATA)
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[5])
        except OSError:
            yield
            return
        wanted = pages * os.sysconf("SC_PAGE_SIZE") + more
        resource.setrlimit(resource.RLIMIT_DATA, (min(each for each in (wanted, *before) if each >= 0), before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
