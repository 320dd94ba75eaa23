"""The list of tournaments and comparisons: running ones first, then by their last write."""

from __future__ import annotations

import json
from dataclasses import dataclass

from arena.core.errors import ArenaError
from arena.results.run_status import RUNNING, RunStatus
from arena.web.library import Library, Log
from arena.web.links import Links
from arena.web.rendering import Page, fragment, page


@dataclass(frozen=True)
class Row:
    """A line of the list."""

    log: Log
    status: RunStatus | None
    problem: str = ""
    """Why there is no status."""


def page_of(library: Library, links: Links) -> Page:
    """Return the list."""
    scripts = ["live.js"] if links.all_events() else []
    return page(
        "tournaments.html", links, title="Tournaments", home=library.home.name, scripts=scripts, **_now(library)
    )


def event_of(library: Library, links: Links) -> str:
    """Return what open lists are told: the tables, as JSON."""
    return json.dumps({"now": fragment("tournaments_now.html", links, **_now(library))})


def _now(library: Library) -> dict[str, list[Row]]:
    rows = sorted((_row(library, log) for log in library.logs()), key=_order)
    return {
        "tournaments": [row for row in rows if not row.log.is_comparison],
        "comparisons": [row for row in rows if row.log.is_comparison],
    }


def _row(library: Library, log: Log) -> Row:
    try:
        return Row(log, library.status(log))
    except ArenaError as error:
        return Row(log, None, library.words(error))


def _order(row: Row) -> tuple[object, ...]:
    if row.status is None:
        return 2, "", row.log.name
    return row.status.state != RUNNING, [-ord(letter) for letter in row.status.last_write], row.log.name
