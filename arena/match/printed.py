"""What bots print while they play: the end of it, by seat."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from arena.core.text import without_controls

MAX_PRINTED_CHARS = 4_000
"""Characters that are kept of what a bot prints in a match: the last ones."""
MAX_PRINTED_CHARS_IN_FAULT = 1_000
"""Of these, what is kept with a fault."""


class PrintedOutput(io.RawIOBase):
    """What is below the standard output and standard error of bots that play in this process."""

    def __init__(self) -> None:
        self.seat: Callable[[], int] = lambda: -1
        """The seat that is at work; negative for none, of which nothing is kept."""
        self._ends: dict[int, str] = {}

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, content: Any) -> int:
        """Keep the end of what the seat at work has written: anything that has bytes."""
        with memoryview(content).cast("B") as written:
            self.keep(self.seat(), bytes(written[-MAX_PRINTED_CHARS:]).decode(errors="replace"))
            return len(written)

    def as_text(self) -> io.TextIOWrapper:
        """Return a stream to print to."""
        unbuffered: Any = self
        return io.TextIOWrapper(unbuffered, "utf-8", "replace", write_through=True)

    def keep(self, seat: int, text: str) -> None:
        """Add to what a seat has printed, and keep the end."""
        if seat >= 0 and text:
            self._ends[seat] = (self._ends.get(seat, "") + text)[-MAX_PRINTED_CHARS:]

    def take(self) -> dict[int, str]:
        """Return by seat the end of what was printed since the last time, without what would steer a terminal."""
        ends, self._ends = self._ends, {}
        return {seat: without_controls(end) for seat, end in sorted(ends.items())}


PRINTED_OUTPUT = PrintedOutput()
"""That of this process. Players of bots in processes of their own add what these have written."""
