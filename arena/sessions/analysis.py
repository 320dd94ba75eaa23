"""Searches of positions that grow while somebody looks at them, a bounded number at a time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from arena.core.errors import ArenaError, ConfigError, WorkerError
from arena.core.machine import cores
from arena.core.models import Scalar
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.plan.resolve import warm_plan
from arena.runner.compiling import compile_ahead
from arena.sessions.session import RefusedError
from arena.sessions.setup import MAX_START_PLIES, check_position
from arena.workers import messages
from arena.workers.process import WorkerProcess
from engine import EngineError, Game, State, load_game
from engine.errors import summarise_error

MAX_SIMULATIONS = 5_000_000
"""Most simulations of one job."""
DEFAULT_SIMULATIONS = 200_000
FIRST_SLICE_SECONDS, SLICE_SECONDS = 0.05, 0.2
"""Time for which a search grows before it reports: at first, and later."""
VIEWER_TIMEOUT_SECONDS = 4.0
"""Time after the last look for which a search goes on."""
MAX_ANALYSES = 100
"""Analyses whose results are kept."""
UCT_PARAMS = {"simulations": 250_000}
"""Parameters of `uct`: these simulations bound its nodes, and with them its memory (about 250 MB)."""
SEARCH_TIMEOUT_SECONDS = 60.0
"""Time within which a worker has to answer."""


class AnalysisRequest(NamedTuple):
    """A position to be analysed."""

    game: str
    """Canonical spec."""
    players: int
    position: str | None
    """None for the start of the game."""
    actions: tuple[int, ...] = ()
    """Plies since."""


class ActionEstimate(NamedTuple):
    """One action, as an analysis shows it."""

    action: int
    text: str
    visits: int
    value: float | None
    """Expected return of the seat to move, in [-1, 1]."""
    proven: bool
    line: tuple[str, ...]
    """What is expected from it on, this action first."""


@dataclass
class AnalysisResult:
    """What an analysis has found so far."""

    version: int = 0
    simulations: int = 0
    limit: int = 0
    running: bool = True
    """Whether it grows, or is about to."""
    proven: bool = False
    """Whether the position's worth is proven."""
    seat: int = -1
    """Seat to move."""
    values: tuple[float, ...] = ()
    """Expected return by seat."""
    best: tuple[ActionEstimate, ...] = ()
    line: str = ""
    """Why nothing can be found, in a sentence; empty when something can."""
    preparing: str = ""
    """What has to be done first, in words."""


def request_for(game: Game, position: str | None, actions: tuple[int, ...] = ()) -> tuple[AnalysisRequest, State]:
    """Return a request and its state; raises an `ArenaError` or `EngineError` for what is no position of the game."""
    if len(actions) > MAX_START_PLIES:
        raise ConfigError(f"at most {MAX_START_PLIES:,} plies may follow a position, not {len(actions):,}")
    if position is not None:
        check_position(game, position)
    state = game.new_initial_state() if position is None else game.state_from_position(position)
    for action in actions:
        state.apply_action(action)
    return AnalysisRequest(game.spec, game.players, position, actions), state


@dataclass(eq=False)
class _Job:
    """A request with what is known of it."""

    request: AnalysisRequest
    state: State
    result: AnalysisResult
    last_look: float = field(default_factory=time.monotonic)

    @property
    def is_viewed(self) -> bool:
        return time.monotonic() - self.last_look < VIEWER_TIMEOUT_SECONDS

    @property
    def wants_more(self) -> bool:
        return not self.result.proven and self.result.simulations < self.result.limit and not self.result.line


class AnalysisPool:
    """All analyses of a server: a few workers, each of which grows one search after the other."""

    def __init__(self, max_workers: int | None = None, home: Path | None = None) -> None:
        self.max_workers = max_workers or max(1, min(4, cores()))
        self._home = home
        self._lock = threading.Condition()
        self._jobs: OrderedDict[AnalysisRequest, _Job] = OrderedDict()
        self._workers: list[_SearchWorker] = []
        self._closing = False

    def look(self, request: AnalysisRequest, state: State, limit: int = DEFAULT_SIMULATIONS) -> AnalysisResult:
        """Return what is known of a position, and have it searched on up to `limit` simulations.

        Raises `RefusedError` when too many other positions are being looked at.
        """
        limit = max(1, min(limit, MAX_SIMULATIONS))
        with self._lock:
            job = self._jobs.get(request)
            if job is None:
                job = self._jobs[request] = _Job(request, state.clone(), AnalysisResult(limit=limit))
                job.result.seat = state.current_player()
                self._drop_old()
            self._jobs.move_to_end(request)
            job.last_look = time.monotonic()
            if state.current_player() < 0:
                due = "choose how the dice fall" if state.rolling_seat() >= 0 else "choose what chance brings"
                job.result.line = "it is over" if state.is_terminal() else due
            if limit > job.result.limit:
                job.result.limit = limit
                job.result.version += 1
            if job.wants_more:
                self._assign(job)
                job.result.running = True
            self._lock.notify_all()
            return AnalysisResult(**vars(job.result))

    def wait(self, request: AnalysisRequest, version: int, seconds: float) -> None:
        """Wait until an analysis is past a version."""
        with self._lock:
            self._lock.wait_for(
                lambda: request not in self._jobs or self._jobs[request].result.version > version, seconds
            )

    def _drop_old(self) -> None:
        for request in list(self._jobs)[: max(0, len(self._jobs) - MAX_ANALYSES)]:
            if not self._jobs[request].is_viewed:
                del self._jobs[request]

    def _assign(self, job: _Job) -> None:
        """Give an analysis to a worker of the same game that nobody looks at, to another one, or to a new one."""
        if any(worker.job is job for worker in self._workers):
            return
        board = job.request[:2]
        self._workers = [worker for worker in self._workers if worker.thread.is_alive()]
        free = [worker for worker in self._workers if worker.is_free]
        same = [worker for worker in free if worker.board == board]
        if not same and len(self._workers) < self.max_workers:
            self._workers.append(_SearchWorker(self, job))
            return
        if not free:
            self._jobs.pop(job.request, None)
            raise RefusedError(
                f"{len(self._workers)} positions are being analysed already; close one of these pages first"
            )
        (same or free)[0].job = job

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
            workers = list(self._workers)
        for worker in workers:
            while worker.thread.is_alive():
                worker.process.stop()
                worker.thread.join(0.1)


class _SearchWorker:
    """A worker process that searches, and the thread that talks to it."""

    def __init__(self, pool: AnalysisPool, job: _Job) -> None:
        self._pool = pool
        self.job = job
        self.board: tuple[str, int] = job.request[:2]
        self.process = WorkerProcess()
        self._loaded: tuple[str, int] | None = None
        self.thread = threading.Thread(target=self._run, name="analysis", daemon=True)
        self.thread.start()

    @property
    def is_free(self) -> bool:
        """Whether nobody waits for what it does; with the lock of the pool."""
        return not (self.job.is_viewed and self.job.wants_more)

    def _run(self) -> None:
        lock, current = self._pool._lock, None
        try:
            while True:
                with lock:
                    if self._pool._closing:
                        return
                    job = self.job
                    idle = job is current and not (job.wants_more and job.is_viewed)
                    if idle:
                        if job.result.running:
                            job.result.running = False
                            job.result.version += 1
                            lock.notify_all()
                        lock.wait(VIEWER_TIMEOUT_SECONDS)
                        continue
                if job is not current:
                    current = job if self._start(job) else None
                if current is not None:
                    self._continue(job)
        finally:
            self.process.stop()

    def _start(self, job: _Job) -> bool:
        """Begin with a position; return whether there is anything to search."""
        self.board = job.request[:2]
        try:
            if self._loaded != self.board:
                self._load(job, self.board)
            begin = messages.StartSearch(job.request.position, job.request.actions)
            self._report(job, self._ask(begin), 0.0)
            return True
        except (ArenaError, EngineError) as error:
            self._fail(job, str(error))
        except Exception as error:
            self._fail(job, f"the analysis failed: {summarise_error(error)}")
        return True

    def _load(self, job: _Job, board: tuple[str, int]) -> None:
        self._loaded = None
        game = load_game(*board)
        params: dict[str, Scalar] = {**UCT_PARAMS, "solve": board[1] == 2}
        (bot,) = resolve_bots(
            [BotEntry(bot="uct", params={**params})], [game], worker=self.process, home=self._pool._home
        )
        if bot.refusals[0] is not None:
            raise ConfigError(f"there is no analysis: uct {bot.refusals[0]}")
        plan = warm_plan([game], [bot])

        def show(line: str) -> None:
            with self._pool._lock:
                job.last_look = time.monotonic()
                if line != job.result.preparing:
                    job.result.preparing = line
                    job.result.version += 1
                    self._pool._lock.notify_all()

        compile_ahead(plan, 1, show, self.process)
        self.process.give_plan(plan.message())
        self._loaded = board

    def _continue(self, job: _Job) -> None:
        result = job.result
        seconds = FIRST_SLICE_SECONDS if not result.best else SLICE_SECONDS
        try:
            self._report(job, self._ask(messages.ContinueSearch(result.limit - result.simulations, seconds)), seconds)
        except (ArenaError, EngineError) as error:
            self._loaded = None
            self._fail(job, str(error))

    def _ask(self, message: messages.Message) -> messages.SearchReport:
        reply = self.process.call(message, messages.SearchReport, SEARCH_TIMEOUT_SECONDS)
        if isinstance(reply, messages.WorkerDeath):
            self._loaded = None
            raise WorkerError(f"the analysis ended: its worker process ended ({reply.how or reply.cause})")
        return reply

    def _report(self, job: _Job, reply: messages.SearchReport, seconds: float) -> None:
        best = _in_notation(job.state, reply)
        with self._pool._lock:
            result = job.result
            result.preparing = ""
            if seconds and (best or reply.refusal):
                result.simulations, result.proven = reply.simulations, reply.finished and not reply.refusal
                result.values, result.best, result.line = tuple(reply.values), best, reply.refusal
            elif reply.refusal:
                result.line = reply.refusal
            elif not seconds:
                result.simulations = 0
            result.running = job.wants_more
            result.version += 1
            self._pool._lock.notify_all()

    def _fail(self, job: _Job, why: str) -> None:
        with self._pool._lock:
            job.result.line, job.result.running = why, False
            job.result.version += 1
            self._pool._lock.notify_all()


def _in_notation(state: State, reply: messages.SearchReport) -> tuple[ActionEstimate, ...]:
    """Return what a search found in the game's notation."""
    estimates = []
    for each in reply.candidates:
        at, words = state.clone(), []
        for action in each.line:
            words.append(at.action_to_string(action))
            at.apply_action(action)
        estimates.append(ActionEstimate(each.action, words[0], each.visits, each.value, each.proven, tuple(words)))
    return tuple(estimates)
