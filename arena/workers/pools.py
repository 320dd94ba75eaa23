"""Pools of workers: their interface, chunks of matches, and the pool of processes on this machine."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import Any, Protocol

from arena.match.heartbeat import ShownMatch
from arena.schedule.blocks import MatchSpec
from arena.workers.messages import MatchOrder, PlayChunk, WorkerDeath, WorkerLost, WorkerPlan, encode
from arena.workers.process import WorkerProcess
from arena.workers.reserve import WorkerReserve

CHUNKS_PER_WORKER = 2
"""Chunks that a worker has at a time: one in play, one waiting."""
POLL_SECONDS = 0.1
"""Time that a driver waits for a reply before it looks at something else."""


class Pool(Protocol):
    """Workers that take chunks and put replies into the runner's queue."""

    @property
    def size(self) -> int:
        """Workers that can play now."""

    def idle(self, ahead: int = CHUNKS_PER_WORKER) -> list[int]:
        """Return the workers that hold fewer than `ahead` chunks, those with the fewest first."""

    def submit(self, worker: int, chunk: Chunk) -> None: ...

    def in_play(self) -> list[tuple[MatchSpec, ShownMatch]]:
        """Return matches that take long as far as they are played; none where that is not known."""

    def retire(self) -> None:
        """Take no further chunk; those in flight still come back."""

    def close(self) -> None:
        """End the threads at once, and workers that play; chunks in flight are dropped."""


@dataclass(eq=False)
class Chunk:
    """Matches that go to one worker together."""

    matches: list[MatchOrder]
    board: int
    worker_name: str = ""
    seconds: float = 0.0
    """Estimated seconds to play it."""
    worker: tuple[int, int] = (0, 0)
    """The pool and the worker that it went to."""
    out_of_replays: tuple[int, ...] = ()
    """Entries for which no match is replayed any more when their process is killed."""
    listens: bool = False
    """Whether it matters what bots print."""

    def message(self) -> bytes:
        """Return the chunk as it is sent to a worker."""
        return encode(PlayChunk(self.matches, self.out_of_replays, self.listens))


Answer = bytes | WorkerDeath | WorkerLost | BaseException
"""An encoded reply, or what came instead."""
Reply = tuple[int, Chunk, Answer]


class LocalPool:
    """Worker processes on this machine, each served by a thread that does nothing but wait for it."""

    def __init__(
        self,
        count: int,
        plan: WorkerPlan,
        replies: queue.SimpleQueue[Any],
        first: WorkerProcess | None = None,
        reserve: WorkerReserve | None = None,
    ) -> None:
        """`first` and what the `reserve` has come first; they and all others go to it in the end."""
        self._replies = replies
        self._plan = plan
        self._reserve = reserve or WorkerReserve()
        self._workers = [first or self._reserve.take(), *(self._reserve.take() for _ in range(count - 1))]
        self._inboxes: list[queue.SimpleQueue[Chunk | None]] = [queue.SimpleQueue() for _ in self._workers]
        self._load = [0] * count
        self._playing: list[Chunk | None] = [None] * count
        self._retired = self._closed = False
        self._is_ended = [False] * count
        """Workers that play while the pool is closed: nobody gets them after that."""
        self.threads = [
            threading.Thread(target=self._serve, args=(number,), daemon=True, name=f"worker-{number}")
            for number in range(count)
        ]
        for thread in self.threads:
            thread.start()

    def _serve(self, number: int) -> None:
        worker = self._workers[number]
        ready = False
        while (chunk := self._inboxes[number].get()) is not None and not self._closed:
            try:
                if not ready:
                    if worker.name == "":
                        worker.start()
                    worker.give_plan(self._plan)
                    ready = True
                self._playing[number] = chunk
                reply: Answer = worker.play(chunk.message())
                chunk.worker_name = worker.name
            except Exception as error:
                worker.stop()
                reply = error
            self._playing[number] = None
            self._load[number] -= 1
            self._replies.put((number, chunk, reply))
        if self._closed and not self._is_ended[number]:
            self._reserve.give_back(worker)
        else:
            worker.stop()

    @property
    def size(self) -> int:
        return 0 if self._retired else len(self._workers)

    def idle(self, ahead: int = CHUNKS_PER_WORKER) -> list[int]:
        if self._retired:
            return []
        return sorted((n for n, load in enumerate(self._load) if load < ahead), key=lambda n: self._load[n])

    def in_play(self) -> list[tuple[MatchSpec, ShownMatch]]:
        found = []
        for worker, chunk in zip(self._workers, self._playing, strict=True):
            shown = worker.moves() if chunk is not None else None
            if chunk is not None and shown is not None and shown.number < len(chunk.matches):
                found.append((chunk.matches[shown.number].spec, shown))
        return found

    def submit(self, worker: int, chunk: Chunk) -> None:
        self._load[worker] += 1
        self._inboxes[worker].put(chunk)

    def retire(self) -> None:
        self._retired = True
        for inbox in self._inboxes:
            inbox.put(None)

    def close(self) -> None:
        self._is_ended = [load > 0 for load in self._load]
        self._closed = True
        self.retire()
        for worker, is_ended, thread in zip(self._workers, self._is_ended, self.threads, strict=True):
            if is_ended:
                worker.stop_thread(thread)
            else:
                thread.join()
