"""The one place that knows Ray: workers on a cluster (or this machine), behind the runner's chunk protocol.

A Ray worker is an actor that owns one `WorkerProcess`: bots run in that child, so that a bot that crashes or hangs
takes neither the actor nor Ray with it, and a match is played by the same code as on a local worker.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import shutil
import tempfile
import threading
from typing import Any

os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray

from arena.errors import WorkerError
from arena.process import Death, WorkerProcess
from arena.runner import IN_FLIGHT, Chunk


@ray.remote(num_cpus=1, max_restarts=0)
class RayWorker:
    """One worker process, wherever Ray put this actor."""

    def __init__(self) -> None:
        self._worker = WorkerProcess()

    def start(self, plan: bytes) -> str:
        """Spawn the process and tell it the plan; the name it goes by in the log."""
        self._worker.start()
        self._worker.give_plan(plan)
        return self._worker.name

    def play(self, chunk: bytes) -> bytes | tuple[int, int, int, str]:
        """Play a chunk; a death as plain data."""
        reply = self._worker.play(chunk)
        return (reply.number, reply.seat, reply.ply, reply.cause) if isinstance(reply, Death) else reply

    def stop(self) -> None:
        self._worker.stop()


class RayPool:
    """Actors on a Ray cluster; one thread waits for all of them."""

    def __init__(self, count: int, plan: bytes, replies: queue.SimpleQueue[Any], address: str | None) -> None:
        self._replies = replies
        self._own = not ray.is_initialized()
        self._folder = connect(address, count) if self._own else None
        if address is not None:
            count = max(1, int(ray.cluster_resources().get("CPU", count)))
        self._actors: list[Any] = [RayWorker.remote() for _ in range(count)]  # type: ignore[attr-defined]
        try:
            self._names = ray.get([actor.start.remote(plan) for actor in self._actors], timeout=180)
        except Exception as error:
            self.close()
            raise WorkerError(f"Ray workers did not start: {_last_line(error)}") from None
        self._load = [0] * count
        self._pending: dict[Any, tuple[int, Chunk]] = {}
        self._lock = threading.Condition()
        self._closed = False
        threading.Thread(target=self._collect, daemon=True, name="ray-replies").start()

    def idle(self) -> list[int]:
        return sorted((n for n, load in enumerate(self._load) if load < IN_FLIGHT), key=lambda n: self._load[n])

    def submit(self, worker: int, chunk: Chunk) -> None:
        self._load[worker] += 1
        reference = self._actors[worker].play.remote(chunk.message())
        with self._lock:
            self._pending[reference] = (worker, chunk)
            self._lock.notify()

    def _collect(self) -> None:
        while True:
            with self._lock:
                while not self._pending and not self._closed:
                    self._lock.wait()
                if self._closed:
                    return
                waiting = list(self._pending)
            done, _ = ray.wait(waiting, num_returns=1, timeout=0.05)
            for reference in done:
                with self._lock:
                    worker, chunk = self._pending.pop(reference)
                self._replies.put((worker, chunk, self._reply(reference, worker, chunk)))
                self._load[worker] -= 1

    def _reply(self, reference: Any, worker: int, chunk: Chunk) -> bytes | Death | BaseException:
        try:
            reply = ray.get(reference)
        except ray.exceptions.RayActorError:
            return Death(0, -1, 0, "crash")
        except Exception as error:
            return WorkerError(f"a Ray worker failed: {_last_line(error)}")
        chunk.worker_name = self._names[worker]
        return Death(*reply) if isinstance(reply, tuple) else reply

    def retire(self) -> None:
        for number in range(len(self._load)):
            self._load[number] = IN_FLIGHT

    def close(self) -> None:
        if hasattr(self, "_lock"):
            with self._lock:
                self._closed = True
                self._lock.notify()
        for actor in self._actors:
            with contextlib.suppress(Exception):
                ray.get(actor.stop.remote(), timeout=5)
            ray.kill(actor)
        if self._own:
            ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def connect(address: str | None, cpus: int) -> str | None:
    """Join the cluster at `address`, or start Ray on this machine and return the folder it works in.

    Ray's own log stays off the terminal. The folder's path is short, because Unix sockets in it have 107 bytes.
    """
    os.environ["PYTHONHASHSEED"] = "0"
    options: dict[str, Any] = {
        "logging_level": logging.ERROR,
        "log_to_driver": False,
        "configure_logging": True,
    }
    folder = None
    if address is None:
        folder = tempfile.mkdtemp(prefix="arena-ray-", dir="/tmp")
        options |= {"num_cpus": cpus, "include_dashboard": False, "_temp_dir": folder}
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _last_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
