"""A worker process: loads bots from bundles and plays the matches it is handed. Forked by `arena.workers.supervisor`.

It exchanges `arena.workers.messages` over one socket with whoever spawned it (`arena.workers.process`); it never sees
the log. Its heartbeat (which match, seat and ply, until when) is a small shared file, by which the driver finds a
bot that hangs and traces a crash to a seat.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import mmap
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import engine
from arena.core.errors import BotError, StoreError, has_no_room, no_room
from arena.core.process_trees import keep_orphans
from arena.core.versions import code_hash, versions
from arena.match.alarm import GAME_SECONDS, Alarm
from arena.match.dice import Streams
from arena.match.faults import MAX_TRACEBACK
from arena.match.game_faults import GameFailed, fault_of
from arena.match.heartbeat import NOBODY, SIZE, Heartbeat
from arena.match.player import Contestant, Entrant
from arena.match.printed import PRINTED, WITH_FAULT
from arena.match.referee import Course, Match, Report, play_match, warm_up
from arena.match.replay import Told, replay
from arena.match.result import MatchRow, row_of
from arena.registry.bundles import Bundle
from arena.registry.describe import OTHERWISE, defaults, describe, is_as_planned
from arena.registry.loader import is_built_in, lay_out, load_class, made
from arena.workers import messages
from arena.workers.compile_once import CompiledCode
from arena.workers.interpreter import Interpreter
from arena.workers.messages import RATINGS, RULES
from arena.workers.search import Searcher
from arena.workers.sitting import Left, Sitting
from engine.cache import cache_root

if TYPE_CHECKING:
    from arena.workers.sandbox.process_pool import ProcessPool

ASKED_DIRECTLY = {("bots.random_bot", "Random")}
"""Modules and classes of the built-in bots that are asked directly; tests hold their matches against the usual way."""
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

        names = self._plan is not None and self._plan.names_refusals
        remote = RemoteBot(bot.name, bundle, bot.class_name, bot.params, bot.isolation, key, bot.options, names)
        return RemoteContestant(remote, self.pool)

    def describe(self, request: messages.Describe) -> messages.Description:
        """Ask a bot where it is to play what it declares; raises `OSError` on a full disk, which is not its fault."""
        if request.bundle.is_program or request.isolation == "none":
            if not request.bundle.is_program:
                _lay_out(request.bundle)
            return messages.Description(describe(request.bundle, request.name, request.class_name, request.boards))
        return messages.Description(self.pool.describe(request))

    def refusal(self, bots: Sequence[messages.PlannedBot]) -> str:
        """Return why this machine cannot isolate bots of a plan; empty when it can."""
        if all(bot.isolation != "sandbox" for bot in bots):
            return ""
        from arena.workers.sandbox.levels import missing_requirements

        missing = missing_requirements()
        return f"{platform.node()} cannot sandbox bots: {missing}" if missing else ""

    def compile(self, bundle: Bundle, game: engine.Game) -> None:
        """Compile what a bot uses of ours; what it compiles of its own is kept by its process source."""
        from arena.workers.sandbox.preload import Preload, load
        from arena.workers.sandbox.process_source import trusted_modules

        own = (name for name in trusted_modules(bundle) if name.startswith("bots."))
        load(Preload(tuple(own), ((game.spec, game.players),)))

    def close(self) -> None:
        """End their processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class LoadedPlan:
    """A plan with the games and bots that were loaded for it so far."""

    def __init__(
        self,
        plan: messages.WorkerPlan,
        report: Report,
        isolated: IsolatedBots,
        interpreter: Interpreter,
        begun: Callable[[Match], None] = lambda match: None,
    ) -> None:
        self.plan = plan
        self.begun = begun
        self.interpreter = interpreter
        self.recursion: dict[int, int] = {}
        """By entry: the recursion limit that its modules have set."""
        self.foreign: set[int] = set()
        """Entries whose code runs here and is not our own: only these may change the interpreter."""
        self.report = report
        self.isolated = isolated
        self.code = CompiledCode(plan)
        self.compile = functools.cache(self._compile)
        self.game = functools.cache(self._game)
        self.contestant = functools.cache(self._contestant)

    def _game(self, board: int) -> engine.Game:
        """Return a board's game with everything that a match calls compiled, so that no bot's clock pays for it."""
        name, players, _ = self.plan.boards[board]
        try:
            game = engine.load_game(name, players)
        except Exception as error:
            raise GameFailed(fault_of(error, [], None)) from error
        with self.code.compiling(board, RULES, self._wait) if game.kernels else nullcontext():
            warm_up(game)
        gc.freeze()  # as in `arena.runner.run`
        return game

    def _wait(self) -> None:
        """Say that this process is alive while it waits for another one."""
        self.report(NOBODY, 0, 0.0)

    def _compile(self, board: int, entry: int) -> None:
        """Compile what an entry uses of ours on a board, so that its clock need not pay for it.

        No code of a bot that is not our own runs here: it belongs under its clock. Errors are left for its first match.
        """
        if board == RATINGS:
            from arena.stats.board import warm_up as rate  # of no use to who only plays

            with self.code.compiling(board, entry, self._wait):
                return rate()
        game = self.game(board)
        if entry == RULES or self.code.is_compiled(board, entry):
            return
        with contextlib.suppress(Exception), self.code.compiling(board, entry, self._wait):
            bot = self.plan.bots[entry]
            bundle = self.plan.bundle_of(bot)
            if bot.isolation == "none" and is_built_in(bundle.files):
                contestant = self.contestant(entry)
                if isinstance(contestant, Contestant):
                    contestant.make(game, 0, 0, contestant.params).prepare()
            else:
                self.isolated.compile(bundle, game)

    def _contestant(self, entry: int) -> Entrant:
        """Return what takes a seat for an entry; errors in making it are the bot's fault in each match."""
        bot = self.plan.bots[entry]
        try:
            bundle = self.plan.bundle_of(bot)
        except BotError as error:
            return Contestant(functools.partial(_raise, error), {})
        if bot.isolation != "none":
            return self.isolated.contestant(bot, bundle, entry)
        _lay_out(bundle)
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
            direct = entry not in self.foreign and (bot.module, bot.class_name) in ASKED_DIRECTLY
            return Contestant(functools.partial(made, bot_class), bot.params, direct)
        except BaseException as error:
            return Contestant(functools.partial(_raise, error), {})

    def play(
        self, order: messages.MatchOrder, spent: Sequence[int], sitting: Sitting | None = None
    ) -> tuple[MatchRow, list[int], dict[int, str]]:
        """Play one match; return its result, the entries whose processes were killed, what was printed.

        For the entries in `spent` being killed is a fault. What was printed is by seat, the end of it. `sitting` has
        the persons who play in it.
        """
        game = self.game(order.board)
        seats = order.seats
        bots = [entry for seat, entry in enumerate(seats) if sitting is None or seat not in sitting.persons]
        for entry in bots:
            self.compile(order.board, entry)
        made = {entry: self.contestant(entry) for entry in bots}
        contestants = [made[entry] for entry in seats] if sitting is None else sitting.entrants(seats, made)
        foreign = not self.foreign.isdisjoint(seats)
        if foreign or self.interpreter.touched:
            self.interpreter.restore(max(self.recursion.get(entry, 0) for entry in seats))
        self.interpreter.touched = foreign
        PRINTED.take()  # what a match that failed has left
        started = time.perf_counter()
        result = play_match(
            game,
            contestants,
            Streams(*self.plan.keys[order.key], *order.stream_ids),
            self.plan.boards[order.board].opening,
            self.plan.limits,
            order.charges,
            self.report if sitting is None else sitting.report,
            spent=[seat for seat, entry in enumerate(seats) if entry in spent],
            course=Course() if sitting is None else sitting.course,
            begun=self.begun,
        )
        row = row_of(result, order.lineup, time.perf_counter() - started)
        printed = PRINTED.take()
        for seat in printed.keys() & row.details.keys():
            if self.plan.bots[seats[seat]].isolation == "none":  # the faults of others hold it
                detail = f"{printed[seat][-WITH_FAULT:].rstrip()}\n{row.details[seat]}"
                row = row._replace(details={**row.details, seat: detail[-MAX_TRACEBACK:]})
        return row, [seats[seat] for seat in result.killed], printed


def _retold(request: messages.Retell) -> messages.Retold:
    try:
        plies = replay(request.match, request.keys)
        told = [
            Told(*ply[:5], str(ply.state) if request.drawn else "", ply.evaluation, ply.line)  # its text holds no state
            for ply in plies
        ]
        return messages.Retold(told, "")
    except StoreError as error:
        return messages.Retold([], str(error))


def _lay_out(bundle: Bundle) -> None:
    """Put a bundle's files in place; raises `OSError` on a full disk, and leaves other errors to whoever loads it."""
    try:
        lay_out(bundle)
    except OSError as error:
        if has_no_room(error):
            raise


def _raise(error: BaseException, *_: object) -> None:
    raise error


class Worker:
    """Replies to the messages of one driver."""

    def __init__(self, heartbeat: Heartbeat, connection: Connection) -> None:
        self.heartbeat = heartbeat
        self.connection = connection
        self.number = 0
        self.match: Match | None = None
        """In play, or the last one that was."""
        self.searcher: Searcher | None = None
        self.plan: LoadedPlan | None = None
        self.isolated = IsolatedBots()
        self.interpreter = Interpreter()

    def report(self, seat: int, ply: int, limit: float) -> None:
        if seat == NOBODY:
            self.heartbeat.rest(self.number)
        else:
            self.heartbeat.work(seat, ply, limit)

    def begun(self, match: Match) -> None:
        self.match = match

    def answer(self, message: messages.Message) -> messages.Message:
        """Return the reply to one message."""
        match message:
            case messages.Hello():
                return messages.Greeting(code_hash(), versions(), os.getpid(), platform.node())
            case messages.Describe():
                self.interpreter.restore()
                self.interpreter.touched = True
                return self.describe(message)
            case messages.Retell():
                return _retold(message)
            case messages.WorkerPlan():
                self.interpreter.accept_threads()
                self.isolated.expect(message)
                self.plan = LoadedPlan(message, self.report, self.isolated, self.interpreter, self.begun)
                return messages.PlanRead(self.isolated.refusal(message.bots))
            case messages.Compile() if self.plan is not None:
                for board, entry in message.code:
                    with contextlib.suppress(GameFailed):
                        self.plan.compile(board, entry)
                return messages.Compiled()
            case messages.PlayChunk() if self.plan is not None:
                return self.results(self.plan, message)
            case messages.Sit() if self.plan is not None:
                return self.sit(self.plan, message)
            case messages.Search() if self.plan is not None:
                contestant = self.plan.contestant(0)
                assert isinstance(contestant, Contestant)
                self.searcher = Searcher(self.plan.game(0), contestant)
                return self.searcher.begin(message)
            case messages.Grow() if self.searcher is not None:
                return self.searcher.grow(message)
        raise ValueError(f"a worker cannot answer {type(message).__name__} now")

    def describe(self, request: messages.Describe) -> messages.Description | messages.NoRoom:
        """Ask a bot what it declares."""
        try:
            return self.isolated.describe(request)
        except OSError as error:
            return self.without_room(error)

    def results(
        self, plan: LoadedPlan, chunk: messages.PlayChunk
    ) -> messages.Played | messages.GameStopped | messages.NoRoom:
        """Play a chunk. What no bot is to blame for ends it: a disk that is full, a game that failed.

        After a match that has spoiled this process the rest of the chunk is left to another.
        """
        rows, killed, printed = [], {}, {}
        try:
            for self.number, order in enumerate(chunk.matches):
                self.heartbeat.rest(self.number)
                row, entries, ends = plan.play(order, chunk.spent)
                rows.append(row)
                if ends and chunk.listens:
                    printed[self.number] = ends
                if entries:
                    killed[self.number] = entries
                if self.is_spoiled():
                    return messages.PlayedLast(rows, killed, printed)
            return messages.Played(rows, killed, printed)
        except GameFailed as failed:
            return messages.GameStopped(self.number, failed.fault)
        except OSError as error:
            return self.without_room(error)
        finally:
            self.match = None

    def sit(self, plan: LoadedPlan, order: messages.Sit) -> messages.Played | messages.GameStopped | messages.NoRoom:
        """Play a match with persons in some seats, who are asked through the driver."""
        self.number = 0
        sitting = Sitting(order, self.report, self.exchange)
        try:
            row, _, ends = plan.play(order.order, (), sitting)
            return messages.Played([row], {}, {0: ends} if ends else {})
        except Left:
            return messages.Played([], {}, {})
        except GameFailed as failed:
            return messages.GameStopped(0, failed.fault)
        except OSError as error:
            return self.without_room(error)

    def exchange(self, message: messages.Message, awaited: bool) -> messages.Message | None:
        """Tell the driver something, and return the reply if one is `awaited`; ends the process without a driver."""
        with contextlib.suppress(OSError):
            self.connection.send_bytes(messages.encode(message))
        if not awaited:
            return None
        reply = _receive(self.connection)
        if reply is None:
            os._exit(0)  # whatever bots would make of an exception
        return messages.decode(reply)

    def without_room(self, error: OSError) -> messages.NoRoom:
        """Return the reply for a disk that is full; raises any other error."""
        if not has_no_room(error):
            raise error
        shortage = no_room(error, str(cache_root()))
        return messages.NoRoom(shortage.what, shortage.remedy)

    def is_spoiled(self) -> bool:
        """Return whether a bot has changed the interpreter in a way that cannot be undone."""
        return self.interpreter.touched and self.interpreter.is_spoiled()


def main(connection: Connection, heartbeat: int) -> None:
    """Serve a connection until it closes; `heartbeat` is the descriptor of a file."""
    keep_orphans()
    sys.stdout = sys.stderr = PRINTED.as_text()
    worker = Worker(Heartbeat(mmap.mmap(heartbeat, SIZE)), connection)
    PRINTED.seat = lambda: worker.heartbeat.read().seat
    threading.Thread(target=_beat, args=(worker,), daemon=True).start()
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


def _beat(worker: Worker) -> None:
    """Use a little processor time now and then, which shows the watchdog that the process is not stopped.

    Also interrupt a game's rules that have been at work for too long, and show the moves of a match that takes long.
    """
    heartbeat, seen = worker.heartbeat, worker.match
    activity, cpu, wall = heartbeat.read(), time.process_time(), time.monotonic()
    while True:
        time.sleep(BEAT)
        match, number = worker.match, worker.number
        if match is not None and match is seen:
            with contextlib.suppress(Exception):  # of a game in plain Python, whose history may be anything
                heartbeat.show_moves(number, match.state.history())
        seen = match
        if (now := heartbeat.read()) != activity or now.seat != NOBODY:
            activity, cpu, wall = now, time.process_time(), time.monotonic()
        elif time.process_time() - cpu > GAME_SECONDS or time.monotonic() - wall > WAITING * GAME_SECONDS:
            Alarm.interrupt_game()
            cpu, wall = time.process_time(), time.monotonic()


def _silence_bots() -> None:
    """Drop what bots write past `PRINTED`: the terminal is the driver's."""
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
