"""Ray workers, on a cluster or on this machine, behind the chunk protocol; `arena.workers.ray.driver` knows Ray."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from arena.core.errors import ClusterError
from arena.core.process_trees import kill_tree
from arena.match.heartbeat import ShownMatch
from arena.schedule.blocks import MatchSpec
from arena.workers import messages
from arena.workers.pools import CHUNKS_PER_WORKER, POLL_SECONDS, Chunk
from arena.workers.ray.messages import (
    ClusterAlive,
    ClusterEvent,
    ClusterFailed,
    ClusterOrder,
    Remark,
    Ticket,
    TicketReply,
    WorkerDown,
    WorkerUp,
)

SILENCE_SECONDS = 10.0
"""Seconds after which a cluster whose head says nothing is taken for lost; a living one is heard of every second."""
JOIN_SECONDS = 180.0
"""The same while it is joined or started."""
MAX_SILENCE_PER_LOOK_SECONDS = 1.0
"""Seconds of silence that one look may add: when more have passed, it was this process that was stopped."""
STDERR_FILE = "complaints"
LEAVE_SECONDS = 12.0
"""Seconds that actors, and Ray when it was started for the run, are given to end."""


class RayPool:
    """Workers on a Ray cluster: one for every processor that it has at the time."""

    def __init__(
        self,
        count: int,
        plan: messages.WorkerPlan,
        replies: queue.SimpleQueue[Any],
        address: str | None,
        hurries: Callable[[], bool] = lambda: False,
    ) -> None:
        """Begin to join the cluster at an address, or to start Ray here; once it `hurries`, nothing is waited for."""
        self.remarks: list[str] = []
        """Lines for the user: nodes left out, and why."""
        self._replies, self._address, self._hurries = replies, address, hurries
        self._load: dict[int, int] = {}
        """By worker that can play: chunks that it holds."""
        self._chunks: dict[int, tuple[int, Chunk]] = {}
        """By ticket: the worker, and the chunk that it holds."""
        self._tickets = itertools.count()
        self._lock = threading.Lock()
        self._closed = self._retired = False
        self._ended = threading.Event()
        self.folder = tempfile.mkdtemp(prefix="arena-ray-", dir="/tmp")  # Ray's sockets: 107 bytes of path at most
        self.process, self._connection = start_driver(self.folder)
        with contextlib.suppress(OSError):  # it has ended, which `join` reports
            self._connection.send(ClusterOrder(address, count, self.folder, plan))
        self._silent, self.looked_at = 0.0, time.monotonic()

    def join(self) -> None:
        """Wait until the first worker can play, or the pool is closed; raises `ClusterError` when none will."""
        try:
            while not (self._load or self._closed):
                self.take_events(JOIN_SECONDS)
        except BaseException:
            self._end(lost=True)
            raise

    @property
    def size(self) -> int:
        return 0 if self._retired else len(self._load)

    def idle(self, ahead: int = CHUNKS_PER_WORKER) -> list[int]:
        if self._retired:
            return []
        with self._lock:
            load = dict(self._load)
        return sorted((worker for worker in load if load[worker] < ahead), key=load.__getitem__)

    def submit(self, worker: int, chunk: Chunk) -> None:
        ticket = next(self._tickets)
        with self._lock:
            if worker in self._load:
                self._load[worker] += 1
            self._chunks[ticket] = worker, chunk
        with contextlib.suppress(OSError):  # the cluster is lost, which `serve` reports
            self._connection.send(Ticket(worker, ticket, chunk.message()))

    def serve(self) -> None:
        """Pass replies on until the pool is closed, or the cluster lost: then a `ClusterError` is the last of them."""
        lost = False
        try:
            while not self._closed:
                self.take_events(SILENCE_SECONDS)
        except Exception as error:
            lost = True
            failure = error if isinstance(error, ClusterError) else ClusterError(f"Ray failed: {error}")
            self._replies.put((0, Chunk([], 0), failure))
        finally:
            self._end(lost)

    def take_events(self, limit: float) -> None:
        """Take what the driver says next, if it says something soon; raises `ClusterError` when the head was silent."""
        try:
            if self._connection.poll(POLL_SECONDS):
                self.take_event(self._connection.recv())
            now = time.monotonic()
            self._silent += min(now - self.looked_at, MAX_SILENCE_PER_LOOK_SECONDS)
            self.looked_at = now
            if self._silent > limit:
                raise ClusterError(f"{self._where()} has not answered for {limit:g} s: its head is lost, or cut off")
        except (EOFError, OSError):
            why = "" if self._load else f" ({_last_line(Path(self.folder, STDERR_FILE))})"
            raise ClusterError(f"{self._where()} is lost: Ray has ended{why}") from None

    def _where(self) -> str:
        return "Ray on this machine" if self._address is None else f"the Ray cluster at {self._address}"

    def take_event(self, event: ClusterEvent) -> None:
        match event:
            case ClusterAlive():  # workers may play on for a while when the head is gone
                self._silent = 0.0
            case WorkerUp(worker):
                with self._lock:
                    self._load[worker] = 0
            case WorkerDown(worker):
                with self._lock:
                    self._load.pop(worker, None)
            case Remark(line):
                self.remarks.append(line)
            case ClusterFailed(why):
                raise ClusterError(f"{self._where()} cannot play: {why}")
            case TicketReply():
                self._reply(event)

    def _reply(self, reply: TicketReply) -> None:
        with self._lock:
            worker, chunk = self._chunks.pop(reply.number)
            if worker in self._load:
                self._load[worker] -= 1
        chunk.worker_name = reply.worker_name
        self._replies.put((worker, chunk, reply.answer))

    def report_to(self, remarks: list[str]) -> None:
        """Add its remarks, also those to come, to somebody's list."""
        remarks += self.remarks
        self.remarks = remarks

    def in_play(self) -> list[tuple[MatchSpec, ShownMatch]]:
        return []

    def retire(self) -> None:
        self._retired = True

    def close(self) -> None:
        self._closed = True
        self._ended.wait()

    def _end(self, lost: bool = False) -> None:
        """End the driver, and with it its actors, and Ray if that was started here.

        It is left to do so by itself when this process `hurries`, and not asked when it may be stuck.
        """
        self._connection.close()
        until = time.monotonic() + LEAVE_SECONDS
        while not lost and self.process.poll() is None and time.monotonic() < until and not self._hurries():
            time.sleep(POLL_SECONDS)
        if lost or not self._hurries():
            kill_tree(self.process.pid)
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
        self._ended.set()


def start_driver(folder: str) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start the process that knows Ray, out of reach of Ctrl-C, in an empty folder: Ray adds it to search paths."""
    ours, theirs = socket.socketpair()
    with theirs, Path(folder, STDERR_FILE).open("wb") as complaints:
        command = [*(sys.executable, "-P", "-c"), f"from arena.workers.ray.driver import main; main({theirs.fileno()})"]
        process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,
        )
    return process, Connection(ours.detach())


def _last_line(path: Path) -> str:
    """Return the last line that is none of Ray's log, whose lines begin with `[TIME`: those say nothing of the end."""
    lines = [line for line in path.read_text(errors="replace").strip().splitlines() if not line.startswith("[")]
    return lines[-1] if lines else "it does not say why"
