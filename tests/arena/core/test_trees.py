"""Ending processes with everything below them."""

import signal
import subprocess
import sys

import pytest

from arena.core import process_trees as trees
from tests.support.tournaments import gone, wait_until

FAMILY = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(3):
        if os.fork() == 0:
            time.sleep(3600)
print("ready", flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("listed", [True, False], ids=["children listed", "every process looked at"])
def test_a_process_ends_with_its_children_and_theirs_in_whatever_session_they_are(monkeypatch, listed):
    monkeypatch.setattr(trees, "LISTS_CHILDREN", listed)
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wait_until(lambda: len(trees.descendants(process.pid)) == 4, "the family is complete")
        family = trees.descendants(process.pid)
        trees.kill_tree(process.pid)
        assert process.wait() == -signal.SIGKILL
    wait_until(lambda: gone(family), "nobody is left")


def test_nothing_is_below_a_process_that_is_gone():
    process = subprocess.Popen(["true"])
    process.wait()
    assert trees.descendants(process.pid) == []
    trees.kill_tree(process.pid)
