"""Record each test's processor time, that of its processes too: `python -m pytest -p tests.support.cpu_times ...`.

Wall clock says little on a machine that others use. Times come with xdist too: `--cpu-times 60` lists the 60 dearest
tests and all files. Processes that outlive a test, such as a preloaded parent, count for the test that made them work.
Times of processes that have ended and whose parent did not wait for them are lost, so some figures are too small.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
KEY = "cpu_seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", type=int, default=60, help="List so many tests with the most processor time.")


def _ended() -> float:
    """Return the seconds of this process and of its children that have ended, and of theirs."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _running() -> float:
    """Return the seconds of running descendants, and of their children that have ended."""
    ticks, found = 0, _children(os.getpid())
    while found:
        process = found.pop()
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        ticks += sum(map(int, fields[11:15]))
        found += _children(process)
    return ticks / TICKS_PER_SECOND


def _children(process: int | str) -> list[str]:
    """Return the processes that a process has started, without a look at all others: these may be hundreds."""
    found: list[str] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has ended
            found += thread.read_text().split()
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = _ended() + _running()
    item.user_properties.append((KEY, lambda: _ended() + _running() - before))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    taken: Any = dict(item.user_properties)[KEY]
    report.user_properties = [(KEY, max(0.0, taken()))] if report.when == "teardown" else []
    return report


class Totals:
    """Processor seconds by test, from the reports of every process."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found: Any = dict(report.user_properties).get(KEY, 0.0)
        self.seconds[report.nodeid] += found

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files: Counter[str] = Counter()
        for test, seconds in self.seconds.items():
            files[test.partition("::")[0]] += seconds
        most = terminalreporter.config.getoption("--cpu-times")
        terminalreporter.section(f"processor time: {sum(files.values()):.0f} s")
        for name, taken in [*files.most_common(), *self.seconds.most_common(most)]:
            terminalreporter.write_line(f"{taken:8.2f} s  {name}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Totals())
