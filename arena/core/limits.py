"""Limits of a bot's time and memory."""

from __future__ import annotations

from typing import Any, NamedTuple


class Limits(NamedTuple):
    """What a bot may use of wall-clock seconds and of memory; `arena.plan.config.Limits` says what each is."""

    seconds_per_move: float = 60.0
    seconds_to_prepare: float = 300.0
    seconds_to_start: float = 60.0
    seconds_per_match: float = 0.0
    increment: float = 0.0
    margin: float = 0.05
    memory: int = 1024

    @property
    def key(self) -> list[Any]:
        """What match identities take of it: the first two, of the others what is not the default."""
        names = self._fields[2:]
        return [
            *self[:2],
            *([name, getattr(self, name)] for name in names if getattr(self, name) != getattr(Limits(), name)),
        ]
