"""The contests of a server: all their addresses, and what is answered where something is refused."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from arena.core.errors import AccountError, ArenaError, UnwritableError
from arena.web.contest.access import RateError, SignInError
from arena.web.contest.account_routes import add_account_routes
from arena.web.contest.api import add_api
from arena.web.contest.organise_routes import add_organise_routes
from arena.web.contest.portal import Portal
from arena.web.contest.routes import add_contest_routes, answer
from arena.web.rendering import page
from arena.web.safety import TOKEN_HEADER


def add_contests(app: FastAPI) -> Portal:
    """Add the contests of a home to its server."""
    portal = app.state.portal = Portal(app)
    add_contest_routes(app, portal)
    add_account_routes(app, portal)
    add_organise_routes(app, portal)
    add_api(app, portal)
    _add_errors(app, portal)
    return portal


def _add_errors(app: FastAPI, portal: Portal) -> None:
    def error(request: Request, status: int, problem: ArenaError, title: str) -> Response:
        words = portal.catalog.words(problem)
        if TOKEN_HEADER in request.headers:
            return JSONResponse({"error": words}, status)
        return answer(page("error.html", portal.links, title=title, words=words), status)

    async def sign_in_first(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, SignInError)
        if request.method in ("GET", "HEAD"):
            return RedirectResponse(f"{portal.links.sign_in()}?next={quote(request.url.path)}", 303)
        return error(request, 403, problem, "Not allowed")

    async def too_often(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, RateError)
        response = error(request, 429, problem, "Not so fast")
        response.headers["Retry-After"] = str(int(problem.seconds) + 1)
        return response

    async def refused(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, ArenaError)
        return error(request, 403, problem, "Not allowed")

    async def no_room(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, ArenaError)
        return error(request, 507, problem, "No room")

    app.add_exception_handler(SignInError, sign_in_first)
    app.add_exception_handler(RateError, too_often)
    app.add_exception_handler(AccountError, refused)
    app.add_exception_handler(UnwritableError, no_room)
