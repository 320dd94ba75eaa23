"""Addresses of the analysis board and of lessons, and what answers of data have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from arena.core.errors import ArenaError
from arena.sessions.registry import SessionRegistry
from arena.sessions.session import RefusedError
from arena.web import play_data
from arena.web.links import Links
from arena.web.pages import learn
from arena.web.pages import play as pages
from arena.web.rendering import Page
from arena.web.safety import changes_something
from engine import EngineError, State, load_game
from engine.words import Names

SIMULATION_LIMITS = (1_000, 10_000, 100_000, 1_000_000)
"""Simulations that pages offer."""
WithToken = Depends(changes_something)
Parts = Annotated[Sequence[str], Query()]
"""Parts of a drawing in a query, in the order in which they were clicked."""


def add_analysis_routes(app: FastAPI, registry: SessionRegistry, respond: Callable[[Request, Page], Response]) -> None:
    """Add the addresses of the analysis board and of lessons; `respond` answers with a page."""
    links: Links = app.state.links

    @app.api_route("/learn/{game}", methods=["GET", "HEAD"], response_model=None)
    def lessons(request: Request, game: str) -> Response:
        return respond(request, learn.page_of(links, game))

    @app.api_route("/learn", methods=["GET", "HEAD"], response_model=None)
    def all_lessons() -> Response:
        return RedirectResponse(links.games(), 307)

    @app.api_route("/analysis", methods=["GET", "HEAD"], response_model=None)
    def board(request: Request) -> Response:
        return respond(request, pages.analysis_page(links, request.query_params, SIMULATION_LIMITS))

    @app.get("/analysis/state", response_model=None)
    def state(
        game: str, players: int, position: str = "", moves: str = "", you: int = -1, narrow: bool = False
    ) -> Response:
        def look() -> dict[str, Any]:
            found = _state(game, players, position, moves)
            return play_data.state_data(found, _look(found, you, narrow))

        return json_answer(look)

    @app.post("/analysis/found", dependencies=[WithToken], response_model=None)
    def found(
        game: str, players: int, position: str = "", moves: str = "", limit: int = SIMULATION_LIMITS[1]
    ) -> Response:
        def look() -> dict[str, Any]:
            asked, state = play_data.asked(load_game(game, players), position, moves)
            result = registry.analyses.look(asked, state, min(limit, SIMULATION_LIMITS[-1]))
            return play_data.analysis_data(result, state, Names.of_colours(players))

        return json_answer(look)

    _add_words(app)


def _add_words(app: FastAPI) -> None:
    """Add the addresses of what there is to say of a position."""

    @app.get("/analysis/why", response_model=None)
    def why(game: str, players: int, position: str = "", moves: str = "", you: int = -1, part: Parts = ()) -> Response:
        def ask() -> dict[str, Any]:
            found = _state(game, players, position, moves)
            return play_data.reason_data(found, _look(found, you, False), part)

        return json_answer(ask)

    @app.get("/analysis/prompt", response_model=None)
    def prompt(
        game: str, players: int, position: str = "", moves: str = "", you: int = -1, part: Parts = ()
    ) -> Response:
        def ask() -> dict[str, Any]:
            found = _state(game, players, position, moves)
            return play_data.prompt_data(found, _look(found, you, False), part)

        return json_answer(ask)

    @app.get("/analysis/told", response_model=None)
    def told(game: str, players: int, action: int, position: str = "", moves: str = "", you: int = -1) -> Response:
        def tell() -> dict[str, Any]:
            found = _state(game, players, position, moves)
            return play_data.told_data(found, action, _look(found, you, False))

        return json_answer(tell)

    @app.get("/analysis/preview", response_model=None)
    def preview(
        game: str, players: int, action: int, position: str = "", moves: str = "", narrow: bool = False
    ) -> Response:
        def look() -> dict[str, Any]:
            found = _state(game, players, position, moves)
            return play_data.preview_data(found, action, _look(found, -1, narrow))

        return json_answer(look)


def _state(game: str, players: int, position: str, moves: str) -> State:
    return play_data.asked(load_game(game, players), position, moves)[1]


def _look(state: State, you: int, narrow: bool) -> play_data.Look:
    players = state.game.players
    return play_data.Look(Names.of_colours(players, you if 0 <= you < players else None), narrow)


def json_answer(make: Callable[[], dict[str, Any]]) -> Response:
    """Return what a function returns as JSON, or why there is nothing."""
    try:
        return JSONResponse(make(), headers={"Cache-Control": "no-store"})
    except RefusedError as error:
        return json_error(409, str(error))
    except (ArenaError, EngineError) as error:
        return json_error(400, str(error))


def json_error(status: int, words: str) -> Response:
    """Return an error as JSON."""
    return JSONResponse({"error": words[:2000]}, status, headers={"Cache-Control": "no-store"})
