"""Limits of a bot's time and memory."""

from __future__ import annotations

from typing import Any, NamedTuple

ALWAYS_HASHED = ("seconds_per_move", "seconds_to_prepare")
UNHASHED_DEFAULTS = {
    "seconds_to_start": 60.0,
    "seconds_per_match": 0.0,
    "increment": 0.0,
    "margin": 0.05,
    "memory": 1024,
}
"""Values that match identities leave out, in their order. They stay as they are whatever the defaults become."""


class Limits(NamedTuple):
    """Wall-clock seconds and memory that a bot may use; `arena.plan.config.Limits` describes each."""

    seconds_per_move: float = 60.0
    seconds_to_prepare: float = 300.0
    seconds_to_start: float = 60.0
    seconds_per_match: float = 0.0
    increment: float = 0.0
    margin: float = 0.05
    memory: int = 1024

    @property
    def key(self) -> list[Any]:
        """The part of match identities that stands for the limits."""
        given = self._asdict()
        rest = [[name, given[name]] for name, implied in UNHASHED_DEFAULTS.items() if given[name] != implied]
        return [*(given[name] for name in ALWAYS_HASHED), *rest]
