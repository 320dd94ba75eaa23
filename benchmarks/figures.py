"""Figures that benchmarks yield, and clocks to measure them with."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

PR_SET_CHILD_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of prctl(2)."""
END_SECONDS = 1.0
"""Seconds that processes may take to end after the call that started them."""
CLOCK_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Figure:
    """A measured number; within its section no other has its name."""

    name: str
    value: float
    unit: str
    better: Literal["higher", "lower", "neither"]
    processor: float | None = None
    """Processor seconds of one unit of the measured work, children included; None where they are not measured."""
    note: str = ""


@dataclass(frozen=True)
class Skipped:
    """Something that cannot be measured here, and why."""

    name: str
    why: str
    failed: bool = False
    """Whether it ended in an error, rather than for want of something."""


Measured = Iterator[Figure | Skipped]


class Seconds(NamedTuple):
    """Time that something took."""

    wall: float
    processor: float


def number(value: float) -> str:
    """Return a number with three digits at least."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def span(seconds: float | None) -> str:
    """Return a time with three digits, in seconds or a part of them; nothing for none."""
    if seconds is None:
        return ""
    factor, unit = next(((f, u) for f, u in ((1, "s"), (1e3, "ms"), (1e6, "µs")) if seconds * f >= 1), (1e9, "ns"))
    return f"{number(seconds * factor)} {unit}"


def processor_seconds() -> float:
    """Return the processor time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def tree_seconds() -> float:
    """Return the processor time of this process and of all processes below it, those that run included."""
    used, children, below = {}, dict[int, list[int]](), [os.getpid()]
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields, number = path.read_text().rpartition(")")[2].split(), int(path.parent.name)
            used[number] = sum(map(int, fields[11:15]))
            children.setdefault(int(fields[1]), []).append(number)
    for number in below:
        below += children.get(number, [])
    return sum(used.get(number, 0) for number in below) / CLOCK_TICKS_PER_SECOND


def timed(call: Callable[[], object]) -> Seconds:
    """Return the time of one call."""
    wall, processor = time.perf_counter(), processor_seconds()
    call()
    return Seconds(time.perf_counter() - wall, processor_seconds() - processor)


def busy(call: Callable[[], object], repeat: int) -> Seconds:
    """Return the shortest processor time of some calls that never wait, in one thread.

    On a quiet machine that is the time that passes; others who use the machine add to that, and hardly to this.
    """
    processor = min(timed(call).processor for _ in range(repeat))
    return Seconds(processor, processor)


def middle(call: Callable[[], object], repeat: int) -> Seconds:
    """Return the median times of some calls that start processes and end them.

    What they leave behind becomes a child of this process, so that its processor time counts when it has ended.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    walls, processors = [], []
    for _ in range(repeat):
        before = processor_seconds()
        walls.append(timed(call).wall)
        until = time.monotonic() + END_SECONDS
        with contextlib.suppress(ChildProcessError):  # no child is left
            while time.monotonic() < until:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.001)
        processors.append(processor_seconds() - before)
    return Seconds(statistics.median(walls), statistics.median(processors))


def rate(name: str, unit: str, count: float, seconds: Seconds, scale: float = 1, note: str = "") -> Figure:
    """Return how often a second something was done that took so long `count` times, in `scale` of the unit."""
    return Figure(name, count / seconds.wall / scale, unit, "higher", seconds.processor / count * scale, note)


def lasting(name: str, seconds: Seconds, unit: Literal["s", "ms", "µs"] = "s", note: str = "") -> Figure:
    """Return how long something took."""
    factor = {"s": 1, "ms": 1e3, "µs": 1e6}[unit]
    return Figure(name, seconds.wall * factor, unit, "lower", seconds.processor, note)


def command(words: Sequence[str], repeat: int) -> Seconds:
    """Return the median times of a command, as whole processes; raises `CalledProcessError` where it fails."""
    return middle(lambda: subprocess.run(words, check=True, capture_output=True), repeat)
