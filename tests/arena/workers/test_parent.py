"""Workers are forked from one preloaded parent, and are as separate as if each had been started by itself."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

from arena import api
from arena.core.process_trees import thread_count
from arena.workers import parent, preloaded
from arena.workers.messages import Greeting, Hello, WorkerDeath
from arena.workers.process import WorkerProcess
from engine.kernel import COMPILED, from_cache_alone
from tests.support.memory import words_in_memory
from tests.support.tournaments import gone, parents_of, rows, wait_until, write

SPY = """
import gc, json, os, random, signal, sys
import numpy as np
from numba import njit
from bots import Bot

@njit
def drawn():
    return np.random.random()

OPEN = {}
for number in os.listdir("/proc/self/fd"):
    if os.path.exists(f"/proc/self/fd/{number}"):
        OPEN[number] = os.readlink(f"/proc/self/fd/{number}").partition(":")[0]
SEEN = {
    "drawn": [random.random(), np.random.random(), drawn()],
    "sockets": sorted(OPEN.values()).count("socket"),
    "mask": [*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))],
    "handled": [int(each) for each in signal.valid_signals() if signal.getsignal(each) not in
                (signal.SIG_DFL, signal.SIG_IGN, None) and each != signal.SIGALRM],
    "ignored": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    "timers": [signal.getitimer(each) for each in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL)],
    "collects": gc.isenabled(),
    "log": "arena.store" in sys.modules,
    "flavour": os.environ.get("FLAVOUR"),
    "folder": os.getcwd(),
    "pid": os.getpid(),
}
with open(os.environ["SPIED"], "w") as file:
    json.dump(SEEN, file)

class Spy(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""


@pytest.fixture
def spied(tmp_path, monkeypatch):
    """Play a match in a new worker, and give what a bot that runs there sees."""
    monkeypatch.setenv("SPIED", str(tmp_path / "seen.json"))
    (tmp_path / "spy.py").write_text(SPY)

    def play():
        api.play_match("epicycle", [f"{tmp_path / 'spy.py'}:Spy", "random"], isolation="none")
        return json.loads((tmp_path / "seen.json").read_text())

    return play


def test_a_worker_is_like_one_that_was_started_by_itself(spied, monkeypatch):
    monkeypatch.setenv("FLAVOUR", "sweet")
    first = spied()
    alike = {"mask": [], "handled": [], "ignored": True, "collects": True, "log": False, "sockets": 1}
    assert {key: first[key] for key in alike} == alike
    assert first["timers"][1] == [0.0, 0.0]
    monkeypatch.setenv("FLAVOUR", "sour")
    second = spied()
    assert (first["flavour"], second["flavour"]) == ("sweet", "sour")
    assert first["folder"] != second["folder"] and first["pid"] != second["pid"]
    assert not set(first["drawn"]) & set(second["drawn"]), "random numbers of two workers are the same"


def test_what_ends_one_worker_touches_no_other_nor_their_parent():
    workers = [WorkerProcess() for _ in range(3)]
    try:
        for worker in workers:
            worker.start()
        before, numbers = parents_of(os.getpid()), [worker.call(Hello(), Greeting).process for worker in workers]
        for number, killed in ((signal.SIGKILL, numbers[0]), (signal.SIGSEGV, numbers[1])):
            os.kill(killed, number)
        deaths = [worker.call(Hello(), Greeting) for worker in workers[:2]]
        assert [death.how.partition(",")[0] for death in deaths] == ["killed by SIGKILL", "killed by SIGSEGV"]
        assert workers[2].call(Hello(), Greeting).process == numbers[2]
        assert workers[0].call(Hello(), Greeting).process not in numbers
        assert parents_of(os.getpid()) == before
    finally:
        for worker in workers:
            worker.stop()


def test_when_their_parent_is_killed_workers_end_and_the_next_has_another():
    worker = WorkerProcess()
    worker.start()
    try:
        old = parents_of(os.getpid())
        number = worker.call(Hello(), Greeting).process
        for each in old:
            os.kill(each, signal.SIGKILL)
        wait_until(lambda: gone([number]), "it ends")
        death = worker.call(Hello(), Greeting)
        assert isinstance(death, WorkerDeath) and death.killed and death.how.startswith("killed by SIGKILL")
        assert worker.call(Hello(), Greeting).process != number
        assert parents_of(os.getpid()) and not parents_of(os.getpid()) & old
    finally:
        worker.stop()


def test_all_workers_of_a_killed_parent_are_replaced_and_learn_how_it_ended():
    workers = [WorkerProcess() for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        numbers = [worker.call(Hello(), Greeting).process for worker in workers]
        old = parents_of(os.getpid())
        for each in old:
            os.kill(each, signal.SIGKILL)
        wait_until(lambda: gone(numbers), "they end")
        for worker in workers:  # each starts again before the next one learns of it
            death = worker.call(Hello(), Greeting)
            assert isinstance(death, WorkerDeath) and death.how.startswith("killed by SIGKILL")
            assert worker.call(Hello(), Greeting).process not in numbers
        assert len(parents_of(os.getpid()) - old) == 1
    finally:
        for worker in workers:
            worker.stop()


def test_a_plan_of_many_boards_does_not_end_the_parent():
    worker = WorkerProcess()
    worker.start()
    before = parents_of(os.getpid())
    parent.preload(*((f"no_such_game(option={'x' * 40})", number) for number in range(3000)))
    try:
        worker.stop()
        worker.start()
        assert worker.call(Hello(), Greeting).process and parents_of(os.getpid()) == before
    finally:
        worker.stop()


def test_a_parent_that_is_stopped_is_continued_when_a_worker_is_wanted():
    worker = WorkerProcess()
    worker.start()
    worker.stop()
    for each in parents_of(os.getpid()):
        os.kill(each, signal.SIGSTOP)
    worker.start()
    assert worker.call(Hello(), Greeting).process
    worker.stop()


def test_a_parent_is_kept_for_the_next_run_unless_it_would_be_started_otherwise(monkeypatch):
    def started():
        worker = WorkerProcess()
        worker.start()
        worker.stop()
        return parents_of(os.getpid())

    first = started()
    assert started() == first and len(first) == 1
    monkeypatch.setenv("ARENA_HOME", "elsewhere")
    monkeypatch.setenv("ARENA_NO_REPORT", "")
    assert started() == first, "workers get these from whoever starts them"
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    second = started()
    assert len(second) == 1 and not second & first


def test_a_parent_ends_though_the_end_of_a_worker_was_never_asked_for(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as file:
        number, process = parent.parent_for().fork([theirs.fileno(), file.fileno(), file.fileno()])
    os.close(process)
    first = parents_of(os.getpid())
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    parent.preload()
    assert not parents_of(os.getpid()) & first
    wait_until(lambda: gone([number]), "its worker ends")


FORKS = """
import os
from arena.workers.messages import Greeting, Hello
from arena.workers.process import WorkerProcess

worker, mine = WorkerProcess(), WorkerProcess()
worker.start()
number = worker.call(Hello(), Greeting).process
child = os.fork()
if child == 0:
    mine.start()
    mine.stop()
else:
    print(os.waitpid(child, 0)[1], worker.call(Hello(), Greeting).process == number)
    worker.stop()
"""


def test_a_program_that_forks_itself_leaves_the_parent_of_the_other_alone():
    run = subprocess.run([sys.executable, "-P", "-c", FORKS], capture_output=True, text=True)
    assert run.stdout == "0 True\n" and run.stderr == ""


def test_no_process_is_forked_beside_a_thread():
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="has threads"):
            preloaded.fork_worker(None, lambda here: None)
    finally:
        over.set()
        thread.join()


def test_a_parent_has_one_thread_and_knows_no_key_and_no_bot(tmp_path):
    config = write(tmp_path / "run")
    text = config.read_text().replace("blocks = 10", 'dice = "secret"\nblocks = 1').replace("blocks = 5", "blocks = 1")
    config.write_text(text)
    api.run(config, tmp_path / "run" / "reports", workers=2, backend="local")
    keys = [bytes(row[0]) for row in rows(config, "SELECT key FROM keys")]
    assert keys
    words = [*keys, *(key.hex().encode() for key in keys), b"class Fragile", b"broken on purpose"]
    (number,) = parents_of(os.getpid())
    wait_until(lambda: thread_count(number) == 1, "it rests")
    assert words_in_memory(number, [*words, b"arena.workers.preloaded"]) == {b"arena.workers.preloaded"}


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_kernel_that_is_not_compiled_is_refused_where_a_parent_loads_code_and_compiled_elsewhere(
    tmp_path, monkeypatch
):
    (tmp_path / "never_compiled.py").write_text("from engine.kernel import kernel\n\n@kernel\ndef same(x): return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    same = importlib.import_module("never_compiled").same
    with from_cache_alone(), pytest.raises(LookupError, match="not compiled yet"):
        same(1)
    assert same(1) == 1


def test_each_setting_that_decides_what_is_loaded_is_named_once():
    names = parent.WATCHED_VARIABLES.split()
    assert sorted(set(names)) == names
