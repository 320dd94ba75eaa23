"""The one place that knows Ray: workers on a cluster (or this machine), behind the runner's chunk protocol.

A Ray worker is an actor that owns one `WorkerProcess`: bots run in that child, so that a bot that crashes or hangs
takes neither the actor nor Ray with it, and a match is played by the same code as on a local worker.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import platform
import queue
import shutil
import tempfile
import threading
import time
from typing import Any

os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray

from arena.code import code_hash
from arena.errors import WorkerError
from arena.pools import IN_FLIGHT, Answer, Chunk, Lost
from arena.process import Death, WorkerProcess

START_LIMIT = 180.0
STOP_LIMIT = 2.0
SURVEY_LIMIT = 30.0
SPARE_ACTORS = 3
"""How many lost actors are replaced, for each worker, before the run gives up."""


@ray.remote(num_cpus=1, max_restarts=0)
class RayWorker:
    """One worker process, wherever Ray put this actor."""

    def __init__(self, folder: str | None) -> None:
        self._worker = WorkerProcess(folder)

    def start(self, plan: bytes, code: str) -> str:
        """Spawn the process and tell it the plan; the name it goes by in the log. `code` is the driver's."""
        if code != code_hash():
            raise WorkerError(f"{platform.node()} has another version of the arena installed than this command")
        self._worker.start()
        self._worker.give_plan(plan)
        return self._worker.name

    def play(self, chunk: bytes) -> bytes | tuple[Any, ...]:
        """Play a chunk; a death as plain data."""
        reply = self._worker.play(chunk)
        return dataclasses.astuple(reply) if isinstance(reply, Death) else reply

    def stop(self) -> None:
        self._worker.stop()


class RayPool:
    """Actors on a Ray cluster. The thread that makes the pool must `serve` it: Ray's processes end with that thread."""

    def __init__(self, count: int, plan: bytes, replies: queue.SimpleQueue[Any], address: str | None) -> None:
        self._replies = replies
        self._plan = plan
        self._folder: str | None = None
        self._actors: list[Any] = []
        self._pending: dict[Any, tuple[int, Any, Chunk]] = {}
        self._lock = threading.Condition()
        self._closed = self._retired = False
        self._ended = threading.Event()
        self._own = not ray.is_initialized()
        if self._own:
            self._folder = connect(address, count)
        if address is not None:
            count = max(1, int(ray.cluster_resources().get("CPU", count)))
        self._load = [0] * count
        self._spare = count * SPARE_ACTORS
        try:
            self._actors = [RayWorker.remote(self._folder) for _ in range(count)]  # type: ignore[attr-defined]
            started = [actor.start.remote(plan, code_hash()) for actor in self._actors]
            self._names = ray.get(started, timeout=START_LIMIT)
        except Exception as error:
            self._end()
            raise WorkerError(f"Ray workers did not start: {_last_line(error)}") from None

    def idle(self) -> list[int]:
        if self._retired:
            return []
        return sorted((n for n, load in enumerate(self._load) if load < IN_FLIGHT), key=lambda n: self._load[n])

    def submit(self, worker: int, chunk: Chunk) -> None:
        self._load[worker] += 1
        with self._lock:
            actor = self._actors[worker]
            self._pending[actor.play.remote(chunk.message())] = (worker, actor, chunk)
            self._lock.notify()

    def serve(self, wanted: bool = True) -> None:
        """Pass replies on until the pool is closed, then end the actors, and Ray if this pool started it.

        A pool that is no longer `wanted` ends at once.
        """
        self._closed = self._closed or not wanted
        try:
            self._collect()
        except Exception as error:
            self._replies.put((0, Chunk([], 0), WorkerError(f"Ray failed: {_last_line(error)}")))
        finally:
            self._end()

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
                    worker, actor, chunk = self._pending.pop(reference)
                answer = self._answer(reference, worker, actor, chunk)
                self._load[worker] -= 1
                self._replies.put((worker, chunk, answer))

    def _answer(self, reference: Any, worker: int, actor: Any, chunk: Chunk) -> Answer:
        try:
            reply = ray.get(reference)
        except ray.exceptions.RayActorError as error:
            return self._replace(worker, actor, error)
        except Exception as error:
            return WorkerError(f"a Ray worker failed: {_last_line(error)}")
        chunk.worker_name = self._names[worker]
        return Death(*reply) if isinstance(reply, tuple) else reply

    def _replace(self, worker: int, actor: Any, error: Exception) -> Answer:
        """A new actor for one that was lost (bots die in processes of their own, so none of them is to blame)."""
        if self._actors[worker] is not actor:  # another chunk was lost with it
            return Lost()
        self._spare -= 1
        if self._spare < 0:
            return WorkerError(f"Ray workers are lost again and again: {_last_line(error)}")
        fresh = RayWorker.remote(self._folder)  # type: ignore[attr-defined]
        try:
            self._names[worker] = ray.get(fresh.start.remote(self._plan, code_hash()), timeout=START_LIMIT)
        except Exception as failure:
            return WorkerError(f"a Ray worker was lost and could not be replaced: {_last_line(failure)}")
        self._actors[worker] = fresh
        return Lost()

    def retire(self) -> None:
        self._retired = True

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._lock.notify()
        self._ended.wait()

    def _end(self) -> None:
        stopped = [actor.stop.remote() for actor in self._actors]
        with contextlib.suppress(Exception):
            ray.wait(stopped, num_returns=len(stopped), timeout=STOP_LIMIT)
        for actor in self._actors:
            ray.kill(actor)
        if self._own:
            ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._ended.set()


def connect(address: str | None, cpus: int) -> str | None:
    """Join the cluster at `address`, or start Ray on this machine, in a folder that is returned and is to be removed.

    Ray's own log stays off the terminal.
    """
    os.environ["PYTHONHASHSEED"] = "0"
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "configure_logging": True}
    if address is not None:
        ray.init(address=address, **quiet)
        return None
    folder = tempfile.mkdtemp(prefix="arena-ray-", dir="/tmp")  # sockets in it: their paths have 107 bytes at most
    try:
        ray.init(num_cpus=cpus, include_dashboard=False, _temp_dir=folder, **quiet)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _last_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__


def survey(address: str) -> list[dict[str, Any]]:
    """The live nodes of a cluster: host, cores, versions, hash of the code, seconds that the clock is ahead of ours.

    A node that does not answer has an `error` instead.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def tell() -> dict[str, Any]:  # sent as it is written: a node may lack the arena, or have another one
        import platform
        import time
        from importlib.metadata import PackageNotFoundError, version

        try:
            from arena.code import code_hash

            arena, code = version("pyramid-arena"), code_hash()
        except (ImportError, PackageNotFoundError):
            arena, code = "", ""
        found = {"python": platform.python_version(), "ray": version("ray"), "arena": arena, "code": code}
        return {**found, "time": time.time()}

    own = not ray.is_initialized()
    try:
        folder = connect(address, 1) if own else None
    except Exception as error:
        raise WorkerError(f"no Ray cluster at {address}: {_last_line(error)}") from None
    try:
        rows = []
        for node in (node for node in ray.nodes() if node["Alive"]):
            where = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            row: dict[str, Any] = {"host": node["NodeManagerHostname"], "cpus": int(node["Resources"].get("CPU", 0))}
            try:
                task = ray.remote(num_cpus=0, max_retries=0)(tell).options(scheduling_strategy=where)
                told: Any = ray.get(task.remote(), timeout=SURVEY_LIMIT)
                row |= told
                row["ahead"] = row.pop("time") - time.time()
            except Exception as error:
                row["error"] = _last_line(error)
            rows.append(row)
        return sorted(rows, key=lambda row: str(row["host"]))
    finally:
        if own:
            ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
