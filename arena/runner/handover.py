"""Handover of a run from local processes to Ray, which starts beside them."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from arena.core.errors import ClusterError
from arena.runner.interruption import Interruption
from arena.runner.options import RunOptions
from arena.runner.progress import RATE_SETTLED_SECONDS, Progress
from arena.workers.messages import WorkerPlan
from arena.workers.pools import Pool, Reply

if TYPE_CHECKING:
    from arena.workers.ray.pool import RayPool

MIN_SECONDS_LEFT_FOR_RAY = 60.0
"""Remaining time from which starting Ray is worthwhile (that takes about 4 s)."""


class RayHandover:
    """Start of Ray in a thread, when asked for or worthwhile; its pool joins those of the run when it is ready."""

    def __init__(
        self,
        options: RunOptions,
        replies: queue.SimpleQueue[Reply],
        progress: Progress,
        interruption: Interruption,
    ) -> None:
        self.options, self.progress, self.interruption = options, progress, interruption
        self._pool: RayPool | None = None
        self._replies = replies
        self._error: BaseException | None = None
        self._ended = threading.Event()
        """Set when the start has succeeded or failed."""
        self._started = self._is_decided = False

    def update(self, pools: list[Pool], plan: WorkerPlan) -> None:
        """Start Ray when enough is left to pay for it, and let it take over from the pools when it is ready."""
        if not self._started:
            pays = (
                self.progress.playing > RATE_SETTLED_SECONDS
                and (self.progress.roughly_left or 0.0) > MIN_SECONDS_LEFT_FOR_RAY
            )
            if pays and self.options.backend == "auto" and self.options.workers > 1 and not self.interruption.requested:
                self.start(plan)
        elif self._ended.is_set() and not self._is_decided:
            self._take_over(pools)

    def start(self, plan: WorkerPlan) -> None:
        """Start Ray for a plan, or join a cluster, beside a thread that serves its pool from then on."""
        self._started = True
        self.progress.where = "Ray is starting" if self.options.address is None else "joining the Ray cluster"
        try:
            from arena.workers.ray.pool import RayPool  # only where it is used, since starting up should be fast

            options, hurries = self.options, lambda: self.interruption.requested
            self._pool = RayPool(options.workers, plan, self._replies, options.address, hurries)
            threading.Thread(target=self._join_and_serve, args=(self._pool,), daemon=True, name="ray").start()
        except Exception as error:
            self._error = error
            self._ended.set()

    def _join_and_serve(self, pool: RayPool) -> None:
        try:
            pool.join()
            pool.report_to(self.progress.remarks)
        except BaseException as error:
            self._error = error
        self._ended.set()
        if self._error is None:
            pool.serve()

    def _take_over(self, pools: list[Pool]) -> None:
        """Retire other pools; if Ray has not started, that is an error only when it was asked for."""
        self._is_decided = True
        if self._pool is None or self._error is not None:
            message = f"Ray could not be used: {self._error}"
            if self.options.backend == "ray":
                raise ClusterError(message)
            self.progress.where = ""
            self.progress.remarks.append(f"{message}; local processes played on")
            return
        for pool in pools:
            pool.retire()
        pools.append(self._pool)
        self.progress.where = "Ray"

    def end(self, pools: list[Pool]) -> None:
        """Add the pool to those to be closed, even if Ray is still starting."""
        if self.options.address is not None and not self._is_decided:
            why = self._error or "it was not ready before all else was over"
            self.progress.remarks.append(f"the Ray cluster was not used: {why}")
        if self._pool is not None and self._pool not in pools:
            pools.append(self._pool)
