"""Showing a run: a progress bar with the boards' leaders on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TextIO

from rich import progress as bars
from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table

from arena.plan.resolve import Plan
from arena.runner.run import Progress

LEADERS = 3
LONGEST = 16
"""Letters of a label among the leaders."""
ECHO = 6
"""Columns left free at the right: a terminal echoes Ctrl-C as ^C, and a line that wraps spoils the drawing."""
LINE_EVERY = 10.0
REFRESH = 4
STOPPING = "Finishing the matches in play. Press Ctrl-C again to drop them."


def can_draw(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and not Console(file=stream).is_dumb_terminal


def tell(line: str) -> None:
    """Say something beside the output; that nobody listens any more stops nothing."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def matches(count: int) -> str:
    return "1 match" if count == 1 else f"{count:,} matches"


def summary(plan: Plan) -> str:
    """The size of a plan in words."""
    schedule = plan.schedule
    boards = "1 board" if len(schedule.boards) == 1 else f"{len(schedule.boards)} boards"
    return f"{matches(schedule.total_matches)} of {len(schedule.entries)} bots on {boards}"


def leaders(plan: Plan, progress: Progress, board: int) -> str:
    """The best of a board so far by mean return."""
    means = [
        (-sums[0] / sums[1], plan.schedule.entries[entry].label)
        for (number, entry), sums in progress.sums.items()
        if number == board and sums[1]
    ]
    return "  ".join(f"{_short(label)} {-mean:+.2f}" for mean, label in sorted(means)[:LEADERS])


def _short(label: str) -> str:
    """A label's beginning and end: specs of one bot differ in their last letters."""
    half = LONGEST // 2
    return label if len(label) <= LONGEST else f"{label[:half]}…{label[1 - half :]}"


class Live:
    """A bar and the leaders, drawn on standard error."""

    def __init__(self) -> None:
        console = Console(stderr=True, markup=False, emoji=False)
        self.width = console.width - ECHO
        text = bars.TextColumn(
            "{task.completed:,}/{task.total:,} matches  {task.fields[rate]:,.0f}/s  left {task.fields[eta]}"
            "{task.fields[where]}"
        )
        self.bar = bars.Progress(bars.BarColumn(bar_width=16), text)
        self.live = RichLive("Getting ready …", console=console, refresh_per_second=REFRESH, transient=True)
        self.live.start(refresh=True)
        self.shown = 0.0

    def begin(self, plan: Plan) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone; the run goes on
            self._begin(plan)

    def _begin(self, plan: Plan) -> None:
        self.plan = plan
        total = plan.schedule.total_matches
        self.task = self.bar.add_task("", total=total, rate=0.0, eta="-:--:--", where="")
        self.live.update(self.bar)

    def show(self, progress: Progress) -> None:
        if time.monotonic() - self.shown < 1 / REFRESH:
            return
        self.shown = time.monotonic()
        with contextlib.suppress(OSError):
            self._show(progress)

    def _show(self, progress: Progress) -> None:
        done = progress.found + progress.played
        where = f"  {progress.where}" if progress.where else ""
        self.bar.update(
            self.task, total=progress.total, completed=done, rate=progress.rate, eta=progress.eta, where=where
        )
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), width=self.width)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        for number, board in enumerate(self.plan.schedule.boards):
            table.add_row(board.title, leaders(self.plan, progress, number))
        self.live.update(Group(self.bar, table, STOPPING if progress.stopping else ""))

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.live.stop()


class Plain:
    """A line now and then on standard error, for logs and pipes."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.shown = time.monotonic()
        self.stopping = False

    def begin(self, plan: Plan) -> None:
        if not self.quiet:
            tell(f"{plan.name}: {summary(plan)}")

    def show(self, progress: Progress) -> None:
        if progress.stopping and not self.stopping:
            self.stopping = True
            tell(STOPPING)
        if self.quiet or time.monotonic() - self.shown < LINE_EVERY:
            return
        self.shown = time.monotonic()
        tell(progress.line)

    def end(self) -> None:
        pass
