"""A build of a program that is killed is tried again; one that takes the machine is ended."""

from __future__ import annotations

import os
import signal

import pytest

from arena.isolation import building
from arena.isolation.launched import LaunchedBot
from arena.registry.manifest import bundle_program
from tests.arena.isolation.test_killed import PROGRAM, play


def built_by(folder, level, command):
    (folder / "bot.py").write_text(f"import os, signal, subprocess, sys\n{PROGRAM.replace('DEED', 'pass')}")
    (folder / "make.py").write_text(f"import os, signal, subprocess, sys, time\n{command}\n")
    build = 'command = ["python3", "bot.py"]\nbuild = ["python3", "make.py"]\n'
    (folder / "bot.toml").write_text(f'name = "first"\n{build}')
    return LaunchedBot("first", bundle_program(folder / "bot.toml"), "", {}, level)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "cache_root", lambda: tmp_path / "cache")


@pytest.mark.parametrize("level", ["process", "sandbox"])
@pytest.mark.parametrize(("times", "forfeits"), [(building.MAX_TRIES - 1, []), (building.MAX_TRIES, ["init"])])
def test_a_build_that_is_killed_is_tried_again(tmp_path, monkeypatch, cache, level, times, forfeits):
    watched, killed = building.watched, []

    def kill(process, number, *rest):
        if len(killed) < times:
            killed.append(number)
            os.kill(number, signal.SIGKILL)
        return watched(process, number, *rest)

    monkeypatch.setattr(building, "watched", kill)
    result = play(built_by(tmp_path, level, "time.sleep(0.2)"))
    assert [forfeit.cause for forfeit in result.forfeits.values()] == forfeits
    assert len(killed) == times


@pytest.mark.parametrize("level", ["process", "sandbox"])
@pytest.mark.parametrize(
    ("command", "why"),
    [
        # fewer than the 80 that the kernel allows, so that the watch is what ends it
        ("[subprocess.Popen(['sleep', '9']) for _ in range(60)]; time.sleep(9)", "build ran more than 40 processes"),
        # in the sandbox the kernel may refuse one before the watch looks
        ("while True: subprocess.Popen(['sleep', '9'])", "its build "),
        ("[subprocess.Popen(['sleep', '9']) for _ in range(9)]; x = b'x' * 10**8; time.sleep(9)", "MiB in all"),
        ("os._exit(137)", "code 137: , 3 times"),
        ("os._exit(143)", "code 143: , 3 times"),
    ],
)
def test_a_build_that_takes_the_machine_is_ended(tmp_path, monkeypatch, cache, level, command, why):
    monkeypatch.setattr(building, "MAX_BUILD_THREADS", 40)
    monkeypatch.setattr(building, "BUILD_MEMORY_IN_ALL", 80 if "10**8" in command else 4096)
    result = play(built_by(tmp_path, level, command))
    assert result.forfeits[0].cause == "init"
    assert why in result.forfeits[0].detail
