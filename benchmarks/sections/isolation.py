"""What isolation costs: a move and the start of a match, beside what bare processes and pipes cost."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engine
from arena.isolation.bubblewrap import missing_requirements
from arena.isolation.fork_client import ForkClient
from arena.isolation.launched import LaunchedBot
from arena.isolation.own_process import process_launcher
from arena.isolation.process_pool import ProcessPool, RemoteContestant, preload_of
from arena.isolation.spawn import Spawn, python, python_paths
from arena.match.dice import Streams
from arena.match.player import LocalBot, SeatTaker
from arena.match.referee import play_match, warm_up
from arena.match.result import CallDuration
from arena.registry.bundles import bundle_module
from arena.registry.manifest import bundle_program
from benchmarks.figures import Figure, Measured, Skipped, lasting, middle
from bots.random_bot import Random

if TYPE_CHECKING:
    from arena.isolation import Isolation

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ECHO_PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"type": "action", "action": message["legal"][0]}), flush=True)
"""
MOVE_MESSAGE = (
    b'{"type":"move","plies":[[0,"S+"],[1,"M-"]],"legal":["S+","S-","M-"],"clock":{"move":60.0,"match":null}}\n'
)
PROGRAMS = (("python_program", "python3"), ("node", "node"), ("c", "cc"))


def measure(full: bool) -> Measured:
    levels: list[Isolation] = ["process", "sandbox"]
    if missing_requirements():
        yield Skipped("sandbox", missing_requirements())
        levels.remove("sandbox")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, contextlib.chdir(folder):
        for level in levels:
            yield from bare(level, full)
            yield from moves(level, full)
            yield from starts(level, 10 if full else 3)


def bare(level: Isolation, full: bool) -> Measured:
    """Measure a Python without anything of ours: JSON to it and back, and starting it."""
    spawn = Spawn([python(), "-I", "-S", "-u", "-c", ECHO_PROGRAM], readable=python_paths())
    run_at = process_launcher(level).run
    with run_at(spawn, subprocess.PIPE, subprocess.PIPE, subprocess.DEVNULL) as (process, _):
        assert process.stdin is not None and process.stdout is not None
        trips = [_round_trip(process.stdin, process.stdout) for _ in range(2000)]
    yield Figure(f"bare Python, {level}: JSON there and back", statistics.median(trips) * 1e6, "µs", "lower")
    empty = Spawn([python(), "-I", "-S", "-c", ""], readable=python_paths())

    def run() -> None:
        with run_at(empty, subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL) as (process, _):
            process.wait()

    yield lasting(f"bare Python, {level}: start to end", middle(run, 10 if full else 5), "ms")


def _round_trip(to_bot: Any, from_bot: Any) -> float:
    started = time.perf_counter()
    to_bot.write(MOVE_MESSAGE)
    to_bot.flush()
    from_bot.readline()
    return time.perf_counter() - started


def moves(level: Isolation, full: bool) -> Measured:
    """Measure a move of `random` in a process of its own, without what it takes in ours."""
    bundle = bundle_module(Path(engine.__file__).parents[1], "bots.random_bot")
    for name in engine.game_names():
        game = engine.load_game(name, engine.game_type(name).min_players)
        warm_up(game)
        own = move_seconds(game, LocalBot(Random, {}), 40 if full else 10)
        with contextlib.closing(ProcessPool()) as pool:
            remote = RemoteContestant(LaunchedBot("random", bundle, "Random", {}, level), pool)
            each = move_seconds(game, remote, 40 if full else 10)
        note = f"more than {own * 1e6:.0f} µs in the worker's process"
        yield Figure(f"{name}: a move, {level}", (each - own) * 1e6, "µs", "lower", note=note)


def clocks_of(game: engine.Game, entrant: SeatTaker, matches: int) -> list[list[CallDuration]]:
    """Return by match the time of each call of an entrant in seat 0, against `random`."""
    seats = [entrant, *[LocalBot(Random, {})] * (game.players - 1)]
    keys = [Streams(bytes(32), bytes(32), number.to_bytes(16, "big")) for number in range(matches)]
    played = [play_match(game, seats, streams, 2) for streams in keys]
    return [[clocking for clocking in result.clocks if clocking.seat == 0] for result in played]


def move_seconds(game: engine.Game, entrant: SeatTaker, matches: int) -> float:
    """Return the median time of its moves."""
    clocks = clocks_of(game, entrant, matches)
    return statistics.median(each.wall for match in clocks for each in match if each.ply >= 0)


def starts(level: Isolation, repeat: int) -> Measured:
    """Measure the time until a bot is ready for its first move: Python bots are forked, programs started."""
    game = engine.load_game("epicycle", 2)
    random_bot = bundle_module(Path(engine.__file__).parents[1], "bots.random_bot")
    provided = preload_of([random_bot], [(game.spec, game.players)])
    yield lasting(f"what Python bots are forked from, {level}", middle(lambda: ForkClient(level, provided).close(), 3))
    kinds = [("a Python bot", random_bot, "Random")]
    for folder, tool in PROGRAMS:
        if shutil.which(tool):
            kinds.append((f"a program for {tool}", bundle_program(EXAMPLES / folder / "bot.toml"), ""))
        else:
            yield Skipped(f"a program for {tool}, {level}", "not installed")
    for what, bundle, class_name in kinds:
        with contextlib.closing(ProcessPool()) as pool:
            bot = LaunchedBot("bot", bundle, class_name, {"boldness": 100} if bundle.is_program else {}, level)
            fresh = RemoteContestant(bot, pool)
            clocks_of(game, fresh, 1)
            seconds = []
            for _ in range(repeat):
                if bundle.is_program:
                    pool.acquire(bot, game).close()
                clocks = clocks_of(game, fresh, 1)[0]
                seconds.append(sum(each.wall for each in clocks if each.ply < 0))
        yield Figure(f"{what}, {level}: ready to move", statistics.median(seconds) * 1e3, "ms", "lower")
