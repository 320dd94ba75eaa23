"""The list of tournaments and comparisons: running ones first, then by their last write."""

from __future__ import annotations

import json
from dataclasses import dataclass

from arena.core.errors import ArenaError
from arena.results.run_status import RUNNING, RunStatus
from arena.web.catalog import Log, LogCatalog
from arena.web.links import Links
from arena.web.rendering import Page, fragment, page


@dataclass(frozen=True)
class Row:
    """A line of the list."""

    log: Log
    status: RunStatus | None
    problem: str = ""
    """Why there is no status."""


def page_of(catalog: LogCatalog, links: Links) -> Page:
    """Return the list."""
    scripts = ["live.js"] if links.all_events() else []
    return page(
        "tournaments.html", links, title="Tournaments", home=catalog.home.name, scripts=scripts, **_now(catalog)
    )


def event_of(catalog: LogCatalog, links: Links) -> str:
    """Return what open lists are told: the tables, as JSON."""
    return json.dumps({"now": fragment("tournaments_now.html", links, **_now(catalog))})


def _now(catalog: LogCatalog) -> dict[str, list[Row]]:
    rows = sorted((_row(catalog, log) for log in catalog.logs()), key=_order)
    return {
        "tournaments": [row for row in rows if not row.log.is_comparison],
        "comparisons": [row for row in rows if row.log.is_comparison],
    }


def _row(catalog: LogCatalog, log: Log) -> Row:
    try:
        return Row(log, catalog.status(log))
    except ArenaError as error:
        return Row(log, None, catalog.words(error))


def _order(row: Row) -> tuple[object, ...]:
    if row.status is None:
        return 2, "", row.log.name
    return row.status.state != RUNNING, [-ord(letter) for letter in row.status.last_write], row.log.name
