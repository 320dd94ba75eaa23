"""Compiling before play: which code of a plan this machine has not compiled yet, and which worker compiles it when."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from arena.core.machine import cores
from arena.core.paths import home_folder
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.plan.resolve import Plan, warm_plan
from arena.registry.discovery import built_in_bots
from arena.workers.compile_once import CompiledCode
from arena.workers.messages import RATINGS, RULES, Compile, WorkerPlan, encode
from arena.workers.pools import POLL_SECONDS, Chunk, LocalPool, Reply
from arena.workers.process import WorkerProcess
from engine import game_names, game_type, load_game

GAME_COSTS = {"epicycle": 1.0, "magic_mids": 1.4, "midgard": 1.8, "pyramid_punch": 2.5}
"""Relative cost of compiling for a game, as measured."""
BOT_COSTS = {"UCT": 1.8, "AlphaBeta": 1.4, "Expectimax": 1.4, "Greedy": 1.0, "FlatMonteCarlo": 0.6}
"""Relative cost of compiling a bot, by its class; rules cost 1."""
RATING_COST = 5.0
"""Relative cost of compiling the ratings."""
UNKNOWN_COST = 1.5
BUSY_SECONDS = 60.0
"""Time that a worker which compiles counts as busy, so that no match waits behind it."""


class CompileUnit(NamedTuple):
    """Code that one worker compiles at a time: the rules of a game, or a bot for it, on all boards of that game."""

    game: str
    title: str
    code: Sequence[tuple[int, int]]
    """As in `messages.Compile`."""
    cost: float


@dataclass(eq=False)
class CompileChunk(Chunk):
    """An order to compile in place of matches."""

    unit: CompileUnit | None = None

    def message(self) -> bytes:
        assert self.unit is not None
        return encode(Compile(self.unit.code))


class CompileStage:
    """Order in which code is compiled: rules before bots, and the game first that takes longest.

    Before all of them comes the one that takes least, and what rates results, so that a board is rated early. A worker
    stays with a game, whose rules it need not read again for the next bot.
    """

    def __init__(
        self, plan: WorkerPlan | None = None, boards: Iterable[tuple[int, Sequence[int]]] = (), rated: bool = False
    ) -> None:
        """`boards` are those to be played, each with the entries that play there; `rated` if results will be."""
        self.waiting = [] if plan is None else _units(plan, boards, rated)
        self.total = len(self.waiting)
        self.running: list[CompileChunk] = []
        left = self._left
        self._early = {"", min(left.keys() - {""}, key=lambda game: (left[game], game), default="")}
        """Games that come first; what rates results counts as one."""
        self._last: dict[tuple[int, int], str] = {}
        """By worker: the game that it has compiled for."""

    @property
    def active(self) -> bool:
        """Whether something is not compiled yet."""
        return bool(self.waiting or self.running)

    @property
    def _left(self) -> Mapping[str, float]:
        """By game: what compiling the rest costs."""
        left: dict[str, float] = {}
        for unit in self.waiting:
            left[unit.game] = left.get(unit.game, 0.0) + unit.cost
        return left

    @property
    def line(self) -> str:
        """What is being compiled, in words; empty when nothing is."""
        if not self.running:
            return ""
        newest = self.running[-1].unit
        assert newest is not None
        return f"compiling {newest.title}, {self.total - len(self.waiting)} of {self.total}, first run only"

    def needs_worker(self, workers: int) -> bool:
        """Return whether one more of these `workers` should compile although it could play; half of them do."""
        return bool(self.waiting) and len(self.running) < max(1, workers // 2)

    def is_ready(self, board: int) -> bool:
        """Return whether all code of a board is compiled; of `RATINGS`, what rates results."""
        units = [*self.waiting, *(chunk.unit for chunk in self.running if chunk.unit is not None)]
        return all(board != other for unit in units for other, _ in unit.code)

    def next(self, worker: tuple[int, int]) -> CompileChunk | None:
        """Return the next order to compile for a worker; None when nothing is left, or bots wait for rules."""
        rules = {unit.game for unit in self.waiting if unit.code[0][1] == RULES}
        rules |= {chunk.unit.game for chunk in self.running if chunk.unit and chunk.unit.code[0][1] == RULES}
        free = [unit for unit in self.waiting if unit.code[0][1] == RULES or unit.game not in rules]
        if not free:
            return None
        left, last = self._left, self._last.get(worker)

        def turn(unit: CompileUnit) -> tuple[bool, bool, bool, float, float]:
            is_early = unit.game in self._early
            return unit.game == last, is_early, unit.code[0][1] == RULES, left[unit.game], unit.cost

        unit = max(free, key=turn)
        self.waiting.remove(unit)
        self._last[worker] = unit.game
        chunk = CompileChunk([], unit.code[0][0], seconds=BUSY_SECONDS, worker=worker, unit=unit)
        self.running.append(chunk)
        return chunk

    def done(self, chunk: CompileChunk) -> None:
        """Take the reply to an order, whatever it is: code that could not be compiled fails in its first match."""
        self.running.remove(chunk)

    def drop(self) -> None:
        """Drop the rest, when no worker is left to compile it: matches compile what they need."""
        self.waiting.clear()


def _units(plan: WorkerPlan, boards: Iterable[tuple[int, Sequence[int]]], rated: bool) -> list[CompileUnit]:
    """Return the code that has no mark in the cache yet; bots of one source together, whatever their parameters."""
    code = CompiledCode(plan)
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for board, entries in boards:
        game = plan.boards[board].game
        for entry in (RULES, *entries):
            if not code.is_compiled(board, entry):
                source = "" if entry == RULES else f"{plan.bots[entry].bundle} {plan.bots[entry].class_name}"
                found.setdefault((game, source), []).append((board, entry))
    units = [_unit(plan, game, parts) for (game, _), parts in found.items()]
    if rated and not code.is_compiled(RATINGS, RULES):
        units.append(CompileUnit("", "what rates results", [(RATINGS, RULES)], RATING_COST))
    return units


def _unit(plan: WorkerPlan, game: str, code: list[tuple[int, int]]) -> CompileUnit:
    entry, cost = code[0][1], GAME_COSTS.get(game.partition("(")[0], UNKNOWN_COST)
    if entry == RULES:
        return CompileUnit(game, f"the rules of {game}", code, cost)
    bot = plan.bots[entry]
    return CompileUnit(game, f"{bot.name} for {game}", code, cost * BOT_COSTS.get(bot.class_name, UNKNOWN_COST))


def compile_ahead(
    plan: Plan,
    workers: int,
    show: Callable[[str], None],
    first: WorkerProcess | None = None,
    rated: bool = False,
) -> int:
    """Compile what this machine has not compiled yet of a plan; return how many pieces of code that were.

    `show` is called with a line time and again. `first` is a worker that has been started already; it is stopped if
    there is anything to do. Raises `WorkerError` when a worker cannot start.
    """
    message = plan.message()
    boards = [(number, board.entries) for number, board in enumerate(plan.schedule.boards)]
    stage = CompileStage(message, boards, rated)
    if not stage.active:
        return 0
    replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
    pool = LocalPool(min(workers, stage.total), message, replies, first)
    try:
        while stage.active:
            for worker in pool.idle(1):
                if (chunk := stage.next((0, worker))) is not None:
                    pool.submit(worker, chunk)
            show(stage.line)
            with contextlib.suppress(queue.Empty):
                _, done, answer = replies.get(timeout=POLL_SECONDS)
                assert isinstance(done, CompileChunk)
                stage.done(done)
                if isinstance(answer, BaseException):
                    raise answer
    finally:
        pool.close()
    return stage.total


def warm(
    games: Sequence[str] = (),
    bots: Sequence[str] = (),
    workers: int | None = None,
    home: str | Path | None = None,
    show: Callable[[str], None] = lambda line: None,
) -> int:
    """Compile games, by default all, with bots, by default all that come with the arena, for every number of players.

    Return how many pieces of code that were: what has been compiled before is not compiled again.
    """
    home_folder(home)
    types = [(spec, game_type(spec)) for spec in games or game_names()]
    boards = [load_game(spec, n) for spec, kind in types for n in range(kind.min_players, kind.max_players + 1)]
    worker = WorkerProcess()
    try:
        found = resolve_bots([BotEntry(bot=spec) for spec in bots or built_in_bots()], boards, worker=worker, home=home)
        return compile_ahead(warm_plan(boards, found), workers or cores(), show, worker, rated=True)
    finally:
        worker.stop()
