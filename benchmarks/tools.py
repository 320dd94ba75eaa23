"""What the parts of `make bench` share: rows of its table, timing, and a tournament in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import timeit
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the bench table."""

    what: str
    measured: str
    aim: str = ""


def best_of(call: Any, repeat: int) -> float:
    """The shortest of some runs, in seconds: the machine is shared, and noise only ever adds."""
    return min(timeit.repeat(call, number=1, repeat=repeat))


RUN = """
import json, os, resource, sys, time
options = json.loads(sys.argv[1])
if options["pin"]:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
import arena, arena.api
from arena.workers.process import WorkerProcess, processor_time
from arena.runner.options import RunOptions
from arena.runner.run import Run
from arena.store import Store
from pathlib import Path
began = time.monotonic()
worker = WorkerProcess()
worker.start()
plan = arena.api.plan_of(options["config"], worker)
tenth, looks = plan.schedule.total_matches / 10, []
def look(progress):
    if progress.played >= tenth * (len(looks) + 1):
        memory = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
        relay = processor_time(run.ray.pool._process.pid) / 1e9 if run.ray.pool else 0
        looks.append([progress.played, time.monotonic(), time.process_time(), relay, memory])
with Store.create(Path(options["home"]) / "matches.db") as store:
    used = time.process_time()
    run = Run(plan, store, RunOptions(options["workers"], options["backend"], options["address"]), worker, look)
    outcome = run.play()
    used = time.process_time() - used
progress = outcome.progress
print(json.dumps({
    "played": progress.played, "first": progress.started + (progress.first_match or 0),
    "in_all": time.monotonic() - began, "after_first": outcome.seconds - (progress.first_match or 0),
    "used": used, "looks": looks,
    "size": sum(file.stat().st_size for file in Path(options["home"]).glob("matches.db*")),
}))
"""


BOARDS = """
import json, resource, sys, time
import arena.api
began = time.monotonic()
arena.api.leaderboard(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"boards": time.monotonic() - began, "boards_peak": peak}))
"""


def tournament(
    config: dict[str, Any],
    workers: int,
    backend: str,
    pin: bool = False,
    boards: bool = False,
    address: str | None = None,
) -> dict[str, Any]:
    """Play through the whole arena in a process of its own; what it measured, times in seconds.

    `to_first` is from the start of the process to the first finished match, `in_all` from the start of the first
    worker to the end, `rate` the matches a second after the first one, `used` the driver's processor time. `looks` has
    matches played, time, processor time of the driver and of the process that keeps Ray, and the driver's megabytes,
    after each tenth of the plan. With `boards` also how long the leaderboards take from the log alone, and the memory
    for them in KiB.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        options = {
            "config": config,
            "workers": workers,
            "backend": backend,
            "pin": pin,
            "home": home,
            "address": address,
        }
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(options)], check=True, stdout=subprocess.PIPE, text=True
        )
        measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if boards:
            rated = subprocess.run(
                [sys.executable, "-c", BOARDS, f"{home}/matches.db"], check=True, stdout=subprocess.PIPE, text=True
            )
            measured |= json.loads(rated.stdout)
    return {**measured, "to_first": measured["first"] - started, "rate": measured["played"] / measured["after_first"]}
