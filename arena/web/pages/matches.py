"""The matches of a tournament: filtered, sorted, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from arena.core.match_ids import match_id
from arena.match.faults import FORFEIT_CAUSES
from arena.results.match_filter import IndexView, MatchFilter, MatchKey
from arena.results.match_index import ORDERS
from arena.store import Store
from arena.web.catalog import Log, LogCatalog, LogPlan
from arena.web.links import Links
from arena.web.rendering import Page, page

PAGE_LINES = 50
ID_DIGITS = 12
"""Hexadecimal digits of an id that are shown."""
ANY_FORFEIT = "any"
FIELDS = ("bot", "opponent", "seat", "place", "game", "players", "ended", "cause", "least", "most", "of")
ALL_PLANS = "log"
"""Value of `of` for all matches of the log; those of the plan without it."""
MAX_NUMBER = 10**9


class SeatCell(NamedTuple):
    """A seat of a match in the list."""

    bot: str
    place: int
    cause: str


class MatchLine(NamedTuple):
    """A match in the list."""

    id: str
    shown: str
    game: str
    players: int
    plies: int | None
    """None where nobody knows moves."""
    ended: str
    seats: list[SeatCell]
    has_seats: bool
    """Whether these are in the order of seats; else in that of places."""
    is_planned: bool = True
    """Whether it is of the log's plan."""


def page_of(catalog: LogCatalog, links: Links, name: str, query: Mapping[str, str]) -> Page:
    """Return a page of matches; values of the query that mean nothing are left out."""
    log = catalog.log(name)
    plan = catalog.plan(log)
    given = {field: query.get(field, "").strip() for field in FIELDS}
    if not plan.resolved.has_seats:
        given["seat"] = ""
    given["of"] = ALL_PLANS if given["of"] == ALL_PLANS else ""
    order = query.get("sort", "") if query.get("sort") in ORDERS else ORDERS[0]
    back = "before" in query
    cursor = cursor_of(query.get("before" if back else "after", ""))
    view, found = catalog.find(log, _filter(given), order, PAGE_LINES, cursor, back, given["of"] == ALL_PLANS)
    planned = catalog.planned(log)
    lines = [
        line._replace(is_planned=bool(planned[number]))
        for number, line in zip(found.numbers, lines_of(log, view, plan, found.numbers), strict=True)
    ]
    here = {**given, "sort": "" if order == ORDERS[0] else order}
    first, last = ("{}.{}".format(*view.key(found.numbers[at])) if found.numbers else "" for at in (0, -1))
    ends = found.before + len(found.numbers)
    return page(
        "matches.html",
        links,
        title=f"Matches of {log.title}",
        description=f"{found.total:,} matches",
        log=log,
        foreign=plan.resolved.foreign,
        has_seats=plan.resolved.has_seats,
        given=given,
        order=order,
        orders=ORDERS,
        found=found,
        ends=ends,
        lines=lines,
        others=view.total - int(np.count_nonzero(planned)),
        names=plan.names.by_label,
        choices=_choices(view, given["of"] == ALL_PLANS),
        earlier=links.matches(name, {**here, "before": first}) if found.before else "",
        later=links.matches(name, {**here, "after": last}) if ends < found.total else "",
    )


def lines_of(log: Log, view: IndexView, plan: LogPlan, numbers: list[int]) -> list[MatchLine]:
    """Return matches as lists show them, by their numbers in the index."""
    keys = [view.key(number) for number in numbers]
    with Store.open(log.path) as store:
        identities = {block: store.identity_of(block) for block in {key.block for key in keys}}
    return [
        _line(view, plan, number, match_id(identities[key.block], key.lineup))
        for number, key in zip(numbers, keys, strict=True)
    ]


def _line(view: IndexView, plan: LogPlan, number: int, id: str) -> MatchLine:
    match, seat = view.match, view.seat
    game, players = view.boards[int(match["board"][number])]
    first = int(seat["match"].searchsorted(np.int32(number)))  # of its type, or all of the array is converted
    seats = [
        SeatCell(
            plan.name(view.label(int(seat["entry"][at]))), int(seat["rank"][at]) + 1, view.causes[seat["cause"][at]]
        )
        for at in range(first, first + players)
    ]
    if not plan.resolved.has_seats:
        seats.sort(key=lambda seat: seat.place)
    plies = None if plan.schedule.is_foreign else int(match["plies"][number])
    return MatchLine(
        id, shown_id(id), game, players, plies, view.ended[match["ended"][number]], seats, plan.resolved.has_seats
    )


def shown_id(id: str) -> str:
    """Return the id of a match as pages show it: shorter, but not the same for the matches of a block."""
    return f"{id[:ID_DIGITS]}-{id.rpartition('-')[2]}"


def cursor_of(text: str) -> MatchKey | None:
    """Return the place in a list that a cursor names; None for what is none."""
    found = re.fullmatch(r"(-?[0-9]{1,18})\.([0-9]{1,9})", text, re.ASCII)
    return MatchKey(int(found[1]), int(found[2])) if found else None


def _number(text: str) -> int | None:
    return min(int(text), MAX_NUMBER) if re.fullmatch("[0-9]{1,12}", text, re.ASCII) else None


def _filter(given: Mapping[str, str]) -> MatchFilter:
    cause = given["cause"] or None
    numbers = {field: _number(given[field]) for field in ("seat", "place", "players", "least", "most")}
    return MatchFilter(
        game=given["game"] or None,
        bot=given["bot"] or None,
        opponent=given["opponent"] or None,
        cause="" if cause == ANY_FORFEIT else cause,
        ended=given["ended"] or None,
        **numbers,
    )


def _choices(view: IndexView, all_plans: bool) -> dict[str, list[str]]:
    """Return what there is to choose from in each field; bots of the plan, or of all plans."""
    most = max((players for _, players in view.boards.values()), default=2)
    return {
        "bot": sorted({*view.labels, *(view.bots if all_plans else ())}),
        "seat": [str(seat) for seat in range(most)],
        "place": [str(place) for place in range(1, most + 1)],
        "game": sorted({game for game, _ in view.boards.values()}),
        "players": [str(players) for players in sorted({players for _, players in view.boards.values()})],
        "ended": sorted(view.ended),
        "cause": [ANY_FORFEIT, *(cause for cause in FORFEIT_CAUSES if cause in view.causes)],
    }
