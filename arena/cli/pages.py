"""`arena report` and `arena plot`."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path

from arena import api
from arena.cli.output import print_to_stderr


def write_report(target: str, out: Path | None, open: bool, home: Path | None) -> None:
    """Run `arena report`."""
    from arena.results.exported import REPORT_NAME

    show([path for path in api.export(target, home, out, ["report"]) if path.name == REPORT_NAME], open)


def write_plot(
    target: str,
    what: str,
    game: str | None,
    players: int | None,
    format: str,
    out: Path | None,
    open: bool,
    home: Path | None,
) -> None:
    """Run `arena plot`."""
    show(api.plot(target, what, game, players, home, format, out), open)


def show(paths: list[Path], open: bool, show_path: Callable[[str], None] = print) -> None:
    """Print where files are, and open the first in a browser if that is wanted."""
    for path in paths:
        show_path(str(path))
    if open and not webbrowser.open(paths[0].absolute().as_uri()):
        print_to_stderr(f"no browser was found; open {paths[0].absolute().as_uri()}")
