"""The pool of Ray workers from the run's side: made-up messages, and a process that knows Ray but finds no cluster."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import tempfile
import time
from multiprocessing import Pipe
from pathlib import Path

import pytest

from arena.core.errors import ClusterError, UnwritableError
from arena.workers.messages import ClusterAlive, ClusterOrder, Remark, WorkerUp
from arena.workers.ray import pool as ray_pool
from arena.workers.ray.pool import RayPool
from scripts.cluster_demo import Nodes
from tests.support.tournaments import wait_until


@pytest.fixture
def pool(monkeypatch):
    """A pool that is told what the other end of its connection is sent."""
    ours, theirs = Pipe()
    monkeypatch.setattr(ray_pool, "_start_driver", lambda folder: (None, ours))
    theirs.send(WorkerUp(0))
    made = RayPool(1, None, queue.SimpleQueue(), "head:1")
    made.theirs = theirs  # type: ignore[attr-defined]  # for tests to send from
    yield made
    os.rmdir(made._folder)


def test_a_run_that_was_stopped_for_long_does_not_take_its_cluster_for_lost(pool):
    pool._looked = time.monotonic() - 1000.0
    pool.theirs.send(Remark("something that was said before the head"))
    pool.theirs.send(ClusterAlive())
    pool._take(5.0)
    pool._take(5.0)
    assert pool.remarks


def test_a_cluster_whose_head_says_nothing_is_lost_though_its_workers_answer(pool):
    def listen():
        for _ in range(1000):
            pool.theirs.send(Remark("a worker's"))
            time.sleep(0.001)
            pool._take(0.2)

    with pytest.raises(ClusterError, match="has not answered"):
        listen()


def test_a_full_disk_is_told_in_full_by_a_worker_of_another_machine():
    error = UnwritableError("/cache: No space left", "Make room")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_run_that_is_killed_while_it_looks_for_a_cluster_leaves_no_folder():
    folder = Path(tempfile.mkdtemp(prefix="arena-ray-", dir="/tmp"))
    process, connection = ray_pool._start_driver(str(folder))
    connection.send(ClusterOrder("127.0.0.1:9", 1, str(folder), None))
    connection.close()
    process.wait()
    wait_until(lambda: not folder.exists(), "the folder is gone")


def test_the_demo_ends_its_nodes_however_often_it_is_interrupted(monkeypatch, tmp_path):
    def interrupted(nodes, number):
        os.kill(os.getpid(), signal.SIGINT)
        end(nodes, number)

    end = Nodes.end
    monkeypatch.setattr(Nodes, "end", interrupted)
    nodes = Nodes(str(tmp_path))
    nodes.running = [subprocess.Popen(["sleep", "1000"], start_new_session=True) for _ in range(2)]
    nodes.close()
    assert [node.poll() for node in nodes.running] == [-signal.SIGTERM] * 2
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
