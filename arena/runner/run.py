"""Runs of a plan: hand chunks of matches to workers, write their results, survive what dies.

Which worker plays what, in which order and in what chunks does not affect results. The driver (this process) runs no
bot's code.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from arena.core.errors import WorkerError
from arena.plan.resolve import Plan
from arena.runner.compiling import CompileStage
from arena.runner.dispatcher import Dispatcher
from arena.runner.handover import RayHandover
from arena.runner.in_play import InPlayBroadcast
from arena.runner.interruption import Interruption
from arena.runner.options import RunOptions
from arena.runner.play_order import MAX_CHUNK_MATCHES
from arena.runner.progress import Outcome, Progress
from arena.runner.queue import MatchQueue
from arena.store import EventRow
from arena.tournament.tournament import Tournament
from arena.workers.messages import RATINGS, GameStopped, Played, WorkerDeath, WorkerLost, decode
from arena.workers.pools import POLL_SECONDS, Answer, Chunk, LocalPool
from arena.workers.process import WorkerProcess
from arena.workers.reserve import WorkerReserve

__all__ = ["Outcome", "Progress", "Run"]

WRITE_SECONDS = 0.5
"""Time between two writes to the log."""


class Run:
    """One run of a plan into a log."""

    def __init__(
        self,
        plan: Plan,
        tournament: Tournament,
        options: RunOptions,
        first: WorkerProcess | None = None,
        show: Callable[[Progress], None] = lambda progress: None,
        on_complete: Callable[[int], None] = lambda board: None,
        events: Sequence[EventRow] = (),
        reserve: WorkerReserve | None = None,
    ) -> None:
        """`tournament` is the plan's, with its log; `first` is a worker that has been started already.

        Others come from the `reserve`, to which all are given back in the end. `events` are those of a contest's round,
        which are recorded with the run that begins it.
        `on_complete` is called, while others are played, with each board of which the log has every match.
        """
        self.plan, self.options, self.show = plan, options, show
        self.store = tournament.store
        self.reserve = reserve or WorkerReserve()
        self._first = first
        self.interruption = Interruption()
        self.matches = MatchQueue(tournament, self.interruption.is_due)
        self.progress = Progress(plan.schedule.total_matches)
        self.dispatcher = Dispatcher(self.matches, self.interruption)
        self.ray = RayHandover(options, self.dispatcher.replies, self.progress, self.interruption)
        self.on_complete = on_complete
        self._completed: set[int] = set()
        """Boards that `on_complete` was called with."""
        self._events = events
        self._number = 0
        """Of the run in the log."""
        self._written = time.monotonic()
        self._in_play = InPlayBroadcast(self.store.path.parent)
        self.store.keep_waiting = self._wait_for_log
        self.message = plan.message()
        """The plan as workers get it."""

    def play(self) -> Outcome:
        """Play all missing matches. Ctrl-C ends the run; matches in play are kept if they end soon."""
        started = time.monotonic()
        missing = self.matches.any_missing()
        self._update_progress()
        resolved = self.plan.resolved()
        resumes = self.store.runs.has_run()
        if not missing and resumes and resolved == Tournament(self.store).plan:
            return Outcome(self.progress, False, [], time.monotonic() - started)
        worker = self._first or self.reserve.take()
        try:
            self._begin(resolved.as_json(), worker)
            if missing:
                with self.interruption.on_signals():
                    self.play_missing(worker)
                    self.finish(resumes)
        finally:
            if self.dispatcher.local is None:  # else the pool has it
                self.reserve.give_back(worker)
        stopping = self.progress.stopping = self.interruption.requested  # perhaps while progress was last shown
        return Outcome(
            self.progress,
            stopping and self.progress.left > 0,
            self.matches.reasons(given_up_only=stopping),
            time.monotonic() - started,
            [*self.matches.game_faults.values()],
        )

    def _begin(self, resolved: str, worker: WorkerProcess) -> None:
        """Record the run in the log: its plan, the versions of a worker, bots and their sources."""
        if not worker.name:
            worker.start()
        bots = [bot.row for bot in self.plan.bots]
        sources = {bot.bundle.hash: sorted(bot.bundle.files.items()) for bot in self.plan.bots}
        bundles = {key: json.dumps({name: text.hex() for name, text in files}) for key, files in sources.items()}
        games = {f"game {name}": str(rules) for name, rules in self.plan.rules.items()}
        started, versions = datetime.now(UTC).isoformat(), json.dumps({**worker.versions, **games})
        has_rounds = self.plan.schedule.scheduler.has_rounds
        self._number = self.store.begin_run(resolved, versions, started, bots, bundles, self._events, has_rounds)

    def play_missing(self, worker: WorkerProcess) -> None:
        """Play stage after stage with this worker and others, and write what they have played."""
        gc.freeze()  # what is there stays; looking through it again and again took 10 µs a match
        try:
            self._start_workers(worker)
            if self.options.shows_play:
                self._in_play.open()
            self._play_stage()
            while not self.interruption.is_due() and self.matches.next_stage() and not self.interruption.requested:
                self._play_stage()  # totals have changed too
        finally:
            self._in_play.close()
            try:
                self._write()
            finally:
                self._end_workers()
                gc.unfreeze()

    def finish(self, resumes: bool) -> None:
        """Show the last progress; that of an interrupted run that had `resumed` counts what the log had before."""
        self._update_progress()
        if self.interruption.requested and resumes:
            self.progress.searched = self.matches.count_remaining()
            self._update_progress()
        self.show(self.progress)

    def _start_workers(self, worker: WorkerProcess) -> None:
        if self.options.backend == "ray" or self.options.address is not None:
            self.ray.start(self.message)
        if self.options.backend != "ray":
            pool = LocalPool(self.options.workers, self.message, self.dispatcher.replies, worker, self.reserve)
            numbers = [board.number for board in self.matches.boards if not board.exhausted]
            boards = [(number, self.plan.schedule.boards[number].entries) for number in numbers]
            self.dispatcher.add_local(pool, CompileStage(self.message, boards, self.options.rated))

    def _end_workers(self) -> None:
        self.ray.end(self.dispatcher.pools)
        self.dispatcher.close()

    def _play_stage(self) -> None:
        """Play until nothing is missing in the boards' present stages."""
        dispatcher = self.dispatcher
        while not self.interruption.is_due():
            self.ray.update(dispatcher.pools, self.message)
            dispatcher.hand_out()
            if self._is_played():
                break
            for chunk, answer in dispatcher.received(POLL_SECONDS):
                self._on_answer(chunk, answer)
            if time.monotonic() - self._written > WRITE_SECONDS or len(self.matches.unwritten) > MAX_CHUNK_MATCHES:
                self._write()
            if dispatcher.local is not None:
                self._in_play.update(dispatcher.local.in_play)
            self._report_complete()
            self._update_progress()
            self.show(self.progress)
        self._write()

    def _is_played(self) -> bool:
        """Return whether a stage has ended, or the run is to stop and no match is in play."""
        return self.dispatcher.is_idle() and (self.interruption.requested or not self.matches.any_missing())

    def _report_complete(self) -> None:
        """Report boards that are complete while others are not, once the code that rates them is compiled."""
        complete = self.matches.complete
        if len(complete) == len(self.matches.boards) or not self.dispatcher.compiling.is_ready(RATINGS):
            return
        new = [board for board in complete if board not in self._completed]
        if new:
            self._write()
        for board in new:
            self._completed.add(board)
            self.on_complete(board)

    def _on_answer(self, chunk: Chunk, answer: Answer) -> None:
        """Take the results of a chunk, or what has become of it."""
        message = decode(answer) if isinstance(answer, bytes) else answer
        match message:
            case WorkerLost():
                self.matches.on_worker_lost(chunk, message.in_play)
            case WorkerDeath():
                self.matches.on_worker_death(chunk, message)
            case GameStopped():
                self.matches.stop_board(chunk.matches[message.number].spec, message.fault)
            case Played():
                self.matches.take(chunk, message.rows, message.killed)
                self.progress.count([spec for spec, _ in chunk.matches], message.rows)
            case _:
                raise WorkerError(f"a worker failed: it sent {type(message).__name__}")

    def _write(self) -> None:
        where = self.progress.where
        self.matches.write(self._number)
        self.progress.where = where
        self._written = time.monotonic()

    def _wait_for_log(self, waited: float) -> bool:
        """Show that another program has locked the log; return whether to go on waiting."""
        self.progress.where = f"waiting for the log, which another program has locked for {waited:.0f} s"
        self.progress.stopping = self.interruption.requested
        self.show(self.progress)
        return not self.interruption.is_due()

    def _update_progress(self) -> None:
        matches, progress, compiling = self.matches, self.progress, self.dispatcher.compiling
        progress.stopping = self.interruption.requested
        progress.total, progress.found, progress.played = matches.total, matches.found, matches.played
        progress.failed = len(matches.not_played)
        progress.phase = compiling.line
        roughly, seconds = matches.seconds_left(), matches.estimate()
        if compiling.active:  # boards that are not ready say nothing yet
            roughly = seconds = None
        workers = self.dispatcher.size
        progress.roughly_left = None if roughly is None else roughly / workers
        progress.seconds_left = None if seconds is None else seconds / workers
        progress.settled |= seconds is not None
