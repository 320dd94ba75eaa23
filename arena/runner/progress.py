"""Progress and outcome of a run."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import engine
from arena.match.game_faults import GameFault
from arena.match.result import MatchRow
from arena.schedule.blocks import MatchSpec

SCRIPT_LINE_SECONDS = 10.0
"""Seconds between two lines in a script."""
NOTEBOOK_LINE_SECONDS = 0.5
"""Seconds between two lines in a notebook."""
RATED_LINES_AFTER_SECONDS = 10.0
"""Seconds of a run after which boards are shown as they are rated; shorter runs show them at their end."""
RATE_SETTLED_SECONDS = 2.0
"""Seconds after the first reply from which the rate is reliable."""

MAX_LINE_LEADERS = 3
"""Number of bots in the line of a board that is rated."""


@functools.cache
def _returns(ranks: tuple[int, ...]) -> list[float]:
    return engine.returns_from_ranks(ranks)


class RatedBoard(NamedTuple):
    """A board that is rated while others are played."""

    title: str
    best: Sequence[tuple[str, float]]
    """Labels and ratings, best first."""

    @property
    def line(self) -> str:
        """The board and its leaders as one line."""
        leaders = (f"{label} {rating:.2f}" for label, rating in self.best[:MAX_LINE_LEADERS])
        return f"rated: {self.title}: {', '.join(leaders)}"


@dataclass
class Progress:
    """What a run has done so far, for display."""

    total: int
    """Matches in the plan; fewer after a disqualification, except where blocks depend on results."""
    found: int = 0
    """Matches that were in the log before, as far as it has been searched."""
    searched: bool = True
    """Whether an interrupted run has searched all of the log."""
    played: int = 0
    """Matches that this run has played, without those whose blocks have left the plan since."""
    failed: int = 0
    """Matches that were given up."""
    started: float = field(default_factory=time.monotonic)
    first_match: float | None = None
    """Seconds from the start of the run to the first reply, with `first_reply` matches."""
    first_reply: int = 0
    seconds_left: float | None = None
    """Estimate of the time left; None until enough matches of every kind have been played."""
    roughly_left: float | None = None
    """The same from the first results on, which may be far off: the first match of a kind compiles."""
    settled: bool = False
    """Whether the time left was known at any time."""
    phase: str = ""
    """Work beside or after play, such as compiling or rating."""
    where: str = ""
    """Where matches are played, if not in local processes, or what the run waits for."""
    sums: dict[tuple[int, int], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0]))
    """By (board, entry): sum of returns, and number of seats."""
    rated: dict[int, RatedBoard] = field(default_factory=dict)
    """By board that is complete and rated, in the order in which they were."""
    forfeits: int = 0
    stopping: bool = False
    """Whether it was interrupted: matches in play may end soon, then the run ends."""
    remarks: list[str] = field(default_factory=list)
    """Lines for the user at the end."""

    def count(self, specs: Sequence[MatchSpec], rows: Sequence[MatchRow]) -> None:
        """Add the results of a reply."""
        if self.first_match is None:
            self.first_match = time.monotonic() - self.started
            self.first_reply = len(rows)
        for spec, row in zip(specs, rows, strict=True):
            returns = _returns(tuple([seat.rank for seat in row.seats]))
            for entry, value in zip(spec.seats, returns, strict=True):
                total = self.sums[spec.block.board, entry]
                total[0] += value
                total[1] += 1
            self.forfeits += len(row.details)

    @property
    def rate(self) -> float:
        """Matches a second; without the time to the first reply as soon as that is long ago."""
        if self.playing > RATE_SETTLED_SECONDS:
            return (self.played - self.first_reply) / self.playing
        return self.played / max(time.monotonic() - self.started, 1e-9)

    @property
    def playing(self) -> float:
        """Seconds since the first reply."""
        return 0.0 if self.first_match is None else time.monotonic() - self.started - self.first_match

    @property
    def parts(self) -> list[str]:
        """Progress in words; unknown parts are left out."""
        parts = [f"{self.found + self.played:,}/{self.total:,} matches", self.phase]
        if not self.phase:
            parts += [per_second(self.rate)] * (self.played > 0) + [self.where]
            parts += [f"left {duration(self.seconds_left)}"] if self.seconds_left is not None else []
        return [part for part in parts if part]

    @property
    def line(self) -> str:
        """Progress as one line."""
        return ", ".join(self.parts)

    @property
    def rated_lines(self) -> list[str]:
        """A line for each board that has been rated; none before the run has taken a while."""
        late = time.monotonic() - self.started > RATED_LINES_AFTER_SECONDS
        return [board.line for board in self.rated.values()] if late else []

    @property
    def left(self) -> int:
        """Matches still to be played."""
        return self.total - self.found - self.played - self.failed


def per_second(rate: float) -> str:
    """Return a rate in words; a low one is not rounded to 0."""
    return f"{rate:.2g}/s" if rate < 1 else f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s"


def duration(length: float) -> str:
    """Return seconds as h:mm:ss."""
    seconds = int(length)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def in_notebook() -> bool:
    """Return whether output goes to a cell of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextlib.contextmanager
def script_lines() -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress as lines on standard error, each now and then, and the last one."""
    shown, last, latest = time.monotonic(), "", None

    def show(progress: Progress) -> None:
        nonlocal shown, last, latest
        latest = progress
        if time.monotonic() - shown >= SCRIPT_LINE_SECONDS:
            shown, last = time.monotonic(), progress.line
            print(last, file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if latest is not None and latest.line != last:
            print(latest.line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def notebook_line() -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress: in a notebook on one line that it overwrites, elsewhere not at all."""
    if not in_notebook():
        yield lambda progress: None
        return
    shown, width, printed = -NOTEBOOK_LINE_SECONDS, 0, 0
    latest: Progress | None = None

    def write(progress: Progress) -> None:
        nonlocal width
        line = progress.line
        width = max(width, len(line))
        print(f"\r{line:{width}}", end="", flush=True)

    def show(progress: Progress) -> None:
        nonlocal shown, latest, printed
        latest = progress
        for line in progress.rated_lines[printed:]:
            print(f"\r{line:{width}}")
            printed += 1
            shown = -NOTEBOOK_LINE_SECONDS
        if time.monotonic() - shown >= NOTEBOOK_LINE_SECONDS:
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
    """How a run ended."""

    progress: Progress
    interrupted: bool
    not_played: list[str]
    """Ids of matches that could not be played, each with the reason."""
    seconds: float
    game_faults: list[GameFault] = field(default_factory=list)
    """One for each board that was stopped because its game failed."""

    @property
    def complete(self) -> bool:
        """Whether every match of the plan is in the log."""
        return self.progress.left == 0 and not self.not_played
