"""The application behind `arena serve`: which address shows which page."""

from __future__ import annotations

import contextlib
import gzip
import html
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.requests import ClientDisconnect

from arena.core.errors import ArenaError, LockedError, NoRunError
from arena.core.names import COMPARISONS_FOLDER, PLAYED_FOLDER
from arena.sessions.registry import SessionRegistry
from arena.web.addresses import Addresses
from arena.web.catalog import PAGE_TIMEOUT_SECONDS, LogCatalog, NotFoundError
from arena.web.compute_process import ComputeProcess
from arena.web.contest.app import add_contests
from arena.web.event_streams import EventStreams, Source, TooManyError
from arena.web.links import Links
from arena.web.operation import LogFormat, Observer, add_operation
from arena.web.pages import bots, comparison, games, live, match, matches, pair, tournament, tournaments
from arena.web.pages.live_boards import TICK_SECONDS, Watcher
from arena.web.play_routes import add_play_routes
from arena.web.rendering import Page, UnknownFileError, media_type, page, static, version
from arena.web.safety import PLAIN_TEXT, TOKEN_HEADER, ForbiddenError, Guard, Scope, new_token
from engine.errors import summarise_error

CARD = '<meta property="og:image" content="/'
"""How pages name the drawing that stands for them on other sites, which needs the whole address."""
GZIP_LEVEL = 3
IMMUTABLE = "public, max-age=31536000, immutable"


def create_app(
    home: str | Path | None,
    addresses: Addresses = Addresses(),  # noqa: B008 - it is frozen
    registry: SessionRegistry | None = None,
    computer: ComputeProcess | None = None,
    log_format: LogFormat = "off",
) -> Guard:
    """Return the application for a home folder, which answers to the names of its addresses alone.

    `registry` has sessions that are open; `computer` computes what takes long, this process without it. Both are
    closed with the application.
    """
    catalog, links = LogCatalog(home, PAGE_TIMEOUT_SECONDS, computer), Links(addresses.root)
    registry = registry or SessionRegistry(catalog.home)
    links.token = new_token()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await app.state.live.close()
        catalog.close()
        registry.close()
        portal.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.catalog, app.state.links, app.state.live = catalog, links, EventStreams(catalog.words)
    _add_errors(app)
    _add_pages(app)
    add_play_routes(app, registry, respond)
    portal = add_contests(app)
    observer = Observer(app, log_format)
    add_operation(app, catalog.home, addresses, observer)

    def release() -> None:
        app.state.live.release()
        registry.release()

    return Guard(observer, addresses, release, portal.body_limit, partial(_refused, links))


def _refused(links: Links, scope: Scope, status: int, words: str) -> tuple[str, str]:
    """Return what a request that is not read is told: JSON to a program, a page to a browser, else plain text."""
    headers = dict(scope["headers"])
    if scope["path"].removeprefix(links.root).startswith("/api/") or TOKEN_HEADER.encode() in headers:
        return json.dumps({"error": words}), "application/json"
    if status == MISDIRECTED or b"text/html" not in headers.get(b"accept", b""):  # nothing leads on under that name
        return f"{status}: {words}\n", PLAIN_TEXT
    return page("error.html", links, title=ERROR_TITLES.get(status, OTHER_ERROR), words=words).html, "text/html"


def _add_pages(app: FastAPI) -> None:
    catalog: LogCatalog = app.state.catalog
    links: Links = app.state.links

    def show(address: str, make: Callable[..., Page], *fields: str) -> None:
        """Answer an address with the page that a function of its parts, and of fields of the query, returns."""

        def answer(request: Request) -> Response:
            query = {field: request.query_params.get(field, "") for field in fields}
            return respond(request, make(**request.path_params, **query))

        app.add_api_route(address, answer, methods=["GET", "HEAD"], response_model=None)

    @app.api_route("/static/{name}", methods=["GET", "HEAD"])
    def style_or_script(name: str, v: str = "") -> Response:
        content = static(name)
        caching = IMMUTABLE if v == version(name) else "no-cache"
        return Response(content, media_type=media_type(name), headers={"Cache-Control": caching})

    show("/", partial(tournaments.page_of, catalog, links))

    @app.get("/events")
    async def events() -> Response:
        return app.state.live.response("", Source(partial(tournaments.event_of, catalog, links)))

    show("/games", partial(games.list_of, catalog, links))
    show("/games/{name}", partial(games.page_of, catalog, links))
    show("/bots", partial(bots.list_of, catalog, links))
    show("/bot", partial(bots.page_of, catalog, links), "name")
    for prefix, folder in (
        ("/tournaments/{name}", ""),
        ("/comparisons/{name}", f"{COMPARISONS_FOLDER}/"),
        ("/played/{name}", f"{PLAYED_FOLDER}/"),
    ):
        _add_log_pages(show, catalog, links, prefix, folder)
        _add_live(app, catalog, links, prefix, folder)
        app.add_api_route(f"{prefix}/matches", _matches(catalog, links, folder), methods=["GET", "HEAD"])


def _kind_of(folder: str) -> ModuleType:
    """Return the pages of what lies in a folder; a match of persons has those of a tournament."""
    return comparison if folder == f"{COMPARISONS_FOLDER}/" else tournament


def _add_log_pages(show: Callable[..., None], catalog: LogCatalog, links: Links, prefix: str, folder: str) -> None:
    """Add what there is of each tournament, or of each comparison, whose logs are in a folder of their own."""

    def of_log(address: str, make: Callable[..., Page], *fields: str) -> None:
        show(prefix + address, lambda name, **rest: make(catalog, links, folder + name, **rest), *fields)

    of_log("", _kind_of(folder).page_of)
    of_log("/matches/{match}", match.page_of)
    of_log("/live", live.page_of)
    if folder != f"{COMPARISONS_FOLDER}/":
        of_log("/figures", tournament.figures_page_of, "board")
    of_log("/pair", pair.page_of, "board", "a", "b")


def _add_live(app: FastAPI, catalog: LogCatalog, links: Links, prefix: str, folder: str) -> None:
    """Add what pages of a log load by script."""

    @app.get(f"{prefix}/events")
    async def events(name: str) -> Response:
        log = await run_in_threadpool(catalog.log, folder + name)
        make = partial(_kind_of(folder).event_of, catalog, links, log.name)
        return app.state.live.response(log.name, Source(make))

    @app.get(f"{prefix}/live/events")
    async def plies(name: str) -> Response:
        log = await run_in_threadpool(catalog.log, folder + name)
        watcher = Watcher(catalog, links, log.name)
        return app.state.live.response(f"{log.name}/live", Source(watcher.event, TICK_SECONDS, watcher.close))

    @app.get(f"{prefix}/latest")
    def latest(request: Request, name: str) -> Response:
        content = match.latest_of(catalog, links, folder + name)
        return respond(request, Page(content), "application/json") if content else Response(status_code=204)

    @app.get(f"{prefix}/figures/{{file}}")
    def figure(request: Request, name: str, file: str, board: str = "") -> Response:
        content = tournament.figure_of(catalog, folder + name, board, *file.partition(".")[::2])
        headers = {"Cache-Control": "no-cache", "Content-Disposition": f'inline; filename="{board[:64]}_{file}"'}
        return Response(content, 200, headers, media_type(file))

    @app.api_route(f"{prefix}/matches/{{match_id}}/position.{{format}}", methods=["GET", "HEAD"])
    def position(name: str, match_id: str, format: str, ply: str = "") -> Response:
        content = match.position_of(catalog, folder + name, match_id, ply, format)
        return Response(content, 200, {"Cache-Control": "no-cache"}, media_type(f".{format}"))


def _matches(catalog: LogCatalog, links: Links, folder: str) -> Callable[..., Response]:
    def answer(request: Request, name: str) -> Response:
        return respond(request, matches.page_of(catalog, links, folder + name, request.query_params))

    return answer


def respond(request: Request, shown: Page, kind: str = "text/html") -> Response:
    """Return the answer with a page; without its content for a browser that has the same."""
    if CARD in shown.html:
        shown = replace(shown, html=shown.html.replace(CARD, f"{CARD[:-1]}{_origin(request)}/", 1))
    tag = f'"{shown.tag}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    asked = request.headers.get("if-none-match", "")
    if shown.status == 200 and tag in [each.strip().removeprefix("W/") for each in asked.split(",")]:
        return Response(status_code=304, headers=headers)
    content = shown.html.encode("utf-8", "replace")
    if (
        "gzip" in request.headers.get("accept-encoding", "") and not request.url.query
    ):  # nothing that was asked is in it
        content, headers["Content-Encoding"] = gzip.compress(content, GZIP_LEVEL, mtime=0), "gzip"
    return Response(content, shown.status, headers, kind)


def _origin(request: Request) -> str:
    """Return scheme and host of the server as the request names it, for an attribute of a page.

    The guard knows that the host is its own.
    """
    return html.escape(f"{request.url.scheme}://{request.url.netloc}")


def _add_errors(app: FastAPI) -> None:
    catalog: LogCatalog = app.state.catalog
    links: Links = app.state.links

    def error(status: int, problem: object, headers: dict[str, str] | None = None) -> Response:
        title = ERROR_TITLES.get(status, OTHER_ERROR)
        shown = page("error.html", links, title=title, words=catalog.words(problem))
        content = shown.html.encode("utf-8", "replace")
        return Response(content, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="text/html")

    def says(status: int, headers: dict[str, str] | None = None) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def answer(request: Request, problem: Exception) -> Response:
            return error(status, problem, headers)

        return answer

    async def database(request: Request, problem: Exception) -> Response:
        return error(500, f"a log cannot be read: {problem}")

    async def cut_off(request: Request, problem: Exception) -> Response:
        words = "400: the request did not come whole, or was too large\n"  # no page: mostly nobody is there to read it
        return Response(words, 400, {"Cache-Control": "no-store"}, "text/plain")

    async def http(request: Request, problem: Any) -> Response:
        words = {404: "there is no page at this address", 405: "this page cannot be changed"}
        return error(problem.status_code, words.get(problem.status_code, str(problem.detail)), problem.headers)

    async def invalid(request: Request, problem: Any) -> Response:
        where, *_, name = problem.errors()[0]["loc"]
        if where == "path":
            return error(404, "there is no page at this address")
        return error(422, f"{name}: {problem.errors()[0]['msg']}")

    async def unforeseen(request: Request, problem: Exception) -> Response:
        print(f"error: {request.url.path[:200]!r}: {summarise_error(problem)}", file=sys.stderr, flush=True)
        return error(500, "the server failed on this page; its terminal says why")

    handlers: list[tuple[Any, Any]] = [
        *((kind, says(404)) for kind in (NotFoundError, UnknownFileError)),
        *[
            (ForbiddenError, says(403)),
            (TooManyError, says(503, {"Retry-After": "10"})),
            *((kind, says(503, {"Retry-After": "5"})) for kind in (LockedError, NoRunError)),
            (ArenaError, says(500)),
            (sqlite3.Error, database),
            (OSError, unforeseen),
            (ClientDisconnect, cut_off),
        ],
        (RequestValidationError, invalid),
        *((kind, http) for kind in (HTTPException, PlainHTTPException)),
        (Exception, unforeseen),
    ]
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)


MISDIRECTED = 421
OTHER_ERROR = "This did not work"
ERROR_TITLES = {
    403: "Not allowed",
    404: "Not found",
    405: "Not allowed",
    410: "Gone",
    413: "Too large",
    414: "Too long",
    500: "This cannot be shown",
    503: "Not now",
}
