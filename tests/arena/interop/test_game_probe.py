"""Games of other libraries are tried in a process of their own first, which may crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.machine import WORKER_VARIABLE
from arena.interop.game_probe import GameProbe
from engine.errors import EngineError, ParameterError, UnsupportedError

PROVIDER = """
import os, signal, sys
from engine.errors import ParameterError

def provide(name, options):
    kind = name.removeprefix("doomed.")
    if kind == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif kind == "hungry":
        bytearray(16 << 30)
    elif kind == "endless":
        while True:
            pass
    elif kind == "leaves":
        os._exit(0)
    elif kind == "exits":
        raise SystemExit("enough")
    elif kind == "talks":
        print('{"error": "UnsupportedError", "text": "not I"}', flush=True)
        sys.stdin.read()
    elif kind == "wordy":
        raise ParameterError("w" * 100_000)
    elif kind == "refused":
        raise ParameterError("no such board")
"""


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GameProbe]:
    """Yield probes of games of a library that is installed meanwhile."""
    folder = tmp_path_factory.mktemp("doom")
    (folder / "doomed.py").write_text(PROVIDER)
    installed = folder / "doomed-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: doomed\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[arena.game_providers]\ndoomed = doomed:provide\n")
    found = GameProbe("Doom", "doomed", seconds=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield found
    found.close()


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("segfault", UnsupportedError, "Doom crashed (SIGSEGV) when it started doomed.segfault"),
        ("hungry", UnsupportedError, "doomed.hungry cannot be set up: MemoryError"),
        ("endless", UnsupportedError, "Doom took more than 1 s when it started doomed.endless"),
        ("leaves", UnsupportedError, "Doom ended its process when it started doomed.leaves"),
        ("exits", UnsupportedError, "doomed.exits cannot be set up: SystemExit: enough"),
        ("refused", ParameterError, "no such board"),
        ("wordy", ParameterError, "wwww"),
    ],
)
def test_what_crashes_or_takes_too_much_is_refused_in_one_line_and_the_next_game_is_tried(look, kind, error, words):
    for _ in range(2):
        with pytest.raises(EngineError) as caught:
            look.take(f"doomed.{kind}")
        assert type(caught.value) is error
        assert str(caught.value).startswith(words) and len(str(caught.value)) <= 2000
    look.take("doomed.fine")


def test_what_a_game_prints_is_not_taken_for_an_answer(look):
    look.take("doomed.talks")


def test_a_process_that_somebody_has_ended_is_started_again(look):
    look.take("doomed.fine(number=1)")
    os.kill(look.process.pid, signal.SIGKILL)
    look.process.wait()
    with pytest.raises(UnsupportedError, match="crashed"):
        look.take("doomed.segfault(number=2)")


def test_workers_try_nothing(look, monkeypatch):
    monkeypatch.setenv(WORKER_VARIABLE, "1")
    look.take("doomed.segfault(number=3)")


def test_the_process_ends_with_the_one_that_started_it():
    code = (
        "import os, signal\n"
        "from arena.interop.game_probe import GameProbe\n"
        "look = GameProbe('Nothing', 'json')\n"
        "look.prepare()\n"
        "print(look.process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    until = time.monotonic() + 60
    while running(int(found.stdout)):
        assert time.monotonic() < until
        time.sleep(0.01)


def running(process: int) -> bool:
    """Return whether a process that we need not have started still runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
