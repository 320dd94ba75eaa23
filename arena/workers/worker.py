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

import engine
from arena.core.errors import BotError, StoreError, disk_full_error, is_disk_full
from arena.core.process_trees import adopt_orphans
from arena.core.versions import code_hash, versions
from arena.isolation import launcher
from arena.match.alarm import GAME_CPU_SECONDS, Alarm
from arena.match.calls import ActivityListener
from arena.match.dice import Streams
from arena.match.faults import MAX_TRACEBACK_CHARS
from arena.match.game_faults import GameFailure, game_fault_of
from arena.match.heartbeat import HEARTBEAT_BYTES, NOBODY, Heartbeat
from arena.match.match import Match
from arena.match.player import LocalBot, SeatTaker, failing_bot
from arena.match.printed import MAX_PRINTED_CHARS_IN_FAULT, PRINTED_OUTPUT
from arena.match.referee import play_match, warm_up
from arena.match.replay import in_words
from arena.match.replays import PlayedBefore
from arena.match.result import MatchRow, row_of
from arena.registry.loader import is_built_in
from arena.schedule.boards import Budget
from arena.workers import messages
from arena.workers.bot_host import BotHost, refusal
from arena.workers.compile_once import CompiledCode
from arena.workers.messages import RATINGS, RULES
from arena.workers.search import Searcher
from arena.workers.session import SessionEndedError, WorkerSession
from engine.cache import cache_root

BEAT_SECONDS = 0.5
"""Time between two heartbeats."""
WAITING_FACTOR = 10
"""Times `GAME_CPU_SECONDS` that a game may take which waits instead of computing."""


_games: dict[tuple[str, int], engine.Game] = {}
"""By spec and number of players: loaded once for all plans, since what is frozen would not be collected after one."""


class LoadedPlan:
    """A plan, with the games and bots loaded for it so far."""

    def __init__(
        self,
        plan: messages.WorkerPlan,
        report: ActivityListener,
        host: BotHost,
        on_start: Callable[[Match], None] = lambda match: None,
    ) -> None:
        self.plan = plan
        self.on_start = on_start
        self.report = report
        self.host = host
        self.code = CompiledCode(plan)
        self.compile = functools.cache(self._compile)
        self.game = functools.cache(self._game)
        self._contestant = functools.cache(self._contestant_with)

    def close(self) -> None:
        """Forget the plan, with the sources and keys in it.

        Its caches refer to it, and no collection looks at what is frozen.
        """
        self.__dict__.clear()

    def _game(self, board: int) -> engine.Game:
        """Return a board's game with everything that a match calls compiled, so that no bot's clock pays for it."""
        planned = self.plan.boards[board]
        if (known := _games.get((planned.game, planned.players))) is not None:
            return known
        try:
            game = engine.load_game(planned.game, planned.players)
        except Exception as error:
            raise GameFailure(game_fault_of(error, [], None)) from error
        with self.code.compiling(board, RULES, self._wait) if game.kernels else nullcontext():
            warm_up(game)
        gc.freeze()  # as in `arena.runner.run`
        _games[planned.game, planned.players] = game
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
            if launcher(bot.isolation).in_worker and is_built_in(bundle.files):
                contestant = self.contestant(entry, board)
                if isinstance(contestant, LocalBot):
                    contestant.make(game, 0, 0, contestant.params).prepare()
            else:
                self.host.compile(bundle, game)

    def contestant(self, entry: int, board: int) -> SeatTaker:
        """Return what takes a seat of a board for an entry; errors in making it are the bot's fault in each match."""
        return self._contestant(entry, self.plan.boards[board].budget(entry))

    def _contestant_with(self, entry: int, budget: Budget | None) -> SeatTaker:
        bot = self.plan.bots[entry]
        if budget is not None:
            bot = bot.with_budget(budget)
        try:
            bundle = self.plan.bundle_of(bot)
        except BotError as error:
            return failing_bot(error)
        return self.host.contestant(bot, bundle, entry)

    def play(
        self, order: messages.MatchOrder, out_of_replays: Sequence[int], session: WorkerSession | None = None
    ) -> tuple[MatchRow, list[int], dict[int, str]]:
        """Play one match; return its result, the entries whose processes were killed, what was printed.

        For the entries in `out_of_replays` being killed is a fault. What was printed is by seat, the end of it.
        `session` has the persons who play in it.
        """
        spec = order.spec
        block, seats = spec.block, spec.seats
        game = self.game(block.board)
        bots = [entry for seat, entry in enumerate(seats) if session is None or seat not in session.persons]
        for entry in bots:
            self.compile(block.board, entry)
        made = {entry: self.contestant(entry, block.board) for entry in bots}
        contestants = [made[entry] for entry in seats] if session is None else session.entrants(seats, made)
        self.host.restore(seats)
        PRINTED_OUTPUT.take()  # what a match that failed has left
        started = time.perf_counter()
        result = play_match(
            game,
            contestants,
            Streams(*self.plan.keys[block.key], *spec.stream_ids),
            self.plan.boards[block.board].opening,
            self.plan.limits,
            order.charges,
            self.report if session is None else session.report,
            no_replay_seats=[seat for seat, entry in enumerate(seats) if entry in out_of_replays],
            before=PlayedBefore() if session is None else session.before,
            on_start=self.on_start,
            adjudication=self.plan.boards[block.board].adjudication,
        )
        row = row_of(result, spec.lineup, time.perf_counter() - started)
        printed = PRINTED_OUTPUT.take()
        for seat in printed.keys() & row.details.keys():
            if launcher(self.plan.bots[seats[seat]].isolation).in_worker:  # the faults of others hold it
                detail = f"{printed[seat][-MAX_PRINTED_CHARS_IN_FAULT:].rstrip()}\n{row.details[seat]}"
                row = row._replace(details={**row.details, seat: detail[-MAX_TRACEBACK_CHARS:]})
        return row, [seats[seat] for seat in result.killed], printed


def _replay(request: messages.ReplayRequest) -> messages.ReplayReply:
    try:
        return messages.ReplayReply(list(in_words(request.match, request.keys, request.drawn)), "")
    except StoreError as error:
        return messages.ReplayReply([], str(error))


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
        self.host = BotHost()

    def report(self, seat: int, ply: int, limit: float) -> None:
        if seat == NOBODY:
            self.heartbeat.rest(self.number)
        else:
            self.heartbeat.work(seat, ply, limit)

    def on_start(self, match: Match) -> None:
        self.match = match

    def answer(self, message: messages.Message) -> messages.Message:
        """Return the reply to one message."""
        match message:
            case messages.Hello():
                return messages.Greeting(code_hash(), versions(), os.getpid(), platform.node())
            case messages.Describe():
                self.host.interpreter.restore()
                self.host.interpreter.touched = True
                return self.describe(message)
            case messages.ReplayRequest():
                return _replay(message)
            case messages.WorkerPlan():
                if self.plan is not None:
                    self.plan.close()
                self.match = None
                self.host.expect(message)
                self.plan = LoadedPlan(message, self.report, self.host, self.on_start)
                return messages.PlanReply(refusal(message.bots))
            case messages.Compile() if self.plan is not None:
                for board, entry in message.code:
                    with contextlib.suppress(GameFailure):
                        self.plan.compile(board, entry)
                return messages.Compiled()
            case messages.PlayChunk() if self.plan is not None:
                return self.results(self.plan, message)
            case messages.StartSession() if self.plan is not None:
                return self.play_session(self.plan, message)
            case messages.StartSearch() if self.plan is not None:
                contestant = self.plan.contestant(0, 0)
                assert isinstance(contestant, LocalBot)
                self.searcher = Searcher(self.plan.game(0), contestant)
                return self.searcher.begin(message)
            case messages.ContinueSearch() if self.searcher is not None:
                return self.searcher.grow(message)
        raise ValueError(f"a worker cannot answer {type(message).__name__} now")

    def describe(self, request: messages.Describe) -> messages.Description | messages.DiskFull:
        """Ask a bot what it declares."""
        try:
            return self.host.describe(request)
        except OSError as error:
            return self.disk_full(error)

    def results(
        self, plan: LoadedPlan, chunk: messages.PlayChunk
    ) -> messages.Played | messages.GameStopped | messages.DiskFull:
        """Play a chunk. What no bot is to blame for ends it: a disk that is full, a game that failed.

        After a match that has spoiled this process the rest of the chunk is left to another.
        """
        rows, killed, printed = [], {}, {}
        try:
            for self.number, order in enumerate(chunk.matches):
                self.heartbeat.rest(self.number)
                row, entries, ends = plan.play(order, chunk.out_of_replays)
                self.match = None  # before the next number: moves are never shown as those of another match
                rows.append(row)
                if ends and chunk.listens:
                    printed[self.number] = ends
                if entries:
                    killed[self.number] = entries
                if self.is_spoiled():
                    return messages.PlayedLast(rows, killed, printed)
            return messages.Played(rows, killed, printed)
        except GameFailure as failed:
            return messages.GameStopped(self.number, failed.fault)
        except OSError as error:
            return self.disk_full(error)
        finally:
            self.match = None

    def play_session(
        self, plan: LoadedPlan, order: messages.StartSession
    ) -> messages.Played | messages.GameStopped | messages.DiskFull:
        """Play a match with persons in some seats, who are asked through the driver."""
        self.number = 0
        session = WorkerSession(order, self.report, self.exchange)
        try:
            row, _, ends = plan.play(order.order, (), session)
            return messages.Played([row], {}, {0: ends} if ends else {})
        except SessionEndedError:
            return messages.Played([], {}, {})
        except GameFailure as failed:
            return messages.GameStopped(0, failed.fault)
        except OSError as error:
            return self.disk_full(error)

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

    def disk_full(self, error: OSError) -> messages.DiskFull:
        """Return the reply for a disk that is full; raises any other error."""
        if not is_disk_full(error):
            raise error
        shortage = disk_full_error(error, str(cache_root()))
        return messages.DiskFull(shortage.what, shortage.remedy)

    def is_spoiled(self) -> bool:
        """Return whether a bot has changed the interpreter in a way that cannot be undone."""
        return self.host.interpreter.touched and self.host.interpreter.is_spoiled()


def main(connection: Connection, heartbeat: int) -> None:
    """Serve a connection until it closes; `heartbeat` is the descriptor of a file."""
    adopt_orphans()
    sys.stdout = sys.stderr = PRINTED_OUTPUT.as_text()
    worker = Worker(Heartbeat(mmap.mmap(heartbeat, HEARTBEAT_BYTES)), connection)
    PRINTED_OUTPUT.seat = lambda: worker.heartbeat.read().seat
    threading.Thread(target=_beat, args=(worker,), daemon=True).start()
    _redirect_streams()
    while (message := _receive(connection)) is not None:
        reply = messages.encode(worker.answer(messages.decode(message)))
        with contextlib.suppress(OSError):
            connection.send_bytes(reply)
    worker.host.close()


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
        time.sleep(BEAT_SECONDS)
        number = worker.number
        match = worker.match
        if match is not None and match is seen:
            with contextlib.suppress(Exception):  # of a game in plain Python, whose history may be anything
                evaluations = [(ply, steps) for ply, steps, *_ in match.annotations.estimates[:] if steps]
                heartbeat.show_moves(number, match.state.history(), evaluations)
        seen = match
        if (now := heartbeat.read()) != activity or now.seat != NOBODY:
            activity, cpu, wall = now, time.process_time(), time.monotonic()
        elif (
            time.process_time() - cpu > GAME_CPU_SECONDS or time.monotonic() - wall > WAITING_FACTOR * GAME_CPU_SECONDS
        ):
            Alarm.interrupt_game()
            cpu, wall = time.process_time(), time.monotonic()


def _redirect_streams() -> None:
    """Drop what bots write past `PRINTED_OUTPUT`: the terminal is the driver's."""
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
