"""The list of tournaments and comparisons: running ones first, then by their last write."""

from __future__ import annotations

from dataclasses import dataclass

from arena.core.errors import ArenaError
from arena.results.run_status import RUNNING, RunStatus
from arena.web.library import Library, Log
from arena.web.links import Links
from arena.web.rendering import Page, page


@dataclass(frozen=True)
class Row:
    """A line of the list."""

    log: Log
    status: RunStatus | None
    problem: str = ""
    """Why there is no status."""


def page_of(library: Library, links: Links) -> Page:
    """Return the list."""
    rows = [_row(library, log) for log in library.logs()]
    rows.sort(key=_order)
    return page(
        "tournaments.html",
        links,
        title="Tournaments",
        home=str(library.home),
        running=[row for row in rows if row.status and row.status.state == RUNNING],
        tournaments=[row for row in rows if not row.log.is_comparison],
        comparisons=[row for row in rows if row.log.is_comparison],
    )


def _row(library: Library, log: Log) -> Row:
    try:
        return Row(log, library.status(log))
    except ArenaError as error:
        return Row(log, None, str(error))


def _order(row: Row) -> tuple[object, ...]:
    if row.status is None:
        return 2, "", row.log.name
    return row.status.state != RUNNING, [-ord(letter) for letter in row.status.last_write], row.log.name
