"""Matches from the plan to the log, the first match, the start of processes and commands.

All but the worker's start goes through the public functions, so that other checkouts can be measured too.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine
from arena import api
from arena.workers.process import WorkerProcess
from benchmarks.figures import Figure, Measured, Seconds, Skipped, command, lasting, middle, rate, timed, tree_seconds

FIRST_MATCH_PROGRAM = """
import sys, tempfile, time
from arena import api
bots = [{"bot": "random", "label": "one"}, {"bot": "random", "label": "two"}]
config = {"name": "bench", "games": [{"game": "epicycle", "players": 2}], "blocks": 10, "bots": bots}
first = []
def show(progress):
    if progress.played and not first:
        first.append(time.monotonic())
with tempfile.TemporaryDirectory() as home:
    api.run(config, home, workers=1, backend="local", show=show)
print(first[0])
"""
HELP_COMMAND = [sys.executable, "-m", "arena", "--help"]
MATCH_COMMAND = [sys.executable, "-m", "arena", "match", "epicycle", "random", "random"]


def random_matches(count: int, game: str = "epicycle") -> dict[str, Any]:
    """Return the configuration of so many matches of `random` against `random`."""
    bots = [{"bot": "random", "label": "one"}, {"bot": "random", "label": "two"}]
    return {"name": "bench", "seed": 1, "blocks": count // 2, "games": [{"game": game, "players": 2}], "bots": bots}


@dataclass
class RunClock:
    """Clocks read after the first matches of a run, and after the last."""

    looks: list[tuple[int, float, float, float]] = field(default_factory=list)
    """Matches played, time, processor seconds of this process, and of it and all below it."""

    def __call__(self, progress: Any) -> None:
        done = progress.played == progress.total
        if len(self.looks) < 2 and progress.played and (not self.looks or done):
            self.looks.append((progress.played, time.monotonic(), time.process_time(), tree_seconds()))

    def between(self) -> tuple[int, Seconds, float]:
        """Return the matches between the looks, their time, and the processor seconds of this process."""
        first, last = self.looks[0], self.looks[-1]
        matches, wall, driver, tree = (after - before for before, after in zip(first, last, strict=True))
        return int(matches), Seconds(wall, tree), driver


def play(config: dict[str, Any], home: str, workers: int, backend: str = "local") -> RunClock:
    """Play a tournament of matches of two bots and return the clocks read meanwhile."""
    watch = RunClock()
    api.run(config, home, workers=workers, backend=backend, show=watch)
    return watch


def measure(full: bool) -> Measured:
    yield lasting("arena --help", command(HELP_COMMAND, 9 if full else 3))
    subprocess.run(MATCH_COMMAND, check=True, capture_output=True)
    yield lasting("arena match, warm cache", command(MATCH_COMMAND, 9 if full else 3))
    yield lasting("first match of a run, process start included", first_match(9 if full else 3))
    yield from worker_start(9 if full else 3)
    count = 100_000 if full else 4000
    for game, share in (("epicycle", 1), ("magic_mids", 4), ("connect_four", 1)):
        if game not in engine.game_names():
            yield Skipped(game, "not installed: pip install --editable examples/connect_four")
            continue
        yield from throughput(f"{game}, one core", random_matches(count // share, game), 1)
    for backend, what in [("local", "2 local workers"), ("ray", "2 Ray workers")][: 1 + full]:
        yield from throughput(f"epicycle, {what}", random_matches(count), 2, backend)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Figure("driver's memory, its highest", peak, "MB", "lower")


def first_match(repeat: int) -> Seconds:
    """Return the median time from the start of a process to its first finished match."""
    walls = list[float]()

    def run() -> None:
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", FIRST_MATCH_PROGRAM], check=True, stdout=subprocess.PIPE, text=True
        )
        walls.append(float(done.stdout.split()[-1]) - started)

    processor = middle(run, repeat).processor
    return Seconds(statistics.median(walls), processor)


def throughput(name: str, config: dict[str, Any], workers: int, backend: str = "local") -> Measured:
    """Measure a run: its rate after the first reply, the driver's share, the size of the log.

    With one worker the rate is of processor time, driver's and worker's together.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        matches, seconds, driver = play(config, home, workers, backend).between()
        seconds = Seconds(seconds.processor, seconds.processor) if workers == 1 else seconds
        size = sum(file.stat().st_size for file in Path(home, "bench").glob("matches.db*"))
    yield rate(name, "matches/s", matches, seconds, note=f"{size / config['blocks'] / 2:,.0f} bytes of log a match")
    yield Figure(f"{name}: driver", driver / matches * 1e6, "µs/match", "lower", driver / matches)


def worker_start(repeat: int) -> Measured:
    """Measure the start of a worker's process until it has described a bot."""

    def start() -> None:
        worker = WorkerProcess()
        try:
            worker.start()
            api.load_plan(random_matches(2), worker)
        finally:
            worker.stop()

    start()  # what is started once for all workers
    walls, before = list[float](), tree_seconds()
    for _ in range(repeat):
        walls.append(timed(start).wall)
    processor = (tree_seconds() - before) / repeat  # of the parent of workers too, which reaps them
    yield lasting("worker's start", Seconds(statistics.median(walls), processor))
