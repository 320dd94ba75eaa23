"""The match in play that pages show: a small file beside the log, which is no part of it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from arena.core.files import read_regular, write_file
from arena.schedule.blocks import MatchSpec

FILE_NAME = "playing.json"
WRITE_SECONDS = 1.0
"""Seconds between two writes."""
STALE_SECONDS = 10.0
"""Age from which the file is a remnant of a run that was killed."""
MAX_FILE_BYTES = 2**17


class InPlay(NamedTuple):
    """A match in play, by those who played it; its moves are to be checked by the rules."""

    id: str
    board: int
    seats: tuple[int, ...]
    """Entries."""
    moves: list[int]
    """Actions and chance outcomes so far."""


class InPlayFile:
    """File with the match that has been in play for the longest."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._written = 0.0
        self._shown = ""

    def update(self, matches: Iterable[tuple[MatchSpec, list[int]]]) -> None:
        """Write the match that was shown last if it is still in play, else the first of `matches`."""
        if time.monotonic() - self._written < WRITE_SECONDS:
            return
        found = {spec.id: (spec, moves) for spec, moves in matches}
        self._shown = self._shown if self._shown in found else next(iter(found), "")
        if not self._shown:
            return
        self._written = time.monotonic()
        spec, moves = found[self._shown]
        shown = InPlay(spec.id, spec.block.board, spec.seats, moves)
        with contextlib.suppress(OSError):  # what somebody might look at is no reason to stop
            write_file(self.path, [json.dumps(shown).encode()])

    def remove(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def read_in_play(folder: Path) -> InPlay | None:
    """Return the match in play in a folder; None where there is none, or the file is old or cannot be read."""
    path = folder / FILE_NAME
    try:
        if not -STALE_SECONDS < time.time() - path.stat().st_mtime < STALE_SECONDS:
            return None
        match, board, seats, moves = json.loads(read_regular(path, MAX_FILE_BYTES))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    numbers = [board, *seats, *moves] if isinstance(seats, list) and isinstance(moves, list) else [None]
    if not isinstance(match, str) or not all(type(number) is int and number >= 0 for number in numbers):
        return None
    return InPlay(match, board, tuple(seats), moves)
