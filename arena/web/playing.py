"""Addresses of tables and of the analysis board.

Whoever opened a table may move at it: the browser holds a random secret in a cookie that no script and no other site
can read, and that is not part of the address. So an address can be given away for others to look on.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from arena.core.errors import ArenaError, ConfigError
from arena.registry.discovery import named_bots
from arena.registry.models import BOT as MODELS
from arena.registry.submissions import submitted
from arena.tables import keeping
from arena.tables.analysis import question
from arena.tables.hall import Hall, Place
from arena.tables.setup import PERSON, PersonClock, Setup
from arena.tables.table import Refused
from arena.web import boards
from arena.web.library import NotFoundError
from arena.web.links import Links
from arena.web.pages import play as pages
from arena.web.rendering import Page
from arena.web.safety import changes_something
from engine import EngineError, Game, load_game

COOKIE = "arena_seat"
LONG_POLL = 20.0
"""Seconds after which a page that waits for a change is told that there is none."""
BUDGETS = (1_000, 10_000, 100_000, 1_000_000)
"""Simulations that pages offer."""
Checked = Depends(changes_something)
Parts = Annotated[Sequence[str], Query()]
"""Parts of a drawing in a query, in the order in which they were clicked."""


def add_tables(app: FastAPI, hall: Hall, respond: Callable[[Request, Page], Response]) -> None:
    """Add the addresses of tables and of the analysis board; `respond` answers with a page."""
    links: Links = app.state.links
    _add_opening(app, hall, links, respond)
    _add_table(app, hall, links, respond)
    _add_looks(app, hall)
    _add_changes(app, hall)
    _add_analysis(app, hall, links, respond)


def _add_opening(app: FastAPI, hall: Hall, links: Links, respond: Callable[[Request, Page], Response]) -> None:
    @app.api_route("/play", methods=["GET", "HEAD"], response_model=None)
    def choose(request: Request) -> Response:
        return respond(request, pages.setup_page(links, hall, request.query_params, _cookie(request)))

    @app.post("/play", dependencies=[Checked], response_model=None)
    async def open_table(request: Request) -> Response:
        form = await request.form(max_fields=100)
        owner = _cookie(request) or secrets.token_urlsafe(24)
        try:
            setup = await run_in_threadpool(_setup_of, form, hall)
            place = await run_in_threadpool(hall.open, setup, owner)
        except (ArenaError, EngineError) as error:
            status = 409 if isinstance(error, Refused) else 400
            query = {key: value for key, value in form.items() if isinstance(value, str)}
            shown = await run_in_threadpool(pages.setup_page, links, hall, query, owner, str(error), status)
            return respond(request, shown)
        return _seated(RedirectResponse(f"/play/{place.id}", 303), owner)


def _add_table(app: FastAPI, hall: Hall, links: Links, respond: Callable[[Request, Page], Response]) -> None:
    @app.api_route("/play/{id}", methods=["GET", "HEAD"], response_model=None)
    def table(request: Request, id: str, claim: str = "") -> Response:
        place = _place(hall, id)
        if claim and place.claim and hmac.compare_digest(claim.encode(), place.claim.encode()):
            place.claim = ""
            return _seated(RedirectResponse(f"/play/{id}", 303), place.owner)
        return respond(request, pages.table_page(links, place, _is_owner(request, place), BUDGETS))

    @app.get("/play/{id}/state", response_model=None)
    async def state(request: Request, id: str, after: int = -1) -> Response:
        place = _place(hall, id)
        await _change(place, after)
        if place.table.version <= after:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        return await run_in_threadpool(_table_json, request, place)

    @app.get("/play/{id}/match.jsonl", response_model=None)
    def line(id: str) -> Response:
        place = _place(hall, id)
        try:
            plan, row = place.table.finished()
        except Refused as error:
            raise HTTPException(409, str(error)) from None
        name = f"{keeping.id_of(plan)}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(keeping.line_of(plan, row), media_type="application/jsonl", headers=headers)


def _add_looks(app: FastAPI, hall: Hall) -> None:
    """Add the addresses of what there is to see beside a table as it stands."""

    @app.get("/play/{id}/at", response_model=None)
    def at(id: str, ply: int) -> Response:
        place = _place(hall, id)
        return _json(lambda: {**boards.state_data(place.table.state_at(ply)), "legal": []})

    @app.get("/play/{id}/preview", response_model=None)
    def preview(id: str, action: int) -> Response:
        place = _place(hall, id)
        state = place.table.view().state
        if action not in state.legal_actions():
            return Response(status_code=204)  # somebody has moved meanwhile
        after = state.child(action)
        return _json(lambda: {"svg": boards.svg_of(after), "text": str(after)})

    @app.get("/play/{id}/why", response_model=None)
    def why(id: str, version: int, part: Parts = ()) -> Response:
        view = _place(hall, id).table.view()
        if view.version != version:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        return _json(lambda: boards.reason_data(view.state, part))

    @app.post("/play/{id}/found", dependencies=[Checked], response_model=None)
    def found(id: str, limit: int = BUDGETS[1]) -> Response:
        place = _place(hall, id)

        def look() -> dict[str, Any]:
            view, setup = place.table.view(), place.table.setup
            asked = question(place.table.game, setup.position, tuple(view.state.history()))
            return {**boards.found_data(hall.analyses.look(*asked, min(limit, BUDGETS[-1]))), "of": view.version}

        return _json(look)


def _add_changes(app: FastAPI, hall: Hall) -> None:
    def change(name: str, do: Callable[[Place, FormData], Any]) -> None:
        """Add an address that changes a table, for its owner alone; the answer is what it looks like then."""

        async def answer(request: Request, id: str) -> Response:
            place = _place(hall, id)
            if not _is_owner(request, place):
                return _error(403, "only the browser that opened this table may move here")
            form = await request.form(max_fields=10)
            try:
                told = await run_in_threadpool(do, place, form)
            except (ArenaError, EngineError) as error:
                return _error(409, app.state.library.words(error))
            if isinstance(told, Place):
                return JSONResponse({"go": f"/play/{told.id}"}, headers={"Cache-Control": "no-store"})
            return await run_in_threadpool(_table_json, request, place)

        app.add_api_route(f"/play/{{id}}/{name}", answer, methods=["POST"], dependencies=[Checked], response_model=None)

    def choose(place: Place, form: FormData) -> None:
        action = _number(form, "action")
        if action is None:
            raise Refused("no action was chosen")
        hall.wake(place)
        place.table.choose(action, _number(form, "version"))

    def resign(place: Place, form: FormData) -> None:
        hall.wake(place)
        place.table.resign(_number(form, "version"))

    def take_back(place: Place, form: FormData) -> None:
        hall.wake(place)
        place.table.take_back()

    change("move", choose)
    change("resign", resign)
    change("back", take_back)
    change("keep", lambda place, form: keeping.keep(place.table))
    change("rematch", lambda place, form: hall.rematch(place, _flag(form, "same"), _flag(form, "turned")))


def _add_analysis(app: FastAPI, hall: Hall, links: Links, respond: Callable[[Request, Page], Response]) -> None:
    @app.api_route("/analysis", methods=["GET", "HEAD"], response_model=None)
    def board(request: Request) -> Response:
        return respond(request, pages.analysis_page(links, request.query_params, BUDGETS))

    @app.get("/analysis/state", response_model=None)
    def state(game: str, players: int, position: str = "", moves: str = "") -> Response:
        def look() -> dict[str, Any]:
            _, found = boards.asked(_game(game, players), position, moves)
            return boards.state_data(found)

        return _json(look)

    @app.post("/analysis/found", dependencies=[Checked], response_model=None)
    def found(game: str, players: int, position: str = "", moves: str = "", limit: int = BUDGETS[1]) -> Response:
        def look() -> dict[str, Any]:
            asked = boards.asked(_game(game, players), position, moves)
            return boards.found_data(hall.analyses.look(*asked, min(limit, BUDGETS[-1])))

        return _json(look)

    @app.get("/analysis/why", response_model=None)
    def why(game: str, players: int, position: str = "", moves: str = "", part: Parts = ()) -> Response:
        return _json(lambda: boards.reason_data(boards.asked(_game(game, players), position, moves)[1], part))

    @app.get("/analysis/preview", response_model=None)
    def preview(game: str, players: int, action: int, position: str = "", moves: str = "") -> Response:
        def look() -> dict[str, Any]:
            after = boards.asked(_game(game, players), position, moves)[1].child(action)
            return {"svg": boards.svg_of(after), "text": str(after)}

        return _json(look)


def _game(spec: str, players: int) -> Game:
    return load_game(spec, players)


def _json(make: Callable[[], dict[str, Any]]) -> Response:
    """Return what a function returns as JSON, or why there is nothing."""
    try:
        return JSONResponse(make(), headers={"Cache-Control": "no-store"})
    except Refused as error:
        return _error(409, str(error))
    except (ArenaError, EngineError) as error:
        return _error(400, str(error))


def _error(status: int, words: str) -> Response:
    return JSONResponse({"error": words[:2000]}, status, headers={"Cache-Control": "no-store"})


def _place(hall: Hall, id: str) -> Place:
    place = hall.find(id)
    if place is None:
        raise NotFoundError(pages.NO_TABLE)
    return place


def _table_json(request: Request, place: Place) -> Response:
    view = place.table.view()
    data = boards.table_data(view, _is_owner(request, place))
    data["line"] = request.app.state.library.words(view.line)
    words = " ".join(ply.text for ply in view.plies)
    data["analysis"] = boards.analysis_address(place.table.game, words, place.table.setup.position or "")
    if view.kept and place.table.plan is not None:
        data["replay"] = request.app.state.links.match(view.kept, keeping.id_of(place.table.plan))
    return JSONResponse(data, headers={"Cache-Control": "no-store"})


async def _change(place: Place, after: int) -> None:
    """Wait until a table is past a version, or a while."""
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def listener() -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(changed.set)

    place.listeners.append(listener)
    try:
        if place.table.version <= after:
            await asyncio.wait_for(changed.wait(), LONG_POLL)
    except TimeoutError:
        pass
    finally:
        place.listeners.remove(listener)


def _cookie(request: Request) -> str:
    return request.cookies.get(COOKIE, "")[:64]


def _is_owner(request: Request, place: Place) -> bool:
    return hmac.compare_digest(_cookie(request).encode(), place.owner.encode())


def _seated(response: Response, owner: str) -> Response:
    response.set_cookie(COOKIE, owner, max_age=30 * 86_400, httponly=True, samesite="strict")
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


def _setup_of(form: FormData, hall: Hall) -> Setup:
    """Return the table that a form asks for; bots are named ones, and no files."""

    def text(name: str, most: int = 4000) -> str:
        value = form.get(name, "")
        return value.strip()[:most] if isinstance(value, str) else ""

    players = _number(form, "players")
    game = load_game(pages.spec_of_form(form), players)
    seats = tuple(text(f"bot-{seat}") or text(f"seat-{seat}") or PERSON for seat in range(game.players))
    name = text("name", 100)
    for number, seat in enumerate(seats):
        check_named(seat, number, hall)
    seats = tuple(f"{PERSON}:{name}" if seat == PERSON and name else seat for seat in seats)
    plies = _number(form, "opening")
    position, moves = text("position"), text("moves")
    actions: tuple[int, ...] = ()
    if position or moves:
        asked, _ = boards.asked(game, position, moves)
        actions = asked.actions
    return Setup(
        game.spec,
        seats,
        _number(form, "seed"),
        None if plies is None else f"random:{plies}" if plies > 0 else "none",
        position or None,
        actions,
        PersonClock(_seconds(form, "minutes", 60.0), _seconds(form, "increment", 1.0)),
        _flag(form, "keep"),
    )


def check_named(seat: str, number: int, hall: Hall) -> None:
    """Raise `ConfigError` for a bot that is a file, or plays by one: pages seat bots that have a name here."""
    if seat in hall.files or seat.partition(":")[0] == PERSON:
        return
    name = seat.partition(":")[0]
    if name == MODELS or (name not in named_bots() and name.partition("@")[0] not in submitted(hall.home)):
        raise ConfigError(f"seat {number}: there is no bot '{name[:80]}' here; `arena bots` lists them")


def table_address(place: Place) -> str:
    """Return the address of a table by which a browser becomes its owner."""
    return f"play/{place.id}?{urlencode({'claim': place.claim})}"
