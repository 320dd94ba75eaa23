"""Plays what a plan still lacks: hands chunks of matches to workers, writes what comes back, survives what dies.

Which worker plays what, in which order and in what chunks never shows in the results. The driver (this process) runs
no bot's code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import queue
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import engine
from arena.core.errors import ArenaError, ClusterError, WorkerError
from arena.plan.files import logged_plan
from arena.plan.resolve import Plan
from arena.runner.gate import Barrier
from arena.runner.options import RunOptions
from arena.runner.outbox import Outbox
from arena.runner.progress import SETTLED, Outcome, Progress
from arena.runner.queue import MAX_CHUNK, Work, chunk_seconds
from arena.schedule.blocks import MatchSpec
from arena.store import MatchRow, Store
from arena.workers.messages import Death, GameStopped, Lost, Played, decode
from arena.workers.pools import LISTEN, Chunk, LocalPool, Pool, Reply
from arena.workers.process import WorkerProcess

__all__ = ["Outcome", "Progress", "Run"]

WRITE_EVERY = 0.5
LONG = 2.0
"""A worker that is at a chunk of more than so many times the usual length gets no other one to wait behind it."""
RAY_PAYS_AFTER = 60.0
"""Seconds of play still ahead from which Ray workers are brought in (starting Ray takes about 4)."""


@functools.cache
def _returns(ranks: tuple[int, ...]) -> list[float]:
    return engine.returns_from_ranks(ranks)


class _Signals:
    """SIGINT, SIGTERM and SIGHUP as calls instead of exceptions, so that no transaction is torn in the middle."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.works = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self.works:
            numbers = [signal.SIGINT, signal.SIGTERM]
            if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` ignores it
                numbers.append(signal.SIGHUP)
            self.previous = {number: signal.signal(number, lambda *_: self.call()) for number in numbers}

    def __exit__(self, *_: object) -> None:
        if self.works:
            for number, handler in self.previous.items():
                signal.signal(number, handler)


class Run:
    """One run of a plan into a log."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        options: RunOptions,
        first: WorkerProcess | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
        barrier: Callable[[Outbox], Barrier] | None = None,
    ) -> None:
        """`barrier` is for `arena.runner.queue.Work`."""
        self.plan, self.store, self.options, self.show = plan, store, options, show
        store.keep_waiting = self._wait_for_log
        self.message = plan.message()
        self.first = first
        self.work = Work(store, plan.schedule, barrier)
        self.progress = Progress(plan.schedule.total_matches)
        self.replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.in_flight = 0
        self.busy: defaultdict[tuple[int, int], float] = defaultdict(float)
        """By pool and worker: seconds that the chunks it holds are expected to take."""
        self.stopping = False
        self.hurry = False
        self.pools: list[Pool] = []
        self._ray_thread: threading.Thread | None = None
        self._ray_pool: Any = None
        self._ray_error: BaseException | None = None
        self._ray_up = threading.Event()
        self._ray_settled = self._ray_unwanted = False

    def play(self) -> Outcome:
        """Play everything that is missing. Ctrl-C lets the chunks in flight finish and keeps them."""
        started = time.monotonic()
        missing = self.work.any_missing() or self.work.outbox.size > 0
        self._tally()
        resolved = self.plan.resolved()
        if not missing and resolved == logged_plan(self.store):
            return Outcome(self.progress, False, [], time.monotonic() - started)
        versions = self._versions()
        bots = [bot.row for bot in self.plan.bots]
        bundles = {key: json.dumps(files) for key, files in self.plan.bundles().items()}
        self.run = self.store.begin_run(
            resolved.as_json(), json.dumps(versions), datetime.now(UTC).isoformat(), bots, bundles
        )
        if missing:
            with _Signals(self._interrupt):
                self._drive()
        interrupted = self.stopping and self.progress.left > 0
        not_played = [f"{spec.id}: {why}" for spec, why in self.work.not_played.items()]
        return Outcome(
            self.progress,
            interrupted,
            not_played if self.stopping else self.work.reasons(),
            time.monotonic() - started,
            [*self.work.game_faults.values()],
        )

    def _versions(self) -> dict[str, str]:
        if self.first is None:
            self.first = WorkerProcess()
        if not self.first.name:
            self.first.start()
        return self.first.versions

    def _drive(self) -> None:
        try:
            if self.options.needs_ray:
                self._start_ray()
            if self.options.backend != "ray":
                self.pools.append(LocalPool(self.options.workers, self.message, self.replies, self.first))
            more = True
            while more:
                self._play_missing()
                self._write()
                more = self.work.next_stage() and not self.stopping
        finally:
            try:
                self._write()
            finally:
                self._dismiss()
        self.work.abandon()
        self._tally()
        if self.stopping and self.store.totals()[0] > self.progress.found + self.progress.played:
            self.work.count_the_rest()
            self._tally()
        self.show(self.progress)

    def _tally(self) -> None:
        """Bring the progress up to date with the boards."""
        work, progress = self.work, self.progress
        progress.total, progress.found, progress.played = work.total, work.found, work.played
        progress.failed = work.failed() if work.not_played else 0

    def _play_missing(self) -> None:
        written = time.monotonic()
        while not self.hurry:
            self._consider_ray()
            self._hand_out()
            over = not self.in_flight and (self.stopping or not self.work.any_missing())
            if over and not self.work.recheck():
                return
            with contextlib.suppress(queue.Empty):
                self._take(self.replies.get(timeout=LISTEN))
                while not self.replies.empty():
                    self._take(self.replies.get())
            if time.monotonic() - written > WRITE_EVERY or self.work.outbox.size > MAX_CHUNK:
                self.work.recheck(only_full=True)
                self._write()
                written = time.monotonic()
            self._tally()
            self.progress.seconds_left = self._seconds_left()
            self.show(self.progress)

    def _dismiss(self) -> None:
        self._ray_unwanted = True
        if self._ray_thread is not None and self.options.address is None:
            self._ray_up.wait()  # our own Ray cannot be stopped while it starts: it would leave processes behind
        if self.options.address is not None and not self._ray_settled:
            self.progress.remarks.append("the Ray cluster was not used: it was not ready before all else was over")
        if self._ray_pool is not None and self._ray_pool not in self.pools:
            self.pools.append(self._ray_pool)
        for pool in self.pools:
            pool.close()
        if self.first is not None:
            self.first.stop()

    def _interrupt(self) -> None:
        """First: let what is in flight finish. Again: drop it (it is played when the run is resumed)."""
        self.hurry = self.stopping
        self.stopping = self.progress.stopping = True

    def _size(self) -> int:
        """Workers that play."""
        return max(1, sum(pool.size for pool in self.pools))

    def _seconds_left(self) -> float | None:
        seconds = self.work.seconds_left()
        return None if seconds is None else seconds / self._size()

    def _hand_out(self) -> None:
        """Keep every worker busy, and where chunks are short a chunk ahead."""
        for number, pool in reversed([*enumerate(self.pools)]):
            while not self.stopping and (worker := self._free(number, pool)) is not None:
                chunk = self.work.next_chunk(self._size())
                if chunk is None:
                    return
                chunk.worker = number, worker
                self.in_flight += 1
                self.busy[chunk.worker] += chunk.seconds
                pool.submit(worker, chunk)

    def _free(self, number: int, pool: Pool) -> int | None:
        """The worker of a pool that another chunk should go to."""
        workers = self._size()
        idle = pool.idle(self.work.ahead(workers))
        longest = LONG * chunk_seconds(workers)
        return next((worker for worker in idle if self.busy[number, worker] <= longest), None)

    def _take(self, reply: Reply) -> None:
        _, chunk, answer = reply
        self.in_flight -= 1
        self.busy[chunk.worker] -= chunk.seconds
        if isinstance(answer, BaseException):
            raise answer if isinstance(answer, ArenaError) else WorkerError(f"a worker failed: {answer}")
        if isinstance(answer, Lost):
            self.work.lose(chunk, answer.in_play)
        elif isinstance(answer, Death):
            self.work.mourn(chunk, answer)
        else:
            message = decode(answer)
            if isinstance(message, GameStopped):
                self.work.stop_board(chunk.matches[message.number][0], message.fault)
                return
            assert isinstance(message, Played)
            self.work.give_back(chunk, len(message.rows))
            self._keep(chunk, message)

    def _keep(self, chunk: Chunk, played: Played) -> None:
        if self.progress.first_match is None:
            self.progress.first_match = time.monotonic() - self.progress.started
            self.progress.first_reply = len(played.rows)
        for (spec, _), row in zip(chunk.matches, played.rows, strict=True):
            self._count(spec, row)
        self.work.take(chunk, played.rows, played.killed)

    def _count(self, spec: MatchSpec, row: MatchRow) -> None:
        returns = _returns(tuple([seat.rank for seat in row.seats]))
        for entry, value in zip(spec.seats, returns, strict=True):
            total = self.progress.sums[spec.block.board, entry]
            total[0] += value
            total[1] += 1
        if row.details:
            self.progress.forfeits += len(row.details)

    def _write(self) -> None:
        where = self.progress.where
        self.work.outbox.write(self.run)
        self.progress.where = where

    def _wait_for_log(self, waited: float) -> bool:
        """Say that another program has locked the log, and whether to go on waiting."""
        self.progress.where = f"waiting for the log, which another program has locked for {waited:.0f} s"
        self.show(self.progress)
        return not self.hurry

    def _consider_ray(self) -> None:
        """Bring Ray in when enough is left to pay for its start; it takes over when it is ready."""
        if self._ray_thread is None:
            pays = self.progress.playing > SETTLED and (self.progress.seconds_left or 0.0) > RAY_PAYS_AFTER
            if pays and self.options.backend == "auto" and self.options.workers > 1 and not self.stopping:
                self._start_ray()
        elif self._ray_up.is_set() and not self._ray_settled:
            self._ray_settled = True
            self._settle_ray()

    def _start_ray(self) -> None:
        def live() -> None:
            try:
                from arena.workers.ray.pool import RayPool

                self._ray_pool = RayPool(self.options.workers, self.message, self.replies, self.options.address)
                self._ray_pool.tell_to(self.progress.remarks)
            except BaseException as error:
                self._ray_error = error
            self._ray_up.set()
            if self._ray_pool is not None:
                self._ray_pool.serve(wanted=not self._ray_unwanted)

        self.progress.where = "Ray is starting"
        self._ray_thread = threading.Thread(target=live, daemon=True, name="ray")
        self._ray_thread.start()

    def _settle_ray(self) -> None:
        """Ray has started, or has not: that is an error only when it was asked for."""
        if self._ray_error is not None:
            message = f"Ray could not be used: {self._ray_error}"
            if self.options.needs_ray:
                raise ClusterError(message)
            self.progress.where = ""
            self.progress.remarks.append(f"{message}; local processes played on")
            return
        for pool in self.pools:
            pool.retire()
        self.pools.append(self._ray_pool)
        self.progress.where = "Ray"
