"""A worker process: loads bots from bundles and plays the matches it is handed. Run as `python -m arena.worker`.

It talks JSON in length-prefixed frames over one socket with whoever spawned it (`arena.process`); it never sees the
log. Where it is at work (which match, seat and ply, until when) stands in a small shared file, so that a watchdog can
tell a bot that hangs, and a crash can be traced to a seat.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import mmap
import os
import platform
import shutil
import signal
import sys
import threading
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import engine
from arena.bundle import MANIFEST, Bundle
from arena.code import code_hash
from arena.dice import Streams
from arena.loader import in_a_bundle, load_class
from arena.referee import Charge, Contestant, Result, Watch, play_match
from arena.schedule import seat_orders
from arena.status import NOBODY, SIZE, Status
from engine.specs import Parameter, canonical_options, resolve

MOST_ABOUT = 4000  # characters of a bot's docstring
PACKAGES = ("numpy", "numba", "llvmlite", "pandas", "ray", "trueskill", "pyramid-arena")


def versions() -> dict[str, str]:
    """What plays here: Python, the platform and the packages that matter."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def read_bundle(module: str, files: dict[str, str]) -> Bundle:
    """A bundle as it came over the wire: contents in hexadecimal."""
    return Bundle(module, {name: bytes.fromhex(content) for name, content in files.items()})


def describe(bot: dict[str, Any]) -> dict[str, Any]:
    """What a bot says of itself, its parameters resolved; under `error` why it cannot be used."""
    try:
        bundle = read_bundle(bot["module"], bot["files"])
        if bundle.is_program:
            return _program_description(bundle, bot)
        return _description(load_class(bundle, bot["class"]), bot)
    except engine.EngineError as error:
        return {"error": str(error)}
    except BaseException as error:  # the bot's own code may raise anything
        return {"error": f"cannot be loaded: {_in_short(error)}"}


def _description(bot_class: Any, bot: dict[str, Any]) -> dict[str, Any]:
    if not _is_bot(bot_class):
        return {"error": f"{bot['class']} is not a bot; derive it from bots.Bot and give it choose(self, state)"}
    if getattr(bot_class, "__abstractmethods__", None):
        return {"error": f"{bot['class']} lacks {', '.join(sorted(bot_class.__abstractmethods__))}"}
    parameters: tuple[Parameter, ...] = bot_class.parameters
    params = resolve(parameters, bot["options"], bot["name"])
    options = canonical_options(parameters, params)
    return {
        "params": params,
        "options": options,
        "about": inspect.cleandoc(bot_class.__doc__ or "")[:MOST_ABOUT],
        "games": sorted(bot_class.games) if bot_class.games is not None else None,
        "players": sorted(bot_class.players) if bot_class.players is not None else None,
        "parameters": [parameter.plain() for parameter in parameters],
        "refusals": [_refusal(bot_class, game, players) for game, players in bot["boards"]],
    }


def _program_description(bundle: Bundle, bot: dict[str, Any]) -> dict[str, Any]:
    from arena.sandbox.program import description, read_program  # slow to import, and needed for programs alone

    program = read_program(bundle.files[MANIFEST], bot["name"]).model_copy(update={"name": bot["name"]})
    return description(program, bot["options"], bot["boards"])


def _is_bot(found: Any) -> bool:
    return isinstance(found, type) and callable(getattr(found, "choose", None)) and hasattr(found, "parameters")


def _refusal(bot_class: Any, game: str, players: int) -> str | None:
    try:
        return bot_class.refusal(engine.load_game(game, players))
    except BaseException as error:
        return f"cannot say whether it plays {game}: {_in_short(error)}"


def _in_short(error: BaseException) -> str:
    """One line: the error, and the last line of the bot's own files that it passed through."""
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
    except BaseException:  # an error whose own text raises
        text = type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if in_a_bundle(frame.filename)]
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else text


class _First:
    """Plays the first legal action; for warming up."""

    def __init__(self, *_: object) -> None:
        pass

    def prepare(self) -> None:
        pass

    def choose(self, state: engine.State) -> int:
        return state.legal_actions()[0]


class Table:
    """A worker's side of a plan: games, contestants and keys."""

    def __init__(self, plan: dict[str, Any], watch: Watch) -> None:
        self.plan = plan
        self.watch = watch
        self.watch.seconds_per_move, self.watch.seconds_to_prepare = plan["limits"][:2]
        self.keys = (bytes.fromhex(plan["dice_key"]), bytes.fromhex(plan["bots_key"]))
        self.game = functools.cache(self._game)
        self.contestant = functools.cache(self._contestant)

    def _game(self, board: int) -> engine.Game:
        """A board's game with everything that a match calls compiled, so that no bot's clock pays for it."""
        name, players, _ = self.plan["boards"][board]
        game = engine.load_game(name, players)
        play_match(game, [Contestant(_First, {})] * players, Streams(*self.keys, bytes(16)), 2)
        return game

    def _contestant(self, entry: int) -> Contestant:
        bot = self.plan["entries"][entry]
        try:
            bundle = read_bundle(bot["module"], self.plan["bundles"][bot["bundle"]])
            return Contestant(load_class(bundle, bot["class"]), bot["params"])
        except BaseException as error:
            return Contestant(functools.partial(_raise, error), {})

    def play(self, block: list[Any], lineup: int, charges: list[list[Any]]) -> list[Any]:
        """One match of a block, as the row that goes back."""
        board, table, id = block
        started = time.perf_counter()
        game = self.game(board)
        seats = seat_orders(game.players, self.plan["permutations"])[lineup](table)
        result = play_match(
            game,
            [self.contestant(entry) for entry in seats],
            Streams(*self.keys, bytes.fromhex(id)),
            self.plan["boards"][board][2],
            self.watch,
            [Charge(*charge) for charge in charges],
        )
        return row_of(result, lineup, time.perf_counter() - started)


def _raise(error: BaseException, *_: object) -> None:
    raise error


def row_of(result: Result, lineup: int, seconds: float) -> list[Any]:
    """A result as plain data, in the order of `arena.store.MatchRow`."""
    scores: list[int | None] = [*result.scores] if result.scores else [None for _ in result.ranks]
    falls = [
        (fall.cause, fall.ply) if (fall := result.falls.get(seat)) else (None, None) for seat in range(len(scores))
    ]
    return [
        lineup,
        result.ended,
        len(result.course),
        result.timed,
        result.final_hash,
        " ".join(result.course),
        result.notes,
        [[rank, score, *fall] for rank, score, fall in zip(result.ranks, scores, falls, strict=True)],
        {str(seat): fall.detail for seat, fall in result.falls.items()},
        round(seconds, 6),
        " ".join([f"{s:.6f}" for s in result.seconds]),
    ]


class Worker:
    """Answers the messages of one driver."""

    def __init__(self, status: Status) -> None:
        self.status = status
        self.number = 0
        self.table: Table | None = None

    def report(self, seat: int, ply: int, limit: float) -> None:
        if seat == NOBODY:
            self.status.rest(self.number)
        else:
            self.status.work(seat, ply, limit)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The reply to one message; its kind stands under `do`."""
        if message["do"] == "hello":
            return {"code": code_hash(), "versions": versions(), "pid": os.getpid(), "host": platform.node()}
        if message["do"] == "describe":
            return describe(message["bot"])
        if message["do"] == "plan":
            self.table = Table(message, Watch(self.report))
            return {}
        if message["do"] == "play" and self.table is not None:
            return {"rows": list(self.play(message["matches"]))}
        raise ValueError(f"a worker does not know how to {message['do']}")

    def play(self, matches: list[list[Any]]) -> Any:
        assert self.table is not None
        for self.number, (block, lineup, charges) in enumerate(matches):
            self.status.rest(self.number)
            yield self.table.play(block, lineup, charges)


def main(arguments: list[str]) -> None:
    """Serve the socket until it closes; arguments are its descriptor, the status file's, and the working folder."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which then lets its workers finish
    connection = Connection(int(arguments[0]))
    worker = Worker(Status(mmap.mmap(int(arguments[1]), SIZE)))
    threading.Thread(target=_leave_with, args=(os.getppid(), arguments[2]), daemon=True).start()
    _silence_bots()
    while (message := _receive(connection)) is not None:
        reply = json.dumps(worker.answer(json.loads(message)), separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            connection.send_bytes(reply)
    _leave(arguments[2])


def _receive(connection: Connection) -> bytes | None:
    """The next message; None when the driver is gone."""
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None


def _leave_with(parent: int, folder: str) -> None:
    """End soon after the driver is gone, unless a bot is in foreign code that never lets Python's threads run."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _leave(folder)


def _leave(folder: str) -> None:
    """Do what a driver that was killed cannot do any more: remove the working folder, end what bots started."""
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpid(), signal.SIGKILL)


def _silence_bots() -> None:
    """What bots print goes nowhere: the terminal is the driver's."""
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


if __name__ == "__main__":
    main(sys.argv[1:])
