"""Measures this installation: playouts, stepping, search, throughput, memory; ratios where the machine has a say."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

import engine
from benchmarks.dice import independent_dice
from benchmarks.isolation import isolation
from benchmarks.libraries import libraries
from benchmarks.ratings import ratings
from benchmarks.scale import nodes, plans, random_matches
from benchmarks.search import searches, worker_start
from benchmarks.tools import Row, best_of, tournament
from benchmarks.verify import verifying

YARDSTICK = {"epicycle": 85e6, "magic_mids": 25e6, "midgard": 29e6, "pyramid_punch": 38e6}
"""Actions a second of a good C++ engine with 2 players on the kind of machine that the aims were set on."""

CLONES = 2000


def playouts(full: bool) -> Iterator[Row]:
    """Compiled uniformly random playouts on one core."""
    for name in engine.game_names():
        kind = engine.game_type(name)
        for players in range(kind.min_players, kind.max_players + 1) if full else (kind.min_players,):
            game = engine.load_game(name, players)
            engine.random_playouts(game, 10, 0)
            once = engine.random_playouts(game, 200, 1)
            count = max(200, int(200 * 2e6 / once.plies))
            seconds = best_of(lambda game=game, count=count: engine.random_playouts(game, count, 1), 7 if full else 3)
            result = engine.random_playouts(game, count, 1)
            rate = result.actions / seconds
            aim = ""
            if players == kind.min_players and name in YARDSTICK:
                ratio = rate / YARDSTICK[name]
                aim = f"{YARDSTICK[name] / 2e6:.1f} M (half of C++'s {YARDSTICK[name] / 1e6:.0f} M): {ratio:.2f} of it"
            yield Row(
                f"{name}, {players} players: random playouts, one core",
                f"{rate / 1e6:.1f} M actions/s, {count / seconds:,.0f} matches/s, "
                f"{result.actions / count:.1f} actions a match",
                aim,
            )


def character(game: engine.Game, matches: int) -> str:
    """How a game goes under uniformly random play, in words: length, choice, and what each seat is worth."""
    lengths, returns = [], []
    for seed in range(matches):
        played = engine.random_playouts(game, 1, seed)
        lengths.append(played.actions)
        returns.append(engine.returns_from_ranks(played.rank_sums.tolist()))
    low, high = statistics.quantiles(lengths, n=20)[0], statistics.quantiles(lengths, n=20)[-1]
    seats = []
    for values in zip(*returns, strict=True):
        half = 1.96 * statistics.stdev(values) / matches**0.5
        seats.append(f"{statistics.fmean(values):+.3f} ± {half:.3f}")
    return (
        f"{statistics.fmean(lengths):.1f} decisions a match ({low:.0f} to {high:.0f} in 9 of 10), "
        f"{choices(game, 40):.1f} legal actions; mean return by seat {', '.join(seats)}"
    )


def choices(game: engine.Game, matches: int) -> float:
    """Mean number of legal actions over all decisions of some random matches."""
    rng = random.Random(1)
    counts = []
    for _ in range(matches):
        state = game.new_initial_state()
        while not state.is_terminal():
            outcomes = state.chance_outcomes()
            if outcomes:
                faces, weights = zip(*outcomes, strict=True)
                state.apply_action(rng.choices(faces, weights)[0])
                continue
            legal = state.legal_actions()
            counts.append(len(legal))
            state.apply_action(rng.choice(legal))
    return statistics.fmean(counts)


def random_play(full: bool) -> Iterator[Row]:
    """How every game goes under random play."""
    for name in engine.game_names():
        kind = engine.game_type(name)
        for players in range(kind.min_players, kind.max_players + 1):
            yield Row(
                f"{name}, {players} players: random play",
                character(engine.load_game(name, players), 20_000 if full else 500),
            )


def stepping() -> Iterator[Row]:
    """The Python `State`: legal_actions and apply_action together."""
    for name in engine.game_names():
        game = engine.load_game(name, engine.game_type(name).min_players)
        rng = random.Random(1)
        state = game.new_initial_state()
        middle = state.clone()
        plies = 0
        while not state.is_terminal():
            choices = state.legal_actions() or [outcome for outcome, _ in state.chance_outcomes()]
            state.apply_action(choices[int(rng.random() * len(choices))])
            plies += 1
            if not state.is_chance_node() and not state.is_terminal() and plies <= 8:
                middle = state.clone()
        action = middle.legal_actions()[0]

        def step(start: Any = middle, action: int = action) -> None:
            for state in [start.clone() for _ in range(CLONES)]:
                state.legal_actions()
                state.apply_action(action)

        def clones(start: Any = middle) -> None:
            for _ in [start.clone() for _ in range(CLONES)]:
                pass

        each = (best_of(step, 7) - best_of(clones, 7)) / CLONES
        yield Row(f"{name}: legal_actions + apply_action from Python", f"{each * 1e6:.2f} µs", "at most 5 µs")


def command_start() -> Iterator[Row]:
    """How long `arena --help` takes, as a whole process."""
    command = [sys.executable, "-m", "arena", "--help"]
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    yield Row("arena --help", f"{statistics.median(times):.2f} s", "under 0.5 s")


BARE = """
import sys, time
from arena.registry.bundles import bundle_file
from arena.match.dice import BOTS_PERSON, DICE_PERSON, Streams, public_key
from arena.match.player import Contestant
from arena.match.referee import play_match
from bots.random_bot import Random
import engine
game = engine.load_game("epicycle", 2)
keys = public_key(1, DICE_PERSON), public_key(1, BOTS_PERSON)
bots = [Contestant(Random, {})] * 2
play_match(game, bots, Streams(*keys, bytes(16)), 2)
print("ready", flush=True)
sys.stdin.readline()
started, count = time.perf_counter(), 0
while time.perf_counter() - started < 5:
    for _ in range(50):
        play_match(game, bots, Streams(*keys, count.to_bytes(16, "big")), 2)
        count += 1
print(count / (time.perf_counter() - started))
"""


def bare_processes(count: int) -> float:
    """Matches a second of that many processes that only play, with no arena around them."""
    pipe = subprocess.PIPE
    running = [subprocess.Popen([sys.executable, "-c", BARE], stdin=pipe, stdout=pipe, text=True) for _ in range(count)]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return sum(float(process.communicate()[0]) for process in running)


def throughput(full: bool) -> Iterator[Row]:
    """`random` against `random` on two-player Epicycle through the whole arena, log included."""
    matches = 300_000 if full else 10_000
    one = bare_processes(1)
    two = bare_processes(2)
    yield Row("bare processes, no arena: 2 against 1", f"{one:,.0f} and {two:,.0f} matches/s: {two / one:.2f} times")
    serial = tournament(random_matches(matches), 1, "local", pin=True)
    yield Row(
        "whole arena on one core (driver, worker and log)", f"{serial['rate']:,.0f} matches/s", "4,000 matches/s a core"
    )
    yield Row("process start to first finished match", f"{serial['to_first']:.2f} s")
    for backend in ("local", "ray"):
        pair = tournament(random_matches(matches), 2, backend)
        yield Row(
            f"whole arena, 2 {backend} workers, {pair['after_first']:.0f} s of play",
            f"{pair['rate']:,.0f} matches/s: {pair['rate'] / serial['rate']:.2f} times one core",
            "1.7 times" if backend == "ray" else "",
        )
    yield Row("size of the log", f"{serial['size'] / matches:,.0f} bytes a match")


def print_bench(full: bool) -> None:
    """Print every row as soon as it is measured, then the table."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    table = Table(title="Measured in one run; the machine may be shared, so compare ratios", title_justify="left")
    for column in ("what", "measured", "aim"):
        table.add_column(column, overflow="fold")
    parts = (
        command_start(),
        playouts(full),
        random_play(full),
        stepping(),
        searches(full),
        libraries(),
        worker_start(),
        isolation(),
        ratings(full),
        independent_dice(full),
        throughput(full),
        plans(full),
        nodes() if full else (),
        verifying(full),
    )
    for part in parts:
        for row in part:
            print(f"{row.what}: {row.measured}", file=sys.stderr)
            table.add_row(row.what, row.measured, row.aim)
    console.print(table)
