"""What is to be seen of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine import State

PREPARING, THINKING, WAITING, OVER, FAILED = "preparing", "thinking", "waiting", "over", "failed"
"""What a table does: getting ready; a bot moves; a person's move is awaited; the match is over; the table failed."""


class TablePly(NamedTuple):
    """One ply as a table shows it."""

    seat: int
    """Who moved; `engine.CHANCE` for dice."""
    text: str
    rolled_by: int
    """Whose dice; -1 for the set-up, and for what is no roll."""
    forced: bool
    """Whether there was no other action."""
    opening: bool
    """Whether it was drawn at random before anybody chose."""


@dataclass
class Seat:
    """A seat as a table shows it."""

    name: str
    person: bool
    left: float = 0.0
    """Seconds on a person's clock."""
    forfeit: tuple[str, int, str] | None = None
    """Cause, ply and detail."""
    seconds: float = 0.0
    """That its last move took."""


@dataclass
class View:
    """Everything that is to be seen of a table at one moment."""

    version: int
    phase: str
    line: str
    """What is going on, or what failed, in a sentence."""
    seat: int
    """Whose move is due; `CHANCE` or `TERMINAL` otherwise."""
    state: State
    """A copy."""
    plies: list[TablePly]
    notes: dict[int, str]
    seats: list[Seat]
    ranks: list[int] | None
    ended: str
    seed: int | None
    can_take_back: bool
    kept: str
    """Name of the log that holds the match; empty when none does."""
