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
MAX_SHOWN_EVALUATIONS = 2**14
"""Numbers of evaluations of a match in play that are told: of each its ply, and a value for each seat."""
WORDS = 6
MOVES_END = WORDS * 8 + 4 * MAX_SHOWN_MOVES
HEARTBEAT_BYTES = MOVES_END + 2 * MAX_SHOWN_EVALUATIONS


class Activity(NamedTuple):
    """Activity of a worker."""

    number: int
    """Of the match in its chunk."""
    seat: int
    """Whose bot is at work; `NOBODY` between moves."""
    ply: int
    until: int
    """Deadline of the activity: nanoseconds of the machine's monotonic clock."""


class ShownMatch(NamedTuple):
    """A match in play as its worker shows it, which may have written anything: it is to be checked by the rules."""

    number: int
    """Of the match in its chunk."""
    moves: list[int]
    """Actions and chance outcomes so far."""
    evaluations: list[tuple[int, ...]]
    """Ply, and what its bot expected for each seat, in steps."""


class Heartbeat:
    """Four 64-bit words, each written whole; the seat last, so that a busy seat never goes with an old deadline.

    A fifth word says whose moves follow, and how many: actions and chance outcomes, 32 bits each. A sixth one says how
    many evaluations follow those, and for how many seats: ply and values, 16 bits each.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        with memoryview(memory) as whole:
            self.words = whole[: WORDS * 8].cast("q")
            self._moves = whole[WORDS * 8 : MOVES_END].cast("i")
            self._evaluations = whole[MOVES_END:].cast("h")

    def rest(self, number: int) -> None:
        """Say that no bot is at work in that match of the chunk; the deadline is `MAX_SILENCE_SECONDS`."""
        self.words[1] = NOBODY
        self.words[0] = number
        self.words[3] = time.monotonic_ns() + int(MAX_SILENCE_SECONDS * 1e9)

    def work(self, seat: int, ply: int, seconds: float) -> None:
        """Say that a seat's bot is at work, for at most so many seconds from now."""
        self.words[1] = NOBODY
        self.words[2] = ply
        self.words[3] = time.monotonic_ns() + int(seconds * 1e9)
        self.words[1] = seat

    def read(self) -> Activity:
        """Return the present activity; another process may be writing meanwhile. Once closed, return the last one."""
        try:
            return Activity(*self.words[:4])
        except ValueError:  # another thread has closed it
            return self._last

    def show_moves(
        self, number: int, moves: Sequence[int], evaluations: Sequence[tuple[int, Sequence[int]]] = ()
    ) -> None:
        """Show the first moves and evaluations of a match in play, by its number in its chunk.

        An evaluation is its ply with a value for each seat, in steps. Raises for what the words cannot hold.
        """
        self.words[4] = NO_MOVES
        shown = array("i", moves[:MAX_SHOWN_MOVES])
        self._moves[: len(shown)] = shown
        width = 1 + len(evaluations[0][1]) if evaluations else 1
        values = array("h")
        for ply, steps in evaluations[: MAX_SHOWN_EVALUATIONS // width]:
            if ply < len(shown):
                values.extend((ply, *steps))
        self._evaluations[: len(values)] = values
        self.words[5] = width * (MAX_SHOWN_EVALUATIONS + 1) + len(values)
        self.words[4] = number * (MAX_SHOWN_MOVES + 1) + len(shown)

    def hide_moves(self) -> None:
        """Show no moves any more."""
        self.words[4] = NO_MOVES

    def moves(self) -> ShownMatch | None:
        """Return the match in play as it was shown last; None where there is none, or it is being written."""
        head, values_head = self.words[4], self.words[5]
        number, count = divmod(head, MAX_SHOWN_MOVES + 1)
        moves = self._moves[:count].tolist()
        width, length = divmod(values_head, MAX_SHOWN_EVALUATIONS + 1)
        values = self._evaluations[:length].tolist() if 1 < width <= length else []
        if head < 0 or self.words[4] != head:
            return None
        return ShownMatch(number, moves, [*zip(*[iter(values)] * width, strict=False)] if values else [])

    def close(self) -> None:
        """Release the shared memory."""
        self._last = self.read()
        self.words.release()
        self._moves.release()
        self._evaluations.release()
        self._memory.close()
