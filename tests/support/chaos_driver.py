"""Runs command lines of the arena, each in a process forked from this one, which has everything imported.

It reads a line of JSON for each and answers with the process's number, then with how it ended. `tests/support/chaos.c`
lets it die, or its disk be full, at a chosen change of a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sqlite3
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from arena.cli import running  # noqa: F401 - for those that are forked
from arena.cli.app import run_command
from arena.results.leaderboard_files import render_tables
from arena.results.leaderboards import leaderboards
from arena.runner import play_order
from arena.runner import run as runner
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support import samples

CRASHED = 99


def warm_up() -> None:
    """Import and compile, once for all, what leaderboards need."""
    plan = samples.schedule(["alice", "bob", "carol"], players=(2, 3))
    with tempfile.TemporaryDirectory() as folder:
        samples.fill(Path(folder, "matches.db"), plan)
        with Store.open(Path(folder, "matches.db")) as store:
            render_tables(Path(folder), plan, leaderboards(Tournament(store, plan)), ("csv", "json", "md", "parquet"))


def hurry(pages: int) -> None:
    """Many small transactions instead of a few large ones, so that there is more to interrupt.

    So many pages of the write-ahead log, instead of 1,000, are brought into the database at a time.
    """
    runner.WRITE_SECONDS, play_order.MAX_CHUNK_MATCHES = 0.0, 5
    connect = sqlite3.connect

    def checkpointing(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        return connection

    sqlite3.connect = checkpointing  # type: ignore[assignment]  # one of its overloads is enough


def die_with_signal(number: int) -> None:
    """Let this process die when it has sent so many signals: it sends them when it ends workers."""

    def send(process: int, signal_number: int) -> None:
        nonlocal number
        kill(process, signal_number)
        number -= 1
        if number == 0:
            kill(os.getpid(), signal.SIGKILL)

    kill, os.kill = os.kill, send


def drive(order: dict[str, Any]) -> int:
    """The child's life: the command line, from a session of its own."""
    os.setsid()
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    tempfile.tempdir = None
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{order['said']}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    if order["unheard"]:
        read, write = os.pipe()
        os.dup2(write, 1)
        os.close(read)
    for name, value in order["set"].items():
        module, _, constant = name.rpartition(".")
        setattr(sys.modules[module], constant, value)
    hurry(order["checkpoint"])
    die_with_signal(order["signals"])
    chaos = ctypes.CDLL(None)
    chaos.chaos_arm(order["below"].encode(), order["mode"], ctypes.c_long(order["moment"]), order["seed"])
    code = run_command(order["arguments"])
    with contextlib.suppress(OSError):  # as where a command ends: nobody may listen
        sys.stdout.flush()
    with open(f"{order['said']}.count", "w") as file:
        file.write(str(chaos.chaos_count()))
    return code


def main() -> None:
    warm_up()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                os._exit(drive(json.loads(line)))
            except BaseException:
                traceback.print_exc()
                os._exit(CRASHED)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
