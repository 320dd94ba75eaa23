"""A process computes what takes long, and what it returns, raises or leaves is as if this one had done it."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from arena import api
from arena.core.errors import ArenaError
from arena.core.match_ids import check_match_id
from arena.web.catalog import LogCatalog
from arena.web.compute_process import ComputeProcess, ComputingError
from tests.support.tournaments import PATIENCE, gone, wait_until

ODD = "class Odd(Exception): pass\nraise Odd('odd')"
"""An error that another process cannot read."""


@pytest.fixture(scope="module")
def computer():
    found = ComputeProcess()
    yield found
    found.close()


def test_one_process_computes_all_and_it_is_another_one(computer):
    (first, seconds), (second, _) = computer.run(os.getpid), computer.run(os.getpid)
    assert first == second != os.getpid() and seconds >= 0


def test_the_process_outlives_the_thread_that_first_asked():
    computer, found = ComputeProcess(), []
    try:
        for _ in range(5):
            thread = threading.Thread(target=lambda: found.append(computer.run(os.getpid)[0]))
            thread.start()
            thread.join()
        assert len(found) == 5 and len({*found}) == 1
    finally:
        computer.close()


def test_processor_time_that_is_spent_there_is_told(computer):
    assert computer.run(partial(sum, range(3_000_000)))[1] > 0.005


@pytest.mark.parametrize(
    ("compute", "kind", "words"),
    [
        (partial(check_match_id, "?"), ArenaError, "'?'"),
        (partial(exec, ODD), RuntimeError, "odd"),
        (threading.Lock, TypeError, "cannot pickle"),
        (partial(sys.exit, 3), ComputingError, "has ended"),
    ],
)
def test_what_goes_wrong_there_is_raised_here_and_the_next_one_is_computed(computer, compute, kind, words):
    with pytest.raises(kind, match=words):
        computer.run(compute)
    assert computer.run(partial(abs, -1))[0] == 1


def test_what_takes_longer_than_its_limit_is_ended_and_the_next_one_is_computed(computer):
    process, _ = computer.run(os.getpid)
    with pytest.raises(ComputingError):
        computer.run(partial(time.sleep, 600), 0.05)
    assert gone([process])
    assert computer.run(partial(abs, -1), 600.0)[0] == 1


def test_a_process_that_is_killed_costs_what_it_was_at_and_another_follows(computer):
    process, _ = computer.run(os.getpid)
    with pytest.raises(ComputingError, match="tried again"):
        computer.run(partial(signal.raise_signal, signal.SIGKILL))
    assert computer.run(os.getpid)[0] != process


def test_a_process_that_is_killed_while_it_has_nothing_to_do_costs_nothing(computer):
    process, _ = computer.run(os.getpid)
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert computer.run(os.getpid)[0] != process


def test_closing_ends_a_computation_under_way_and_nothing_is_computed_afterwards():
    computer, errors = ComputeProcess(), []
    process, _ = computer.run(os.getpid)

    def long():
        try:
            computer.run(partial(time.sleep, 600))
        except ComputingError as error:
            errors.append(error)

    thread = threading.Thread(target=long)
    thread.start()
    computer.close()
    thread.join(PATIENCE)
    assert len(errors) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    with pytest.raises(ComputingError):
        computer.run(os.getpid)


def test_it_does_not_outlive_a_server_that_is_killed():
    program = (
        "import os, time; from functools import partial; from arena.web.compute_process import ComputeProcess\n"
        "computer = ComputeProcess()\n"
        "print(computer.run(os.getpid)[0], flush=True); computer.run(partial(time.sleep, 600))"
    )
    server = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    process = int(server.stdout.readline())
    server.kill()
    server.wait()
    server.stdout.close()
    wait_until(lambda: gone([process]), "it notices that its server is gone")


@pytest.mark.parametrize(
    "make", [api.board_leaderboard, api.board_crosstable, pytest.param(api.board_figures, marks=pytest.mark.system)]
)
def test_slow_results_of_a_tournament_are_the_same_from_there(home, computer, make):
    log = LogCatalog(home).log("shown")
    assert repr(computer.run(partial(make, log.path, 0))[0]) == repr(make(log.path, 0))
