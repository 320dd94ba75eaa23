"""One match, stepped through."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from arena.core.errors import ArenaError
from arena.core.match_ids import check_match_id, match_id
from arena.match.stored import StoredMatch
from arena.results.pages.pixels import position_png, position_svg
from arena.results.pages.replay import replay_values
from arena.results.pages.templates import for_both_schemes, packed
from arena.store import Store, readable
from arena.tournament.tournament import Tournament
from arena.web.catalog import Log, LogCatalog, LogPlan, NotFoundError
from arena.web.links import Links
from arena.web.pages.matches import MatchLine, SeatCell, lines_of
from arena.web.rendering import Page, page

POSITION_FORMATS = ("svg", "png")


def page_of(catalog: LogCatalog, links: Links, name: str, match: str) -> Page:
    """Return the page of a match, by its id or a beginning of it that no other has."""
    log = catalog.log(name)

    whole = _find(log, match)
    plan = catalog.plan(log)
    if plan.resolved.foreign is not None:
        return _without_moves(links, log, plan, _read(log, plan, whole))

    def draw() -> Page:
        data, values = replay_values(_read(log, plan, whole))
        values["description"] = f"{values['outcome']} Match {values['name']} of {name}, {len(values['plies'])} plies"
        values["card"] = links.position(name, values["name"], format="png") if values["final"].picture else ""
        return page("match.html", links, data=packed(data), log=log, scripts=["replay.js"], **values)

    version = log.path.stat().st_ino, catalog.view(log)[1].run, plan.names.version
    found = catalog.results.get((log.path, "match", whole), version, draw)
    assert found is not None  # nothing gives up waiting
    return found.value


def position_of(catalog: LogCatalog, name: str, match: str, ply: str, format: str) -> bytes:
    """Return the drawing of a match's position after a ply, of the last one without, as svg or png.

    Raises `NotFoundError` for a ply that the match has not, and where its game draws nothing.
    """
    log = catalog.log(name)
    whole = _find(log, match)
    plan = catalog.plan(log)
    if plan.resolved.foreign is not None or format not in POSITION_FORMATS or not re.fullmatch(r"[0-9]{0,6}", ply):
        raise NotFoundError("there is no such drawing")
    number = int(ply) if ply else None
    version = log.path.stat().st_ino, catalog.view(log)[1].run

    def draw() -> bytes:
        found = _read(log, plan, whole)
        if not (number or 0) <= len(found.moves):
            raise NotFoundError(f"the match has {len(found.moves)} plies")
        return (
            position_png(found, number) if format == "png" else for_both_schemes(position_svg(found, number)).encode()
        )

    drawn = catalog.drawings.get((log.path, whole, number, format), version, draw)
    assert drawn is not None  # nothing gives up waiting
    return drawn.value


def latest_of(catalog: LogCatalog, links: Links, name: str) -> str:
    """Return what a page shows of a run, as JSON; nothing where there is nothing.

    That is the newest match in the log with its frames; matches in play are `arena.web.pages.live_boards`.
    """
    log = catalog.log(name)
    view, found = catalog.find(log, most=1)
    newest = found.numbers
    if not newest or catalog.plan(log).schedule.is_foreign:
        return ""
    plan = catalog.plan(log)
    (line,) = lines_of(log, view, plan, newest)

    def draw() -> str:
        data, values = replay_values(_read(log, plan, _find(log, line.id)))
        address = links.match(name, line.id)
        return json.dumps({"id": line.id, "title": values["title"], "address": address, "data": packed(data)})

    latest = catalog.results.get((log.path, "latest"), line.id, draw)
    assert latest is not None  # nothing gives up waiting
    return latest.value


def moves_of(catalog: LogCatalog, name: str, match: str) -> tuple[MatchLine, list[str]]:
    """Return a match as lists have it, and its moves; raises `NotFoundError` where there is none."""
    log = catalog.log(name)
    found = _read(log, catalog.plan(log), _find(log, match))
    seats = [SeatCell(bot, rank + 1, "") for bot, rank in zip(found.names, found.ranks, strict=True)]
    seats = [
        seat._replace(cause=found.forfeits[number][0]) if number in found.forfeits else seat
        for number, seat in enumerate(seats)
    ]
    id = found.id
    return MatchLine(id, id, found.game, found.players, len(found.moves), found.ended, seats, True), list(found.moves)


def _without_moves(links: Links, log: Log, plan: LogPlan, match: StoredMatch) -> Page:
    """Return the page of a match of foreign results, whose moves nobody knows."""
    seats = [
        (seat, bot, rank + 1, score)
        for seat, (bot, rank, score) in enumerate(zip(match.names, match.ranks, match.scores, strict=True))
    ]
    name = match.id
    return page(
        "foreign_match.html",
        links,
        title=f"Match {name} of {log.title}",
        log=log,
        foreign=plan.resolved.foreign,
        has_seats=plan.resolved.has_seats,
        match=match,
        seats=sorted(seats, key=lambda each: each[2]),
    )


def stored_match_of(log: Log, plan: LogPlan, name: str) -> StoredMatch:
    """Return the one match whose id begins so; raises `NotFoundError` where the log has none."""
    return _read(log, plan, _find(log, name))


def _find(log: Log, name: str) -> tuple[bytes, int]:
    """Return the identity of the block and the line-up of the one match whose id begins so."""
    try:
        check_match_id(name)
    except ArenaError as error:
        raise NotFoundError(str(error)) from None
    with Store.open(log.path) as store, readable(store):
        found = store.find_matches(name)
    if len(found) != 1:
        several = "; ".join(match_id(*each) for each in found)
        raise NotFoundError(f"more than one match begins so: {several}" if found else "there is no such match here")
    return found[0]


def _read(log: Log, plan: LogPlan, whole: tuple[bytes, int]) -> StoredMatch:
    with Tournament(Store.open(log.path), plan.schedule) as tournament, readable(tournament.store):
        match = tournament.match(*whole)
    return replace(match, labels=[*map(plan.name, match.labels)]) if plan.names.by_label else match
