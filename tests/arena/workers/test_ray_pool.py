"""The pool of Ray workers from the run's side: made-up messages, and a process that knows Ray but finds no cluster."""

from __future__ import annotations

import functools
import http.server
import os
import pickle
import queue
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from multiprocessing import Pipe
from pathlib import Path

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ClusterError, UnwritableError
from arena.store import Store
from arena.workers.ray import pool as ray_pool
from arena.workers.ray.messages import ClusterAlive, ClusterOrder, Remark, WorkerUp
from arena.workers.ray.pool import RayPool
from scripts import cluster_demo
from scripts.cluster_demo import LocalCluster
from tests.support.tournaments import PATIENCE, wait_until

TWO_BOTS = 'bots = [{ bot = "random" }, { bot = "cautious" }]\n[output]\nreport = false\n'


@pytest.fixture
def pool(monkeypatch):
    """A pool that is told what the other end of its connection is sent."""
    ours, theirs = Pipe()
    monkeypatch.setattr(ray_pool, "start_driver", lambda folder: (None, ours))
    theirs.send(WorkerUp(0))
    made = RayPool(1, None, queue.SimpleQueue(), "head:1")
    made.join()
    made.theirs = theirs  # type: ignore[attr-defined]  # for tests to send from
    yield made
    os.rmdir(made.folder)


def test_a_run_that_was_stopped_for_long_does_not_take_its_cluster_for_lost(pool):
    pool.looked_at = time.monotonic() - 1000.0
    pool.theirs.send(Remark("something that was said before the head"))
    pool.theirs.send(ClusterAlive())
    pool.take_events(5.0)
    pool.take_events(5.0)
    assert pool.remarks


def test_a_cluster_whose_head_says_nothing_is_lost_though_its_workers_answer(pool):
    def listen():
        for _ in range(1000):
            pool.theirs.send(Remark("a worker's"))
            time.sleep(0.001)
            pool.take_events(0.2)

    with pytest.raises(ClusterError, match="has not answered"):
        listen()


def test_a_full_disk_is_told_in_full_by_a_worker_of_another_machine():
    error = UnwritableError("/cache: No space left", "Make room")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.fixture
def port():
    """A port that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def chatty_port():
    """A port of something that is no head of Ray."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("speaks", [False, True])
def test_a_run_that_is_killed_while_it_looks_for_a_cluster_leaves_no_process_and_no_folder(port, speaks):
    folder = Path(tempfile.mkdtemp(prefix="arena-ray-", dir="/tmp"))
    process, connection = ray_pool.start_driver(str(folder))
    connection.send(ClusterOrder(f"127.0.0.1:{port if speaks else 9}", 1, str(folder), None))
    connection.close()
    process.wait(PATIENCE)
    wait_until(lambda: not folder.exists(), "the folder is gone")


def test_a_pool_is_closed_while_it_waits_for_a_cluster_and_leaves_nothing(port):
    pool = RayPool(1, None, queue.SimpleQueue(), f"127.0.0.1:{port}")
    thread = threading.Thread(target=lambda: (pool.join(), pool.serve()))
    thread.start()
    pool.close()
    thread.join()
    assert pool.process.poll() is not None and not Path(pool.folder).exists()


def test_a_cluster_that_cannot_be_joined_is_an_error_before_anything_is_played(chatty_port, tmp_path, capsys):
    game = ["--game", "epicycle", "--players", "2", "--bots", "random,cautious", "--blocks", "1"]
    command = ["run", *game, "--no-report", "--home", str(tmp_path), "--address", f"127.0.0.1:{chatty_port}"]
    assert run_command(command) == 1
    said = capsys.readouterr()
    assert f"error: Ray could not be used: the Ray cluster at 127.0.0.1:{chatty_port} cannot play" in said.err
    assert "is no head of Ray" in said.err and not said.out
    with Store.open(tmp_path / "epicycle" / "matches.db") as store:
        assert store.totals() == (0, 0)
    assert run_command([*command, "--backend", "auto"]) == 0
    said = capsys.readouterr()
    assert re.search("^(Ray could not be|the Ray cluster was not) used: .*", said.err, re.MULTILINE)
    assert "2 matches played" in said.out


def test_the_demo_ends_its_nodes_however_often_it_is_interrupted(monkeypatch, tmp_path):
    def interrupted(nodes, number):
        os.kill(os.getpid(), signal.SIGINT)
        end(nodes, number)

    end = LocalCluster.end
    monkeypatch.setattr(LocalCluster, "end", interrupted)
    nodes = LocalCluster(str(tmp_path))
    nodes.running = [subprocess.Popen(["sleep", "1000"], start_new_session=True) for _ in range(2)]
    nodes.close()
    assert [node.poll() for node in nodes.running] == [-signal.SIGTERM] * 2
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_demo_compares_nothing_with_a_local_half_that_was_interrupted(monkeypatch, tmp_path, capsys):
    def interrupt(progress):
        if not progress.stopping:
            signal.raise_signal(signal.SIGINT)

    run, config = api.run, tmp_path / "t.toml"
    config.write_text('name = "t"\nblocks = 50\ngames = [{ game = "epicycle", players = 2 }]\n' + TWO_BOTS)
    monkeypatch.setattr(cluster_demo, "play_on_nodes", lambda config, home, folder: run(config, home, backend="local"))
    monkeypatch.setattr(api, "run", functools.partial(run, show=interrupt))
    with pytest.raises(KeyboardInterrupt):
        cluster_demo.main(str(config))
    assert "the same" not in capsys.readouterr().out.replace("Playing the same", "")


def test_the_end_of_ray_is_explained_by_no_line_of_its_log(tmp_path):
    path = tmp_path / "stderr"
    path.write_text("[2026-11-29 12:01:40,937 E 15687 16001] core_worker.cc:609: recovering an object\n")
    assert ray_pool._last_line(path) == "it does not say why"
    path.write_text("no room on the device\n[2026-11-29 12:01:41,001 I 1 2] node.cc:1: ending\n")
    assert ray_pool._last_line(path) == "no room on the device"
