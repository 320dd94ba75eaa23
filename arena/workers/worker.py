"""A worker process: loads bots from bundles and plays the matches it is handed. Started by `arena.workers.supervisor`.

It exchanges `arena.workers.messages` over one socket with whoever spawned it (`arena.workers.process`); it never sees
the log. Its heartbeat (which match, seat and ply, until when) is a small shared file, by which the driver finds a
bot that hangs and traces a crash to a seat.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import platform
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import engine
from arena.core.errors import BotError, has_no_room, no_room
from arena.core.process_trees import close_to_others, keep_orphans
from arena.core.versions import code_hash, versions
from arena.match.alarm import GAME_SECONDS, Alarm
from arena.match.dice import Streams
from arena.match.game_faults import GameFailed, fault_of
from arena.match.heartbeat import NOBODY, SIZE, Heartbeat
from arena.match.player import Contestant, Entrant
from arena.match.referee import Report, play_match, warm_up
from arena.match.result import MatchRow, row_of
from arena.registry.bundles import Bundle
from arena.registry.describe import OTHERWISE, defaults, describe, is_as_planned
from arena.registry.loader import is_built_in, lay_out, load_class, made
from arena.workers import messages
from arena.workers.compile_once import compile_once
from arena.workers.interpreter import Interpreter
from engine.cache import cache_root

if TYPE_CHECKING:
    from arena.workers.sandbox.process_pool import ProcessPool

BEAT = 0.5
"""Seconds between two beats."""
WAITING = 10
"""Times `GAME_SECONDS` that a game may take which waits instead of computing."""


class IsolatedBots:
    """Bots in processes of their own; the code that serves them is imported when the first one comes."""

    def __init__(self) -> None:
        self._pool: ProcessPool | None = None
        self._plan: messages.WorkerPlan | None = None

    def expect(self, plan: messages.WorkerPlan) -> None:
        """Serve bots of that plan from now on, by processes that serve no other."""
        self.close()
        self._plan = plan

    @property
    def pool(self) -> ProcessPool:
        """Processes for them."""
        if self._pool is None:
            from arena.workers.sandbox.process_pool import ProcessPool, preload_of_plan

            self._pool = ProcessPool(preload_of_plan(self._plan) if self._plan is not None else None)
        return self._pool

    def contestant(self, bot: messages.PlannedBot, bundle: Bundle, key: int) -> Entrant:
        """Return a bot of the plan as something that can take a seat."""
        from arena.workers.sandbox.process_pool import RemoteContestant
        from arena.workers.sandbox.process_source import RemoteBot

        remote = RemoteBot(bot.name, bundle, bot.class_name, bot.params, bot.isolation, key, bot.options)
        return RemoteContestant(remote, self.pool)

    def describe(self, request: messages.Describe) -> messages.Description:
        """Ask a bot where it is to play what it declares."""
        if request.bundle.is_program or request.isolation == "none":
            return messages.Description(describe(request.bundle, request.name, request.class_name, request.boards))
        from arena.workers.sandbox.describe import describe_isolated

        return messages.Description(describe_isolated(self.pool, request))

    def refusal(self, bots: Sequence[messages.PlannedBot]) -> str:
        """Return why this machine cannot isolate bots of a plan; empty when it can."""
        if all(bot.isolation != "sandbox" for bot in bots):
            return ""
        from arena.workers.sandbox.levels import missing_requirements

        missing = missing_requirements()
        return f"{platform.node()} cannot sandbox bots: {missing}" if missing else ""

    def close(self) -> None:
        """End their processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class LoadedPlan:
    """A plan with the games and bots that were loaded for it so far."""

    def __init__(
        self, plan: messages.WorkerPlan, report: Report, isolated: IsolatedBots, interpreter: Interpreter
    ) -> None:
        self.plan = plan
        self.interpreter = interpreter
        self.recursion: dict[int, int] = {}
        """By entry: the recursion limit that its modules have set."""
        self.foreign: set[int] = set()
        """Entries whose code runs here and is not our own: only these may change the interpreter."""
        self.report = report
        self.isolated = isolated
        self.game = functools.cache(self._game)
        self.contestant = functools.cache(self._contestant)

    def _game(self, board: int) -> engine.Game:
        """Return a board's game with everything that a match calls compiled, so that no bot's clock pays for it."""
        name, players, _ = self.plan.boards[board]
        try:
            game = engine.load_game(name, players)
        except Exception as error:
            raise GameFailed(fault_of(error, [], None)) from error
        compiling = compile_once(game.name, lambda: self.report(NOBODY, 0, 0.0)) if game.kernels else nullcontext()
        with compiling:
            warm_up(game)
        return game

    def _contestant(self, entry: int) -> Entrant:
        """Return what takes a seat for an entry; errors in making it are the bot's fault in each match."""
        bot = self.plan.bots[entry]
        try:
            bundle = self.plan.bundle_of(bot)
        except BotError as error:
            return Contestant(functools.partial(_raise, error), {})
        if bot.isolation != "none":
            return self.isolated.contestant(bot, bundle, entry)
        try:
            lay_out(bundle)
        except OSError as error:
            if has_no_room(error):
                raise
        if not is_built_in(bundle.files):
            self.foreign.add(entry)
        self.interpreter.restore()
        self.interpreter.touched = True
        try:
            bot_class = load_class(bundle, bot.class_name)
            self.recursion[entry] = lay_out(bundle).recursion_limit
            self.interpreter.accept_threads()
            if not is_as_planned(defaults(bot_class), bot.params, bot.options):
                raise BotError(OTHERWISE)
            return Contestant(functools.partial(made, bot_class), bot.params)
        except BaseException as error:
            return Contestant(functools.partial(_raise, error), {})

    def play(self, order: messages.MatchOrder, spent: Sequence[int]) -> tuple[MatchRow, list[int]]:
        """Play one match; return its result and the entries whose processes were killed from outside meanwhile.

        For the entries in `spent` that is a fault.
        """
        game = self.game(order.board)
        seats = order.seats
        contestants = [self.contestant(entry) for entry in seats]
        foreign = not self.foreign.isdisjoint(seats)
        if foreign or self.interpreter.touched:
            self.interpreter.restore(max(self.recursion.get(entry, 0) for entry in seats))
        self.interpreter.touched = foreign
        started = time.perf_counter()
        result = play_match(
            game,
            contestants,
            Streams(*self.plan.keys[order.key], *order.stream_ids),
            self.plan.boards[order.board].opening,
            self.plan.limits,
            order.charges,
            self.report,
            spent=[seat for seat, entry in enumerate(seats) if entry in spent],
        )
        row = row_of(result, order.lineup, time.perf_counter() - started)
        return row, [seats[seat] for seat in result.killed]


def _raise(error: BaseException, *_: object) -> None:
    raise error


class Worker:
    """Replies to the messages of one driver."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self.heartbeat = heartbeat
        self.number = 0
        self.plan: LoadedPlan | None = None
        self.isolated = IsolatedBots()
        self.interpreter = Interpreter()

    def report(self, seat: int, ply: int, limit: float) -> None:
        if seat == NOBODY:
            self.heartbeat.rest(self.number)
        else:
            self.heartbeat.work(seat, ply, limit)

    def answer(self, message: messages.Message) -> messages.Message:
        """Return the reply to one message."""
        match message:
            case messages.Hello():
                return messages.Greeting(code_hash(), versions(), os.getpid(), platform.node())
            case messages.Describe():
                self.interpreter.restore()
                self.interpreter.touched = True
                return self.isolated.describe(message)
            case messages.WorkerPlan():
                self.interpreter.accept_threads()
                self.isolated.expect(message)
                self.plan = LoadedPlan(message, self.report, self.isolated, self.interpreter)
                return messages.PlanRead(self.isolated.refusal(message.bots))
            case messages.PlayChunk() if self.plan is not None:
                return self.results(self.plan, message)
        raise ValueError(f"a worker cannot answer {type(message).__name__} now")

    def results(
        self, plan: LoadedPlan, chunk: messages.PlayChunk
    ) -> messages.Played | messages.GameStopped | messages.NoRoom:
        """Play a chunk. What no bot is to blame for ends it: a disk that is full, a game that failed.

        After a match that has spoiled this process the rest of the chunk is left to another.
        """
        rows, killed = [], {}
        try:
            for self.number, order in enumerate(chunk.matches):
                self.heartbeat.rest(self.number)
                row, entries = plan.play(order, chunk.spent)
                rows.append(row)
                if entries:
                    killed[self.number] = entries
                if self.is_spoiled():
                    return messages.PlayedLast(rows, killed)
            return messages.Played(rows, killed)
        except GameFailed as failed:
            return messages.GameStopped(self.number, failed.fault)
        except OSError as error:
            if not has_no_room(error):
                raise
            shortage = no_room(error, str(cache_root()))
            return messages.NoRoom(shortage.what, shortage.remedy)

    def is_spoiled(self) -> bool:
        """Return whether a bot has changed the interpreter in a way that cannot be undone."""
        return self.interpreter.touched and self.interpreter.is_spoiled()


def main(arguments: list[str]) -> None:
    """Serve the socket until it closes; arguments are its descriptor, the heartbeat file's, and the working folder."""
    keep_orphans()
    close_to_others()
    connection = Connection(int(arguments[0]))
    worker = Worker(Heartbeat(mmap.mmap(int(arguments[1]), SIZE)))
    threading.Thread(target=_beat, args=(worker.heartbeat,), daemon=True).start()
    _silence_bots()
    while (message := _receive(connection)) is not None:
        reply = messages.encode(worker.answer(messages.decode(message)))
        with contextlib.suppress(OSError):
            connection.send_bytes(reply)
    worker.isolated.close()


def _receive(connection: Connection) -> bytes | None:
    """Return the next message; None when the driver is gone."""
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None


def _beat(heartbeat: Heartbeat) -> None:
    """Use a little processor time now and then, which shows the watchdog that the process is not stopped.

    Also interrupt a game's rules that have been at work for too long.
    """
    activity, cpu, wall = heartbeat.read(), time.process_time(), time.monotonic()
    while True:
        time.sleep(BEAT)
        if (now := heartbeat.read()) != activity or now.seat != NOBODY:
            activity, cpu, wall = now, time.process_time(), time.monotonic()
        elif time.process_time() - cpu > GAME_SECONDS or time.monotonic() - wall > WAITING * GAME_SECONDS:
            Alarm.interrupt_game()
            cpu, wall = time.process_time(), time.monotonic()


def _silence_bots() -> None:
    """Drop what bots print: the terminal is the driver's."""
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
