"""A result is a pure function of its plan: however a tournament is played, the same bytes come out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from arena import api
from arena.runner import play_order
from arena.runner import run as runner
from arena.workers import process
from arena.workers.ray import pool as ray_pool
from arena.workers.ray.messages import TicketReply, WorkerUp
from tests.support import tournaments
from tests.support.tournaments import MATCHES, arena, count, gone, home_of, results, rows, workers_of, write


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one local worker makes of the tournament."""
    config = write(tmp_path_factory.mktemp("expected"))
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.progress.played, outcome.not_played, outcome.interrupted) == (MATCHES, [], False)
    assert tournaments.bots_children() == set()
    return results(config)


@pytest.fixture
def config(tmp_path, monkeypatch):
    """The same tournament in a folder of its own; nothing may stay behind in the temporary folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield write(tmp_path / "run")
    tournaments.wait_until(lambda: not os.listdir(temporary), "the temporary folder is empty")
    tournaments.wait_until(lambda: not tournaments.bots_children(), "what the bots started has ended")


def test_the_tournament_has_what_could_differ(expected):
    lines = expected["matches.jsonl"].decode()
    assert lines.count("\n") == MATCHES
    assert '"cause":"crash"' in lines
    assert '"ended":"forfeit"' in lines
    assert "slept at" in lines
    assert "epicycle(setup=random)" in lines


def test_two_workers_with_chunks_of_one_match_give_the_same(config, expected, monkeypatch):
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 1)
    monkeypatch.setattr(runner, "WRITE_SECONDS", 0.0)
    api.run(config, home_of(config), workers=2, backend="local")
    assert results(config) == expected
    assert len(rows(config, "SELECT DISTINCT worker FROM timings")) == 2


@pytest.mark.chaos
def test_workers_killed_from_outside_are_replaced_and_give_the_same(config, expected, monkeypatch):
    started = []
    start = process.WorkerProcess.start

    def note(worker):
        start(worker)
        started.append(int(worker.name.rpartition(":")[2]))

    def kill(progress):
        if progress.played > MATCHES // 4 * len(killed) and len(killed) < 3:
            killed.append(started[-1])
            os.kill(started[-1], signal.SIGKILL)

    killed = []
    monkeypatch.setattr(process.WorkerProcess, "start", note)
    outcome = api.run(config, home_of(config), workers=1, backend="local", show=kill).outcome
    assert (len(killed), outcome.not_played) == (3, [])
    assert len(started) == 4
    assert results(config) == expected


@pytest.mark.system
def test_a_ray_worker_gives_the_same(config, expected):
    assert api.run(config, home_of(config), workers=1, backend="ray").outcome.complete
    assert results(config) == expected


@pytest.mark.system
def test_two_ray_workers_give_the_same_also_when_one_is_lost(config, expected, monkeypatch):
    take, start = ray_pool.RayPool.take_event, ray_pool.start_driver

    def note_folder(folder):
        folders.append(folder)
        return start(folder)

    def lose_one(pool, event):
        take(pool, event)
        if isinstance(event, WorkerUp):
            started.append(event.worker)
        if isinstance(event, TicketReply):
            names.append(event.worker_name)
            if len(names) == 8:
                os.kill(tournaments.processes()[int(event.worker_name.rpartition(":")[2])][0], signal.SIGKILL)

    def wait_for_another(progress):
        # A while for each chunk, no longer: a worker that was lost between two chunks is missed at the next one.
        deadline = time.monotonic() + 5
        while len(names) >= 8 and len(started) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)

    folders, names, started = [], [], []
    monkeypatch.setattr(ray_pool, "start_driver", note_folder)
    monkeypatch.setattr(ray_pool.RayPool, "take_event", lose_one)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 10)
    outcome = api.run(config, home_of(config), workers=2, backend="ray", show=wait_for_another).outcome
    assert (outcome.progress.played, outcome.not_played) == (MATCHES, [])
    assert results(config) == expected
    assert len(rows(config, "SELECT DISTINCT worker FROM timings")) == 3
    assert not Path(folders[0]).exists()


def interrupt(config: Path, number: signal.Signals, workers: int) -> tuple[subprocess.Popen[str], set[int]]:
    """A run that gets a signal when a part of its matches is in the log; and its worker processes."""
    run = tournaments.start_arena("run", config, "--workers", workers, "--home", home_of(config), folder=config.parent)
    tournaments.wait_until(lambda: count(config) or run.poll() is not None, "matches are in the log")
    workers_of_run = workers_of(run.pid)
    tournaments.signal_group(run, number)
    return run, workers_of_run


@pytest.mark.chaos
def test_a_run_interrupted_with_ctrl_c_and_resumed_by_the_command_it_prints_gives_the_same(config, expected):
    run, workers = interrupt(config, signal.SIGINT, 1)
    _, said = run.communicate(timeout=tournaments.PATIENCE)
    assert run.returncode == 130, said
    saved = count(config)
    assert 0 < saved < MATCHES
    assert re.search(f"Interrupted: ({saved:,} of {MATCHES:,} matches are|every match in the log is) saved", said)
    tournaments.wait_until(lambda: gone(workers), "the workers have ended")
    command = said.rpartition("To go on:\n")[2].split()
    assert command[:2] == ["arena", "run"]
    resumed = arena(*command[1:], folder=config.parent, PYTHONHASHSEED="4242")
    assert resumed.returncode == 0, resumed.stderr
    assert f"{MATCHES - saved:,} matches played" in resumed.stdout
    assert f"{saved:,} were there before" in resumed.stdout
    assert results(config) == expected


@pytest.mark.chaos
def test_a_run_killed_in_the_middle_and_resumed_gives_the_same_and_leaves_no_process(config, expected):
    run, workers = interrupt(config, signal.SIGKILL, 2)
    run.communicate(timeout=tournaments.PATIENCE)
    assert workers
    tournaments.wait_until(lambda: gone(workers), "the workers notice that their driver is gone")
    saved = count(config)
    assert 0 < saved < MATCHES
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.progress.found, outcome.progress.played) == (saved, MATCHES - saved)
    assert results(config) == expected


@pytest.mark.system
def test_the_same_command_again_plays_nothing_says_so_and_writes_the_same_files(config, expected):
    first = arena("run", config, "--workers", 2, folder=config.parent, ARENA_HOME="reports", PYTHONHASHSEED="1")
    assert (first.returncode, "NOISE" in first.stdout + first.stderr) == (0, False), first.stderr
    written = {path.name: path.read_bytes() for path in (config.parent / "reports/small").glob("*_?p.*")}
    again = arena("run", config, "--workers", 1, folder=config.parent, ARENA_HOME="reports", PYTHONHASHSEED="2")
    assert again.returncode == 0, again.stderr
    assert f"Nothing to play: all {MATCHES:,} matches were in the log already." in again.stdout
    assert {path.name: path.read_bytes() for path in (config.parent / "reports/small").glob("*_?p.*")} == written
    assert results(config) == expected
    assert {name: expected[name] for name in written} == written
