"""Heartbeat of a worker: what it is doing, in memory shared with its watchdog."""

from __future__ import annotations

import mmap
import time
from typing import NamedTuple

NOBODY = -1
SILENCE = 900.0
"""Seconds that a worker may be busy without a bot at work, mostly with compiling."""
STARVED = 0.5
"""A bot that overran its time counts as starved when it had the processor for less than this share of it."""
SIZE = 4 * 8


class Activity(NamedTuple):
    """Activity of a worker."""

    number: int
    """Of the match in its chunk."""
    seat: int
    """Whose bot is at work; `NOBODY` between moves."""
    ply: int
    until: int
    """Deadline of the activity: nanoseconds of the machine's monotonic clock."""


class Heartbeat:
    """Four 64-bit words, each written whole; the seat last, so that a busy seat never goes with an old deadline."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._words = memoryview(memory).cast("q")

    def rest(self, number: int) -> None:
        """Say that no bot is at work in that match of the chunk; the deadline is `SILENCE`."""
        self._words[1] = NOBODY
        self._words[0] = number
        self._words[3] = time.monotonic_ns() + int(SILENCE * 1e9)

    def work(self, seat: int, ply: int, seconds: float) -> None:
        """Say that a seat's bot is at work, for at most so many seconds from now."""
        self._words[1] = NOBODY
        self._words[2] = ply
        self._words[3] = time.monotonic_ns() + int(seconds * 1e9)
        self._words[1] = seat

    def read(self) -> Activity:
        """Return the present activity; another process may be writing meanwhile."""
        return Activity(*self._words)

    def close(self) -> None:
        self._words.release()
        self._memory.close()
