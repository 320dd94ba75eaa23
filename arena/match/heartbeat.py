"""Where a worker says what it is doing, in memory shared with whoever watches it."""

from __future__ import annotations

import mmap
import time
from typing import NamedTuple

NOBODY = -1
SILENCE = 900.0
"""Seconds that a worker may be busy without a bot at work: with compiling, for the most part."""
STARVED = 0.5
"""A bot that overran its time is taken for starved when it had less of the processor than this share of that time."""
SIZE = 4 * 8


class Activity(NamedTuple):
    """What a worker is at."""

    number: int
    """Of the match in its chunk."""
    seat: int
    """Whose bot is at work; NOBODY between moves."""
    ply: int
    until: int
    """When the time is up of whoever is at work: nanoseconds of the machine's monotonic clock."""


class Heartbeat:
    """Four 64-bit words, each written whole; the seat last, so that a busy seat never goes with an old deadline."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._words = memoryview(memory).cast("q")

    def rest(self, number: int) -> None:
        """No bot's clock runs in that match of the chunk; even so a worker is not to be silent for ever."""
        self._words[1] = NOBODY
        self._words[0] = number
        self._words[3] = time.monotonic_ns() + int(SILENCE * 1e9)

    def work(self, seat: int, ply: int, seconds: float) -> None:
        """A seat's bot is at work, for at most so many seconds from now."""
        self._words[1] = NOBODY
        self._words[2] = ply
        self._words[3] = time.monotonic_ns() + int(seconds * 1e9)
        self._words[1] = seat

    def read(self) -> Activity:
        """The present state; another process may be writing meanwhile."""
        return Activity(*self._words)

    def close(self) -> None:
        self._words.release()
        self._memory.close()
