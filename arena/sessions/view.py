"""What a session shows at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from engine import State


class Phase(StrEnum):
    """What a session does now."""

    PREPARING = "preparing"
    """Bots are looked up and compiled, or moves are played again."""
    THINKING = "thinking"
    """A bot moves."""
    WAITING = "waiting"
    """A person is to move."""
    OVER = "over"
    """The match is over."""
    FAILED = "failed"
    """The session cannot go on."""


class PlyView(NamedTuple):
    """One ply as a session shows it."""

    seat: int
    """Who moved; `engine.CHANCE` for dice."""
    text: str
    """The action or outcome in the game's notation."""
    rolled_by: int
    """Seat whose dice fell; -1 for the set-up, and for an action."""
    forced: bool
    """Whether there was no other action."""
    opening: bool
    """Whether it was drawn at random before anybody chose."""


@dataclass
class SeatView:
    """A seat as a session shows it."""

    name: str
    person: bool
    left: float = 0.0
    """Seconds on a person's clock."""
    forfeit: tuple[str, int, str] | None = None
    """Cause, ply and detail."""
    seconds: float = 0.0
    """Time that its last move took."""


@dataclass
class SessionView:
    """Everything that a session shows at one moment."""

    version: int
    phase: Phase
    line: str
    """What is going on, or what failed, in a sentence."""
    seat: int
    """Whose move is due; `CHANCE` or `TERMINAL` otherwise."""
    state: State
    """A copy."""
    plies: list[PlyView]
    notes: dict[int, str]
    seats: list[SeatView]
    ranks: list[int] | None
    ended: str
    seed: int | None
    can_take_back: bool
    kept: str
    """Name of the log that holds the match; empty when none does."""
    turning_ply: int | None = None
    """Where the match turned, when it is over: the largest swing of evaluations, or the last choice of a person."""
    has_turned: bool = False
    """Whether it was evaluations that told."""
