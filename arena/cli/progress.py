"""Progress on standard error, for every command that takes long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from arena.cli.output import can_draw, print_to_stderr

ECHO_COLUMNS = 6
"""Columns left free at the right: a terminal echoes Ctrl-C as ^C, and a line that wraps spoils the drawing."""
BAR_COLUMNS, MIN_BAR_COLUMNS = 16, 4
"""Of a progress bar, and of one beside a long text."""
LINE_SECONDS = 10.0
"""Seconds between two lines where there is no terminal."""
REDRAWS_PER_SECOND = 4
"""Drawings a second."""
STOPPING_MESSAGE = "Saving what is played. Press Ctrl-C again to drop the matches in play."


class Display:
    """Progress on standard error: redrawn in place on a terminal, elsewhere a line now and then."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.stopping, self.phase, self.news_shown, self.last = False, "", 0, ""
        self.live: Live | None = None
        if can_draw(sys.stderr) and not quiet:
            console = Console(stderr=True, markup=False, emoji=False, highlight=False)
            self.console = console
            self.live = Live("Getting ready …", console=console, refresh_per_second=REDRAWS_PER_SECOND, transient=True)
            self.live.start(refresh=True)
        self.shown = 0.0 if self.live else time.monotonic()

    def show(
        self,
        line: Callable[[], str],
        drawing: Callable[[int, int], RenderableType] | None = None,
        stopping: bool = False,
        phase: str = "",
        news: Sequence[str] = (),
    ) -> None:
        """Show a line, or on a terminal a drawing of a given width and height.

        It is skipped if the last one was a moment ago, but for the first of a phase. `news` are lines so far that a
        drawing contains, and that elsewhere are each printed once.
        """
        if stopping and not self.stopping and self.live is None:
            print_to_stderr(STOPPING_MESSAGE)
        new = bool(phase) and (self.live is not None or not self.phase) and phase != self.phase
        self.stopping, self.phase = stopping, phase
        if self.live is None and not self.quiet:
            for text in news[self.news_shown :]:
                print_to_stderr(text)
            self.news_shown = len(news)
        recent = time.monotonic() - self.shown < (1 / REDRAWS_PER_SECOND if self.live else LINE_SECONDS)
        if self.quiet or (recent and not new):
            return
        self.shown = time.monotonic()
        if self.live is None:
            text = line()
            if text != self.last:  # what has not changed is no news in a file
                print_to_stderr(text)
            self.last = text
            return
        with contextlib.suppress(OSError):  # the terminal may be gone; the command goes on
            self.live.update(Group(self._drawn(drawing) if drawing else line(), STOPPING_MESSAGE if stopping else ""))

    def _drawn(self, drawing: Callable[[int, int], RenderableType]) -> RenderableType:
        """Return a drawing that fits the terminal as it is now."""
        return drawing(self.console.width - ECHO_COLUMNS, self.console.height)

    def end(self) -> None:
        """Clear the terminal for the result."""
        if self.live is not None:
            with contextlib.suppress(OSError):
                self.live.stop()


def bar(done: int, total: int | None, text: str, width: int = 80) -> RenderableType:
    """Return a progress bar with a text; `total` is None when it is unknown. A long text has a short bar."""
    columns = max(MIN_BAR_COLUMNS, min(BAR_COLUMNS, width - len(text) - 2))
    table = Table.grid(padding=(0, 1))
    table.add_column(width=columns)
    table.add_column(no_wrap=True)
    table.add_row(ProgressBar(total=total, completed=done, width=columns, pulse=total is None), text)
    return table
