"""The interface for programs, `/api/v1`: contests, standings, bots, matches, submissions, events.

`/api/v1/openapi.json` describes it. Lists go on from a cursor, `after`; answers have an `ETag`; every answer tells what
is left of the limit of requests. What changes something takes a token in the header `Authorization: Bearer TOKEN`; a
browser's cookie is not enough, so that no other site can have a browser do it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.requests import ClientDisconnect

from arena.accounts import BotVersion, ContestBot, Grant
from arena.core.errors import AccountError, ArenaError, BotError, LockedError, UnwritableError
from arena.results.match_filter import MatchFilter, MatchKey
from arena.web.catalog import NotFoundError
from arena.web.contest.access import RateError, SignInError, bearer_of, client_of
from arena.web.contest.portal import Portal
from arena.web.contest.review_api import add_review
from arena.web.contest.routes import bring_back_version, received_from
from arena.web.contest.standings import standings_json
from arena.web.contest.views import ContestView, check_sees_matches, is_frozen
from arena.web.event_streams import TooManyError
from arena.web.pages import match as match_pages
from arena.web.pages.matches import MatchLine, cursor_of, lines_of
from engine.errors import summarise_error

API_PREFIX = "/api/v1"
MAX_LISTED = 200
Limit = Annotated[int, Query(ge=1, le=MAX_LISTED)]
After = Annotated[int, Query(ge=0, le=2**53)]


class ContestRecord(BaseModel):
    """A contest."""

    id: str
    title: str
    state: str
    season: int
    opens: str | None
    deadline: str | None
    time_zone: str
    boards: list[dict[str, Any]]
    bots: int


class BotRecord(BaseModel):
    """A bot of a contest."""

    id: str
    name: str
    author: str
    withdrawn: bool


class VersionRecord(BaseModel):
    """A version of a bot, for its author."""

    bot: str
    number: int
    label: str
    state: str
    received: str
    is_new: bool | None = None
    """Whether handing in made it; False for a source that was there already."""
    report: list[dict[str, Any]]


class MatchRecord(BaseModel):
    """A match, as lists have it."""

    id: str
    game: str
    players: int
    plies: int | None
    ended: str
    bots: list[str]
    places: list[int]


class ReplayRecord(MatchRecord):
    """A match with its moves."""

    moves: list[str]


class EventRecord(BaseModel):
    """Something that happened in a contest."""

    number: int
    time: str
    kind: str
    data: dict[str, Any]


class Contests(BaseModel):
    """All contests."""

    contests: list[ContestRecord]


class Bots(BaseModel):
    """Bots of a contest."""

    bots: list[BotRecord]
    next: str | None
    """Cursor of the bots that follow."""


class Versions(BaseModel):
    """Versions of a bot, the newest first."""

    versions: list[VersionRecord]


class Matches(BaseModel):
    """Matches of a season, the newest first."""

    matches: list[MatchRecord]
    next: str | None


class Events(BaseModel):
    """Events of a contest, in order."""

    events: list[EventRecord]
    next: int


class Person(BaseModel):
    """Who asks."""

    id: str
    name: str
    role: str
    scopes: list[str]
    contests: list[str]


class Problem(BaseModel):
    """What was wrong, in a sentence."""

    error: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "Something in the request is wrong",
        401: "It takes a token",
        403: "The token does not allow it",
        404: "There is no such thing",
        413: "The body is too large",
        421: "The server does not have that name",
        422: "A parameter is of another type",
        429: "Too many requests",
        503: "Too many hand in at once",
        507: "The disk is short",
    }.items()
}


def add_api(app: FastAPI, portal: Portal) -> None:
    """Add the interface to a server."""
    api = FastAPI(
        title="Pyramid Arena",
        version="1",
        description=__doc__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        responses=PROBLEMS,
    )
    api.state = app.state
    api.middleware("http")(_limited(portal))
    _add_errors(api, portal)
    _add_reading(api, portal)
    _add_bots(api, portal)
    _add_matches(api, portal)
    add_review(api, portal)
    _add_changes(api, portal)
    app.mount(API_PREFIX, api)


def _limited(portal: Portal) -> Callable[[Request, Callable[[Request], Awaitable[Response]]], Awaitable[Response]]:
    """Return what bounds the requests of a client, and answers with the same content by its tag alone."""

    async def answer(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        limit = portal.door.requests
        try:
            grant = await run_in_threadpool(portal.door.grant, request)
            left = limit.take(client_of(request) if grant is None else grant.author.id)
        except LockedError as error:
            return JSONResponse({"error": portal.catalog.words(error)}, 503, {"Retry-After": "5"})
        except RateError as error:
            headers = {"Retry-After": str(int(error.seconds) + 1), "RateLimit-Limit": str(limit.burst)}
            return JSONResponse({"error": str(error)}, 429, {**headers, "RateLimit-Remaining": "0"})
        try:
            response = await call(request)
        except Exception as error:  # what no handler knows; the body would be plain text
            print(f"error: {request.url.path[:200]!r}: {summarise_error(error)}", file=sys.stderr, flush=True)
            return JSONResponse({"error": "the server failed; its terminal says why"}, 500)
        response.headers["RateLimit-Limit"] = str(limit.burst)
        response.headers["RateLimit-Remaining"] = str(int(left))
        response.headers["Cache-Control"] = "private, no-cache"
        if request.method not in ("GET", "HEAD") or response.status_code != 200:
            return response
        body = b"".join([part async for part in response.body_iterator])  # type: ignore[attr-defined]
        tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        response.headers["ETag"] = tag
        headers = {key: value for key, value in response.headers.items() if key != "content-length"}
        if tag in [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers={key: headers[key] for key in headers if key != "content-type"})
        return Response(body, 200, headers)

    return answer


def _add_errors(api: FastAPI, portal: Portal) -> None:
    statuses: list[tuple[type[Exception], int]] = [
        (SignInError, 401),
        (NotFoundError, 404),
        (AccountError, 403),
        (BotError, 400),
        (UnwritableError, 507),
        (TooManyError, 503),
        (LockedError, 503),
        (ArenaError, 400),
        (ClientDisconnect, 400),
    ]

    def handler(status: int) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def answer(request: Request, problem: Exception) -> Response:
            words = (
                portal.catalog.words(problem) if isinstance(problem, ArenaError) else "the request did not come whole"
            )
            return JSONResponse({"error": words}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)

        return answer

    for kind, status in statuses:
        api.add_exception_handler(kind, handler(status))

    async def too_often(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, RateError)
        return JSONResponse({"error": str(problem)}, 429, {"Retry-After": str(int(problem.seconds) + 1)})

    async def invalid(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, RequestValidationError)
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return JSONResponse({"error": f"{where}: {first['msg']}"[:500]}, 422)

    async def http(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, PlainHTTPException)
        words = {404: "there is no such address", 405: "this address does not take that method"}
        text = words.get(problem.status_code, str(problem.detail))
        return JSONResponse({"error": text}, problem.status_code, problem.headers)

    api.add_exception_handler(RateError, too_often)
    api.add_exception_handler(RequestValidationError, invalid)
    for kind in (HTTPException, PlainHTTPException):
        api.add_exception_handler(kind, http)


def _add_reading(api: FastAPI, portal: Portal) -> None:
    @api.get("/me")
    def me(request: Request) -> Person:
        """Return who the token belongs to."""
        grant = portal.door.signed_in(request)
        contests = portal.accounts.contests.contests_of(grant.author.id)
        author = grant.author
        return Person(id=author.id, name=author.name, role=author.role, scopes=sorted(grant.scopes), contests=contests)

    @api.get("/contests")
    def contests() -> Contests:
        """Return all contests."""
        found = portal.accounts.contests.all() if portal.door.has_accounts else []
        return Contests(contests=[_contest(portal, portal.view(each.id)) for each in found])

    @api.get("/contests/{id}")
    def contest(id: str) -> ContestRecord:
        """Return a contest."""
        return _contest(portal, portal.view(id))

    @api.get("/contests/{id}/standings", response_model=dict[str, Any])
    def standings(id: str) -> Response:
        """Return the standings as of the latest complete round; names by bot beside them."""
        view = portal.view(id)
        found = None if is_frozen(view, portal.now) else standings_json(view, portal.catalog.home, portal.kept)
        if found is None:
            raise NotFoundError("there are no standings now: no round is complete yet, or they are frozen")
        return Response(found, media_type="application/json")

    @api.get("/contests/{id}/events")
    def events(id: str, after: After = 0, limit: Limit = 100) -> Events:
        """Return what happened after an event: versions that play, withdrawals, rounds."""
        view = portal.view(id)
        found = portal.accounts.database.events(view.id, after, limit)
        listed = [EventRecord(number=each.number, time=each.time, kind=each.kind, data=each.data) for each in found]
        return Events(events=listed, next=found[-1].number if found else after)


def _contest(portal: Portal, view: ContestView) -> ContestRecord:
    config = view.config
    return ContestRecord(
        id=view.id,
        title=config.shown_title,
        state=view.state(portal.now),
        season=view.contest.season,
        opens=config.opens.isoformat() if config.opens else None,
        deadline=config.deadline.isoformat() if config.deadline else None,
        time_zone=config.time_zone,
        boards=config.as_data()["boards"],
        bots=view.bots,
    )


def _add_bots(api: FastAPI, portal: Portal) -> None:
    @api.get("/contests/{id}/bots")
    def bots(id: str, after: After = 0, limit: Limit = 100) -> Bots:
        """Return the bots of a contest, by id; `after` is the number of the last one seen."""
        view = portal.view(id)
        listed = portal.accounts.submissions.bots_after(view.id, after, limit + 1)
        more = listed[limit - 1].id[1:] if len(listed) > limit else None
        return Bots(bots=[_bot(bot) for bot in listed[:limit]], next=more)

    @api.get("/contests/{id}/bots/{bot}")
    def one(id: str, bot: str) -> BotRecord:
        """Return a bot."""
        return _bot(portal.bot(portal.view(id), bot))

    @api.get("/contests/{id}/bots/{bot}/versions")
    def versions(request: Request, id: str, bot: str) -> Versions:
        """Return the versions of one's own bot, the newest first; each by itself has the report of its check."""
        own, _ = portal.own_bot(request, portal.view(id), bot)
        return Versions(versions=[_version(each) for each in portal.accounts.submissions.versions(own.id)])

    @api.get("/contests/{id}/bots/{bot}/versions/{number}")
    def version(request: Request, id: str, bot: str, number: int) -> VersionRecord:
        """Return a version of one's own bot, with the report of its check."""
        own, _ = portal.own_bot(request, portal.view(id), bot)
        return _version(_existing(portal, own, number))


def _existing(portal: Portal, bot: ContestBot, number: int) -> BotVersion:
    try:
        return portal.accounts.submissions.version(bot.id, number)
    except (AccountError, OverflowError):
        raise NotFoundError(f"bot {bot.id} has no such version") from None


def _bot(bot: ContestBot) -> BotRecord:
    return BotRecord(id=bot.id, name=bot.name, author=bot.author_name, withdrawn=bot.withdrawn is not None)


def _version(version: BotVersion, is_new: bool | None = None) -> VersionRecord:
    return VersionRecord(
        bot=version.bot,
        number=version.number,
        label=version.label,
        state=version.state,
        received=version.received,
        is_new=is_new,
        report=version.report,
    )


def _add_matches(api: FastAPI, portal: Portal) -> None:
    @api.get("/contests/{id}/matches")
    def matches(request: Request, id: str, bot: str = "", after: str = "", limit: Limit = 50) -> Matches:
        """Return matches of the present season, the newest first; `bot` is the label of a version, `b12.3`."""
        view = portal.view(id)
        check_sees_matches(portal.accounts, view, portal.door.grant(request), portal.now)
        log = portal.catalog.log(view.season())
        cursor = _cursor(after)
        index, found = portal.catalog.find(log, MatchFilter(bot=bot or None), most=limit, after=cursor)
        lines = lines_of(log, index, portal.catalog.plan(log), found.numbers)
        more = found.before + len(lines) < found.total and found.numbers
        next_key = "{}.{}".format(*index.key(found.numbers[-1])) if more else None
        return Matches(matches=[MatchRecord(**_match(line)) for line in lines], next=next_key)

    @api.get("/contests/{id}/matches/{match}")
    def replay(request: Request, id: str, match: str) -> ReplayRecord:
        """Return a match of the present season with its moves."""
        view = portal.view(id)
        check_sees_matches(portal.accounts, view, portal.door.grant(request), portal.now)
        line, moves = match_pages.moves_of(portal.catalog, view.season(), match)
        return ReplayRecord(**_match(line), moves=moves)


def _cursor(text: str) -> MatchKey | None:
    if not text:
        return None
    found = cursor_of(text)
    if found is None:
        raise ArenaError("after: is no cursor that a list has given")
    return found


def _match(line: MatchLine) -> dict[str, Any]:
    return {
        "id": line.id,
        "game": line.game,
        "players": line.players,
        "plies": line.plies,
        "ended": line.ended,
        "bots": [seat.bot for seat in line.seats],
        "places": [seat.place for seat in line.seats],
    }


def _add_changes(api: FastAPI, portal: Portal) -> None:
    def program(request: Request) -> Grant:
        if not bearer_of(request):
            raise SignInError("it takes a token in the header Authorization: Bearer TOKEN")
        return portal.submitter(request)

    @api.post(
        "/contests/{id}/submissions",
        status_code=201,
        openapi_extra={
            "requestBody": {
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                "required": True,
            }
        },
    )
    async def hand_in(request: Request, id: str, file: str, name: str = "", main: str = "") -> VersionRecord:
        """Hand in a bot: the body is a Python file, an ONNX model or a ZIP archive, as the name of `file` says.

        `main`, such as `my_bot.py:MyBot`, chooses the bot where an archive holds several.
        """
        view, grant = await run_in_threadpool(portal.view, id), await run_in_threadpool(program, request)
        with portal.upload(grant.author.id):
            content = await request.body()

            def take() -> VersionRecord:
                return _version(*received_from(portal, view, grant.author.id, name, {file: content}, main))

            return await run_in_threadpool(take)

    @api.post("/contests/{id}/bots/{bot}/withdraw")
    def withdraw(request: Request, id: str, bot: str) -> BotRecord:
        """Take one's own bot out of the rounds that follow."""
        grant, view = program(request), portal.view(id)
        own, _ = portal.own_bot(request, view, bot)
        portal.accounts.submissions.withdraw(own.id, grant.author.id)
        return _bot(portal.bot(view, own.id))

    @api.post("/contests/{id}/bots/{bot}/versions/{number}/bring-back")
    def bring_back(request: Request, id: str, bot: str, number: int) -> VersionRecord:
        """Make a valid version of one's own bot its newest one again; a withdrawn bot plays again."""
        grant, view = program(request), portal.view(id)
        own, _ = portal.own_bot(request, view, bot)
        return _version(bring_back_version(portal, view, own, _existing(portal, own, number).number, grant))
