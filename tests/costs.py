"""Measure what tests cost, for the lanes: `python -m pytest -p tests.costs` writes it to `tests/data/costs.txt`.

Each line has the seconds of a case, of a machine that does nothing else, and the name of a test whose cases take more
than `MAX_QUICK_SECONDS` together. The short lane runs as many cases of such a test as fit into that, spread evenly over
all of them, and the long lane runs the others. Tests that are not listed are quick, or are marked as long. A test that
is listed stays so, since a lane sees some of its cases alone. A run of named files leaves costs aside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

COSTS = Path(__file__).parent / "data" / "costs.txt"
MAX_QUICK_SECONDS = 0.5
"""Time that the short lane has for all cases of a test."""


def known_costs() -> dict[str, float]:
    """Return the seconds of a case, by the name of its test."""
    return {test: float(seconds) for seconds, test in map(str.split, COSTS.read_text().splitlines())}


def test_of(nodeid: str) -> str:
    """Return the name of a case's test."""
    return nodeid.partition("[")[0]


def quick_cases(cases: Sequence[str], cost: float) -> set[str]:
    """Return which cases of a test the short lane runs, given the seconds of one."""
    count = len(cases) if cost * len(cases) <= MAX_QUICK_SECONDS else int(MAX_QUICK_SECONDS / cost)
    return {cases[number * len(cases) // count] for number in range(count)}


class _Recorder:
    """Adds up in the process that gets all reports."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[test_of(report.nodeid)][report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        costs = known_costs()
        for test, cases in self.seconds.items():
            if test in costs or sum(cases.values()) > MAX_QUICK_SECONDS:
                costs[test] = sum(cases.values()) / len(cases)
        COSTS.write_text("".join(f"{cost:.3f} {test}\n" for test, cost in sorted(costs.items())))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())
