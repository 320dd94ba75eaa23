"""A worker process: loads bots from bundles and plays the matches it is handed. Started by `arena.workers.supervisor`.

It talks JSON in length-prefixed frames over one socket with whoever spawned it (`arena.workers.process`); it never sees
the log. Where it is at work (which match, seat and ply, until when) stands in a small shared file, so that a watchdog
can tell a bot that hangs, and a crash can be traced to a seat.
"""

from __future__ import annotations

import contextlib
import functools
import json
import mmap
import os
import platform
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import engine
from arena.core.errors import BotError, has_no_room, no_room
from arena.core.limits import Limits
from arena.core.process_trees import close_to_others, keep_orphans
from arena.core.versions import code_hash, versions
from arena.match.dice import Streams
from arena.match.game_faults import GameFailed, fault_of
from arena.match.heartbeat import NOBODY, SIZE, Status
from arena.match.referee import GAME_SECONDS, Alarm, Charge, Contestant, Entrant, Report, Result, play_match, warm_up
from arena.registry.bundles import Bundle
from arena.registry.describe import OTHERWISE, defaults, describe, is_as_planned
from arena.registry.loader import is_our_own, lay_out, load_class
from arena.workers.interpreter import Interpreter
from arena.workers.warming import first_alone
from engine.cache import cache_root

if TYPE_CHECKING:
    from arena.workers.sandbox.host import Provision, RemoteBot
    from arena.workers.sandbox.hosts import Hosts

HEARTBEAT = 0.5
"""Seconds."""
WAITING = 10
"""A game that waits, instead of computing, may take so many times `GAME_SECONDS`."""


def read_bundle(module: str, files: dict[str, str]) -> Bundle:
    """A bundle as it came over the wire: contents in hexadecimal."""
    return Bundle(module, {name: bytes.fromhex(content) for name, content in files.items()})


class Remote:
    """Bots in processes of their own; what serves them is loaded when the first one comes."""

    def __init__(self) -> None:
        self._hosts: Hosts | None = None
        self._plan: dict[str, Any] | None = None

    def expect(self, plan: dict[str, Any]) -> None:
        """Bots of that plan come next, from processes that serve no other."""
        self.close()
        self._plan = plan

    @property
    def hosts(self) -> Hosts:
        if self._hosts is None:
            from arena.workers.sandbox.hosts import Hosts

            self._hosts = Hosts(self._provision() if self._plan is not None else None)
        return self._hosts

    def _provision(self) -> Provision:
        from arena.workers.sandbox.hosts import provision

        plan = self._plan or {}
        bundles = []
        for bot in plan["entries"]:
            with contextlib.suppress(ValueError):  # its own fault, once it is to play
                bundle = read_bundle(bot["module"], plan["bundles"][bot["bundle"]])
                if bot["isolation"] != "none" and not bundle.is_program:
                    bundles.append(bundle)
        return provision(bundles, [(game, players) for game, players, _ in plan["boards"]])

    def bot(self, bot: dict[str, Any], bundle: Bundle, key: int) -> RemoteBot:
        from arena.workers.sandbox.host import RemoteBot

        params, options = bot.get("params", {}), bot.get("options")
        return RemoteBot(bot["name"], bundle, bot["class"], params, bot["isolation"], key, options)

    def contestant(self, bot: dict[str, Any], bundle: Bundle, key: int) -> Entrant:
        """An entry of the plan as something that can take a seat."""
        from arena.workers.sandbox.hosts import RemoteContestant

        return RemoteContestant(self.bot(bot, bundle, key), self.hosts)

    def describe(self, bot: dict[str, Any]) -> Any:
        """What a bot says of itself, asked where it is to play."""
        bundle = read_bundle(bot["module"], bot["files"])
        if bundle.is_program or bot["isolation"] == "none":
            return describe(bundle, bot)
        from arena.workers.sandbox.description import description

        wanted = {key: bot[key] for key in ("name", "class", "boards")}
        return description(self.hosts, self.bot(bot, bundle, -1), wanted)

    def refusal(self, bots: list[dict[str, Any]]) -> str:
        """Why this machine cannot take some of the entries of a plan; empty when it can."""
        if all(bot["isolation"] != "sandbox" for bot in bots):
            return ""
        from arena.workers.sandbox.levels import lacking

        return f"{platform.node()} cannot sandbox bots: {lacking()}" if lacking() else ""

    def close(self) -> None:
        """End their processes."""
        if self._hosts is not None:
            self._hosts.close()
            self._hosts = None


class Table:
    """A worker's side of a plan: games, contestants and keys."""

    def __init__(self, plan: dict[str, Any], report: Report, remote: Remote, interpreter: Interpreter) -> None:
        self.plan = plan
        self.interpreter = interpreter
        self.recursion: dict[int, int] = {}
        """By entry: the recursion limit that its modules have set."""
        self.foreign: set[int] = set()
        """Entries whose code runs here and is not our own: only these touch the interpreter."""
        self.report = report
        self.remote = remote
        self.limits = Limits(*plan["limits"])
        self.keys = {hash: tuple(map(bytes.fromhex, pair)) for hash, pair in plan["keys"].items()}
        self.game = functools.cache(self._game)
        self.contestant = functools.cache(self._contestant)

    def _game(self, board: int) -> engine.Game:
        """A board's game with everything that a match calls compiled, so that no bot's clock pays for it."""
        name, players, _ = self.plan["boards"][board]
        try:
            game = engine.load_game(name, players)
        except Exception as error:
            raise GameFailed(fault_of(error, [], None)) from error
        compiling = first_alone(game.name, lambda: self.report(NOBODY, 0, 0.0)) if game.kernels else nullcontext()
        with compiling:
            warm_up(game)
        return game

    def _contestant(self, entry: int) -> Entrant:
        """What takes a seat for an entry; what goes wrong in making it is the bot's fault in each match."""
        bot = self.plan["entries"][entry]
        try:
            bundle = read_bundle(bot["module"], self.plan["bundles"][bot["bundle"]])
        except ValueError as error:
            return Contestant(functools.partial(_raise, error), {})
        if bot["isolation"] != "none":
            return self.remote.contestant(bot, bundle, entry)
        try:
            lay_out(bundle)
        except OSError as error:
            if has_no_room(error):
                raise
        if not is_our_own(bundle.files):
            self.foreign.add(entry)
        self.interpreter.restore()
        self.interpreter.touched = True
        try:
            bot_class = load_class(bundle, bot["class"])
            self.recursion[entry] = lay_out(bundle).recursion_limit
            self.interpreter.accept_threads()
            if not is_as_planned(defaults(bot_class), bot["params"], bot["options"]):
                raise BotError(OTHERWISE)
            return Contestant(bot_class, bot["params"])
        except BaseException as error:
            return Contestant(functools.partial(_raise, error), {})

    def play(
        self, block: list[Any], lineup: int, charges: list[list[Any]], spent: list[int]
    ) -> tuple[list[Any], list[int]]:
        """One match, as the row that goes back.

        Its block is given as board, entries by seat, hash of a secret key and the ids of
        `arena.core.match_ids.stream_ids`. With the row go the entries whose processes were killed from outside
        meanwhile; for those in `spent` that is a fault.
        """
        board, seats, key, *ids = block
        game = self.game(board)
        contestants = [self.contestant(entry) for entry in seats]
        foreign = not self.foreign.isdisjoint(seats)
        if foreign or self.interpreter.touched:
            self.interpreter.restore(max(self.recursion.get(entry, 0) for entry in seats))
        self.interpreter.touched = foreign
        started = time.perf_counter()
        result = play_match(
            game,
            contestants,
            Streams(*self.keys[key], *map(bytes.fromhex, ids)),
            self.plan["boards"][board][2],
            self.limits,
            [Charge(*charge) for charge in charges],
            self.report,
            spent=[seat for seat, entry in enumerate(seats) if entry in spent],
        )
        row = row_of(result, lineup, time.perf_counter() - started)
        return row, [seats[seat] for seat in result.killed]


def _raise(error: BaseException, *_: object) -> None:
    raise error


def row_of(result: Result, lineup: int, seconds: float) -> list[Any]:
    """A result as plain data, in the order of `arena.store.MatchRow`."""
    scores: list[int | None] = [*result.scores] if result.scores else [None for _ in result.ranks]
    forfeits = [
        (forfeit.cause, forfeit.ply) if (forfeit := result.forfeits.get(seat)) else (None, None)
        for seat in range(len(scores))
    ]
    return [
        lineup,
        result.ended,
        len(result.moves),
        result.timed,
        result.final_hash,
        " ".join(result.moves),
        result.notes,
        [[rank, score, *forfeit] for rank, score, forfeit in zip(result.ranks, scores, forfeits, strict=True)],
        {str(seat): forfeit.detail for seat, forfeit in result.forfeits.items()},
        round(seconds, 6),
        ("%d,%d,%d,%d " * (len(result.calls) // 4) % tuple(result.calls)).rstrip(),
        result.retried,
    ]


class Worker:
    """Answers the messages of one driver."""

    def __init__(self, status: Status) -> None:
        self.status = status
        self.number = 0
        self.table: Table | None = None
        self.remote = Remote()
        self.interpreter = Interpreter()

    def report(self, seat: int, ply: int, limit: float) -> None:
        if seat == NOBODY:
            self.status.rest(self.number)
        else:
            self.status.work(seat, ply, limit)

    def answer(self, message: dict[str, Any]) -> Any:
        """The reply to one message; its kind stands under `do`."""
        if message["do"] == "hello":
            return {"code": code_hash(), "versions": versions(), "pid": os.getpid(), "host": platform.node()}
        if message["do"] == "describe":
            self.interpreter.restore()
            self.interpreter.touched = True
            return self.remote.describe(message["bot"])
        if message["do"] == "plan":
            self.interpreter.accept_threads()
            self.remote.expect(message)
            self.table = Table(message, self.report, self.remote, self.interpreter)
            return {"refusal": self.remote.refusal(message["entries"])}
        if message["do"] == "play" and self.table is not None:
            return self.rows(message["matches"], message["spent"])
        raise ValueError(f"a worker does not know how to {message['do']}")

    def rows(self, matches: list[list[Any]], spent: list[int]) -> dict[str, Any]:
        """The results of a chunk, or what no bot is to blame for: a disk that is full, a game that failed.

        After a match that has spoiled this process the rest of the chunk is left to another.
        """
        try:
            played = list(self.play(matches, spent))  # a list: a bot may hold a tuple while it is being made
            spoiled = {"spoiled": True} if self.is_spoiled() else {}
            killed = [entries for _, entries in played]
            return {**spoiled, "rows": [row for row, _ in played], **({"killed": killed} if any(killed) else {})}
        except GameFailed as failed:
            return {"game": [self.number, asdict(failed.fault)]}
        except OSError as error:
            if not has_no_room(error):
                raise
            told = no_room(error, str(cache_root()))
            return {"no room": [told.what, told.remedy]}

    def play(self, matches: list[list[Any]], spent: list[int]) -> Iterator[tuple[list[Any], list[int]]]:
        assert self.table is not None
        for self.number, (block, lineup, charges) in enumerate(matches):
            self.status.rest(self.number)
            yield self.table.play(block, lineup, charges, spent)
            if self.is_spoiled():
                return

    def is_spoiled(self) -> bool:
        """Whether a bot has left what cannot be put back."""
        return self.interpreter.touched and self.interpreter.is_spoiled()


def main(arguments: list[str]) -> None:
    """Serve the socket until it closes; arguments are its descriptor, the status file's, and the working folder."""
    keep_orphans()
    close_to_others()
    connection = Connection(int(arguments[0]))
    worker = Worker(Status(mmap.mmap(int(arguments[1]), SIZE)))
    threading.Thread(target=_beat, args=(worker.status,), daemon=True).start()
    _silence_bots()
    while (message := _receive(connection)) is not None:
        reply = json.dumps(worker.answer(json.loads(message)), separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            connection.send_bytes(reply)
    worker.remote.close()


def _receive(connection: Connection) -> bytes | None:
    """The next message; None when the driver is gone."""
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None


def _beat(status: Status) -> None:
    """Use a little processor time now and then, so that whoever watches sees a process that lives.

    On the way interrupt a game's rules that have been at work for too long.
    """
    work, cpu, wall = status.read(), time.process_time(), time.monotonic()
    while True:
        time.sleep(HEARTBEAT)
        if (now := status.read()) != work or now.seat != NOBODY:
            work, cpu, wall = now, time.process_time(), time.monotonic()
        elif time.process_time() - cpu > GAME_SECONDS or time.monotonic() - wall > WAITING * GAME_SECONDS:
            Alarm.interrupt_game()
            cpu, wall = time.process_time(), time.monotonic()


def _silence_bots() -> None:
    """What bots print goes nowhere: the terminal is the driver's."""
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
