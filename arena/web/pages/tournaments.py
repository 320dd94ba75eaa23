"""The first page: what plays, the latest results, and all tournaments and comparisons, running ones first."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import engine
from arena.core.errors import ArenaError
from arena.results.run_status import RUNNING, RunStatus
from arena.web.catalog import Log, LogCatalog
from arena.web.lessons import lessons_of
from arena.web.links import Links
from arena.web.pages.matches import MatchLine, lines_of
from arena.web.rendering import Page, fragment, page
from arena.web.standings import Place, standings
from engine.words import counted

LATEST_TIMEOUT_SECONDS = 0.1
"""Time that the first page waits for the best bots of all of them before it is shown without."""
LATEST_SHOWN = 3
"""Tournaments whose best bots the first page names."""
CONTESTS_SHOWN = 3
LATEST_BOARDS = 3
"""Boards of each."""


@dataclass(frozen=True)
class Row:
    """A line of the list."""

    log: Log
    status: RunStatus | None
    problem: str = ""
    """Why there is no status."""


Podium = list[Place] | None
"""The best bots of a board; None while they are computed for the first time."""


def page_of(catalog: LogCatalog, links: Links) -> Page:
    """Return the page."""
    now = _now(catalog)
    shown = _shown(catalog, now["tournaments"])
    return page(
        "tournaments.html",
        links,
        title="Bots play board games with pyramids",
        description=_summary(now),
        summary=_summary(now),
        shown=shown,
        taught=[engine.game_type(name) for name in sorted(engine.game_names()) if lessons_of(name)],
        card=links.position(shown[0].name, shown[1].id, format="png") if shown and shown[1] else "",
        home=catalog.home.name,
        scripts=["live.js", "waiting.js"] if links.is_live else [],
        **now,
    )


def event_of(catalog: LogCatalog, links: Links) -> str:
    """Return what open pages are told: the results and tables, as JSON."""
    now = fragment("tournaments_now.html", links, **_now(catalog))
    return json.dumps({"now": now, "computed": catalog.computed()})


def _now(catalog: LogCatalog) -> dict[str, Any]:
    rows = sorted((_row(catalog, log) for log in catalog.logs()), key=_order)
    tournaments = [row for row in rows if not row.log.is_comparison]
    return {
        "tournaments": tournaments,
        "comparisons": [row for row in rows if row.log.is_comparison],
        "latest": _latest(catalog, tournaments),
        "contests": catalog.contests(CONTESTS_SHOWN),
    }


def _summary(now: dict[str, Any]) -> str:
    """Return how much there is, in words; empty for nothing but contests."""
    if now["contests"] and not now["tournaments"] and not now["comparisons"]:
        return ""
    told = [row.status for row in (*now["tournaments"], *now["comparisons"]) if row.status]
    running = sum(status.state == RUNNING for status in told)
    words = f"{counted(len(told), 'tournament')}, {counted(sum(each.matches for each in told), 'match', 'matches')}"
    return f"{words}; {running} running now." if running else f"{words}."


def _latest(catalog: LogCatalog, rows: list[Row]) -> list[tuple[Row, list[Podium]]]:
    """Return the tournaments that were written to last, each with the best bots of its first boards."""
    found: list[tuple[Row, list[Podium]]] = []
    ends = None if catalog.patience is None else time.monotonic() + LATEST_TIMEOUT_SECONDS
    for row in rows:
        if row.status is None or not row.status.boards or row.log.is_played or len(found) == LATEST_SHOWN:
            continue
        try:
            known = standings(catalog, row.log, range(min(len(row.status.boards), LATEST_BOARDS)), ends)
        except ArenaError:  # a log that is damaged has a row that says so
            continue
        podiums = [each.value.podium[:2] if each else None for each in known]
        if any(podium is None or podium for podium in podiums):
            found.append((row, podiums))
    return found


def _shown(catalog: LogCatalog, rows: list[Row]) -> tuple[Log, MatchLine | None] | None:
    """Return the first tournament that runs or has a match with moves, and its newest match; None where there is none.

    The match is None while it is looked up, or has not been played: an open page asks for it, and for those in play.
    """
    for row in rows[:LATEST_SHOWN]:
        if row.status is None or row.status.foreign:
            continue
        try:
            newest = catalog.results.get(
                (row.log.path, "newest"), row.log.stamp(), partial(_newest, catalog, row.log), LATEST_TIMEOUT_SECONDS
            )
        except ArenaError:
            continue
        if newest is None or newest.value or row.status.state == RUNNING:
            return row.log, newest.value[0] if newest and newest.value else None
    return None


def _newest(catalog: LogCatalog, log: Log) -> list[MatchLine]:
    """Return the newest match of a log, if there is one."""
    view, found = catalog.find(log, most=1)
    return lines_of(log, view, catalog.plan(log), found.numbers)


def _row(catalog: LogCatalog, log: Log) -> Row:
    try:
        return Row(log, catalog.status(log))
    except ArenaError as error:
        return Row(log, None, catalog.words(error))


def _order(row: Row) -> tuple[object, ...]:
    if row.status is None:
        return 2, "", row.log.name
    return row.status.state != RUNNING, [-ord(letter) for letter in row.status.last_write], row.log.name
