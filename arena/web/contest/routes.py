"""Addresses of contests: what everybody sees, handing in, and one's own bots."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from arena.accounts import BotVersion, ContestBot, Grant
from arena.accounts.submissions import CHECKING, WAITING
from arena.contest.handing_in import Received, check_open, hand_in
from arena.contest.layout import ARCHIVE_FILE, season_folder
from arena.core.errors import AccountError, ArenaError
from arena.core.names import CONTESTS_FOLDER
from arena.registry.submissions import source_path
from arena.web.catalog import FINAL_FOLDER, NotFoundError
from arena.web.contest import pages
from arena.web.contest.portal import Portal
from arena.web.contest.views import ContestView, check_sees_matches, is_frozen
from arena.web.event_streams import Source
from arena.web.pages import live, match, matches
from arena.web.pages.live_boards import TICK_SECONDS, Watcher
from arena.web.rendering import Page, media_type
from arena.web.safety import MAX_FORM_FIELDS, MAX_FORM_FILES, TOKEN_HEADER, changes_something

READ = ["GET", "HEAD"]


def answer(shown: Page, status: int = 200) -> Response:
    """Return a page that is for who asked alone."""
    content = shown.html.encode("utf-8", "replace")
    return Response(content, status, {"Cache-Control": "private, no-store"}, media_type="text/html")


def add_contest_routes(app: FastAPI, portal: Portal) -> None:
    """Add the addresses of contests."""
    _add_lists(app, portal)
    _add_matches(app, portal, "")
    _add_matches(app, portal, f"/{FINAL_FOLDER}")
    _add_handing_in(app, portal)
    _add_bots(app, portal)


def _add_lists(app: FastAPI, portal: Portal) -> None:
    @app.api_route("/contests", methods=READ, response_model=None)
    def contests(request: Request) -> Response:
        return answer(pages.list_page(portal, request))

    @app.api_route("/contests/{id}", methods=READ, response_model=None)
    def contest(request: Request, id: str, start: int = 0) -> Response:
        return answer(pages.contest_page(portal, request, portal.view(id), max(0, start)))

    @app.get("/contests/{id}/events", response_model=None)
    async def events(id: str) -> Response:
        view = await run_in_threadpool(portal.view, id)
        make = partial(pages.standings_event, portal, view.id)
        return app.state.live.response(f"contests/{view.id}", Source(make))

    @app.api_route("/contests/{id}/final", methods=READ, response_model=None)
    def final(request: Request, id: str, start: int = 0) -> Response:
        return answer(pages.final_page(portal, request, portal.view(id), max(0, start)))

    @app.api_route("/contests/{id}/archive/{which}.zip", methods=READ, response_model=None)
    def archive(request: Request, id: str, which: str) -> Response:
        portal.door.organiser(request)
        view = portal.view(id)
        folder = season_folder(portal.catalog.home, view.id, view.contest.season)
        path = {"season": folder, "final": folder / FINAL_FOLDER}.get(which, Path()) / ARCHIVE_FILE
        if which not in ("season", "final") or not path.is_file():
            raise NotFoundError("there is no archive yet")
        headers = {"Cache-Control": "private, no-store"}
        return FileResponse(path, filename=f"{view.id}-{which}.zip", media_type="application/zip", headers=headers)

    @app.api_route("/contests/{id}/certificates/{rank}.svg", methods=READ, response_model=None)
    def certificate(id: str, rank: int) -> Response:
        content = pages.certificate_of(portal, portal.view(id), rank)
        return Response(content, media_type=media_type(".svg"), headers={"Cache-Control": "no-cache"})


def _add_matches(app: FastAPI, portal: Portal, folder: str) -> None:
    """Add the matches of a season, or those of its final's folder, for those who may see them."""

    def log_name(request: Request, id: str, season: str) -> str:
        view = portal.view(id)
        check_sees_matches(portal.accounts, view, portal.door.grant(request), portal.now)
        return f"{CONTESTS_FOLDER}/{view.id}/{season}{folder}"

    prefix = f"/contests/{{id}}/{{season}}{folder}/matches"

    @app.api_route(prefix, methods=READ, response_model=None)
    def list_of(request: Request, id: str, season: str) -> Response:
        shown = matches.page_of(portal.catalog, portal.links, log_name(request, id, season), request.query_params)
        return answer(shown)

    @app.api_route(f"{prefix}/{{match_id}}", methods=READ, response_model=None)
    def one(request: Request, id: str, season: str, match_id: str) -> Response:
        return answer(match.page_of(portal.catalog, portal.links, log_name(request, id, season), match_id))

    @app.api_route(f"{prefix}/{{match_id}}/position.{{format}}", methods=READ, response_model=None)
    def position(request: Request, id: str, season: str, match_id: str, format: str, ply: str = "") -> Response:
        name = log_name(request, id, season)
        content = match.position_of(portal.catalog, name, match_id, ply, format)
        return Response(content, 200, {"Cache-Control": "private, no-cache"}, media_type(f".{format}"))

    def live_name(request: Request, id: str, season: str) -> str:
        if not portal.view(id).config.show_in_play:
            raise NotFoundError("matches in play are not shown in this contest")
        return portal.catalog.log(log_name(request, id, season)).name

    @app.api_route(f"/contests/{{id}}/{{season}}{folder}/live", methods=READ, response_model=None)
    def in_play(request: Request, id: str, season: str) -> Response:
        return answer(live.page_of(portal.catalog, portal.links, live_name(request, id, season)))

    @app.get(f"/contests/{{id}}/{{season}}{folder}/live/events", response_model=None)
    async def plies(request: Request, id: str, season: str) -> Response:
        name = await run_in_threadpool(live_name, request, id, season)
        grant = await run_in_threadpool(portal.door.grant, request)
        is_organiser = grant is not None and grant.author.is_organiser
        watcher = Watcher(portal.catalog, portal.links, name)

        def event() -> str:
            """Return what is in play; it ends for all but organisers when the standings are frozen meanwhile."""
            if not is_organiser and is_frozen(portal.view(id), portal.now):
                raise AccountError("the standings are frozen")
            return watcher.event()

        channel = f"{name}/live{'/organisers' if is_organiser else ''}"
        return app.state.live.response(channel, Source(event, TICK_SECONDS, watcher.close))


def _add_handing_in(app: FastAPI, portal: Portal) -> None:
    @app.api_route("/contests/{id}/hand-in", methods=READ, response_model=None)
    def form(request: Request, id: str) -> Response:
        view = portal.view(id)
        return answer(pages.hand_in_page(portal, request, portal.door.signed_in(request), view))

    async def one_upload(request: Request) -> AsyncIterator[None]:
        """Take a place before the form is read."""
        grant = await run_in_threadpool(portal.submitter, request)
        with portal.upload(grant.author.id):
            yield

    before = [Depends(one_upload), Depends(changes_something)]

    @app.post("/contests/{id}/hand-in", dependencies=before, response_model=None)
    async def take(request: Request, id: str) -> Response:
        async with request.form(max_files=MAX_FORM_FILES, max_fields=MAX_FORM_FIELDS) as form:
            files = {
                (each.filename or "").replace("\\", "/"): await each.read()
                for each in form.getlist("files")
                if isinstance(each, UploadFile) and each.filename
            }
            name = form.get("name", "")
        return await run_in_threadpool(_take, portal, request, id, name if isinstance(name, str) else "", files)


def _take(portal: Portal, request: Request, id: str, name: str, files: dict[str, bytes]) -> Response:
    """Take files that a page has handed in; answer a script with JSON, and a plain form with a page."""
    view, by_script = portal.view(id), request.headers.get(TOKEN_HEADER) is not None
    grant = portal.submitter(request)
    try:
        received = received_from(portal, view, grant.author.id, name, files)
    except ArenaError as error:
        words = portal.catalog.words(error)
        if by_script:
            return JSONResponse({"error": words}, 400)
        return answer(pages.hand_in_page(portal, request, grant, view, words, name), 400)
    address = portal.links.contest(view.id, "bots", received.version.bot, "versions", received.version.number)
    address += "" if received.is_new else "?again=1"
    return JSONResponse({"address": address}) if by_script else RedirectResponse(address, 303)


def received_from(
    portal: Portal, view: ContestView, author: str, name: str, files: dict[str, bytes], main: str = ""
) -> Received:
    """Hand files in for an author, as `arena.contest.handing_in.hand_in` does; raises an `ArenaError`."""
    who = portal.accounts.authors.get(author)
    return hand_in(portal.accounts, portal.catalog.home, view.config, who, name, files, main, portal.read_upload)


def _add_bots(app: FastAPI, portal: Portal) -> None:
    @app.api_route("/contests/{id}/bots/{bot}", methods=READ, response_model=None)
    def show_bot(request: Request, id: str, bot: str) -> Response:
        view = portal.view(id)
        return answer(pages.bot_page(portal, request, view, portal.bot(view, bot)))

    @app.api_route("/contests/{id}/bots/{bot}/versions/{number}", methods=READ, response_model=None)
    def show_version(request: Request, id: str, bot: str, number: int, again: str = "") -> Response:
        view = portal.view(id)
        own, _ = portal.own_bot(request, view, bot)
        return answer(pages.version_page(portal, view, own, _version(portal, own, number), bool(again)))

    @app.get("/contests/{id}/bots/{bot}/versions/{number}/events", response_model=None)
    async def version_events(request: Request, id: str, bot: str, number: int) -> Response:
        def look() -> tuple[ContestView, ContestBot]:
            view = portal.view(id)
            return view, portal.own_bot(request, view, bot)[0]

        view, own = await run_in_threadpool(look)
        await run_in_threadpool(_version, portal, own, number)

        def event() -> str:
            version = _version(portal, own, number)
            state = "running" if version.state in (WAITING, CHECKING) else version.state
            return json.dumps({"now": pages.version_now(portal, view, own, version), "state": state})

        return app.state.live.response(f"versions/{own.id}.{number}", Source(event))

    @app.api_route("/contests/{id}/bots/{bot}/versions/{number}/source.zip", methods=READ, response_model=None)
    def source(request: Request, id: str, bot: str, number: int) -> Response:
        own, _ = portal.own_bot(request, portal.view(id), bot)
        version = _version(portal, own, number)
        try:
            content = source_path(version.bundle, portal.catalog.home).read_bytes()
        except OSError:
            raise NotFoundError("the source is not kept any more") from None
        headers = {
            "Content-Disposition": f'attachment; filename="{version.label}.zip"',
            "Cache-Control": "private, no-store",
        }
        return Response(content, headers=headers, media_type="application/zip")

    @app.post("/contests/{id}/bots/{bot}/withdraw", dependencies=[Depends(changes_something)], response_model=None)
    def withdraw(request: Request, id: str, bot: str) -> Response:
        view = portal.view(id)
        own, grant = portal.own_bot(request, view, bot)
        portal.submitter(request)
        portal.accounts.submissions.withdraw(own.id, grant.author.id)
        return RedirectResponse(portal.links.contest(view.id, "bots", own.id), 303)

    @app.post(
        "/contests/{id}/bots/{bot}/versions/{number}/bring-back",
        dependencies=[Depends(changes_something)],
        response_model=None,
    )
    def bring_back(request: Request, id: str, bot: str, number: int) -> Response:
        view = portal.view(id)
        own, _ = portal.own_bot(request, view, bot)
        bring_back_version(portal, view, own, number, portal.submitter(request))
        return RedirectResponse(portal.links.contest(view.id, "bots", own.id), 303)


def bring_back_version(portal: Portal, view: ContestView, own: ContestBot, number: int, grant: Grant) -> BotVersion:
    """Make an older valid version of a bot its newest one again, while the contest takes bots of its author."""
    check_open(portal.accounts, view.config, portal.accounts.authors.get(own.author), portal.now)
    return portal.accounts.submissions.bring_back(own.id, number, view.config.allowance, grant.author.id)


def _version(portal: Portal, bot: ContestBot, number: int) -> BotVersion:
    try:
        return portal.accounts.submissions.version(bot.id, number)
    except ArenaError as error:
        raise NotFoundError(str(error)) from None
