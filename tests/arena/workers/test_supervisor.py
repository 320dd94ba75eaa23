"""Workers end with their driver, whatever state they are in, and are replaced when they are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from arena.core import process_trees as trees
from arena.isolation.bubblewrap import missing_requirements
from arena.workers import process
from arena.workers.messages import Greeting, Hello, WorkerDeath
from arena.workers.parent import START_SECONDS
from arena.workers.process import WorkerProcess
from tests.support import tournaments
from tests.support.tournaments import count, gone, home_of, supervisors_of, wait_until, workers_of, write

CONFIG = """
name = "small"
seed = 5
blocks = 1000
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "b.py:Nap", isolation = "LEVEL" }, { bot = "b.py:Hash", isolation = "LEVEL" }]
"""
ENDS = """
import os, signal, sys
from arena.workers.process import WorkerProcess

def count_down(process, number):
    kill(process, number)
    left.pop()
    if not left:
        kill(os.getpid(), signal.SIGKILL)

left, kill, os.kill = [0] * int(sys.argv[1]), os.kill, count_down
worker = WorkerProcess()
worker.start()
print(worker.name.rpartition(":")[2], flush=True)
worker.stop()
print("still here", flush=True)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The temporary folder of whatever is started."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def worker():
    made = WorkerProcess()
    made.start()
    yield made
    made.stop()


@pytest.mark.system
@pytest.mark.parametrize("level", ["process", pytest.param("none", marks=pytest.mark.chaos), "sandbox"])
def test_all_below_a_driver_that_is_killed_ends_though_all_of_it_is_stopped(level, tmp_path, temporary):
    if level == "sandbox" and missing_requirements():
        pytest.skip(missing_requirements())
    config = write(tmp_path / "run", CONFIG.replace("LEVEL", level))
    arguments = ("run", config, "--workers", 2, "--backend", "local", "--home", home_of(config))
    run = tournaments.start_arena(*arguments, folder=tmp_path)
    wait_until(lambda: count(config) or run.poll() is not None, "matches are in the log")
    stopped: list[int] = []
    while left := set(trees.descendants(run.pid)).difference(stopped):
        for number in left:
            trees.send_signal(number, signal.SIGSTOP)
        stopped += left
    assert supervisors_of(run.pid) | workers_of(run.pid) <= set(stopped)
    run.kill()
    run.communicate()
    wait_until(lambda: gone(stopped) and not tournaments.bots_children(), "nobody is left")
    wait_until(lambda: not list(temporary.glob("arena-worker-*")), "nor a working folder")


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_a_driver_killed_while_it_ends_a_worker_leaves_neither_it_nor_its_folder(moment, temporary):
    with subprocess.Popen([sys.executable, "-c", ENDS, str(moment)], stdout=subprocess.PIPE, text=True) as driver:
        worker, rest = int(driver.stdout.readline()), driver.stdout.read()
    assert (rest, driver.returncode) == ("", -signal.SIGKILL)
    wait_until(lambda: gone([worker]) and not os.listdir(temporary), "nothing is left")


def test_a_worker_whose_supervisor_is_killed_ends_with_it_and_is_replaced(temporary, worker):
    old = worker.process  # there may be others, of tests before
    os.kill(worker.supervisor.number, signal.SIGKILL)
    wait_until(lambda: gone([old]), "it ends")
    death = worker.call(Hello(), Greeting)
    assert isinstance(death, WorkerDeath) and death.how == "killed by SIGKILL, perhaps for want of memory"
    worker.start()
    assert worker.call(Hello(), Greeting).process != old
    worker.stop()
    assert os.listdir(temporary) == []


def test_a_worker_that_is_stopped_is_found_and_ended_in_a_while(worker, monkeypatch):
    monkeypatch.setattr(process, "STALL_SECONDS", 0.2)
    number = worker.process
    os.kill(number, signal.SIGSTOP)
    death = worker.call(Hello(), Greeting, START_SECONDS)
    assert isinstance(death, WorkerDeath) and (death.cause, death.how) == ("crash", "it was stopped")
    assert gone([number])


@pytest.mark.parametrize(
    ("states", "between_moves", "stopped"),
    [
        ("S", True, True),
        ("S", False, False),
        ("T", False, True),
        ("SR", True, False),
        ("SD", True, False),
        ("t", True, False),
        ("", True, False),
    ],
)
def test_who_uses_no_processor_time_is_stopped_or_frozen_unless_a_bot_or_the_machine_may_be_why(
    monkeypatch, states, between_moves, stopped
):
    monkeypatch.setattr(process, "STALL_SECONDS", 0.0)
    monkeypatch.setattr(process, "processor_time", lambda number: 7)
    monkeypatch.setattr(process, "thread_states", lambda number: set(states))
    stall = process.StallDetector(1)
    stall.has_stopped(between_moves)
    assert stall.has_stopped(between_moves) is stopped


def test_who_uses_processor_time_has_not_stopped_nor_who_was_not_looked_at_for_long(monkeypatch):
    used, clock = iter(range(3)), iter([0.0, 0.0, 100.0, 200.0])
    monkeypatch.setattr(process, "processor_time", lambda number: next(used, 2))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 300.0))
    monkeypatch.setattr(process, "thread_states", lambda number: {"T"})
    stall = process.StallDetector(1)
    assert [stall.has_stopped(True) for _ in range(4)] == [False] * 4
