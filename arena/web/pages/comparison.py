"""A comparison: its test and its interval as they go."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from arena import api
from arena.results.run_status import RUNNING
from arena.runner.following import ComparisonSoFar
from arena.web.catalog import LogCatalog
from arena.web.links import Links
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, fragment, page

WIDTH, HEIGHT, EDGE = 640, 200, 8
MATCHES_SHOWN = 10
"""Newest matches that are listed."""


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page of a comparison."""
    now = _now(catalog, name)
    found, status = now["found"], now["status"]
    return page(
        "comparison.html",
        links,
        title=f"{found.a} and {found.b} on {found.board.title}" if found else status.name,
        description=f"{status.matches:,} matches",
        scripts=[*(["live.js"] if now["is_running"] else []), "waiting.js"] if links.is_live else [],
        **now,
    )


def event_of(catalog: LogCatalog, links: Links, name: str) -> str:
    """Return what open pages of a comparison are told: its parts that change, as JSON."""
    now = _now(catalog, name)
    shown = fragment("comparison_now.html", links, **now)
    return json.dumps({"now": shown, "state": now["status"].state, "computed": catalog.computed(now["log"])})


def _now(catalog: LogCatalog, name: str) -> dict[str, Any]:
    """Return the values of what changes while a comparison runs."""
    log = catalog.log(name)
    status = catalog.status(log)
    known = catalog.kept(log, "comparison", partial(api.comparison_so_far, log.path))
    view, newest = catalog.find(log, most=MATCHES_SHOWN)
    found = known.value if known else None
    return {
        "log": log,
        "status": status,
        "is_running": status.state == RUNNING,
        "found": found,
        "waiting": known is None or catalog.is_old(log, known),
        "line": _line(found) if found and found.test and len(found.points) > 1 else None,
        "newest": lines_of(log, view, catalog.plan(log), newest.numbers),
    }


def _line(found: ComparisonSoFar) -> dict[str, object]:
    """Return the course of the log-likelihood ratio as places in a drawing, with those of its bounds."""
    assert found.test is not None
    low = min(found.test.lower, *(point.llr for point in found.points))
    high = max(found.test.upper, *(point.llr for point in found.points))
    most = found.points[-1].blocks

    def height(llr: float) -> float:
        return round(EDGE + (HEIGHT - 2 * EDGE) * (high - llr) / (high - low), 1)

    points = " ".join(f"{round(WIDTH * point.blocks / most, 1)},{height(point.llr)}" for point in found.points)
    return {
        "points": points,
        "upper": height(found.test.upper),
        "lower": height(found.test.lower),
        "zero": height(0.0),
        "width": WIDTH,
        "height": HEIGHT,
        "most": most,
    }
