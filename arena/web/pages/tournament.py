"""One tournament: its progress, mean returns and ratings as they come, and the figures of its boards."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any, NamedTuple

from arena import api
from arena.core.errors import BotError
from arena.registry.submissions import INDEX_FILE, submissions_folder, submitted
from arena.results.pages.figures import render
from arena.results.run_status import RUNNING, RunStatus
from arena.tournament.tournament import BoardStatus
from arena.web.catalog import Log, LogCatalog, LogPlan, NotFoundError
from arena.web.filters import name_in
from arena.web.highlights import Highlight, featured
from arena.web.links import Links
from arena.web.pages.matches import MatchLine, lines_of
from arena.web.rendering import Page, fragment, page
from arena.web.standings import Standings, standings

FORMATS = ("svg", "png", "pdf", "json")
FEATURED_TIMEOUT_SECONDS = 0.1
"""Time that a page waits for matches worth a look, once its boards are rated."""
MATCHES_SHOWN = 5
"""Newest matches that are listed."""


FeaturedMatch = tuple[Highlight, MatchLine]
"""A match that is shown before all others, with the reason."""


class Board(NamedTuple):
    """A board on the page."""

    status: BoardStatus
    slug: str
    standings: Standings | None
    """None while they are computed for the first time."""
    is_waiting: bool
    """Whether newer ones are being computed, that will come though nothing is played any more."""


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page of a tournament."""
    log = catalog.log(name)
    status = catalog.status(log)
    plan = catalog.plan(log)
    boards = _boards(catalog, log, plan, status)
    chosen = _featured(catalog, log, plan, boards)
    running = status.state == RUNNING and links.is_live
    return page(
        "tournament.html",
        links,
        title=status.name,
        description=f"{status.matches:,} of {status.planned:,} matches, {len(boards)} boards",
        plan=plan,
        is_running=running,
        featured=chosen,
        card=_card(links, log, chosen),
        scripts=[*(["live.js"] if running else []), *(["figures.js", "waiting.js"] if links.is_live else [])],
        **_now(catalog, links, log, plan, status, boards),
    )


def figures_page_of(catalog: LogCatalog, links: Links, name: str, board: str) -> Page:
    """Return the page with the figures of a board, by its slug; raises `NotFoundError` where there is none."""
    log = catalog.log(name)
    plan = catalog.plan(log)
    index = _index_of(plan, board)
    found = catalog.kept(log, ("figures", index), partial(api.board_figures, log.path, index))
    figures, drawn = found.value if found else (None, 0)
    return page(
        "figures.html",
        links,
        title=f"Figures of {plan.schedule.boards[index].title} in {log.title}",
        log=log,
        board=plan.schedule.boards[index],
        figures=figures,
        drawn=drawn,
        is_waiting=found is None or catalog.is_old(log, found),
        foreign=plan.resolved.foreign,
        here=links.figures(log.name, board),
        scripts=["figures.js", "waiting.js"] if links.is_live else [],
    )


def event_of(catalog: LogCatalog, links: Links, name: str) -> str:
    """Return what open pages of a tournament are told: its parts that change, as JSON."""
    log = catalog.log(name)
    status, plan = catalog.status(log), catalog.plan(log)
    boards = _boards(catalog, log, plan, status)
    now = fragment(
        "now.html", links, is_running=status.state == RUNNING, **_now(catalog, links, log, plan, status, boards)
    )
    return json.dumps({"now": now, "state": status.state, "computed": catalog.computed(log)})


def figure_of(catalog: LogCatalog, name: str, board: str, figure: str, format: str) -> bytes:
    """Return a figure of a board, by its slug, as svg, png, pdf, or as Vega-Lite (json)."""
    log = catalog.log(name)
    index = _index_of(catalog.plan(log), board)
    if format not in FORMATS:
        raise NotFoundError("there is no such figure")
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


def _now(
    catalog: LogCatalog, links: Links, log: Log, plan: LogPlan, status: RunStatus, boards: list[Board]
) -> dict[str, Any]:
    """Return the values of what changes while a tournament runs."""
    view, newest = catalog.find(log, most=MATCHES_SHOWN)
    return {
        "log": log,
        "status": status,
        "boards": boards,
        "addresses": {bot.label: links.bot(name_in(bot.spec)) for bot in plan.resolved.bots},
        "people": _authors(catalog, plan),
        "newest": lines_of(log, view, plan, newest.numbers),
    }


def _index_of(plan: LogPlan, slug: str) -> int:
    """Return the number of a board; raises `NotFoundError` for a slug of none."""
    slugs = [each.slug for each in plan.schedule.boards]
    if slug not in slugs:
        raise NotFoundError("there is no such board")
    return slugs.index(slug)


def _boards(catalog: LogCatalog, log: Log, plan: LogPlan, status: RunStatus) -> list[Board]:
    places, ends = range(len(status.boards)), catalog.deadline()
    rated = standings(catalog, log, places, ends)
    return [
        Board(board, shape.slug, known.value if known else None, known is None or catalog.is_old(log, known))
        for board, shape, known in zip(status.boards, plan.schedule.boards, rated, strict=True)
    ]


def _featured(catalog: LogCatalog, log: Log, plan: LogPlan, boards: list[Board]) -> list[FeaturedMatch] | None:
    """Return matches worth a look; None while they are chosen for the first time, and until all boards are rated."""
    known = [board.standings for board in boards if board.standings is not None]
    if len(known) < len(boards):
        return None
    rated = [each.rating_of for each in known]
    version = catalog.view(log)[1].run, tuple(each.matches for each in known)

    def choose() -> list[FeaturedMatch]:
        chosen = featured(catalog, log, rated)
        _, view = catalog.view(log)
        lines = lines_of(log, view, plan, [each.number for each in chosen])
        return list(zip(chosen, lines, strict=True))

    key, urgent = (log.path, "featured"), not log.is_running()
    patience = None if catalog.patience is None else FEATURED_TIMEOUT_SECONDS
    done = partial(catalog.count_result, log)
    found = catalog.results.get(key, version, choose, patience, urgent, kind="featured", done=done)
    return None if found is None else found.value


def _card(links: Links, log: Log, chosen: list[FeaturedMatch] | None) -> str:
    """Return the address of the drawing that stands for a tournament on other sites; empty where it has none."""
    drawn = (
        links.position(log.name, line.id, each.ply, "png") for each, line in chosen or [] if line.plies is not None
    )
    return next(drawn, "")


def _authors(catalog: LogCatalog, plan: LogPlan) -> dict[str, str]:
    """Return who submitted the bots of a plan, by their labels, as far as that is known here."""
    names = {bot.label: name_in(bot.spec).partition("@")[0] for bot in plan.resolved.bots}
    known = _all_authors(catalog)
    return {label: known[name] for label, name in names.items() if name in known}


def _all_authors(catalog: LogCatalog) -> dict[str, str]:
    """Return who submitted each bot under the home; nobody where the index is damaged, of which its commands tell."""
    try:
        stat = os.stat(submissions_folder(catalog.home) / INDEX_FILE)
    except OSError:
        return {}

    def read() -> dict[str, str]:
        try:
            return {name: entry.newest.author for name, entry in submitted(catalog.home).items()}
        except BotError:
            return {}

    found = catalog.results.get("authors", (stat.st_ino, stat.st_size, stat.st_mtime_ns), read)
    assert found is not None  # nothing gives up waiting
    return found.value
