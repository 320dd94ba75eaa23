"""Play on a node of a Ray cluster, as an actor of `arena.workers.ray.driver`."""

from __future__ import annotations

import platform

from arena.core.errors import WorkerError
from arena.core.versions import code_hash, differences, versions
from arena.workers.messages import Death, WorkerPlan
from arena.workers.process import WorkerProcess


class RayWorker:
    """One worker process, wherever Ray put this actor."""

    def __init__(self, folder: str | None) -> None:
        self._worker = WorkerProcess(folder)

    def start(self, plan: WorkerPlan, code: str, theirs: dict[str, str]) -> tuple[str, list[str]]:
        """Spawn the process and tell it the plan; its host, and what is worth a remark.

        `code` and `theirs` are the driver's. Raises `WorkerError` when this node cannot play or would play otherwise.
        """
        if code != code_hash():
            raise WorkerError("it has another version of engine or arena than this command; install the same")
        refused, remarks = differences(versions(), theirs)
        if refused:
            raise WorkerError(f"{'; '.join(refused)}; install the same versions")
        self._worker.give_plan(plan)
        return platform.node(), remarks

    def play(self, chunk: bytes) -> tuple[str, bytes | Death]:
        """Return the process's name for the log, and its reply to a chunk."""
        reply = self._worker.play(chunk)
        return self._worker.name, reply

    def stop(self) -> None:
        self._worker.stop()
