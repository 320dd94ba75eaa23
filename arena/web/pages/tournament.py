"""One tournament: its progress, mean returns and ratings as they come, and the figures of its boards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from arena import api
from arena.results.match_filter import Filter
from arena.results.pages.figures import render
from arena.results.pages.report import BoardPage
from arena.results.run_status import RUNNING, BoardStatus, RunStatus
from arena.web.keeping import Known
from arena.web.library import Library, Log, NotFoundError, Plan
from arena.web.links import Links
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, fragment, page

FORMATS = ("svg", "png", "pdf", "json")
SHOWN = 5
"""Newest matches that are listed."""


class Standing(NamedTuple):
    """A bot on a board, as the log has it now."""

    bot: str
    played: int
    """Seats."""
    wins: int
    mean_return: float
    ratings: list[str]
    """With their intervals, one for each name that the bot has; none while they are not known."""
    group: str


class Rating(NamedTuple):
    """The rating of a bot, as a table shows it."""

    text: str
    """With its interval."""
    group: str
    rank: int


class Board(NamedTuple):
    """A board on the page."""

    status: BoardStatus
    slug: str
    standings: list[Standing]
    rated: int | None
    """Matches, in complete blocks, that ratings were made from."""
    known: Known[tuple[BoardPage, int]] | None
    """Its figures, and from how many matches they were made; None while they are computed for the first time."""


def page_of(library: Library, links: Links, name: str) -> Page:
    """Return the page of a tournament."""
    log = library.log(name)
    status = library.status(log)
    plan = library.plan(log)
    boards = _boards(library, log, plan, status, with_figures=True)
    waiting = any(board.known is None for board in boards)
    running = status.state == RUNNING and links.is_live
    return page(
        "tournament.html",
        links,
        title=status.name,
        description=f"{status.matches:,} of {status.planned:,} matches, {len(boards)} boards",
        plan=plan,
        is_running=running,
        refresh=5 if waiting and not running else 0,
        scripts=[*(["live.js"] if running else []), *(["figures.js"] if links.is_live else [])],
        **_now(library, log, plan, status, boards),
    )


def event_of(library: Library, links: Links, name: str) -> str:
    """Return what open pages of a tournament are told: its parts that change, as JSON."""
    log = library.log(name)
    status, plan = library.status(log), library.plan(log)
    boards = _boards(library, log, plan, status, with_figures=False)
    now = fragment("now.html", links, is_running=status.state == RUNNING, **_now(library, log, plan, status, boards))
    return json.dumps({"now": now, "state": status.state})


def figure_of(library: Library, name: str, board: str, figure: str, format: str) -> bytes:
    """Return a figure of a board, by its slug, as svg, png, pdf, or as Vega-Lite (json)."""
    log = library.log(name)
    slugs = [each.slug for each in library.plan(log).schedule.boards]
    if board not in slugs or format not in FORMATS:
        raise NotFoundError("there is no such figure")
    index = slugs.index(board)
    known = library.kept(log, ("figures", index), partial(api.board_figures, log.path, index), patience=None)
    if known is None or figure not in known.value[0].figures:
        raise NotFoundError("there is no such figure")
    spec = known.value[0].figures[figure].spec
    if format == "json":
        return json.dumps(spec).encode()
    drawn = library.keeper.get((log.path, "drawn", index, figure, format), known.version, partial(render, spec, format))
    assert drawn is not None  # nothing gives up waiting
    return drawn.value


def _now(library: Library, log: Log, plan: Plan, status: RunStatus, boards: list[Board]) -> dict[str, Any]:
    """Return the values of what changes while a tournament runs."""
    index, view = library.view(log)
    newest = index.find(view, Filter(), "newest", SHOWN, None)
    return {
        "log": log,
        "status": status,
        "boards": boards,
        "total": view.total,
        "newest": lines_of(log, view, plan, newest.numbers),
    }


def _boards(library: Library, log: Log, plan: Plan, status: RunStatus, with_figures: bool) -> list[Board]:
    found: list[Board] = []
    ratings = [partial(_ratings, log, index) for index in range(len(status.boards))]
    drawn = [partial(api.board_figures, log.path, index) for index in range(len(status.boards))]
    rated_boards = library.all_kept(log, "ratings", ratings)
    known_boards = library.all_kept(log, "figures", drawn) if with_figures else [None] * len(drawn)
    boards = zip(status.boards, plan.schedule.boards, rated_boards, known_boards, strict=True)
    for board, shape, rated, known in boards:
        standings = _standings(library, log, plan, (board.game, board.players), rated.value[0] if rated else {})
        found.append(Board(board, shape.slug, standings, rated.value[1] if rated else None, known))
    return found


def _ratings(log: Log, index: int) -> tuple[dict[str, Rating], int]:
    """Return the ratings of a board by label, best first, and how many matches they were made from."""
    leaderboard, matches = api.board_leaderboard(log.path, index)
    if "rating_ci_low" not in leaderboard:
        return {}, matches
    rows = leaderboard.to_dict("records")
    found = {row["bot"]: Rating(f"{row['rating']:.2f} {_interval(row)}", row["group"], row["rank"]) for row in rows}
    return found, matches


def _standings(
    library: Library, log: Log, plan: Plan, name: tuple[str, int], ratings: dict[str, Rating]
) -> list[Standing]:
    """Return the bots of a board in the order of its ratings, then of their mean returns."""
    index, view = library.view(log)
    labels: dict[str, list[str]] = {}
    for entry in plan.schedule.entries:
        labels.setdefault(entry.identity, []).append(entry.label)
    found = []
    for mean in index.means(view, *name):
        rated = [ratings[label] for label in labels.get(mean.bot, []) if label in ratings]
        texts = [rating.text for rating in rated]
        groups = "".join(sorted({letter for rating in rated for letter in rating.group}))
        rank = min((rating.rank for rating in rated), default=len(ratings) + 1)
        found.append((rank, Standing(plan.label(mean.bot), mean.matches, mean.wins, mean.mean_return, texts, groups)))
    return [standing for _, standing in sorted(found, key=lambda each: each[0])]


def _interval(row: Mapping[Any, Any]) -> str:
    low, high = row["rating_ci_low"], row["rating_ci_high"]
    return "" if pd.isna(low) or pd.isna(high) else f"({low:.2f} to {high:.2f})"
