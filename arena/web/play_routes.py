"""Addresses of sessions.

Whoever opened a session may move in it: the browser holds a random secret in a cookie that no script and no other site
can read, and that is not part of the address. So an address can be given away for others to look on.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from arena.core.errors import ArenaError, ConfigError
from arena.match.person import PERSON
from arena.registry.discovery import named_bots
from arena.registry.models import ONNX_BOT as MODELS
from arena.registry.submissions import submitted
from arena.sessions import saving
from arena.sessions.analysis import request_for
from arena.sessions.registry import RegisteredSession, SessionRegistry
from arena.sessions.session import RefusedError
from arena.sessions.setup import PersonClock, SessionSetup
from arena.web import play_data
from arena.web.analysis_routes import (
    SIMULATION_LIMITS,
    Parts,
    WithToken,
    add_analysis_routes,
    json_answer,
    json_error,
)
from arena.web.catalog import NotFoundError
from arena.web.links import Links
from arena.web.pages import play as pages
from arena.web.play_words import names_for
from arena.web.rendering import Page
from engine import EngineError, load_game

COOKIE = "arena_seat"
LONG_POLL_SECONDS = 20.0
"""Seconds after which a page that waits for a change is told that there is none."""


def add_play_routes(app: FastAPI, registry: SessionRegistry, respond: Callable[[Request, Page], Response]) -> None:
    """Add the addresses of sessions, of the analysis board and of lessons; `respond` answers with a page."""
    links: Links = app.state.links
    _add_opening(app, registry, links, respond)
    _add_session(app, registry, links, respond)
    _add_looks(app, registry)
    _add_changes(app, registry, links)
    add_analysis_routes(app, registry, respond)


def _add_opening(
    app: FastAPI, registry: SessionRegistry, links: Links, respond: Callable[[Request, Page], Response]
) -> None:
    @app.api_route("/play", methods=["GET", "HEAD"], response_model=None)
    def choose(request: Request) -> Response:
        return respond(request, pages.setup_page(links, registry, request.query_params, _cookie(request)))

    @app.post("/play", dependencies=[WithToken], response_model=None)
    async def open_session(request: Request) -> Response:
        form = await request.form(max_fields=100)
        owner = _cookie(request) or secrets.token_urlsafe(24)
        try:
            setup = await run_in_threadpool(_setup_of, form, registry)
            entry = await run_in_threadpool(registry.open, setup, owner)
        except (ArenaError, EngineError) as error:
            status = 409 if isinstance(error, RefusedError) else 400
            query = {key: value for key, value in form.items() if isinstance(value, str)}
            shown = await run_in_threadpool(pages.setup_page, links, registry, query, owner, str(error), status)
            return respond(request, shown)
        return _with_cookie(request, RedirectResponse(links.path(f"/play/{entry.id}"), 303), owner)


def _add_session(
    app: FastAPI, registry: SessionRegistry, links: Links, respond: Callable[[Request, Page], Response]
) -> None:
    @app.api_route("/play/{id}", methods=["GET", "HEAD"], response_model=None)
    def session(request: Request, id: str, claim: str = "") -> Response:
        entry = _entry(registry, id)
        if claim and entry.claim and hmac.compare_digest(claim.encode(), entry.claim.encode()):
            entry.claim = ""
            return _with_cookie(request, RedirectResponse(links.path(f"/play/{id}"), 303), entry.owner)
        owner = _is_owner(request, entry)
        values = play_data.session_values(app.state.catalog, links, entry, owner, narrow=False)
        return respond(request, pages.session_page(links, entry, values, SIMULATION_LIMITS))

    @app.get("/play/{id}/state", response_model=None)
    async def state(request: Request, id: str, after: int = -1, narrow: bool = False) -> Response:
        entry = _entry(registry, id)
        await _change(entry, after)
        if entry.session.version <= after:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        return await run_in_threadpool(_session_json, request, entry, narrow)

    @app.get("/play/{id}/match.jsonl", response_model=None)
    def line(id: str) -> Response:
        entry = _entry(registry, id)
        try:
            plan, row = entry.session.finished()
        except RefusedError as error:
            raise HTTPException(409, str(error)) from None
        name = f"{saving.match_id_of(plan)}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(saving.json_line_of(plan, row), media_type="application/jsonl", headers=headers)


def _add_looks(app: FastAPI, registry: SessionRegistry) -> None:
    """Add the addresses of what there is to see beside a session as it stands."""

    @app.get("/play/{id}/at", response_model=None)
    def at(request: Request, id: str, ply: int, narrow: bool = False) -> Response:
        entry = _entry(registry, id)
        look = _look(request, entry, narrow)
        return json_answer(lambda: {**play_data.state_data(entry.session.state_at(ply), look), "legal": []})

    @app.get("/play/{id}/preview", response_model=None)
    def preview(request: Request, id: str, action: int, narrow: bool = False) -> Response:
        entry = _entry(registry, id)
        state = entry.session.view().state
        if action not in state.legal_actions():
            return Response(status_code=204)  # somebody has moved meanwhile
        return json_answer(lambda: play_data.preview_data(state, action, _look(request, entry, narrow)))

    @app.get("/play/{id}/why", response_model=None)
    def why(request: Request, id: str, version: int, part: Parts = ()) -> Response:
        entry = _entry(registry, id)
        view = entry.session.view()
        if view.version != version:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        return json_answer(lambda: play_data.reason_data(view.state, _look(request, entry, False), part))

    @app.get("/play/{id}/prompt", response_model=None)
    def prompt(request: Request, id: str, version: int, part: Parts = ()) -> Response:
        entry = _entry(registry, id)
        view = entry.session.view()
        if view.version != version:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        look = _look(request, entry, False)
        return json_answer(lambda: play_data.prompt_data(view.state, look, part))

    @app.post("/play/{id}/found", dependencies=[WithToken], response_model=None)
    def found(request: Request, id: str, limit: int = SIMULATION_LIMITS[1]) -> Response:
        entry = _entry(registry, id)

        def look() -> dict[str, Any]:
            view, setup = entry.session.view(), entry.session.setup
            asked, state = request_for(entry.session.game, setup.position, tuple(view.state.history()))
            result = registry.analyses.look(asked, state, min(limit, SIMULATION_LIMITS[-1]))
            return {
                **play_data.analysis_data(result, state, names_for(view.seats, _is_owner(request, entry))),
                "of": view.version,
            }

        return json_answer(look)


def _add_changes(app: FastAPI, registry: SessionRegistry, links: Links) -> None:
    def change(name: str, do: Callable[[RegisteredSession, FormData], Any]) -> None:
        """Add an address that changes a session, for its owner alone; the answer is what it looks like then."""

        async def answer(request: Request, id: str) -> Response:
            entry = _entry(registry, id)
            if not _is_owner(request, entry):
                return json_error(403, "only the browser that opened this match may move here")
            form = await request.form(max_fields=10)
            try:
                told = await run_in_threadpool(do, entry, form)
            except (ArenaError, EngineError) as error:
                return json_error(409, app.state.catalog.words(error))
            if isinstance(told, RegisteredSession):
                return JSONResponse({"go": links.path(f"/play/{told.id}")}, headers={"Cache-Control": "no-store"})
            return await run_in_threadpool(_session_json, request, entry, _flag(form, "narrow"))

        app.add_api_route(
            f"/play/{{id}}/{name}", answer, methods=["POST"], dependencies=[WithToken], response_model=None
        )

    def choose(entry: RegisteredSession, form: FormData) -> None:
        action = _number(form, "action")
        if action is None:
            raise RefusedError("no action was chosen")
        registry.unpark(entry)
        entry.session.choose(action, _number(form, "version"))

    def resign(entry: RegisteredSession, form: FormData) -> None:
        registry.unpark(entry)
        entry.session.resign(_number(form, "version"))

    def take_back(entry: RegisteredSession, form: FormData) -> None:
        registry.unpark(entry)
        entry.session.take_back()

    change("move", choose)
    change("resign", resign)
    change("back", take_back)
    change("keep", lambda entry, form: saving.save(entry.session))
    change("rematch", lambda entry, form: registry.rematch(entry, _flag(form, "same"), _flag(form, "turned")))


def _entry(registry: SessionRegistry, id: str) -> RegisteredSession:
    entry = registry.find(id)
    if entry is None:
        raise NotFoundError(pages.NO_SESSION)
    return entry


def _look(request: Request, entry: RegisteredSession, narrow: bool) -> play_data.Look:
    """Return how a page of a session shows positions to whoever asks for it."""
    return play_data.Look(names_for(entry.session.view().seats, _is_owner(request, entry)), narrow)


def _session_json(request: Request, entry: RegisteredSession, narrow: bool) -> Response:
    web = request.app.state
    data = play_data.session_values(web.catalog, web.links, entry, _is_owner(request, entry), narrow)
    return JSONResponse(data, headers={"Cache-Control": "no-store"})


async def _change(entry: RegisteredSession, after: int) -> None:
    """Wait until a session is past a version, or a while."""
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def listener() -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(changed.set)

    entry.listeners.append(listener)
    try:
        if entry.session.version <= after:
            await asyncio.wait_for(changed.wait(), LONG_POLL_SECONDS)
    except TimeoutError:
        pass
    finally:
        entry.listeners.remove(listener)


def _cookie(request: Request) -> str:
    return request.cookies.get(COOKIE, "")[:64]


def _is_owner(request: Request, entry: RegisteredSession) -> bool:
    return hmac.compare_digest(_cookie(request).encode(), entry.owner.encode())


def _with_cookie(request: Request, response: Response, owner: str) -> Response:
    path, secure = request.scope.get("root_path") or "/", request.url.scheme == "https"
    response.set_cookie(COOKIE, owner, 30 * 86_400, path=path, secure=secure, httponly=True, samesite="strict")
    return response


def _flag(form: FormData, name: str) -> bool:
    return form.get(name) in ("1", "on", "true")


def _number(form: FormData, name: str) -> int | None:
    text = form.get(name)
    if not isinstance(text, str) or not text.strip():
        return None
    try:
        return int(text[:30])
    except ValueError:
        raise ConfigError(f"{name}: must be a whole number") from None


def _seconds(form: FormData, name: str, unit: float) -> float:
    text = form.get(name)
    try:
        return float(text) * unit if isinstance(text, str) and text.strip() else 0.0
    except ValueError:
        raise ConfigError(f"{name}: must be a number") from None


def _setup_of(form: FormData, registry: SessionRegistry) -> SessionSetup:
    """Return the session that a form asks for; bots are named ones, and no files."""

    def text(name: str, most: int = 4000) -> str:
        value = form.get(name, "")
        return value.strip()[:most] if isinstance(value, str) else ""

    players = _number(form, "players")
    game = load_game(pages.spec_of_form(form), players)
    seats = tuple(text(f"bot-{seat}") or text(f"seat-{seat}") or PERSON for seat in range(game.players))
    name = text("name", 100)
    for number, seat in enumerate(seats):
        check_named(seat, number, registry)
    seats = tuple(f"{PERSON}:{name}" if seat == PERSON and name else seat for seat in seats)
    plies = _number(form, "opening")
    position, moves = text("position"), text("moves")
    actions: tuple[int, ...] = ()
    if position or moves:
        asked, _ = play_data.asked(game, position, moves)
        actions = asked.actions
    return SessionSetup(
        game.spec,
        seats,
        _number(form, "seed"),
        None if plies is None else f"random:{plies}" if plies > 0 else "none",
        position or None,
        actions,
        PersonClock(_seconds(form, "minutes", 60.0), _seconds(form, "increment", 1.0)),
        _flag(form, "keep"),
    )


def check_named(seat: str, number: int, registry: SessionRegistry) -> None:
    """Raise `ConfigError` for a bot that is a file, or plays by one: pages seat bots that have a name here."""
    if seat in registry.files or seat.partition(":")[0] == PERSON:
        return
    name = seat.partition(":")[0]
    if name == MODELS or (name not in named_bots() and name.partition("@")[0] not in submitted(registry.home)):
        raise ConfigError(f"seat {number}: there is no bot '{name[:80]}' here; `arena bots` lists them")


def session_address(entry: RegisteredSession) -> str:
    """Return the address of a session by which a browser becomes its owner."""
    return f"play/{entry.id}?{urlencode({'claim': entry.claim})}"
