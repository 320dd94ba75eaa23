"""How the arena grows: plans of up to a million matches, more workers, and nodes of a cluster that only sleep."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tools import Row, tournament

CORES = 4
"""Of a simulated node."""
NODES = """
import sys
import arena.workers.ray.driver
from ray.cluster_utils import Cluster
cores = int(sys.argv[1])
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": cores, "include_dashboard": False})
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.add_node(num_cpus=cores)
    print("one more", flush=True)
cluster.shutdown()
"""
NAP = """
import time
from bots import Bot


class Nap(Bot):
    seconds: float = 0.25

    def prepare(self):
        time.sleep(self.seconds / 2)

    def choose(self, state):
        return self.rng.choice(state.legal_actions())
"""


def random_matches(count: int) -> dict[str, Any]:
    """The configuration of so many matches of `random` against `random` on two-player Epicycle."""
    return {
        "name": "bench",
        "seed": 1,
        "blocks": count // 2,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{"bot": "random", "label": "one"}, {"bot": "random", "label": "two"}],
    }


def plans(full: bool) -> Iterator[Row]:
    """The same cheap matches in ever larger plans: what one costs must not depend on how many there are."""
    for count in (10_000, 100_000, 1_000_000) if full else (10_000,):
        run = tournament(random_matches(count), 2, "local", boards=True)
        tenth, half, whole = (run["looks"][place][-1] for place in (0, 4, -1))
        yield Row(
            f"plan of {count:,} matches, 2 local workers",
            f"{run['rate']:,.0f} matches/s; driver: {run['used'] / count * 1e6:.0f} µs of processor time a match, "
            f"{tenth:,.0f}, {half:,.0f} and {whole:,.0f} MB after a tenth, half and all of it; "
            f"log {run['size'] / count:,.0f} bytes a match; leaderboard {run['boards']:.1f} s, "
            f"{run['boards_peak'] / 1024:,.0f} MB",
            "flat; driver under 500 MB, leaderboard under 60 s and 4,000 MB" if count == 1_000_000 else "",
        )


@contextlib.contextmanager
def cluster() -> Iterator[subprocess.Popen[str]]:
    """A process that keeps simulated nodes: it prints the address, and adds a node for every line that it is sent."""
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryDirectory(prefix="arena-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        subprocess.Popen(
            [sys.executable, "-c", NODES, str(CORES)],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "RAY_TMPDIR": folder},
        ) as process,
    ):
        try:
            yield process
        finally:
            process.communicate()


def sleeping(seconds: float, workers: int, bot: Path) -> dict[str, Any]:
    """About twenty seconds of matches that sleep, for so many workers."""
    config = random_matches(2 * max(10, int(10 * workers / seconds)))
    config["bots"] = [{"bot": f"{bot}:Nap:seconds={seconds}", "label": label} for label in ("one", "two")]
    return config


def nodes() -> Iterator[Row]:
    """What one driver can serve: nodes with workers that sleep, so that this machine can pretend to have many."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, cluster() as process:
        bot = Path(folder, "nap.py")
        bot.write_text(NAP)
        assert process.stdin is not None and process.stdout is not None
        address = process.stdout.readline().strip()
        count = 1
        for wanted, lengths in ((1, (0.25,)), (2, (0.25,)), (4, (0.25,)), (8, (0.25, 0.1, 0.03, 0.01, 0.003))):
            while count < wanted:
                process.stdin.write("one more\n")
                process.stdin.flush()
                process.stdout.readline()
                count += 1
            for seconds in lengths:
                yield _slept(sleeping(seconds, wanted * CORES, bot), seconds, wanted, address)


def _slept(config: dict[str, Any], seconds: float, count: int, address: str) -> Row:
    run = tournament(config, 1, "ray", address=address)
    begin, end = run["looks"][2], run["looks"][8]  # while all workers are up, and none is done
    matches, time, driver, relay, _ = (later - sooner for sooner, later in zip(begin, end, strict=True))
    return Row(
        f"{count} simulated nodes of {CORES} workers, matches that sleep {seconds:g} s",
        f"{matches / time:,.0f} matches/s, {matches / time * seconds / (count * CORES):.0%} of the ideal; "
        f"{driver / matches * 1e6:,.0f} µs a match of the driver's processor time, {relay / matches * 1e6:,.0f} µs of "
        "the process that keeps Ray",
    )
