"""Games: what there is, and one with its rules, its character and drawings."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass

import engine
from arena.core.errors import ArenaError
from arena.web.catalog import LogCatalog, NotFoundError
from arena.web.lessons import lessons_of
from arena.web.links import Links
from arena.web.rendering import Page, page
from arena.web.rules import rules_of
from engine.errors import EngineError, summarise_error
from engine.registry import is_provided
from engine.words import colour_name

DRAWN_PLIES = (0, 12)
"""Plies after which a game is drawn: at the start, and where something has happened."""


@dataclass(frozen=True)
class Drawing:
    """A position of a game."""

    title: str
    text: str
    picture: str
    """SVG; empty where the game has none."""


def list_of(catalog: LogCatalog, links: Links) -> Page:
    """Return the list of games."""
    games, broken = [], []
    for name in engine.game_names():
        try:
            games.append(engine.game_type(name))
        except Exception as error:  # a plug-in's fault takes no other game away
            broken.append(str(error) if isinstance(error, EngineError) else f"game '{name}': {summarise_error(error)}")
    return page("games.html", links, title="Games", games=games, broken=broken)


def page_of(catalog: LogCatalog, links: Links, name: str) -> Page:
    """Return the page of a game, by its name; of a provider's game, if it has been played here, by its spec."""
    if name not in engine.game_names() and not (is_provided(name) and _is_played(catalog, name)):
        raise NotFoundError("there is no game of this name")

    def draw() -> Page:
        kind = engine.game_type(name)
        game = engine.load_game(name, kind.min_players)
        return page(
            "game.html",
            links,
            title=kind.title,
            description=kind.summary,
            kind=kind,
            boards=[engine.load_game(name, players) for players in range(kind.min_players, kind.max_players + 1)],
            drawings=_drawings(game),
            rules=rules_of(name),
            lessons=lessons_of(name),
        )

    found = catalog.results.get(("game", name), 0, draw)
    assert found is not None  # nothing gives up waiting
    return found.value


def _is_played(catalog: LogCatalog, spec: str) -> bool:
    """Return whether a spec is that of a board of some tournament; others would load whatever an address names."""
    for log in catalog.logs():
        with contextlib.suppress(ArenaError):  # a damaged log has a page that says so
            if any(board.game == spec for board in catalog.plan(log).schedule.boards):
                return True
    return False


def _drawings(game: engine.Game) -> list[Drawing]:
    """Return positions of a match of random actions, always the same one."""
    state, chance = game.new_initial_state(), random.Random(20)
    found: list[Drawing] = []
    for ply in range(DRAWN_PLIES[-1] + 1):
        if ply in DRAWN_PLIES or state.is_terminal():
            title = f"After {ply} plies of random play" if ply else "The start"
            found.append(Drawing(title, str(state), _picture(state)))
        if state.is_terminal():
            break
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(chance.choices(actions, weights)[0])
        else:
            state.apply_action(chance.choice(state.legal_actions()))
    return found


def _picture(state: engine.State) -> str:
    try:
        return state.picture(names=[colour_name(seat) for seat in range(state.game.players)], narrow=True)
    except EngineError:
        return ""
