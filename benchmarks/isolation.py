"""What isolation costs: a move, the start of a match, the start of what serves them; beside what bare pipes cost."""

from __future__ import annotations

import contextlib
import functools
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engine
from arena.match.dice import Streams
from arena.match.player import Contestant, Entrant
from arena.match.referee import play_match, warm_up
from arena.match.result import Clocking
from arena.registry.bundles import Bundle, bundle_module
from arena.registry.manifest import bundle_program
from arena.workers.sandbox.fork_client import ForkClient
from arena.workers.sandbox.levels import Spawn, missing_requirements, python, python_paths
from arena.workers.sandbox.process_pool import ProcessPool, RemoteContestant, preload_of
from arena.workers.sandbox.process_source import RemoteBot
from benchmarks.tools import Row
from bots.random_bot import Random
from engine import Game

if TYPE_CHECKING:
    from arena.core.limits import Isolation

MATCHES = 40
ROUND_TRIPS = 2000
STARTS = 10
MOVE_AIM = "under 250 µs beyond the bot's own time"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"type": "action", "action": message["legal"][0]}), flush=True)
"""
MESSAGE = b'{"type":"move","plies":[[0,"S+"],[1,"M-"]],"legal":["S+","S-","M-"],"clock":{"move":60.0,"match":null}}\n'


def isolation() -> Iterator[Row]:
    """All of it; without a sandbox here, of processes alone."""
    levels: list[Isolation] = ["process", "sandbox"]
    if missing_requirements():
        yield Row("isolation in the sandbox", missing_requirements())
        levels.remove("sandbox")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, contextlib.chdir(folder):
        yield from bare(levels)
        yield from moves(levels)
        yield from starts(levels)


def bare(levels: list[Isolation]) -> Iterator[Row]:
    """A Python without anything of ours: starting it, and JSON to it and back."""
    for level in levels:
        spawn = Spawn([python(), "-I", "-S", "-u", "-c", ECHO], level, readable=python_paths())
        with spawn.start(subprocess.PIPE, subprocess.PIPE, subprocess.DEVNULL) as (process, _):
            assert process.stdin is not None and process.stdout is not None
            trips = [_round_trip(process.stdin, process.stdout) for _ in range(ROUND_TRIPS)]
        yield Row(f"bare Python, {level}: JSON there and back", f"{statistics.median(trips) * 1e6:.0f} µs")
        empty = Spawn([python(), "-I", "-S", "-c", ""], level, readable=python_paths())
        seconds = median_seconds(functools.partial(_run, empty))
        yield Row(f"bare Python, {level}: start to end", f"{seconds * 1e3:.0f} ms")


def _round_trip(to_bot: Any, from_bot: Any) -> float:
    started = time.perf_counter()
    to_bot.write(MESSAGE)
    to_bot.flush()
    from_bot.readline()
    return time.perf_counter() - started


def _run(spawn: Spawn) -> None:
    with spawn.start(subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL) as (process, _):
        process.wait()


def moves(levels: list[Isolation]) -> Iterator[Row]:
    """A move of `random` in every game: what it takes in a process of its own beyond what it takes in ours."""
    bundle = bundle_module(Path(engine.__file__).parents[1], "bots.random_bot")
    for name in engine.game_names():
        game = engine.load_game(name, engine.game_type(name).min_players)
        warm_up(game)
        own = move_seconds(game, Contestant(Random, {}))
        for level in levels:
            with contextlib.closing(ProcessPool()) as pool:
                bot = RemoteBot("random", bundle, "Random", {}, level)
                each = move_seconds(game, RemoteContestant(bot, pool))
            told = f"{(each - own) * 1e6:.0f} µs more than {own * 1e6:.0f} µs in the worker's process"
            yield Row(f"{name}: a move of random, {level}", told, MOVE_AIM)


def clocks_of(game: Game, entrant: Entrant, matches: int = MATCHES) -> list[list[Clocking]]:
    """By match: what each call of an entrant in seat 0 took, against `random`."""
    seats = [entrant, *[Contestant(Random, {})] * (game.players - 1)]
    played = [
        play_match(game, seats, Streams(bytes(32), bytes(32), number.to_bytes(16, "big")), 2)
        for number in range(matches)
    ]
    return [[clocking for clocking in result.clocks if clocking.seat == 0] for result in played]


def move_seconds(game: Game, entrant: Entrant) -> float:
    """The median of its moves."""
    return statistics.median(each.wall for match in clocks_of(game, entrant) for each in match if each.ply >= 0)


def starts(levels: list[Isolation]) -> Iterator[Row]:
    """Until a bot is ready for its first move: Python bots from a warm parent, programs from nothing."""
    game = engine.load_game("epicycle", 2)
    house = bundle_module(Path(engine.__file__).parents[1], "bots.random_bot")
    kinds: list[tuple[str, Bundle, str, str]] = [("a Python bot from the warm parent", house, "Random", "under 100 ms")]
    for folder, what, tool in (("python_program", "python3", "python3"), ("node", "Node", "node"), ("c", "C", "cc")):
        if EXAMPLES.is_dir() and shutil.which(tool):
            aim = "under 100 ms" if folder == "python_program" else ""
            kinds.append((f"a program for {what}", bundle_program(EXAMPLES / folder / "bot.toml"), "", aim))
    for level in levels:
        warm = median_seconds(functools.partial(_warm_parent, house, level, game), 3)
        yield Row(f"the parent of Python bots, {level}: start, with a game loaded, once a worker", f"{warm:.2f} s")
        for what, bundle, class_name, aim in kinds:
            with contextlib.closing(ProcessPool()) as pool:
                bot = RemoteBot("bot", bundle, class_name, {"boldness": 100} if bundle.is_program else {}, level)
                fresh = RemoteContestant(bot, pool)
                clocks_of(game, fresh, 1)
                seconds = []
                for _ in range(STARTS):
                    if bundle.is_program:
                        pool.acquire(bot, game).close()
                    clocks = clocks_of(game, fresh, 1)[0]
                    seconds.append(sum(each.wall for each in clocks if each.ply < 0))
            yield Row(f"{what}, {level}: ready to move", f"{statistics.median(seconds) * 1e3:.1f} ms", aim)


def _warm_parent(bundle: Bundle, level: Isolation, game: Game) -> None:
    provided = preload_of([bundle], [(game.spec, game.players)])
    ForkClient(level, provided).close()


def median_seconds(call: Callable[[], object], count: int = STARTS) -> float:
    """The median time of some calls."""
    times = []
    for _ in range(count):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
