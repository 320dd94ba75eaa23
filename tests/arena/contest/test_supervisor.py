"""The supervisor of a driver: starts it again when it ends, and ends it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from arena.contest import supervisor
from arena.contest.supervisor import SUPERVISOR_VARIABLE, Supervisor
from tests.support.standing import is_running
from tests.support.tournaments import arena, wait_until

SLEEPING = "import pathlib, signal, time; {before}; pathlib.Path({ready!r}).touch(); time.sleep(1000)"


def sleeping(ready: Path, before: str = "pass") -> list[str]:
    """Return a command that sleeps; `ready` is there when it does."""
    return [sys.executable, "-S", "-c", SLEEPING.format(before=before, ready=str(ready))]


def pid_of(running: Supervisor) -> int:
    wait_until(lambda: running.pid is not None, "it runs")
    assert running.pid is not None
    return running.pid


def test_what_is_killed_is_started_again_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_WAIT_SECONDS", 0.01)
    said: list[str] = []
    with Supervisor(sleeping(tmp_path / "ready"), said.append) as running:
        first = pid_of(running)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: running.starts == 2 and running.pid is not None, "it is started again")
        second = pid_of(running)
        assert second != first
    assert said == ["the driver ended with -9; starting it again in 0.01 s"]
    assert not is_running(second)
    assert running.pid is None


def test_what_ends_at_once_is_started_after_longer_and_longer_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "MAX_WAIT_SECONDS", 0.03)
    said: list[str] = []
    with Supervisor([sys.executable, "-S", "-c", "raise SystemExit(3)"], said.append) as running:
        wait_until(lambda: len(said) >= 4, "it has ended four times")
    assert [line.rpartition(" in ")[2] for line in said[:4]] == ["0.01 s", "0.02 s", "0.03 s", "0.03 s"]
    assert "ended with 3" in said[0]
    assert running.starts >= 4


def test_what_does_not_end_by_itself_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.1)
    ready = tmp_path / "ready"
    with Supervisor(sleeping(ready, "signal.signal(signal.SIGTERM, signal.SIG_IGN)")) as running:
        wait_until(ready.exists, "it ignores SIGTERM")
        process = pid_of(running)
    assert not is_running(process)


def test_nothing_is_left_of_a_supervisor_that_ends_at_once(tmp_path: Path) -> None:
    for _ in range(20):
        with Supervisor(sleeping(tmp_path / "ready")) as running:
            pass
        assert running.pid is None


def test_a_driver_whose_supervisor_has_ended_before_it_began_ends_at_once(tmp_path: Path) -> None:
    environment = {SUPERVISOR_VARIABLE: str(os.getppid())}  # of a process that has not started it
    ended = arena("contest", "drive", "--home", tmp_path / "home", folder=tmp_path, **environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert not (tmp_path / "home").exists()
