"""What a run has done so far, and how it ended."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field

SETTLED = 2.0
"""Seconds after the first reply from which the rate is believed."""


@dataclass
class Progress:
    """What a run has done so far, for whoever shows it."""

    total: int
    """Matches in the plan; fewer when a bot is benched, but for adaptive boards."""
    found: int = 0
    """Matches that were in the log already."""
    played: int = 0
    """Those whose blocks have left the plan are taken off again."""
    failed: int = 0
    started: float = field(default_factory=time.monotonic)
    first_match: float | None = None
    """Seconds from the start of the run to the first reply, with `first_reply` matches."""
    first_reply: int = 0
    seconds_left: float | None = None
    where: str = ""
    """`Ray` when it plays."""
    sums: dict[tuple[int, int], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0]))
    """By (board, entry): returns added up, and seats."""
    forfeits: int = 0
    stopping: bool = False
    """Interrupted: what is in flight is played to its end, then the run ends."""
    remarks: list[str] = field(default_factory=list)
    """What a user should be told at the end."""

    @property
    def rate(self) -> float:
        """Matches a second, without the time it took to get going as soon as that can be told."""
        if self.playing > SETTLED:
            return (self.played - self.first_reply) / self.playing
        return self.played / max(time.monotonic() - self.started, 1e-9)

    @property
    def playing(self) -> float:
        """Seconds since the first reply."""
        return 0.0 if self.first_match is None else time.monotonic() - self.started - self.first_match

    @property
    def left(self) -> int:
        return self.total - self.found - self.played - self.failed


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    progress: Progress
    interrupted: bool
    not_played: list[str]
    """Ids of the matches that could not be played, each with why."""
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether every match of the plan is in the log."""
        return self.progress.left == 0 and not self.not_played
