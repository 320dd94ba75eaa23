"""Workers that wait for their next plan, for those who play many short plans: starting one may cost more than these."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from arena.workers.process import WorkerProcess


class WorkerReserve:
    """Workers that nobody uses just now; safe to use from several threads."""

    def __init__(self, size: int = 0) -> None:
        """At most `size` workers wait; others are stopped when they are given back."""
        self._size = size
        self._lock = threading.Lock()
        self._waiting: list[tuple[WorkerProcess, float]] = []
        """Each with the time from which on it has waited, by the monotonic clock; the latest one last."""

    def take(self) -> WorkerProcess:
        """Return the worker that was given back last, or a new one, which is not started yet."""
        with self._lock:
            return self._waiting.pop()[0] if self._waiting else WorkerProcess()

    def give_back(self, worker: WorkerProcess) -> None:
        """Keep a worker for the next plan, or stop it: one that has imported a plan's folders of games, too."""
        if worker.is_fit_for_any_plan:
            worker.forget_plan()
            with self._lock:
                if len(self._waiting) < self._size:
                    self._waiting.append((worker, time.monotonic()))
                    return
        worker.stop()

    @contextlib.contextmanager
    def worker(self) -> Iterator[WorkerProcess]:
        """Give a worker, until the context is left; it is stopped by an error."""
        worker = self.take()
        try:
            yield worker
        except BaseException:
            worker.stop()
            raise
        self.give_back(worker)

    def stop_idle(self, seconds: float = 0.0) -> None:
        """Stop the workers that have waited for so long."""
        with self._lock:
            until = time.monotonic() - seconds
            old = [worker for worker, since in self._waiting if since <= until]
            self._waiting = [each for each in self._waiting if each[1] > until]
        for worker in old:
            worker.stop()
