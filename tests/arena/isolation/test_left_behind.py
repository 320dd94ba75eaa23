"""What a program, or its build, leaves behind: no process, and no file that does harm."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

import engine
from arena.isolation import building
from arena.isolation.launched import LaunchedBot
from arena.isolation.own_process import process_launcher
from arena.isolation.process_pool import ProcessPool, RemoteContestant
from arena.match.dice import Streams
from arena.match.player import LocalBot
from arena.match.referee import play_match
from arena.registry.manifest import bundle_program, read_program
from bots.random_bot import Random
from tests.arena.isolation.test_zoo import orphans_come_here

SLEEP = f"87{os.getpid():07}"
PLAYS = """
import json, subprocess, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "move":
        {deed}
        print(json.dumps({{"type": "action", "action": message["legal"][0]}}), flush=True)
    elif message["type"] in ("hello", "newgame"):
        print('{{"type": "ready"}}', flush=True)
    elif message["type"] == "quit":
        {quits}
"""
CLINGS = f"""
import ctypes, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG
time.sleep({SLEEP})
"""


def program(folder: Path, deed: str = "pass", quits: str = "break", build: str = "") -> Path:
    """A program's folder with its manifest, which is returned."""
    (folder / "bot.py").write_text(PLAYS.format(deed=deed, quits=quits))
    (folder / "build.py").write_text(f"# {folder}\n{build}")
    builds = 'build = ["python3", "build.py"]' if build else ""
    (folder / "bot.toml").write_text(f'name = "leaver"\ncommand = ["python3", "bot.py", "{SLEEP}"]\n{builds}\n')
    return folder / "bot.toml"


def play(manifest: Path, level: str, matches: int = 3) -> set[str]:
    """Causes of the program's faults in some matches."""
    game = engine.load_game("epicycle", 2)
    with contextlib.closing(ProcessPool()) as pool:
        bot = RemoteContestant(LaunchedBot("leaver", bundle_program(manifest), "", {}, level), pool)
        streams = Streams(bytes(32), bytes(32), bytes(16))
        played = [play_match(game, [bot, LocalBot(Random, {})], streams) for _ in range(matches)]
    return {forfeit.cause for match in played for forfeit in match.forfeits.values()}


def children() -> set[int]:
    """This process's, the dead ones that nobody has taken notice of included."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return found


def sleeping() -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if SLEEP.encode() in path.read_bytes():
                found.append(path)
    return found


@pytest.mark.parametrize("quits", ["break", "time.sleep(99)"])
@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_a_program_is_gone_without_trace_whether_it_quits_or_is_killed(level, quits, tmp_path):
    with orphans_come_here():
        before = children()
        assert play(program(tmp_path, quits=quits), level) == set()
        assert children() <= before


def test_children_of_a_program_that_has_quit_end_with_its_match(tmp_path):
    with orphans_come_here():
        before = children()
        deed = 'subprocess.Popen(["sleep", sys.argv[1]]), subprocess.Popen(["true"])'
        assert play(program(tmp_path, deed), "process") == set()
        assert children() <= before
    assert sleeping() == []


def test_a_build_that_will_not_die_with_its_parent_ends_when_its_time_is_up(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "BUILD_SECONDS", 1.0)
    manifest = program(tmp_path, build=CLINGS)
    started = time.monotonic()
    with orphans_come_here():
        before = children()
        assert play(manifest, "sandbox", 1) == {"init"}
        assert time.monotonic() - started >= 1.0
        assert children() <= before


LENDS_RIGHTS = """
import os, shutil
shutil.copy("/usr/bin/env", "env")
os.chmod("env", 0o6777)
os.mkdir("closed", 0)
os.chmod(".", 0o7777)
os.symlink("/etc/shadow", "link")
"""
DIGS = """
import os
for _ in range(1200):
    os.mkdir("deep")
    os.chdir("deep")
os.chmod(".", 0)
"""


def test_what_a_build_makes_lends_nobody_rights(tmp_path):
    bundle = bundle_program(program(tmp_path, build=LENDS_RIGHTS))
    folder = building.built(bundle, read_program(bundle.files["bot.toml"], "leaver"), process_launcher("sandbox"))
    found = {path.name: path.lstat().st_mode & 0o7777 for path in [folder, *folder.iterdir()] if not path.is_symlink()}
    assert found == dict.fromkeys([folder.name, "bot.py", "bot.toml", "build.py", "env", "closed"], 0o755)
    assert (folder / "link").lstat().st_nlink == 1
    assert play(tmp_path / "bot.toml", "sandbox", 1) == set()


def test_a_build_that_digs_too_deep_fails_and_is_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "cache_root", lambda: tmp_path / "cache")  # others build in that of the user
    assert play(program(tmp_path, build=DIGS), "sandbox", 1) == {"init"}
    assert os.listdir(tmp_path / "cache" / "programs") == []


def test_a_build_makes_no_more_than_so_many_files(tmp_path):
    many = "for number in range(11_000): open(str(number), 'w').close()"
    assert play(program(tmp_path, build=many), "sandbox", 1) == {"init"}


FILLS = """
import os, time
names = [f"big{number}" for number in range(24)]
for name in names:
    open(name, "wb").write(bytes(2**20))
time.sleep(60)
for name in names:
    os.remove(name)
"""


@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_a_build_takes_no_more_room_than_it_may_while_it_runs(level, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "BUILD_BYTES", 16 * 2**20)
    assert play(program(tmp_path, build=FILLS), level, 1) == {"init"}


KEEPS = """
import os
os.mkdir("inner")
open("inner/made", "w").write("made")
os.symlink("made", "inner/link")
os.mkfifo("fifo")
"""


def test_what_a_build_in_the_sandbox_makes_is_there_in_every_match(tmp_path):
    manifest = program(tmp_path, 'assert open("inner/link").read() == "made"', build=KEEPS)
    assert play(manifest, "sandbox", 2) == set()
