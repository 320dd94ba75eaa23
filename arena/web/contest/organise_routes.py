"""The page of organisers: invitations, who takes part, the message of the day, and what was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal, cast

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from arena.accounts import ContestBot
from arena.accounts.authors import MAX_NAME_CHARS
from arena.accounts.sheets import names_in
from arena.contest.erasing import erase_author
from arena.core.errors import AccountError
from arena.web.contest.account_routes import WithToken, exported, fields_of
from arena.web.contest.portal import Portal
from arena.web.contest.routes import READ, answer
from arena.web.contest.views import ContestView
from arena.web.rendering import page

AUDIT_ROWS = 100
MEMBERS_SHOWN = 100
"""Members on a page."""
MIN_YEAR, MAX_YEAR = 2000, 9000
"""Years of deadlines: any further away, and times cannot be told in every zone."""
Invited = Sequence[tuple[str, str]]


def add_organise_routes(app: FastAPI, portal: Portal) -> None:
    """Add the address of a contest's organisers."""

    def show(
        request: Request,
        view: ContestView,
        done: str = "",
        invited: Invited = (),
        error: str = "",
        typed: Mapping[str, str] = MappingProxyType({}),
    ) -> Response:
        """Return the page; after an `error` with what was typed."""
        part, start = request.query_params.get("name", "")[:MAX_NAME_CHARS], _start(request.query_params.get("start"))
        members = portal.accounts.contests.members_from(view.id, start, MEMBERS_SHOWN + 1, part)
        latest = portal.accounts.database.latest_audit(view.id, AUDIT_ROWS)
        names = portal.accounts.authors.names({id for row in latest for id in (row.actor, row.subject)})
        shown = page(
            "organise.html",
            portal.links,
            title=f"Organise: {view.config.shown_title}",
            view=view,
            done=done,
            error=error,
            typed=typed,
            invited=[(name, portal.public(request, portal.links.path(f"/join/{code}"))) for name, code in invited],
            members=members[:MEMBERS_SHOWN],
            has_more=len(members) > MEMBERS_SHOWN,
            part=part,
            start=start,
            step=MEMBERS_SHOWN,
            bots={each.author.id: _bots_of(portal, view, each.author.id) for each in members[:MEMBERS_SHOWN]},
            audit=latest,
            names=names | {row.subject: view.name(row.subject) for row in latest if row.subject in view.names},
        )
        return answer(shown, 400 if error else 200)

    @app.api_route("/contests/{id}/organise", methods=READ, response_model=None)
    def organise(request: Request, id: str) -> Response:
        portal.door.organiser(request)
        return show(request, portal.view(id))

    @app.post("/contests/{id}/organise", dependencies=[WithToken], response_model=None)
    async def change(request: Request, id: str) -> Response:
        fields = await fields_of(request)

        def act() -> Response:
            actor, view = portal.door.organiser(request).author.id, portal.view(id)
            try:
                done, invited = _act(portal, view, fields, actor)
            except AccountError as error:
                return show(request, view, error=str(error), typed=fields)
            return show(request, portal.view(id), done, invited)

        return await run_in_threadpool(act)

    @app.post("/contests/{id}/organise/export/{author}", dependencies=[WithToken], response_model=None)
    def export(request: Request, id: str, author: str) -> Response:
        actor = portal.door.organiser(request).author.id
        portal.view(id)
        return exported(portal, author, actor)


def _start(text: str | None) -> int:
    """Return the number of the first member that is shown."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= 9 else 0


def _bots_of(portal: Portal, view: ContestView, author: str) -> list[ContestBot]:
    return [bot for bot in portal.accounts.submissions.bots_of(author) if bot.contest == view.id]


def _act(portal: Portal, view: ContestView, fields: dict[str, str], actor: str) -> tuple[str, Invited]:
    """Do what an organiser has asked for; return what was done, and invitations by name."""
    contests, author = portal.accounts.contests, fields.get("author", "")
    match fields.get("action"):
        case "invite":
            names = names_in(fields.get("names", ""))
            invited = portal.accounts.invitations.invite(view.id, names, actor, days=_number(fields, "days"))
            return f"{len(invited)} invited", invited
        case "invite-anybody":
            uses = _number(fields, "uses") or 0
            code = portal.accounts.invitations.invite_anybody(view.id, uses, actor, days=_number(fields, "days"))
            return "the link is made", [(f"{uses} persons", code)]
        case "announce":
            contests.announce(view.id, fields.get("message", "").strip(), actor)
            return "the message is set", ()
        case "ban":
            contests.ban(view.id, author, cast(Literal["keep", "drop"], fields.get("matches", "keep")), actor)
            return "banned", ()
        case "unban":
            contests.unban(view.id, author, actor)
            return "may take part again", ()
        case "extend":
            contests.extend(view.id, author, _moment(fields.get("deadline", "")), actor)
            return "the deadline is set", ()
        case "erase":
            found = portal.accounts.authors.get(author)
            if fields.get("name", "").strip() != found.name:
                raise AccountError(f"to erase {found.name}, write the name as it is shown; nothing has been erased")
            erase_author(portal.accounts, portal.catalog.home, author, actor)
            return "names and sources are erased; results stand", ()
        case "limit":
            contests.limit(view.id, author, _number(fields, "max_bots"), _number(fields, "max_per_day"), actor)
            return "the limits are set", ()
    raise AccountError("there is no such action")


def _number(fields: dict[str, str], name: str) -> int | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise AccountError(f"{name} = '{text[:20]}': must be a whole number")
    return int(text)


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if not MIN_YEAR <= moment.year < MAX_YEAR:
            raise ValueError
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        raise AccountError(f"deadline = '{text[:40]}': must be a time such as 2026-05-01T18:00") from None
