"""Blocks that repeat others move for move: deterministic bots play the same matches whenever an opening comes again.

Such a block is no new evidence and is not counted as long as every repeated opening led to the same matches; once one
did not, chance plays a part, and all blocks count.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Repeats(Generic[T]):
    """Tells which blocks count, in the order in which they are added."""

    def __init__(self) -> None:
        self.chance = False
        """Whether one opening led to different matches."""
        self.in_a_row = 0
        """Blocks since the last new opening."""
        self._seen: dict[Hashable, Hashable] = {}
        self._held: list[T] = []

    @property
    def count(self) -> int:
        """Blocks that are not counted."""
        return len(self._held)

    @property
    def openings(self) -> int:
        """Openings seen while nothing tells of chance."""
        return len(self._seen)

    def add(self, start: Hashable, matches: Hashable, block: T) -> list[T]:
        """Return the blocks that count from now on: this one, none, or with it all that were held back.

        `start` tells line-ups and opening of a block, `matches` all of its moves.
        """
        if self.chance:
            return [block]
        known = self._seen.setdefault(start, matches)
        if known is matches:
            self.in_a_row = 0
            return [block]
        if known == matches:
            self.in_a_row += 1
            self._held.append(block)
            return []
        self.chance, held = True, self._held
        self._held, self._seen = [], {}
        return [*held, block]
