"""Runs of a plan: hand chunks of matches to workers, write their results, survive what dies.

Which worker plays what, in which order and in what chunks does not affect results. The driver (this process) runs no
bot's code.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import queue
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from arena.core.errors import ArenaError, WorkerError
from arena.plan.resolve import Plan
from arena.runner.board_queue import BoardQueue
from arena.runner.compiling import CompileChunk, CompileStage
from arena.runner.handover import RayHandover
from arena.runner.in_play import InPlayFile
from arena.runner.options import RunOptions
from arena.runner.progress import Outcome, Progress
from arena.runner.queue import MAX_CHUNK, MatchQueue, chunk_seconds
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.workers.messages import RATINGS, Death, GameStopped, Lost, Played, decode
from arena.workers.pools import LISTEN, Chunk, LocalPool, Pool, Reply
from arena.workers.process import WorkerProcess

__all__ = ["Outcome", "Progress", "Run"]

WRITE_EVERY = 0.5
GRACE_SECONDS = 0.7
"""Time that what is in play has left to end when the run is interrupted, before it is cut off."""
LONG = 2.0
"""No chunk waits at a worker for one of more than so many times the usual duration."""


class Run:
    """One run of a plan into a log."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        options: RunOptions,
        first: WorkerProcess | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
        on_complete: Callable[[int], None] = lambda board: None,
    ) -> None:
        """`first` is a worker that has been started already.

        `on_complete` is called, while others are played, with each board of which the log has every match.
        """
        self.plan, self.store, self.options, self.show = plan, store, options, show
        store.keep_waiting = self._wait_for_log
        self.first = first or WorkerProcess()
        self._cut_off = math.inf
        """When nothing is waited for any more."""
        self.matches = MatchQueue(store, plan.schedule, self.is_cut_off)
        self.on_complete = on_complete
        self._completed: set[int] = set()
        """Boards that `on_complete` was called with."""
        self.progress = Progress(plan.schedule.total_matches)
        self.replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self.in_flight = 0
        self.busy: defaultdict[tuple[int, int], float] = defaultdict(float)
        """By pool and worker: seconds that the chunks it holds are expected to take."""
        self.stopping = False
        self.compiling = CompileStage()
        self.local: Pool | None = None
        """Those processes of `pools` that are on this machine."""
        self.pools: list[Pool] = []
        self.ray = RayHandover(options, plan.message(), self.replies, self.progress)
        self.written = time.monotonic()
        self.shown = InPlayFile(store.path.parent)

    def play(self) -> Outcome:
        """Play everything that is missing. Ctrl-C ends that soon: what is in flight is kept if it ends soon too."""
        started = time.monotonic()
        missing = self.matches.any_missing()
        self._update_progress()
        resolved = self.plan.resolved()
        if not missing and resolved == Tournament(self.store).plan:
            return Outcome(self.progress, False, [], time.monotonic() - started)
        self._resumes = self.store.has_run()
        self._begin(resolved.as_json())
        if missing:
            with _interrupts(self._interrupt):
                self._play_missing()
        return Outcome(
            self.progress,
            self.stopping and self.progress.left > 0,
            self.matches.reasons(given_up_only=self.stopping),
            time.monotonic() - started,
            [*self.matches.game_faults.values()],
        )

    def _begin(self, resolved: str) -> None:
        """Write into the log what is played by which code."""
        if not self.first.name:
            self.first.start()
        bots = [bot.row for bot in self.plan.bots]
        sources = {bot.bundle.hash: sorted(bot.bundle.files.items()) for bot in self.plan.bots}
        bundles = {key: json.dumps({name: text.hex() for name, text in files}) for key, files in sources.items()}
        games = {f"game {name}": str(rules) for name, rules in self.plan.rules.items()}
        started, versions = datetime.now(UTC).isoformat(), json.dumps({**self.first.versions, **games})
        self.run = self.store.begin_run(resolved, versions, started, bots, bundles)

    def _play_missing(self) -> None:
        gc.freeze()  # what is there stays; looking through it again and again took 10 µs a match
        try:
            self._start_workers()
            self._play_stage()
            while not self.is_cut_off() and self.matches.next_stage() and not self.stopping:  # totals change too
                self._play_stage()
        finally:
            self.shown.remove()
            try:
                self._write()
            finally:
                self._end_workers()
                gc.unfreeze()
        self._update_progress()
        if self.stopping and self._resumes:
            self.progress.searched = self.matches.count_rest()
            self._update_progress()
        self.show(self.progress)

    def _start_workers(self) -> None:
        if self.options.backend == "ray" or self.options.address is not None:
            self.ray.start()
        if self.options.backend != "ray":
            self.local = LocalPool(self.options.workers, self.plan.message(), self.replies, self.first)
            self.pools.append(self.local)
            boards = [(board.number, self.plan.schedule.boards[board.number].entries) for board in self._unfinished()]
            self.compiling = CompileStage(self.plan.message(), boards, self.options.rated)
            self._note_compiled()

    def _unfinished(self) -> list[BoardQueue]:
        return [board for board in self.matches.boards if not board.exhausted]

    def _note_compiled(self) -> None:
        """Let boards play whose code is ready."""
        for board in self.matches.boards:
            board.compiled = self.compiling.is_ready(board.number)

    def _play_stage(self) -> None:
        """Play until nothing is missing in the boards' present stages."""
        while not self.is_cut_off():
            self.ray.update(self.pools, self.stopping)
            self._hand_out()
            if self._is_played():
                break
            self._take_replies()
            if time.monotonic() - self.written > WRITE_EVERY or len(self.matches.unwritten) > MAX_CHUNK:
                self._write()
            if self.local is not None:
                self.shown.update(self.local.in_play())
            self._tell_complete()
            self._update_progress()
            self.show(self.progress)
        self._write()

    def _tell_complete(self) -> None:
        """Tell which boards have become complete while others have not, once what rates them is compiled."""
        complete = self.matches.complete
        if len(complete) == len(self.matches.boards) or not self.compiling.is_ready(RATINGS):
            return
        new = [board for board in complete if board not in self._completed]
        if new:
            self._write()
        for board in new:
            self._completed.add(board)
            self.on_complete(board)

    def _is_played(self) -> bool:
        """Return whether a stage has ended; what is only being compiled is not waited for when the run is to stop."""
        if self.in_flight > (len(self.compiling.running) if self.stopping else 0):
            return False
        return self.stopping or not (self.compiling.active or self.matches.any_missing())

    def _end_workers(self) -> None:
        self.ray.end(self.pools)
        for pool in self.pools:
            pool.close()
        self.first.stop()

    def _interrupt(self) -> None:
        """Let what is in flight end soon; when called again, drop it: it is played when the run is resumed."""
        self._cut_off = time.monotonic() + (0.0 if self.stopping else GRACE_SECONDS)
        self.stopping = self.progress.stopping = True

    def is_cut_off(self) -> bool:
        """Return whether the run was interrupted and is to end at once."""
        return self.stopping and time.monotonic() >= self._cut_off

    @property
    def _size(self) -> int:
        """Workers that play."""
        return max(1, sum(pool.size for pool in self.pools))

    def _hand_out(self) -> None:
        """Keep every worker busy, and where chunks are short a chunk ahead."""
        if self.compiling.active and not (self.local and self.local.size):
            self.compiling.drop()
            self._note_compiled()
        for number, pool in reversed([*enumerate(self.pools)]):
            while not self.stopping and (worker := self._free_worker(number, pool)) is not None:
                chunk = self._next_chunk(number, worker)
                if chunk is None:
                    break
                chunk.worker = number, worker
                self.in_flight += 1
                self.busy[chunk.worker] += chunk.seconds
                pool.submit(worker, chunk)

    def _next_chunk(self, number: int, worker: int) -> Chunk | None:
        """Return matches of boards whose code is ready, or an order to compile."""
        pool = self.pools[number]
        compiles = pool is self.local and self.compiling.active
        if compiles and (self.compiling.wants(pool.size) or not any(board.ready for board in self.matches.boards)):
            order = self.compiling.next((number, worker))
            if order is not None:
                return order
        return self.matches.next_chunk(self._size) or (self.compiling.next((number, worker)) if compiles else None)

    def _free_worker(self, number: int, pool: Pool) -> int | None:
        """Return the worker of a pool that another chunk should go to."""
        idle = pool.idle(self.matches.ahead(self._size))
        longest = LONG * chunk_seconds(self._size)
        return next((worker for worker in idle if self.busy[number, worker] <= longest), None)

    def _take_replies(self) -> None:
        """Wait a moment for a reply, then take all that are there."""
        with contextlib.suppress(queue.Empty):
            self._take(self.replies.get(timeout=LISTEN))
            while not self.replies.empty():
                self._take(self.replies.get())

    def _take(self, reply: Reply) -> None:
        _, chunk, answer = reply
        self.in_flight -= 1
        self.busy[chunk.worker] -= chunk.seconds
        if isinstance(answer, BaseException):
            raise answer if isinstance(answer, ArenaError) else WorkerError(f"a worker failed: {answer}")
        if isinstance(chunk, CompileChunk):
            self.compiling.done(chunk)
            self._note_compiled()
            return
        message = decode(answer) if isinstance(answer, bytes) else answer
        match message:
            case Lost():
                self.matches.on_worker_lost(chunk, message.in_play)
            case Death():
                self.matches.on_worker_death(chunk, message)
            case GameStopped():
                self.matches.stop_board(chunk.matches[message.number][0], message.fault)
            case Played():
                self.matches.take(chunk, message.rows, message.killed)
                self.progress.count([spec for spec, _ in chunk.matches], message.rows)
            case _:
                raise WorkerError(f"a worker failed: it sent {type(message).__name__}")

    def _write(self) -> None:
        where = self.progress.where
        self.matches.write(self.run)
        self.progress.where = where
        self.written = time.monotonic()

    def _wait_for_log(self, waited: float) -> bool:
        """Show that another program has locked the log; return whether to go on waiting."""
        self.progress.where = f"waiting for the log, which another program has locked for {waited:.0f} s"
        self.show(self.progress)
        return not self.is_cut_off()

    def _update_progress(self) -> None:
        matches, progress = self.matches, self.progress
        progress.total, progress.found, progress.played = matches.total, matches.found, matches.played
        progress.failed = len(matches.not_played)
        progress.phase = self.compiling.line
        roughly, seconds = matches.seconds_left(), matches.estimate()
        if self.compiling.active:  # boards that are not ready have told nothing yet
            roughly = seconds = None
        progress.roughly_left = None if roughly is None else roughly / self._size
        progress.seconds_left = None if seconds is None else seconds / self._size
        progress.settled |= seconds is not None


@contextlib.contextmanager
def _interrupts(call: Callable[[], None]) -> Iterator[None]:
    """Call a function on SIGINT, SIGTERM and SIGHUP, so that no exception comes in the middle of a transaction."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` ignores it
        numbers.append(signal.SIGHUP)
    if threading.current_thread() is not threading.main_thread():  # only that can set handlers
        numbers = []
    previous = {number: signal.signal(number, lambda *_: call()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
