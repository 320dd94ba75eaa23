"""A game is compiled once on a machine, however many workers start there together."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from arena.workers import compile_once as module
from arena.workers.compile_once import compile_once
from tests.support.tournaments import PATIENCE, wait_until

HOLD = """
import fcntl, sys, time
lock = open(sys.argv[1], "wb")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    return tmp_path / "warm"


def warm(seen: list[str], name: str, go: threading.Event) -> threading.Thread:
    def work() -> None:
        with compile_once("game", lambda: seen.append(f"{name} waits")):
            seen.append(f"{name} begins")
            go.wait(PATIENCE)
            seen.append(f"{name} ends")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_who_comes_meanwhile_waits_and_says_so_and_who_comes_later_does_not():
    seen: list[str] = []
    go = threading.Event()
    first = warm(seen, "first", go)
    wait_until(lambda: "first begins" in seen, "the first one is at work")
    second = warm(seen, "second", go)
    wait_until(lambda: seen.count("second waits") > 3, "the second one waits")
    assert "second begins" not in seen
    go.set()
    first.join()
    second.join()
    assert seen.index("first ends") < seen.index("second begins")
    with compile_once("game", lambda: seen.append("later waits")), compile_once("game", lambda: None):
        seen.append("two at a time")
    assert seen[-1] == "two at a time" and "later waits" not in seen


def test_the_place_of_one_that_was_killed_is_taken_by_the_next(folder):
    folder.mkdir()
    lock = folder / "game.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    seen: list[str] = []
    go = threading.Event()
    go.set()
    waiting = warm(seen, "next", go)
    wait_until(lambda: "next waits" in seen, "the next one waits")
    assert "next begins" not in seen
    holder.kill()
    holder.communicate()
    waiting.join(PATIENCE)
    assert seen[-1] == "next ends"


def test_where_nothing_can_be_written_nobody_waits(folder, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/none")
    with compile_once("game", lambda: pytest.fail("waited")):
        pass


def test_what_fails_to_compile_is_tried_again(folder):
    for _ in range(2):
        with pytest.raises(OSError, match="no room"), compile_once("piece", lambda: None):
            raise OSError("no room")
    tried = []
    for _ in range(2):
        with compile_once("piece", lambda: tried.append("waited")):
            tried.append("compiled")
    assert tried == ["compiled", "compiled"] and (folder / "piece").exists()
