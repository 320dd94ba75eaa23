"""`make cluster-demo`: a tournament on Ray nodes of this machine, one of which is lost in mid-run and another added."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from arena import api
from arena.cli.boards import print_board
from arena.core.errors import ArenaError
from arena.runner.progress import Progress

START_SECONDS = 120.0
"""Seconds that a node may take to start."""
STOP_SECONDS = 15.0
STARTED_LINE = "Ray runtime started"
HOST = "127.0.0.1"  # nothing of the demo can be reached from outside


class LocalCluster:
    """Ray nodes of this machine, each a foreground process that ends with everything it started."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        with socket.create_server((HOST, 0)) as server:
            self.address = f"{HOST}:{server.getsockname()[1]}"
        self.running: list[subprocess.Popen[bytes]] = []

    def start_head(self) -> None:
        port = self.address.rpartition(":")[2]
        self._start("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={self.folder}")

    def start_worker(self) -> None:
        self._start(f"--address={self.address}")

    def _start(self, *options: str) -> None:
        """Start a node with one processor; return when it is ready."""
        command = [*(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"), *options]
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        path = Path(self.folder, f"node-{len(self.running)}.log")
        with path.open("wb") as log:
            node = subprocess.Popen(
                [*command, "--num-cpus=1", f"--node-ip-address={HOST}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        self.running.append(node)
        deadline = time.monotonic() + START_SECONDS
        while STARTED_LINE not in (told := path.read_text(errors="replace")):
            if node.poll() is not None or time.monotonic() > deadline:
                raise ArenaError(f"a Ray node did not start: {told.strip().splitlines()[-1:]}")
            time.sleep(0.2)

    def end(self, number: int) -> None:
        """Kill a node, as if its machine failed."""
        node = self.running[number]
        node.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            node.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()

    def close(self) -> None:
        """End them all, however often somebody presses Ctrl-C meanwhile."""
        before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in reversed(range(len(self.running))):
            self.end(number)
        for number, handler in before.items():
            signal.signal(number, handler)


class Disturbance:
    """Loses a node after a quarter of the matches, when it has played, and adds one after a third."""

    def __init__(self, nodes: LocalCluster, log: Path) -> None:
        self.nodes, self.log = nodes, log
        self.adding = threading.Thread(target=self.add, daemon=True)
        self.lost = False

    def add(self) -> None:
        try:
            self.nodes.start_worker()
        except ArenaError as error:
            print(f"No node was added: {error}", flush=True)

    def __call__(self, progress: Progress) -> None:
        if not self.lost:
            if progress.played > progress.total // 4 and len(workers(self.log)) == 2:
                self.lost = True
                print(f"{progress.played:,} matches are played: ending the second node", flush=True)
                self.nodes.end(1)
        elif self.adding.ident is None and progress.played > progress.total // 3:
            print(f"{progress.played:,} matches are played: adding a node", flush=True)
            self.adding.start()


def play_on_nodes(config: str, home: Path, folder: str) -> api.RunResult:
    """Play a tournament on two nodes of this machine, with a loss and an addition; no node is left afterwards."""
    nodes = LocalCluster(folder)
    disturbance = Disturbance(nodes, api.find_log(config, home))
    try:
        print("Starting a head and a second node on this machine, with one worker each ...", flush=True)
        nodes.start_head()
        nodes.start_worker()
        print(f"Playing {config} on the cluster at {nodes.address}", flush=True)
        return api.run(config, home, backend="ray", address=nodes.address, show=disturbance)
    finally:
        with contextlib.closing(nodes):
            if disturbance.adding.ident is not None:
                disturbance.adding.join()


def matches_of(config: str, home: Path) -> bytes:
    """Every match of a tournament as text, in the order of the plan."""
    api.export(config, home, home / "exported", ("matches",))
    return (home / "exported" / "matches.jsonl").read_bytes()


def workers(log: Path) -> list[tuple[str, int]]:
    """The workers of a log and how many of its matches each has played."""
    with contextlib.closing(sqlite3.connect(f"{log.absolute().as_uri()}?mode=ro", uri=True)) as db:
        return db.execute("SELECT worker, count(*) FROM timings GROUP BY worker ORDER BY worker").fetchall()


def whole(result: api.RunResult) -> api.RunResult:
    """A result as it is; raises `KeyboardInterrupt` for that of a run that was interrupted."""
    if result.outcome.progress.stopping:
        raise KeyboardInterrupt
    return result


def main(config: str) -> int:
    """The exit code: 0 when the cluster's log is the same as a local one."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="arena-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        clustered, local = Path(folder, "clustered"), Path(folder, "local")
        Path(folder, "ray").mkdir()
        result = whole(play_on_nodes(config, clustered, str(Path(folder, "ray"))))
        for worker, count in workers(result.folder / api.LOG_FILE):
            print(f"  worker {worker} played {count:,}")
        for (game, players), frame in result.leaderboards.items():
            print_board((game, players), frame)
        print("Playing the same on this machine without Ray ...", flush=True)
        whole(api.run(config, local, backend="local"))
        same = matches_of(config, clustered) == matches_of(config, local)
        played = result.outcome.progress.played
        print(f"{played:,} matches, {'byte for byte the same' if same else 'NOT the same'} as without a cluster")
        return 0 if same else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        print("Interrupted; nothing is left of it.")
        sys.exit(130)
    except ArenaError as error:
        sys.exit(f"error: {error}")
