"""When a match is played again from its start, and what is kept of it: after an overrun, or when a bot was killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.match.heartbeat import NOBODY
from arena.match.result import Forfeit


@dataclass(frozen=True)
class Overrun:
    """How the first try of a match ended: a bot overran its time while it had little of the processor."""

    seat: int
    ply: int
    detail: str
    call: list[int]
    """As in `Result.calls`."""
    actions: list[int]
    """All plies before."""
    forfeits: dict[int, Forfeit]
    """Other seats' forfeits before."""


class PlayedBefore(NamedTuple):
    """What was played of a match before, so that it can be continued."""

    position: str | None = None
    """Position string that it starts from; None for the start of the game."""
    actions: Sequence[int] = ()
    """All plies so far. Bots are asked for theirs again, which stand whatever they answer now."""


class PlayAgain(Exception):
    """A match must be played again from its start: after an overrun, or because a seat's process was killed."""

    def __init__(self, overrun: Overrun | None = None, killed: int = NOBODY) -> None:
        super().__init__(overrun.detail if overrun is not None else f"seat {killed} was killed")
        self.overrun, self.killed = overrun, killed
