"""Pages on which persons play, and the analysis board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from arena.core.errors import ArenaError
from arena.match.person import PERSON
from arena.registry.discovery import named_bots
from arena.registry.models import ONNX_BOT as MODELS
from arena.registry.submissions import submitted
from arena.results.pages.templates import game_title
from arena.sessions.narration import told
from arena.sessions.registry import MAX_SESSIONS, RegisteredSession, SessionRegistry
from arena.web import play_data
from arena.web.ladder import bot_choices
from arena.web.lessons import lessons_of
from arena.web.links import Links
from arena.web.person_strength import MIN_MATCHES, like_person
from arena.web.rendering import Page, page
from arena.web.rules import minute_of, rules_of
from engine import EngineError, Parameter, game_names, game_type, load_game
from engine.game_types import GameType
from engine.registry import is_provided
from engine.specs import split_game_spec
from engine.words import Names, colour_name

NO_SESSION = "there is no such match (any more): matches end with the server, and a day after they were last looked at"


class OwnSession(NamedTuple):
    """A session of whoever looks."""

    id: str
    title: str
    phase: str


def _first_game() -> str:
    """Return the game that pages show when none is named: the first one that has lessons."""
    return next((name for name in game_names() if lessons_of(name) is not None), game_names()[0])


def spec_of_form(fields: Mapping[str, Any]) -> str:
    """Return the canonical spec of the game that a form names, with its options; raises an `EngineError`."""
    named = str(fields.get("game") or _first_game())[:500]
    kind, given = game_type(named), split_game_spec(named)[1]
    for option in kind.parameters:
        value = fields.get(f"option-{option.name}")
        if isinstance(value, str) and value != "":
            given[option.name] = value[:100]
    return kind.spec(kind.resolve(given))


def setup_page(
    links: Links, registry: SessionRegistry, fields: Mapping[str, Any], owner: str, error: str = "", status: int = 200
) -> Page:
    """Return the page on which a match is set up; `fields` are what is chosen so far."""
    try:
        kind, spec, players = _chosen(fields)
    except (ArenaError, EngineError) as problem:
        error, status = error or str(problem), 400
        kind = game_type(_first_game())
        spec, players = kind.name, kind.min_players
    params = kind.resolve(split_game_spec(spec)[1])
    game = load_game(spec, players)
    mine = registry.owned_by(owner) if owner else []
    named = sorted([*(named_bots().keys() - {MODELS}), *submitted(registry.home)])
    shown = page(
        "play.html",
        links,
        title="Play",
        description="Play a match with bots.",
        scripts=("setup.js",),
        games=_offered(kind),
        kind=kind,
        game=game,
        spec=spec,
        players=players,
        options=[(option, params[option.name], _choices(option)) for option in kind.parameters],
        bots=bot_choices(game, registry.playable.of(game, named) or ()),
        lessons=lessons_of(kind.name),
        person=PERSON,
        colours=[colour_name(seat) for seat in range(players)],
        fields={key: str(value)[:4000] for key, value in fields.items() if key != "token"},
        error=error,
        sessions=[_own_session(entry) for entry in mine],
        like_you=like_person(game, [entry.session for entry in mine]),
        enough=MIN_MATCHES,
        most=MAX_SESSIONS,
    )
    return replace(shown, status=status)


def _chosen(fields: Mapping[str, Any]) -> tuple[GameType, str, int]:
    spec = spec_of_form(fields)
    kind = game_type(spec)
    given = str(fields.get("players") or kind.min_players)
    players = int(given) if given.isdecimal() and len(given) < 4 else 0
    load_game(spec, min(max(players, kind.min_players), kind.max_players))
    return kind, spec, min(max(players, kind.min_players), kind.max_players)


def _offered(chosen: GameType) -> list[GameType]:
    """Return the games to choose from: those that can be listed, and the chosen one of a provider."""
    return [*map(game_type, game_names()), *([chosen] if is_provided(chosen.name) else [])]


def _choices(option: Parameter) -> Sequence[str]:
    if option.kind is bool:
        return "true", "false"
    return [str(choice) for choice in option.choices]


def _own_session(entry: RegisteredSession) -> OwnSession:
    session = entry.session
    others = " and ".join(dict.fromkeys(session.setup.seats))
    return OwnSession(entry.id, f"{game_title(session.game.spec)}: {others}", session.phase)


def session_page(links: Links, entry: RegisteredSession, values: Mapping[str, Any], limits: Sequence[int]) -> Page:
    """Return the page of a session as it stands, by `play_data.session_values`; its script follows from there."""
    session = entry.session
    kind = session.game.type
    return page(
        "session.html",
        links,
        title=f"{values['title']}: {kind.title}",
        description=f"A match of {kind.title}.",
        scripts=("session.js",),
        id=entry.id,
        game=session.game,
        session=values,
        owner=values["owner"],
        elsewhere=session.setup.starts_elsewhere,
        budgets=limits,
        rules=rules_of(kind.name),
        minute=minute_of(kind.name),
        has_lessons=lessons_of(kind.name) is not None,
    )


def analysis_page(links: Links, fields: Mapping[str, str], budgets: Sequence[int]) -> Page:
    """Return the analysis board; the address says which position."""
    error, status, state, game, played = "", 200, None, None, ""
    try:
        kind, spec, players = _chosen(fields)
        game = load_game(spec, players)
        _, state = play_data.asked(game, fields.get("position", ""), fields.get("moves", ""))
        if then := fields.get("played", ""):
            played = told(state, play_data.action_of(state, then), Names.of_colours(players)).text
    except (ArenaError, EngineError) as problem:
        error, status = str(problem), 400
        kind, spec, players = _fallback(fields)
        game = load_game(spec, players)
    shown = page(
        "analysis.html",
        links,
        title="Analysis",
        description="The best actions of a position, as Monte-Carlo tree search sees them.",
        scripts=("analysis.js", "setup.js"),
        games=_offered(kind),
        kind=kind,
        game=game,
        players=players,
        position=fields.get("position", "")[:4000],
        moves=fields.get("moves", "")[:4000],
        played=played,
        budgets=budgets,
        error=error,
        ready=state is not None,
        person=PERSON,
        seat=state.current_player() if state is not None else -1,
        colours=[colour_name(number) for number in range(players)],
        rules=rules_of(kind.name),
    )
    return replace(shown, status=status)


def _fallback(fields: Mapping[str, str]) -> tuple[GameType, str, int]:
    """Return the game of an address whose position cannot be read, or the first one."""
    try:
        return _chosen(fields)
    except (ArenaError, EngineError):
        kind = game_type(_first_game())
        return kind, kind.name, kind.min_players
