"""One tournament: its progress, mean returns and ratings as they come, and the figures of its boards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from arena import api
from arena.results.leaderboards import cells, notes_below
from arena.results.pages.figures import render
from arena.results.pages.report import BoardPage
from arena.results.run_status import RUNNING, BoardStatus, RunStatus
from arena.web.catalog import Log, LogCatalog, LogPlan, NotFoundError
from arena.web.links import Links
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, fragment, page
from arena.web.result_cache import CachedResult

FORMATS = ("svg", "png", "pdf", "json")
MATCHES_SHOWN = 5
"""Newest matches that are listed."""


class Standings(NamedTuple):
    """The leaderboard of a board, as `arena leaderboard` prints it."""

    cells: dict[str, list[str]]
    """Texts by heading; none before the first complete block."""
    matches: int
    """Matches in complete blocks, that it was made from."""
    notes: list[str]
    """What stands below the leaderboard."""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The texts of each bot."""
        return list(zip(*self.cells.values(), strict=True))


class Board(NamedTuple):
    """A board on the page."""

    status: BoardStatus
    slug: str
    standings: Standings | None
    """None while they are computed for the first time."""
    figures: BoardPage | None
    """None while they are computed for the first time."""
    drawn: int
    """Matches in complete blocks, that the figures were made from."""
    is_waiting: bool
    """Whether something newer is being computed, that will come though nothing is played any more."""


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page of a tournament."""
    log = catalog.log(name)
    status = catalog.status(log)
    plan = catalog.plan(log)
    boards = _boards(catalog, log, plan, status, with_figures=True)
    running = status.state == RUNNING and links.is_live
    return page(
        "tournament.html",
        links,
        title=status.name,
        description=f"{status.matches:,} of {status.planned:,} matches, {len(boards)} boards",
        plan=plan,
        is_running=running,
        scripts=[*(["live.js"] if running else []), *(["figures.js", "waiting.js"] if links.is_live else [])],
        **_now(catalog, log, plan, status, boards),
    )


def event_of(catalog: LogCatalog, links: Links, name: str) -> str:
    """Return what open pages of a tournament are told: its parts that change, as JSON."""
    log = catalog.log(name)
    status, plan = catalog.status(log), catalog.plan(log)
    boards = _boards(catalog, log, plan, status, with_figures=False)
    now = fragment("now.html", links, is_running=status.state == RUNNING, **_now(catalog, log, plan, status, boards))
    return json.dumps({"now": now, "state": status.state})


def figure_of(catalog: LogCatalog, name: str, board: str, figure: str, format: str) -> bytes:
    """Return a figure of a board, by its slug, as svg, png, pdf, or as Vega-Lite (json)."""
    log = catalog.log(name)
    slugs = [each.slug for each in catalog.plan(log).schedule.boards]
    if board not in slugs or format not in FORMATS:
        raise NotFoundError("there is no such figure")
    index = slugs.index(board)
    known = catalog.kept(log, ("figures", index), partial(api.board_figures, log.path, index), patience=None)
    if known is None or figure not in known.value[0].figures:
        raise NotFoundError("there is no such figure")
    spec = known.value[0].figures[figure].spec
    if format == "json":
        return json.dumps(spec).encode()
    drawn = catalog.results.get(
        (log.path, "drawn", index, figure, format), known.version, partial(render, spec, format)
    )
    assert drawn is not None  # nothing gives up waiting
    return drawn.value


def _now(catalog: LogCatalog, log: Log, plan: LogPlan, status: RunStatus, boards: list[Board]) -> dict[str, Any]:
    """Return the values of what changes while a tournament runs."""
    view, newest = catalog.find(log, most=MATCHES_SHOWN)
    return {
        "log": log,
        "status": status,
        "boards": boards,
        "newest": lines_of(log, view, plan, newest.numbers),
    }


def _boards(catalog: LogCatalog, log: Log, plan: LogPlan, status: RunStatus, with_figures: bool) -> list[Board]:
    places, ends = range(len(status.boards)), catalog.deadline()
    rated = standings(catalog, log, places, ends)
    drawn: list[CachedResult[tuple[BoardPage, int]] | None] = [None] * len(places)
    if with_figures:
        figures_of = {index: partial(api.board_figures, log.path, index) for index in places}
        drawn = catalog.all_kept(log, "figures", figures_of, ends)
    found: list[Board] = []
    for board, shape, known, figures in zip(status.boards, plan.schedule.boards, rated, drawn, strict=True):
        shown, matches = figures.value if figures else (None, 0)
        waits = any(
            each is None or catalog.is_old(log, each) for each in ([known, figures] if with_figures else [known])
        )
        found.append(Board(board, shape.slug, known.value if known else None, shown, matches, waits))
    return found


def standings(
    catalog: LogCatalog, log: Log, boards: Sequence[int], ends: float | None
) -> list[CachedResult[Standings] | None]:
    """Return the standings of boards, by their numbers in the plan, as `LogCatalog.all_kept` does."""
    return catalog.all_kept(log, "standings", {index: partial(_standings, log.path, index) for index in boards}, ends)


def _standings(log: Path, index: int) -> Standings:
    frame, matches = api.board_leaderboard(log, index)
    return Standings(cells(frame), matches, notes_below(frame))
