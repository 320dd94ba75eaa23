"""A level of isolation is one file: whatever the rest of the arena wants to know of it, it asks its launcher."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys

import pytest

from arena.core.errors import ConfigError
from arena.core.paths import ROOT
from arena.isolation import LEVELS, OWN_BOT_LEVEL, PROGRAM_LEVEL, SUBMITTED_LEVEL, launcher

IN_A_THREAD = '''
"""Each move in a thread of the worker."""

from concurrent.futures import ThreadPoolExecutor

from arena.isolation.levels import none


class Level(none.Level):
    def contestant(self, bot, host):
        return Threaded(super().contestant(bot, host))


class Threaded:
    def __init__(self, entrant):
        self.entrant = entrant

    def join(self, match, seat):
        return Player(self.entrant.join(match, seat))


class Player:
    def __init__(self, player):
        self.player = player

    def __getattr__(self, name):
        return getattr(self.player, name)

    def choose(self, limit):
        with ThreadPoolExecutor(1, "aside") as threads:
            return threads.submit(self.player.choose, limit).result()
'''
ON_THE_MOON = '''
"""Nowhere on earth."""

from arena.isolation.levels import process


class Level(process.Level):
    def missing_requirements(self):
        return "this machine is not on the moon"
'''
BOT = """
import threading

from bots import Bot


class Tells(Bot):
    def choose(self, state):
        self.note = threading.current_thread().name.partition("_")[0]
        return state.legal_actions()[0]
"""


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """Run a command of an arena with two files more than ours; its kernels are not compiled."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "arena", root / "arena", ignore=shutil.ignore_patterns("__pycache__"))
    for package in ("bots", "engine"):
        (root / package).symlink_to(ROOT / package)
    for name, source in {"thread": IN_A_THREAD, "moon": ON_THE_MOON}.items():
        (root / "arena" / "isolation" / "levels" / f"{name}.py").write_text(source)
    (root / "b.py").write_text(BOT)

    def run(*arguments):
        own = {"PYTHONPATH": root, "ARENA_HOME": root / "home", "ARENA_CACHE": root / "cache", "NUMBA_DISABLE_JIT": 1}
        environment = {**os.environ, **{name: str(value) for name, value in own.items()}}
        command = [sys.executable, "-m", "arena", *arguments]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)

    return run


def test_one_file_adds_a_level_and_a_match_is_played_at_it(arena):
    done = arena("match", "epicycle", "b.py:Tells", "random", "--isolation", "thread", "--json")
    assert done.returncode == 0, done.stderr
    assert {text for _, text in json.loads(done.stdout)["notes"]} == {"aside"}


def test_a_level_that_needs_what_this_machine_has_not_is_refused_and_offered_with_the_others(arena):
    done = arena("match", "epicycle", "b.py:Tells", "random", "--isolation", "moon")
    assert done.returncode == 2
    assert "'b.py:Tells' is for the moon, and this machine has none: this machine is not on the moon" in done.stderr
    assert "none" in (told := arena("match", "epicycle", "random", "random", "--isolation", "sun").stderr)
    assert "moon" in told


def test_every_level_has_a_launcher_and_the_defaults_are_among_them():
    assert [launcher(name).name for name in LEVELS] == ["none", "process", "sandbox"]
    assert {OWN_BOT_LEVEL, PROGRAM_LEVEL, SUBMITTED_LEVEL} <= {*LEVELS}
    assert launcher(PROGRAM_LEVEL).runs_programs
    assert launcher(PROGRAM_LEVEL).missing_requirements() == ""
    assert launcher(SUBMITTED_LEVEL).for_strangers
    with pytest.raises(ConfigError, match="isolation = 'moon': must be none, process, sandbox"):
        launcher("moon")


def test_nothing_but_its_file_compares_the_name_of_a_level():
    """Properties of its launcher say what others want to know."""
    found = []
    for path in (ROOT / "arena").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            compared += [node.value] if isinstance(node, ast.MatchValue) else []
            constants = [part for each in compared for part in ast.walk(each) if isinstance(part, ast.Constant)]
            found += [f"{path.name}:{each.lineno}" for each in constants if each.value in LEVELS]
    assert found == []
