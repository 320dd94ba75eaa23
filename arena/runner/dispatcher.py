"""Dispatch of chunks to workers: which worker gets what next, and which replies have come.

Which worker plays what, in which order and in what chunks does not affect results.
"""

from __future__ import annotations

import contextlib
import queue
from collections import defaultdict
from collections.abc import Iterator

from arena.core.errors import ArenaError, WorkerError
from arena.runner.compiling import CompileChunk, CompileStage
from arena.runner.interruption import Interruption
from arena.runner.play_order import chunk_seconds
from arena.runner.queue import MatchQueue
from arena.workers.pools import Answer, Chunk, Pool, Reply

MAX_WAIT_FACTOR = 2.0
"""A chunk is queued at a worker only behind less than this many times the usual duration of a chunk."""


class Dispatcher:
    """The workers of a run, and the chunks that they hold."""

    def __init__(self, matches: MatchQueue, interruption: Interruption) -> None:
        self.matches, self.interruption = matches, interruption
        self.pools: list[Pool] = []
        self.local: Pool | None = None
        """Those processes of `pools` that are on this machine."""
        self.compiling = CompileStage()
        """What local workers are to compile first."""
        self.replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self.in_flight = 0
        """Chunks that workers hold."""
        self._busy: defaultdict[tuple[int, int], float] = defaultdict(float)
        """By pool and worker: seconds that the chunks it holds are expected to take."""

    def add_local(self, pool: Pool, compiling: CompileStage) -> None:
        """Add workers on this machine, which first compile the code of boards."""
        self.local, self.compiling = pool, compiling
        self.pools.append(pool)
        self._update_compiled()

    @property
    def size(self) -> int:
        """Workers that play; at least 1."""
        return max(1, sum(pool.size for pool in self.pools))

    def _update_compiled(self) -> None:
        """Let boards play whose code is ready."""
        for board in self.matches.boards:
            board.compiled = self.compiling.is_ready(board.number)

    def is_idle(self) -> bool:
        """Return whether no reply is awaited; a run that is interrupted does not wait for compilation."""
        stopping = self.interruption.requested
        if self.in_flight > (len(self.compiling.running) if stopping else 0):
            return False
        return stopping or not self.compiling.active

    def hand_out(self) -> None:
        """Keep every worker busy, and where chunks are short a chunk ahead, until the run is interrupted."""
        if self.compiling.active and not (self.local and self.local.size):
            self.compiling.drop()
            self._update_compiled()
        for number, pool in reversed([*enumerate(self.pools)]):
            while not self.interruption.requested and (worker := self._free_worker(number, pool)) is not None:
                chunk = self._next_chunk(number, worker)
                if chunk is None:
                    break
                chunk.worker = number, worker
                self.in_flight += 1
                self._busy[chunk.worker] += chunk.seconds
                pool.submit(worker, chunk)

    def _next_chunk(self, number: int, worker: int) -> Chunk | None:
        """Return matches of boards whose code is ready, or an order to compile."""
        pool = self.pools[number]
        compiles = pool is self.local and self.compiling.active
        if compiles and (
            self.compiling.needs_worker(pool.size) or not any(board.ready for board in self.matches.boards)
        ):
            order = self.compiling.next((number, worker))
            if order is not None:
                return order
        return self.matches.next_chunk(self.size) or (self.compiling.next((number, worker)) if compiles else None)

    def _free_worker(self, number: int, pool: Pool) -> int | None:
        """Return the worker of a pool that another chunk should go to."""
        idle = pool.idle(self.matches.ahead(self.size))
        longest = MAX_WAIT_FACTOR * chunk_seconds(self.size)
        return next((worker for worker in idle if self._busy[number, worker] <= longest), None)

    def received(self, timeout: float) -> Iterator[tuple[Chunk, Answer]]:
        """Wait up to `timeout` seconds for a reply, then yield all that have come, each with its chunk of matches.

        Raises the error of a worker that has failed.
        """
        with contextlib.suppress(queue.Empty):
            yield from self._answers(self.replies.get(timeout=timeout))
            while not self.replies.empty():
                yield from self._answers(self.replies.get())

    def _answers(self, reply: Reply) -> Iterator[tuple[Chunk, Answer]]:
        """Yield the chunk and its answer, unless it was to be compiled."""
        _, chunk, answer = reply
        self.in_flight -= 1
        self._busy[chunk.worker] -= chunk.seconds
        if isinstance(answer, BaseException):
            raise answer if isinstance(answer, ArenaError) else WorkerError(f"a worker failed: {answer}")
        if isinstance(chunk, CompileChunk):
            self.compiling.done(chunk)
            self._update_compiled()
        else:
            yield chunk, answer

    def close(self) -> None:
        """End all pools."""
        for pool in self.pools:
            pool.close()
