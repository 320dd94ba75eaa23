"""Heartbeat of a worker: what it is doing, in memory shared with its watchdog."""

from __future__ import annotations

import mmap
import time
from array import array
from collections.abc import Sequence
from typing import NamedTuple

NOBODY = -1
NO_MOVES = -1
MAX_SILENCE_SECONDS = 900.0
"""Seconds that a worker may be busy without a bot at work, mostly with compiling."""
STARVED_CPU_SHARE = 0.5
"""A bot that overran its time counts as starved when it had the processor for less than this share of it."""
MAX_SHOWN_MOVES = 4096
"""Moves of a match in play that are told."""
HEARTBEAT_BYTES = 5 * 8 + 4 * MAX_SHOWN_MOVES


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
    """Four 64-bit words, each written whole; the seat last, so that a busy seat never goes with an old deadline.

    A fifth word says whose moves follow it, and how many: actions and chance outcomes, 32 bits each.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        with memoryview(memory) as whole:
            self._words = whole[: 5 * 8].cast("q")
            self._moves = whole[5 * 8 :].cast("i")

    def rest(self, number: int) -> None:
        """Say that no bot is at work in that match of the chunk; the deadline is `MAX_SILENCE_SECONDS`."""
        self._words[1] = NOBODY
        self._words[0] = number
        self._words[3] = time.monotonic_ns() + int(MAX_SILENCE_SECONDS * 1e9)

    def work(self, seat: int, ply: int, seconds: float) -> None:
        """Say that a seat's bot is at work, for at most so many seconds from now."""
        self._words[1] = NOBODY
        self._words[2] = ply
        self._words[3] = time.monotonic_ns() + int(seconds * 1e9)
        self._words[1] = seat

    def read(self) -> Activity:
        """Return the present activity; another process may be writing meanwhile."""
        return Activity(*self._words[:4])

    def show_moves(self, number: int, moves: Sequence[int]) -> None:
        """Show the first moves of a match in play, by its number in its chunk; raises what no 32 bits can hold."""
        self._words[4] = NO_MOVES
        shown = array("i", moves[:MAX_SHOWN_MOVES])
        self._moves[: len(shown)] = shown
        self._words[4] = number * (MAX_SHOWN_MOVES + 1) + len(shown)

    def hide_moves(self) -> None:
        """Show no moves any more."""
        self._words[4] = NO_MOVES

    def moves(self) -> tuple[int, list[int]] | None:
        """Return the number of the match in play and its moves as they were shown last; None where there are none.

        Whoever has written them may have written anything, and may be writing: they are to be checked by the rules.
        """
        head = self._words[4]
        number, count = divmod(head, MAX_SHOWN_MOVES + 1)
        moves = self._moves[:count].tolist()
        return (number, moves) if head >= 0 and self._words[4] == head else None

    def close(self) -> None:
        self._words.release()
        self._moves.release()
        self._memory.close()
