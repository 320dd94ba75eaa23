"""Handover of a run from local processes to Ray, which starts beside them."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from arena.core.errors import ClusterError
from arena.runner.options import RunOptions
from arena.runner.progress import SETTLED, Progress
from arena.workers.messages import WorkerPlan
from arena.workers.pools import Pool, Reply

if TYPE_CHECKING:
    from arena.workers.ray.pool import RayPool

RAY_PAYS_AFTER = 60.0
"""Seconds of play still ahead from which Ray is started (which takes about 4)."""


class RayHandover:
    """Starts Ray in a thread when it was asked for or pays, and adds its pool to those of the run when it is ready."""

    def __init__(
        self, options: RunOptions, plan: WorkerPlan, replies: queue.SimpleQueue[Reply], progress: Progress
    ) -> None:
        self.options, self.progress = options, progress
        self.pool: RayPool | None = None
        self._plan, self._replies = plan, replies
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        """Set when the start has succeeded or failed."""
        self._settled = self._unwanted = False

    def update(self, pools: list[Pool], stopping: bool) -> None:
        """Start Ray when enough is left to pay for it, and let it take over from the pools when it is ready."""
        if self._thread is None:
            pays = self.progress.playing > SETTLED and (self.progress.roughly_left or 0.0) > RAY_PAYS_AFTER
            if pays and self.options.backend == "auto" and self.options.workers > 1 and not stopping:
                self.start()
        elif self._ended.is_set() and not self._settled:
            self._settled = True
            self._take_over(pools)

    def start(self) -> None:
        """Start Ray in a thread of its own, which serves its pool from then on."""
        self.progress.where = "Ray is starting"
        self._thread = threading.Thread(target=self._live, daemon=True, name="ray")
        self._thread.start()

    def _live(self) -> None:
        try:
            from arena.workers.ray.pool import RayPool  # only where it is used, since starting up should be fast

            self.pool = RayPool(self.options.workers, self._plan, self._replies, self.options.address)
            self.pool.tell_to(self.progress.remarks)
        except BaseException as error:
            self._error = error
        self._ended.set()
        if self.pool is not None:
            self.pool.serve(wanted=not self._unwanted)

    def _take_over(self, pools: list[Pool]) -> None:
        """Retire other pools; if Ray has not started, that is an error only when it was asked for."""
        if self.pool is None:
            message = f"Ray could not be used: {self._error}"
            if self.options.needs_ray:
                raise ClusterError(message)
            self.progress.where = ""
            self.progress.remarks.append(f"{message}; local processes played on")
            return
        for pool in pools:
            pool.retire()
        pools.append(self.pool)
        self.progress.where = "Ray"

    def end(self, pools: list[Pool]) -> None:
        """Wait for Ray if it is just starting, and add its pool to those that are to be closed."""
        self._unwanted = True
        if self._thread is not None and self.options.address is None:
            self._ended.wait()  # our own Ray cannot be stopped while it starts: it would leave processes behind
        if self.options.address is not None and not self._settled:
            self.progress.remarks.append("the Ray cluster was not used: it was not ready before all else was over")
        if self.pool is not None and self.pool not in pools:
            pools.append(self.pool)
