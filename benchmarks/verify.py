"""How fast `arena verify` is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from arena.api import run
from benchmarks.tools import Row

VERIFY = """
import json, os, resource, sys, time
target, workers = sys.argv[1], int(sys.argv[2])
if workers == 1:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
if __name__ == "__main__":
    from arena.verify.verification import verify
    began = time.perf_counter()
    report = verify(target, workers=workers)
    seconds = time.perf_counter() - began
    assert report.sound, report.findings
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([report.totals.matches / seconds, peak / 1024]))
"""


def verifying(full: bool) -> Iterator[Row]:
    """A log of `random` against `random` on two-player Epicycle, all of it checked, its file and dice included."""
    blocks = 50_000 if full else 5_000
    config = {
        "name": "bench",
        "seed": 1,
        "blocks": blocks,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{"bot": "random", "label": "one"}, {"bot": "random", "label": "two"}],
    }
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        log = run(config, home, backend="local").folder / "matches.db"
        log = log.rename(log.with_name("alone.db"))  # boards are measured elsewhere
        for workers, aim in ((1, "2,000 matches/s"), (2, ""))[: 1 + full]:
            command = [sys.executable, "-c", VERIFY, str(log), str(workers)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            rate, peak = json.loads(done.stdout)
            told = f"{rate:,.0f} matches/s, {peak:,.0f} MB in the first process"
            processes = "one core" if workers == 1 else f"{workers} processes"
            yield Row(f"arena verify of {2 * blocks:,} matches, {processes}", told, aim)
