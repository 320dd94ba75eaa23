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


START_MATCHES = 200
"""Matches of the log whose time is taken off: that of starting processes and loading what is compiled."""


def measure(full: bool) -> Measured:
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as home:
        logs = [played(count, home) for count in (START_MATCHES, 100_000 if full else 6000)]
        for workers, what in ((1, "one core"), (2, "2 processes"))[: 1 + full]:
            (few, *start, _), (matches, *all_of_it, memory) = (verified(log, workers) for log in logs)
            wall, processor = (all_of_it[each] - start[each] for each in range(2))
            seconds = Seconds(processor if workers == 1 else wall, processor)
            yield rate(f"{what}, without the start", "matches/s", matches - few, seconds)
            yield Figure(f"{what}: memory of the first process", memory, "MB", "lower")


def played(count: int, home: str) -> Path:
    """Return a log of so many random matches, alone in its folder: boards are measured elsewhere."""
    play(random_matches(count), home, 2)
    return Path(home, "bench", "matches.db").rename(Path(home, f"{count}.db"))


def verified(log: Path, workers: int) -> list[float]:
    """Return the matches of a log, and wall time, processor time and memory that a new process takes to verify them."""
    command = [sys.executable, "-c", VERIFY, str(log), str(workers)]
    return list(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
