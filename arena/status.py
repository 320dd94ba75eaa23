"""Where a worker says what it is doing, in memory shared with whoever watches it."""

from __future__ import annotations

import mmap
import time
from typing import NamedTuple

NOBODY = -1
SIZE = 4 * 8


class Work(NamedTuple):
    """What a worker is at."""

    number: int
    """Of the match in its chunk."""
    seat: int
    """Whose bot is at work; NOBODY between moves."""
    ply: int
    until: int
    """When the bot's time is up: nanoseconds of the monotonic clock, which all processes of a machine share."""


class Status:
    """Four 64-bit words, each written whole; the seat last, so that a busy seat never goes with an old deadline."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._words = memoryview(memory).cast("q")

    def rest(self, number: int) -> None:
        """Nobody's bot is at work in that match of the chunk."""
        self._words[1] = NOBODY
        self._words[0] = number

    def work(self, seat: int, ply: int, seconds: float) -> None:
        """A seat's bot is at work, for at most so many seconds from now."""
        self._words[1] = NOBODY
        self._words[2] = ply
        self._words[3] = time.monotonic_ns() + int(seconds * 1e9)
        self._words[1] = seat

    def read(self) -> Work:
        """The present state; another process may be writing meanwhile."""
        return Work(*self._words)

    def close(self) -> None:
        self._words.release()
        self._memory.close()
