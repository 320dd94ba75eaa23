"""Seeding: the order of bots before anything is played, by lot or as they are listed."""

from __future__ import annotations

import hashlib
import json
from abc import ABC
from typing import Annotated, Literal, Self

from pydantic import Field

from arena.schedule.boards import Board
from arena.schedule.scheduler import Scheduler


class SeededScheduler(Scheduler, ABC):
    """A kind of schedule that begins from an order of the bots."""

    finds_tables = True

    seeding: Literal["drawn", "listed"] = "drawn"
    """Order of the bots before the first match: drawn by lot, or as listed, the best first. It breaks the last ties."""
    draw: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Number that the lots come from; by default the tournament's `seed`."""

    def with_seed(self, seed: int) -> Self:
        return self if self.draw is not None else self.model_copy(update={"draw": seed})

    def seeds(self, board: Board) -> list[int]:
        """Return the entries of a board by seed, the best first."""
        if self.seeding == "listed":
            return sorted(board.entries)
        place = {entry: number for number, entry in enumerate(board.entries)}
        return sorted(board.entries, key=lambda entry: _lot([self.draw or 0, board.game, board.players, place[entry]]))


def spread(seeds: list[int], size: int) -> list[list[int]]:
    """Divide bots, the best first, into sets of `size`: the best ones apart, and the best with the worst.

    Their number is a multiple of the size.
    """
    count = len(seeds) // size
    rows = [seeds[start : start + count] for start in range(0, len(seeds), count)] if count else []
    return [[row[at if number % 2 == 0 else -1 - at] for number, row in enumerate(rows)] for at in range(count)]


def _lot(parts: list[int | str]) -> bytes:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()
