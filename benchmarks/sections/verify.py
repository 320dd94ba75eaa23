"""Matches that `arena verify` replays and checks, with the log's file and dice."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, Measured, Seconds, rate
from benchmarks.sections.arena import play, random_matches

VERIFY = """
import json, os, resource, sys, time
target, workers = sys.argv[1], int(sys.argv[2])
if workers == 1:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if __name__ == "__main__":
    from arena.verify.verification import verify
    def processor_seconds():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(each.ru_utime + each.ru_stime for each in used)
    wall, processor = time.perf_counter(), processor_seconds()
    report = verify(target, workers=workers)
    wall, processor = time.perf_counter() - wall, processor_seconds() - processor
    assert report.sound, report.findings
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([report.totals.matches, wall, processor, memory]))
"""


def measure(full: bool) -> Measured:
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        play(random_matches(100_000 if full else 6000), home, 2)
        log = Path(home, "bench/matches.db").rename(Path(home, "bench/alone.db"))  # boards are measured elsewhere
        for workers, what in ((1, "one core"), (2, "2 processes"))[: 1 + full]:
            command = [sys.executable, "-c", VERIFY, str(log), str(workers)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            matches, wall, processor, memory = json.loads(done.stdout)
            yield rate(what, "matches/s", matches, Seconds(processor if workers == 1 else wall, processor))
            yield Figure(f"{what}: memory of the first process", memory, "MB", "lower")
