"""Small tournaments for tests that run them whole, and the command line in processes of its own."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from arena import api

ARENA = [sys.executable, "-m", "arena"]
PARENT = "arena.workers.preloaded"
PATIENCE = 300.0
"""Seconds; far more than anything takes, on a slow machine too, so that only what hangs is cut off."""
CHILD_SECONDS = f"86{os.getpid():07}"
"""How long the children of `Parent` would sleep: a number that tells them from all other processes."""

NAP = "time.sleep(0.003)"
BOTS = f'''
import os
import subprocess
import time

from bots import Bot

subprocess.Popen(["sleep", "{CHILD_SECONDS}"])


class Nap(Bot):
    """Take any legal action after a nap, and talk a lot."""

    def choose(self, state):
        {NAP}
        print("NOISE" * 100)
        os.write(2, b"NOISE" * 100)
        self.note = f"slept at {{state.position}}"
        return self.rng.choice(state.legal_actions())


class Hash(Bot):
    """Take the action that comes first in the order of hashes, which workers must agree on."""

    def choose(self, state):
        return min(state.legal_actions(), key=lambda action: hash(f"{{action}} {{state.position}}"))


class Fragile(Bot):
    """Raise in one match out of four."""

    def choose(self, state):
        if self.seed % 4 == 0:
            raise RuntimeError("broken on purpose")
        return state.legal_actions()[-1]
'''

CONFIG = """
name = "small"
seed = 11
blocks = 10
forfeit_limit = 0
games = [{ game = "epicycle", players = [2, 3] }, { game = "epicycle(setup=random)", players = 2, blocks = 5 }]
bots = [{ bot = "random" }, { bot = "b.py:Nap" }, { bot = "b.py:Hash" }, { bot = "b.py:Fragile" }]
"""
MATCHES = 10 * (6 * 2 + 4 * 3) + 5 * 6 * 2


def write(folder: Path, config: str = CONFIG, bots: str = BOTS) -> Path:
    """A folder with a configuration and its bots; the configuration's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "b.py").write_text(bots)
    path = folder / "t.toml"
    path.write_text(config)
    return path


def log_of(config: Path) -> Path:
    """The log of a tournament run with its home beside the configuration."""
    return api.find_log(config, home_of(config))


def home_of(config: Path) -> Path:
    return config.parent / "reports"


def results(config: Path) -> dict[str, bytes]:
    """Every exported file of a tournament, its matches included, written anew from the log."""
    out = config.parent / "exported"
    shutil.rmtree(out, ignore_errors=True)
    api.export(config, home_of(config), out, ("leaderboards",), ("csv", "json", "md", "parquet"))
    api.export(config, home_of(config), out, ("matches",))
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def rows(config: Path, query: str) -> list[tuple]:
    """What a query finds in the log; nothing while there is no log."""
    log = home_of(config) / "small" / api.LOG_FILE
    if not log.exists():
        return []
    connection = sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:  # its tables are being made
        return []
    finally:
        connection.close()


def count(config: Path) -> int:
    """Matches in the log."""
    found = rows(config, "SELECT count(*) FROM matches")
    return found[0][0] if found else 0


def wait_until(happened: Callable[[], object], what: str) -> None:
    """Look again and again; a failed test when patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


def arena(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own and without a terminal."""
    return subprocess.run(
        [*ARENA, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def start_arena(*arguments: object, folder: Path) -> subprocess.Popen[str]:
    """The same, left running in a process group of its own."""
    return subprocess.Popen(
        [*ARENA, *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def signal_group(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """What a terminal does when somebody types Ctrl-C, or a user with `kill -9`."""
    os.killpg(process.pid, number)


def processes() -> dict[int, tuple[int, str]]:
    """Every live process: its parent and its command line."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    table = [line.split(None, 3) for line in listed.stdout.splitlines()]
    return {int(row[0]): (int(row[1]), row[3]) for row in table if len(row) == 4 and not row[2].startswith("Z")}


def workers_of(driver: int) -> set[int]:
    """The worker processes below a process, each a child of its supervisor."""
    return _forks(supervisors_of(driver))


def supervisors_of(driver: int) -> set[int]:
    """The parents of the workers that a process has started, each a child of the preloaded parent."""
    return _forks(parents_of(driver))


def parents_of(driver: int) -> set[int]:
    """The preloaded parents that a process has started."""
    return _forks({driver})


def _forks(parents: set[int]) -> set[int]:
    return {pid for pid, (parent, command) in processes().items() if parent in parents and PARENT in command}


def bots_children() -> set[int]:
    """Processes that the module of `BOTS` started and that are still there."""
    return {pid for pid, (_, command) in processes().items() if command == f"sleep {CHILD_SECONDS}"}


def gone(pids: Iterable[int]) -> bool:
    return not set(pids) & set(processes())
