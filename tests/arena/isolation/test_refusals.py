"""`arena check` names the system calls that a sandboxed bot was refused, and lets none of them in."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from arena.isolation.refusals import Refusals
from arena.isolation.seccomp import name_of
from arena.match.faults import Fault
from arena.runner.check import check
from tests.support.cells import Cells

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="a tracer answers for refused calls there")
FORKS = """
import os
import threading

from bots import Bot


def elsewhere():
    try:
        os.sched_setaffinity(0, {0})
    except OSError:
        pass


class Forks(Bot):
    def choose(self, state):
        (thread := threading.Thread(target=elsewhere)).start()
        thread.join()
        os.fork()
"""


def test_a_check_in_the_sandbox_tells_an_author_which_calls_were_refused(tmp_path: Path):
    (tmp_path / "forks.py").write_text(FORKS)
    report = check(str(tmp_path / "forks.py"), "sandbox", ["epicycle"], [2], home=tmp_path)
    (problem,) = report.boards[0].problems
    assert problem.cause == "crash"
    assert "The sandbox refused it system calls: sched_setaffinity, clone." in problem.detail


def test_a_watched_bot_is_stopped_and_refused_as_others_are(tmp_path: Path):
    cells = Cells(tmp_path, servers=1)
    try:
        with cells.open() as cell:
            watched = Refusals(cell.process.pid)
            for _ in range(3):
                assert cell.run(
                    "result = [syscall(57), syscall(99, 0), attempt(lambda: os.kill(os.getpid(), 18))]"
                ) == [*("ENOSYS", "ENOSYS", "ENOSYS")]
            with pytest.raises(Fault, match="its process ended"):
                cell.run("os._exit(3)")
        assert [*map(name_of, watched.numbers())] == ["fork", "sysinfo", "kill"]
    finally:
        cells.close()
