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
from arena.plan.resolve import Wanted, resolve_bots, warm_plan
from arena.runner.compiling import compile_ahead
from arena.tables.setup import MOST_ACTIONS, check_position
from arena.tables.table import Refused
from arena.workers import messages
from arena.workers.process import WorkerProcess
from engine import EngineError, Game, State, load_game
from engine.errors import in_short

MOST_SIMULATIONS = 5_000_000
"""Of one analysis."""
DEFAULT_SIMULATIONS = 200_000
FIRST_SECONDS, SECONDS = 0.05, 0.2
"""That a search grows before it tells what it has found: at first, and later."""
LOOKING = 4.0
"""Seconds after the last look for which a search goes on."""
MOST_KEPT = 100
"""Analyses whose results are kept."""
TREE = {"simulations": 250_000}
"""Parameters of `uct`: these simulations bound its nodes, and with them its memory (about 250 MB)."""
SLOWEST_GROWTH = 60.0
"""Seconds within which a worker has to answer."""


class Question(NamedTuple):
    """A position to be analysed."""

    game: str
    """Canonical spec."""
    players: int
    position: str | None
    """None for the start of the game."""
    actions: tuple[int, ...] = ()
    """Plies since."""


class Best(NamedTuple):
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
class Found:
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
    best: tuple[Best, ...] = ()
    line: str = ""
    """Why nothing can be found, in a sentence; empty when something can."""
    preparing: str = ""
    """What has to be done first, in words."""


def question(game: Game, position: str | None, actions: tuple[int, ...] = ()) -> tuple[Question, State]:
    """Return a question and its state; raises an `ArenaError` or `EngineError` for what is no position of the game."""
    if len(actions) > MOST_ACTIONS:
        raise ConfigError(f"at most {MOST_ACTIONS:,} plies may follow a position, not {len(actions):,}")
    if position is not None:
        check_position(game, position)
    state = game.new_initial_state() if position is None else game.state_from_position(position)
    for action in actions:
        state.apply_action(action)
    return Question(game.spec, game.players, position, actions), state


@dataclass(eq=False)
class _Analysis:
    """A question with what is known of it."""

    question: Question
    state: State
    found: Found
    looked: float = field(default_factory=time.monotonic)

    @property
    def is_looked_at(self) -> bool:
        return time.monotonic() - self.looked < LOOKING

    @property
    def wants_more(self) -> bool:
        return not self.found.proven and self.found.simulations < self.found.limit and not self.found.line


class Analyses:
    """All analyses of a server: a few workers, each of which grows one search after the other."""

    def __init__(self, most: int | None = None, home: Path | None = None) -> None:
        self.most = most or max(1, min(4, cores()))
        self._home = home
        self._lock = threading.Condition()
        self._kept: OrderedDict[Question, _Analysis] = OrderedDict()
        self._analysts: list[_Analyst] = []
        self._closing = False

    def look(self, asked: Question, state: State, limit: int = DEFAULT_SIMULATIONS) -> Found:
        """Return what is known of a position, and have it searched on up to `limit` simulations.

        Raises `Refused` when too many other positions are being looked at.
        """
        limit = max(1, min(limit, MOST_SIMULATIONS))
        with self._lock:
            analysis = self._kept.get(asked)
            if analysis is None:
                analysis = self._kept[asked] = _Analysis(asked, state.clone(), Found(limit=limit))
                analysis.found.seat = state.current_player()
                self._forget()
            self._kept.move_to_end(asked)
            analysis.looked = time.monotonic()
            if state.current_player() < 0:
                analysis.found.line = "dice are due: choose how they fall" if not state.is_terminal() else "it is over"
            if limit > analysis.found.limit:
                analysis.found.limit = limit
                analysis.found.version += 1
            if analysis.wants_more:
                self._assign(analysis)
                analysis.found.running = True
            self._lock.notify_all()
            return Found(**vars(analysis.found))

    def wait(self, asked: Question, version: int, seconds: float) -> None:
        """Wait until an analysis is past a version."""
        with self._lock:
            self._lock.wait_for(lambda: asked not in self._kept or self._kept[asked].found.version > version, seconds)

    def _forget(self) -> None:
        for asked in list(self._kept)[: max(0, len(self._kept) - MOST_KEPT)]:
            if not self._kept[asked].is_looked_at:
                del self._kept[asked]

    def _assign(self, analysis: _Analysis) -> None:
        """Give an analysis to a worker of the same game that nobody looks at, to another one, or to a new one."""
        if any(analyst.job is analysis for analyst in self._analysts):
            return
        board = analysis.question[:2]
        self._analysts = [analyst for analyst in self._analysts if analyst.thread.is_alive()]
        free = [analyst for analyst in self._analysts if analyst.is_free]
        same = [analyst for analyst in free if analyst.board == board]
        if not same and len(self._analysts) < self.most:
            self._analysts.append(_Analyst(self, analysis))
            return
        if not free:
            self._kept.pop(analysis.question, None)
            raise Refused(f"{len(self._analysts)} positions are being analysed already; close one of these pages first")
        (same or free)[0].job = analysis

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
            analysts = list(self._analysts)
        for analyst in analysts:
            while analyst.thread.is_alive():
                analyst.worker.stop()
                analyst.thread.join(0.1)


class _Analyst:
    """A worker process and the thread that talks to it."""

    def __init__(self, analyses: Analyses, job: _Analysis) -> None:
        self.analyses = analyses
        self.job = job
        self.board: tuple[str, int] = job.question[:2]
        self.worker = WorkerProcess()
        self._loaded: tuple[str, int] | None = None
        self.thread = threading.Thread(target=self._live, name="analysis", daemon=True)
        self.thread.start()

    @property
    def is_free(self) -> bool:
        """Whether nobody waits for what it does; with the lock of all analyses."""
        return not (self.job.is_looked_at and self.job.wants_more)

    def _live(self) -> None:
        lock, mine = self.analyses._lock, None
        try:
            while True:
                with lock:
                    if self.analyses._closing:
                        return
                    job = self.job
                    idle = job is mine and not (job.wants_more and job.is_looked_at)
                    if idle:
                        if job.found.running:
                            job.found.running = False
                            job.found.version += 1
                            lock.notify_all()
                        lock.wait(LOOKING)
                        continue
                if job is not mine:
                    mine = job if self._start(job) else None
                if mine is not None:
                    self._grow(job)
        finally:
            self.worker.stop()

    def _start(self, job: _Analysis) -> bool:
        """Begin with a position; return whether there is anything to search."""
        self.board = job.question[:2]
        try:
            if self._loaded != self.board:
                self._load(job, self.board)
            begin = messages.Search(job.question.position, job.question.actions)
            self._tell(job, self._ask(begin), 0.0)
            return True
        except (ArenaError, EngineError) as error:
            self._give_up(job, str(error))
        except Exception as error:
            self._give_up(job, f"the analysis failed: {in_short(error)}")
        return True

    def _load(self, job: _Analysis, board: tuple[str, int]) -> None:
        self._loaded = None
        game = load_game(*board)
        params = {**TREE, "solve": board[1] == 2}
        (bot,) = resolve_bots([Wanted("uct", params)], [game], worker=self.worker, home=self.analyses._home)
        if bot.refusals[0] is not None:
            raise ConfigError(f"there is no analysis: uct {bot.refusals[0]}")
        plan = warm_plan([game], [bot])

        def show(line: str) -> None:
            with self.analyses._lock:
                job.looked = time.monotonic()
                if line != job.found.preparing:
                    job.found.preparing = line
                    job.found.version += 1
                    self.analyses._lock.notify_all()

        compile_ahead(plan, 1, show, self.worker)
        self.worker.give_plan(plan.message())
        self._loaded = board

    def _grow(self, job: _Analysis) -> None:
        found = job.found
        seconds = FIRST_SECONDS if not found.best else SECONDS
        try:
            self._tell(job, self._ask(messages.Grow(found.limit - found.simulations, seconds)), seconds)
        except (ArenaError, EngineError) as error:
            self._loaded = None
            self._give_up(job, str(error))

    def _ask(self, message: messages.Message) -> messages.Searched:
        reply = self.worker.call(message, messages.Searched, SLOWEST_GROWTH)
        if isinstance(reply, messages.Death):
            self._loaded = None
            raise WorkerError(f"the analysis ended: its worker process ended ({reply.how or reply.cause})")
        return reply

    def _tell(self, job: _Analysis, reply: messages.Searched, seconds: float) -> None:
        best = _in_words(job.state, reply)
        with self.analyses._lock:
            found = job.found
            found.preparing = ""
            if seconds and (best or reply.refusal):
                found.simulations, found.proven = reply.simulations, reply.finished and not reply.refusal
                found.values, found.best, found.line = tuple(reply.values), best, reply.refusal
            elif reply.refusal:
                found.line = reply.refusal
            elif not seconds:
                found.simulations = 0
            found.running = job.wants_more
            found.version += 1
            self.analyses._lock.notify_all()

    def _give_up(self, job: _Analysis, why: str) -> None:
        with self.analyses._lock:
            job.found.line, job.found.running = why, False
            job.found.version += 1
            self.analyses._lock.notify_all()


def _in_words(state: State, reply: messages.Searched) -> tuple[Best, ...]:
    """Return what a search found in the game's notation."""
    found = []
    for each in reply.candidates:
        at, words = state.clone(), []
        for action in each.line:
            words.append(at.action_to_string(action))
            at.apply_action(action)
        found.append(Best(each.action, words[0], each.visits, each.value, each.proven, tuple(words)))
    return tuple(found)
