"""Showing a run: a progress bar with the boards' leaders on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from rich import progress as bars
from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table

from arena.plan import Plan
from arena.runner import Progress

LEADERS = 3
LINE_EVERY = 10.0
REFRESH = 4


def leaders(plan: Plan, progress: Progress, board: int) -> str:
    """The best of a board so far by mean return."""
    means = [
        (-sums[0] / sums[1], plan.schedule.entries[entry].label)
        for (number, entry), sums in progress.sums.items()
        if number == board and sums[1]
    ]
    return "  ".join(f"{label} {-mean:+.2f}" for mean, label in sorted(means)[:LEADERS])


def eta(progress: Progress) -> str:
    """Time left at the rate so far, as h:mm:ss."""
    if not progress.played:
        return "-:--:--"
    seconds = int(progress.left / progress.rate)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class Live:
    """A bar and the leaders, drawn on standard error."""

    def begin(self, plan: Plan) -> None:
        self.plan = plan
        self.bar = bars.Progress(
            bars.BarColumn(bar_width=24),
            bars.TextColumn(
                "{task.completed:,}/{task.total:,} matches  {task.fields[rate]:,.0f}/s  left {task.fields[eta]}"
            ),
            bars.TextColumn("{task.fields[where]}"),
        )
        self.task = self.bar.add_task("", total=plan.schedule.total_matches, rate=0.0, eta="-:--:--", where="")
        self.live = RichLive(self.bar, console=Console(stderr=True), refresh_per_second=REFRESH, transient=True)
        self.live.start()
        self.shown = 0.0

    def show(self, progress: Progress) -> None:
        if time.monotonic() - self.shown < 1 / REFRESH:
            return
        self.shown = time.monotonic()
        where = "Ray" if progress.ray else ""
        done = progress.found + progress.played
        self.bar.update(self.task, completed=done, rate=progress.rate, eta=eta(progress), where=where)
        table = Table(box=None, show_header=False, padding=(0, 1))
        for number, board in enumerate(self.plan.schedule.boards):
            table.add_row(board.title, leaders(self.plan, progress, number))
        self.live.update(Group(self.bar, table))

    def end(self) -> None:
        if hasattr(self, "live"):
            self.live.stop()


class Plain:
    """A line now and then on standard error, for logs and pipes."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.shown = time.monotonic()

    def begin(self, plan: Plan) -> None:
        if not self.quiet:
            schedule = plan.schedule
            print(
                f"{plan.name}: {schedule.total_matches:,} matches of {len(schedule.entries)} bots on "
                f"{len(schedule.boards)} boards",
                file=sys.stderr,
            )

    def show(self, progress: Progress) -> None:
        if self.quiet or time.monotonic() - self.shown < LINE_EVERY:
            return
        self.shown = time.monotonic()
        done = progress.found + progress.played
        where = ", Ray" if progress.ray else ""
        print(
            f"{done:,}/{progress.total:,} matches, {progress.rate:,.0f}/s{where}, left {eta(progress)}", file=sys.stderr
        )

    def end(self) -> None:
        pass
