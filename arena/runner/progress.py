"""What a run has done so far, and how it ended."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from arena.match.game_faults import GameFault

NOTEBOOK_EVERY = 0.5
"""Seconds between two lines in a notebook."""
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
    def line(self) -> str:
        """How far it is, in a line."""
        where = f", {self.where}" if self.where else ""
        done = self.found + self.played
        return f"{done:,}/{self.total:,} matches, {self.rate:,.0f}/s{where}, left {self.eta}"

    @property
    def eta(self) -> str:
        """Time left as h:mm:ss."""
        return "-:--:--" if self.seconds_left is None else duration(self.seconds_left)

    @property
    def left(self) -> int:
        return self.total - self.found - self.played - self.failed


def duration(length: float) -> str:
    """Seconds as h:mm:ss."""
    seconds = int(length)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def in_notebook() -> bool:
    """Whether what is printed goes to a cell of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextlib.contextmanager
def notebook_line() -> Iterator[Callable[[Progress], None]]:
    """Something to tell of a run's progress: in a notebook it writes one line over and over, elsewhere nothing."""
    if not in_notebook():
        yield lambda progress: None
        return
    shown, width = -NOTEBOOK_EVERY, 0
    latest: Progress | None = None

    def write(progress: Progress) -> None:
        nonlocal width
        line = progress.line
        width = max(width, len(line))
        print(f"\r{line:{width}}", end="", flush=True)

    def show(progress: Progress) -> None:
        nonlocal shown, latest
        latest = progress
        if time.monotonic() - shown >= NOTEBOOK_EVERY:
            shown = time.monotonic()
            write(progress)

    try:
        yield show
    finally:
        if latest is not None:
            write(latest)
            print()


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    progress: Progress
    interrupted: bool
    not_played: list[str]
    """Ids of the matches that could not be played, each with why."""
    seconds: float
    game_faults: list[GameFault] = field(default_factory=list)
    """One for each board that was stopped because its game failed."""

    @property
    def complete(self) -> bool:
        """Whether every match of the plan is in the log."""
        return self.progress.left == 0 and not self.not_played
