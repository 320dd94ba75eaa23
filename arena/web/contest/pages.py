"""Pages of contests."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from fastapi import Request
from markupsafe import Markup, escape

from arena.accounts import Author, BotVersion, ContestBot, Grant
from arena.accounts.contests import OPEN
from arena.accounts.submissions import CHECKING, REFUSED, VALID, WAITING, WITHDRAWN_LINE
from arena.contest.final import FinalKey, final_key
from arena.contest.handing_in import check_open
from arena.core.errors import AccountError, ArenaError
from arena.results.match_filter import MatchFilter
from arena.results.pages.templates import markdown
from arena.web.catalog import NotFoundError
from arena.web.contest.own_bot import OwnBot, own_bot
from arena.web.contest.portal import Portal
from arena.web.contest.standings import ROWS_SHOWN, Row, StandingsView
from arena.web.contest.views import ContestView, check_sees_matches, entries_of
from arena.web.pages.matches import MatchLine, lines_of
from arena.web.rendering import Page, fragment, page

PODIUM_PLACES = 3
LOOKED_AT = 5
"""Matches of each kind that the page of a bot names."""


class Look(NamedTuple):
    """Matches of a bot that are worth a look."""

    title: str
    lines: list[MatchLine]


def list_page(portal: Portal, request: Request) -> Page:
    """Return the list of contests."""
    views = [portal.view(each.id) for each in portal.accounts.contests.all()] if portal.door.has_accounts else []
    return page(
        "contests.html",
        portal.links,
        title="Contests",
        grant=portal.door.grant(request),
        views=views,
        states={view.id: view.state(portal.now) for view in views},
    )


def contest_page(portal: Portal, request: Request, view: ContestView, start: int) -> Page:
    """Return the page of a contest, with its standings from a row on."""
    grant = portal.door.grant(request)
    mine = entries_of(portal.accounts, grant.author.id, view.id) if grant else []
    standings = portal.standings(view)
    own = [entry.bot.id for entry in mine]
    return page(
        "contest.html",
        portal.links,
        title=view.config.shown_title,
        description=f"{view.bots} bots; {view.state(portal.now)}",
        grant=grant,
        view=view,
        state=view.state(portal.now),
        text=markdown(view.config.text) if view.config.text else "",
        message=view.contest.message,
        member=portal.accounts.contests.member(view.id, grant.author.id) if grant else None,
        mine=mine,
        places=_places(standings, own),
        has_final=portal.standings(view, final=True) is not None,
        season=view.season(),
        sees_matches=_sees_matches(portal, view, grant) and standings is not None,
        key=_final_key(portal, view),
        scripts=["live.js"],
        **_shown(standings, start, own),
    )


def _places(standings: StandingsView | None, bots: list[str]) -> dict[str, tuple[Row, int]]:
    """Return the rows of bots that have one, each with the number of the first row on its page."""
    found = {} if standings is None else {bot: (standings.row_of(bot), standings.number_of(bot)) for bot in bots}
    return {
        bot: (row, number // ROWS_SHOWN * ROWS_SHOWN)
        for bot, (row, number) in found.items()
        if row is not None and number is not None
    }


def _final_key(portal: Portal, view: ContestView) -> FinalKey | None:
    """Return what is known of the key of the final's dice; None where there is none, or it cannot be read now."""
    try:
        return final_key(portal.catalog.home, view.id, view.contest.season)
    except ArenaError:
        return None


def _shown(standings: StandingsView | None, start: int, mine: list[str]) -> dict[str, Any]:
    """Return the values of the standings from a row on; `mine` are the ids of bots that are marked."""
    total = standings.total if standings else 0
    start = min(start, max(0, total - 1)) // ROWS_SHOWN * ROWS_SHOWN
    return {
        "standings": standings,
        "rows": standings.rows(start, ROWS_SHOWN, mine) if standings else [],
        "start": start,
        "total": total,
        "step": ROWS_SHOWN,
    }


def standings_event(portal: Portal, id: str) -> str:
    """Return what open pages of a contest are told: the first standings, as JSON."""
    view = portal.view(id)
    shown = {"view": view, "state": view.state(portal.now), **_shown(portal.standings(view), 0, [])}
    return json.dumps({"now": fragment("contest_now.html", portal.links, **shown)})


def _sees_matches(portal: Portal, view: ContestView, grant: Grant | None) -> bool:
    try:
        check_sees_matches(portal.accounts, view, grant, portal.now)
    except AccountError:
        return False
    return True


def hand_in_page(
    portal: Portal, request: Request, grant: Grant, view: ContestView, error: str = "", name: str = ""
) -> Page:
    """Return the form to hand a bot in."""
    return page(
        "hand_in.html",
        portal.links,
        title=f"Hand in: {view.config.shown_title}",
        view=view,
        grant=grant,
        error=error,
        closed=_closed(portal, view, grant.author),
        name=name,
        address=portal.public(request, portal.links.contest(view.id)),
        mine=entries_of(portal.accounts, grant.author.id, view.id),
        scripts=["hand_in.js"],
    )


def version_page(portal: Portal, view: ContestView, bot: ContestBot, version: BotVersion, again: bool) -> Page:
    """Return the page of a version: how its check goes, or went."""
    return page(
        "version.html",
        portal.links,
        title=f"{bot.name}, version {version.number}",
        view=view,
        bot=bot,
        version=version,
        again=again,
        is_running=version.state in (WAITING, CHECKING),
        scripts=["live.js"],
        **_part_of(portal, view, bot, version),
    )


def version_now(portal: Portal, view: ContestView, bot: ContestBot, version: BotVersion) -> Markup:
    """Return the part of a version's page that changes while it is checked."""
    return fragment(
        "version_now.html", portal.links, view=view, version=version, **_part_of(portal, view, bot, version)
    )


def _part_of(portal: Portal, view: ContestView, bot: ContestBot, version: BotVersion) -> dict[str, Any]:
    """Return what is said of the part that a version takes in its contest: in words, and what its author may do."""
    if view.contest.state != OPEN:
        return {"part": "", "may_hand_in": False}
    bot = portal.bot(view, bot.id)  # as it is now
    if _is_banned(portal, view, bot):
        return {"part": "It does not play: its author is banned from this contest", "may_hand_in": False}
    playing = _playing(bot, portal.accounts.submissions.versions(bot.id))
    if version.state in (WAITING, CHECKING):
        part = "Its check begins soon; you can leave this page" if version.state == WAITING else ""
    elif playing is None:
        part = "It does not play" + (": the bot is withdrawn" if bot.withdrawn is not None else "")
    elif playing.number != version.number:
        part = f"It does not play; version {playing.number} does"
    else:
        part = "It plays" if _is_in_round(portal, view, version) else "It plays from the next round on"
    has_failed = version.state == REFUSED and version.report[-1:] != [WITHDRAWN_LINE]
    may_hand_in = has_failed and not _closed(portal, view, portal.accounts.authors.get(bot.author))
    return {"part": part, "may_hand_in": may_hand_in}


def _closed(portal: Portal, view: ContestView, author: Author) -> str:
    """Return why an author may not hand in now; empty where that is allowed."""
    try:
        check_open(portal.accounts, view.config, author, portal.now)
    except AccountError as problem:
        return str(problem)
    return ""


def _playing(bot: ContestBot, versions: list[BotVersion]) -> BotVersion | None:
    """Return the version of a bot that plays, unless its author is banned."""
    return next((each for each in versions if each.state == VALID and bot.withdrawn is None), None)


def _is_banned(portal: Portal, view: ContestView, bot: ContestBot) -> bool:
    member = portal.accounts.contests.member(view.id, bot.author)
    return member is not None and member.banned is not None


def _is_in_round(portal: Portal, view: ContestView, version: BotVersion) -> bool:
    """Return whether a version plays in the latest round."""
    try:
        plan = portal.catalog.plan(portal.catalog.log(view.season()))
    except ArenaError:  # nothing has been played
        return False
    return any(entry.label == version.label for entry in plan.schedule.entries)


def bot_page(portal: Portal, request: Request, view: ContestView, bot: ContestBot) -> Page:
    """Return the page of a bot: its place, its versions, and matches worth a look."""
    grant = portal.door.grant(request)
    is_own = grant is not None and (grant.author.id == bot.author or grant.author.is_organiser)
    versions = portal.accounts.submissions.versions(bot.id)
    standings = portal.standings(view)
    boards = [(board.title, board.row_of(bot.id)) for board in standings.boards] if standings else []
    sees_matches = _sees_matches(portal, view, grant)
    own = own_bot_of(portal, view, versions) if is_own and sees_matches else None
    return page(
        "contest_bot.html",
        portal.links,
        title=f"{bot.name}: {view.config.shown_title}",
        view=view,
        bot=bot,
        grant=grant,
        is_own=is_own,
        is_banned=is_own and _is_banned(portal, view, bot),
        is_open=is_own and not _closed(portal, view, portal.accounts.authors.get(bot.author)),
        versions=[each for each in versions if is_own or each.state == "valid"],
        playing=_playing(bot, versions),
        row=standings.row_of(bot.id) if standings else None,
        boards=[(title, row) for title, row in boards if row is not None],
        own=own,
        seconds_per_move=view.config.limits.seconds_per_move,
        looks=_looks(portal, view, versions) if own is None and sees_matches else [],
        season=view.season(),
    )


def own_bot_of(portal: Portal, view: ContestView, versions: list[BotVersion]) -> OwnBot | None:
    """Return what the author of a bot sees of it; None where nothing has been played yet."""
    try:
        log = portal.catalog.log(view.season())
    except NotFoundError:
        return None
    return own_bot(portal.catalog, log, versions)


def _looks(portal: Portal, view: ContestView, versions: list[BotVersion]) -> list[Look]:
    """Return matches of a bot's playing version that are worth a look: forfeits, fastest losses, longest matches."""
    valid = next((each for each in versions if each.state == "valid"), None)
    if valid is None:
        return []
    try:
        log = portal.catalog.log(view.season())
        plan = portal.catalog.plan(log)
        sizes = sorted({board.players for board in plan.schedule.boards})
        last = [MatchFilter(bot=valid.label, place=players, players=players) for players in sizes]
        wanted = [
            ("Forfeits", [MatchFilter(bot=valid.label, cause="")], "newest"),
            ("Fastest losses", last, "shortest"),
            ("Fastest wins", [MatchFilter(bot=valid.label, place=1)], "shortest"),
            ("Longest matches", [MatchFilter(bot=valid.label)], "longest"),
        ]
        found = []
        for title, filters, order in wanted:
            lines: list[MatchLine] = []
            for each in filters:
                index, some = portal.catalog.find(log, each, order, LOOKED_AT)
                lines += lines_of(log, index, plan, some.numbers)
            if len(filters) > 1:
                lines.sort(key=lambda line: (line.plies or 0, line.id))
            found.append(Look(title, lines[:LOOKED_AT]))
    except ArenaError:
        return []
    return [look for look in found if look.lines]


def final_page(portal: Portal, request: Request, view: ContestView, start: int) -> Page:
    """Return the page of the final: podium, standings from a row on, certificates, what there is to check."""
    final = portal.standings(view, final=True)
    if final is None:
        raise NotFoundError("the final has not been played yet")
    return page(
        "final.html",
        portal.links,
        title=f"Final: {view.config.shown_title}",
        grant=portal.door.grant(request),
        view=view,
        season=f"{view.season()}/final",
        sees_matches=_sees_matches(portal, view, portal.door.grant(request)),
        podium=final.rows(0, PODIUM_PLACES),
        key=_final_key(portal, view),
        **_shown(final, start, []),
    )


CERTIFICATE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1120 790" role="img"
 font-family="Georgia, serif" text-anchor="middle" fill="#1d2733"><title>{title}</title>
<rect width="1120" height="790" fill="#fffdf7"/>
<rect x="24" y="24" width="1072" height="742" fill="none" stroke="#b8860b" stroke-width="3"/>
<rect x="36" y="36" width="1048" height="718" fill="none" stroke="#b8860b"/>
<path d="M560 90 L640 220 L480 220 Z" fill="#d9a520" stroke="#8a6508" stroke-width="3"/>
<path d="M560 90 L640 220 L580 220 Z" fill="#b8860b"/>
<text x="560" y="290" font-size="30" letter-spacing="6">{contest}</text>
<text x="560" y="380" font-size="66" font-weight="700">{place}</text>
<text x="560" y="470" font-size="52" font-style="italic">{author}</text>
<text x="560" y="540" font-size="30">with the bot {bot}</text>
<text x="560" y="620" font-size="24">{words}</text>
<text x="560" y="710" font-size="20" fill="#5b6470">Pyramid Arena, {day}</text></svg>
"""
ORDINALS = {1: "First place", 2: "Second place", 3: "Third place"}


def certificate_of(portal: Portal, view: ContestView, rank: int) -> str:
    """Return the certificate of a place in the final, as SVG; raises `NotFoundError` where there is none."""
    final = portal.standings(view, final=True)
    row = final.ranked(rank) if final else None
    if final is None or row is None:
        raise NotFoundError("there is no certificate for this place")
    words = f"of {final.total} in the final, with an expected score of {row.score} %" if row.score else ""
    shown = {
        "title": f"Certificate: {row.author}, place {rank}",
        "contest": view.config.shown_title,
        "place": ORDINALS.get(rank, f"Place {rank}"),
        "author": row.author,
        "bot": row.name,
        "words": words,
        "day": final.time[:10],
    }
    return CERTIFICATE.format(**{key: escape(text) for key, text in shown.items()})
