"""Positions, sessions and analyses as the data that scripts of pages draw."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from arena.core.errors import ConfigError
from arena.sessions.analysis import AnalysisRequest, AnalysisResult, request_for
from arena.sessions.narration import told
from arena.sessions.registry import RegisteredSession
from arena.sessions.saving import match_id_of
from arena.sessions.setup import MAX_START_PLIES, check_position
from arena.sessions.view import Phase, PlyView, SessionView
from arena.web.catalog import LogCatalog
from arena.web.links import Links
from arena.web.play_words import (
    drawn_names,
    faces_of,
    label_of,
    names_for,
    prompt_of,
    sentence_data,
    status_of,
    title_of,
)
from engine import CHANCE, TERMINAL, Game, State
from engine.words import Names, Sentence, colour_name, slug

MAX_MOVES_CHARS = 3500
"""Characters of the moves in an address."""
MAX_PARTS, MAX_PART_CHARS, MAX_REASON_CHARS = 10, 100, 300
"""Parts of a drawing that are asked about at once; characters of one, and of what is said of them."""


MAX_BEST = 8
"""Actions of an analysis that a page shows."""


class Look(NamedTuple):
    """How a page shows positions."""

    names: Names
    """What it calls the players."""
    narrow: bool = False
    """Whether its screen is narrow."""


def state_data(state: State, look: Look) -> dict[str, Any]:
    """Return a position: its drawing and text, and the actions or outcomes with the parts to click for each."""
    who = state.current_player()
    parts = state.targets() if who >= 0 else None
    outcomes = [outcome for outcome, _ in state.chance_outcomes()]
    return {
        "svg": svg_of(state, look),
        "text": str(state),
        "position": state.position if state.game.position else "",
        "seat": who,
        "over": who == TERMINAL,
        "rolls": who == CHANCE,
        "rolling": state.rolling_seat() if who == CHANCE else -1,
        "touch": parts is not None,
        "prompt": sentence_data(prompt_of(state, look.names)),
        "legal": [
            {"action": action, "text": state.action_to_string(action), "parts": list((parts or {}).get(action, ()))}
            for action in (outcomes or state.legal_actions())
        ],
    }


def svg_of(state: State, look: Look) -> str:
    """Return the drawing of a position; empty for a game that draws none."""
    try:
        return state.picture(names=drawn_names(look.names), narrow=look.narrow)
    except Exception:  # whatever a plug-in's drawing does: there is the text
        return ""


def reason_data(state: State, look: Look, parts: Sequence[str]) -> dict[str, Any]:
    """Return why these parts of a drawing cannot be clicked in order, and where the rules say so.

    An empty reason where the game gives none.
    """
    why = None
    if len(parts) <= MAX_PARTS and max(map(len, parts), default=0) <= MAX_PART_CHARS:
        with contextlib.suppress(Exception):  # whatever a plug-in's reasons do: pages have a general one
            why = state.why_illegal(parts, look.names)
    if not isinstance(why, str):
        return {"why": ""}
    section = getattr(why, "section", "")
    if not isinstance(section, str) or not section:  # the rule of what is to be decided
        section = prompt_of(state, look.names, parts[:-1]).section
    where = {"section": section, "anchor": slug(section)} if section else {}
    return {"why": why[:MAX_REASON_CHARS], **where}


def prompt_data(state: State, look: Look, chosen: Sequence[str]) -> dict[str, Any]:
    """Return what is to be clicked after the parts chosen so far, in a sentence."""
    return sentence_data(prompt_of(state, look.names, chosen[:MAX_PARTS]))


def told_data(state: State, action: int, look: Look) -> dict[str, Any]:
    """Return what an action does, in a sentence; raises an `EngineError` for one that is not legal."""
    return sentence_data(told(state, state.checked(action), look.names))


def session_data(view: SessionView, sentences: Sequence[Sentence], owner: bool, narrow: bool) -> dict[str, Any]:
    """Return a session as its page shows it; `owner` is whether who looks may move."""
    names = names_for(view.seats, owner)
    shown = state_data(view.state, Look(names, narrow))
    scores: Sequence[int | None] = view.state.scores() or [None] * len(view.seats)
    turn = view.phase == Phase.WAITING and owner and view.seat >= 0 and view.seats[view.seat].person
    if not turn:
        shown["legal"] = []
    return {
        **shown,
        "prompt": sentence_data(status_of(view, names, turn)),
        "title": title_of(view.seats, names),
        "version": view.version,
        "phase": view.phase,
        "line": view.line,
        "turn": turn,
        "owner": owner,
        "you": names.you,
        "seats": [
            {
                "name": seat.name,
                "label": label_of(names, number),
                "colour": colour_name(number),
                "person": seat.person,
                "left": round(seat.left, 1),
                "seconds": round(seat.seconds, 3),
                "forfeit": None
                if seat.forfeit is None
                else {"cause": seat.forfeit[0], "detail": seat.forfeit[2][-2000:]},
                "place": view.ranks[number] + 1 if view.ranks else None,
                "score": score,
            }
            for number, (seat, score) in enumerate(zip(view.seats, scores, strict=True))
        ],
        "plies": [ply_data(view, number, ply, sentences[number]) for number, ply in enumerate(view.plies)],
        "ended": view.ended,
        "seed": "" if view.seed is None else str(view.seed),
        "back": view.can_take_back and owner,
        "kept": view.kept,
    }


def ply_data(view: SessionView, number: int, ply: PlyView, sentence: Sentence) -> dict[str, Any]:
    """Return one ply: who moved, or whose dice fell, what it did, and why where nobody chose."""
    forfeit = view.seats[ply.seat].forfeit if ply.seat >= 0 else None
    by = "dice" if ply.seat == CHANCE else "opening" if ply.opening else "forced" if ply.forced else ""
    if not by and forfeit is not None and number >= forfeit[1]:
        by = "substitute"
    return {
        "seat": ply.seat,
        "text": ply.text,
        "by": by,
        "rolled": ply.rolled_by,
        "faces": faces_of(ply.text, ply.rolled_by),
        "told": sentence_data(sentence),
        "note": view.notes.get(number, ""),
    }


def action_of(state: State, text: str) -> int:
    """Return the legal action that a text names; raises a `ConfigError` for none, whatever a plug-in raises."""
    try:
        return state.checked(state.string_to_action(text))
    except Exception as error:
        raise ConfigError(f"{text[:100]}: {error}") from None


def preview_data(state: State, action: int, look: Look) -> dict[str, Any]:
    """Return what an action does, in words, and what it leads to; raises an `EngineError` for one that is not legal."""
    after = state.child(state.checked(action))
    return {"svg": svg_of(after, look), "says": told(state, action, look.names).text}


def analysis_data(found: AnalysisResult, state: State, names: Names) -> dict[str, Any]:
    """Return an analysis of a state as pages show it, with what its best actions do in words."""
    return {
        "version": found.version,
        "simulations": found.simulations,
        "limit": found.limit,
        "running": found.running,
        "proven": found.proven,
        "seat": found.seat,
        "values": [round(value, 4) for value in found.values],
        "line": found.line,
        "preparing": found.preparing,
        "best": [
            {
                "action": best.action,
                "text": best.text,
                "says": told(state, best.action, names).text,
                "visits": best.visits,
                "value": None if best.value is None else round(best.value, 4),
                "proven": best.proven,
                "line": list(best.line),
            }
            for best in found.best[:MAX_BEST]
        ],
    }


def asked(game: Game, position: str, moves: str) -> tuple[AnalysisRequest, State]:
    """Return the position that an address names: one to start from, if any, and moves in notation from there.

    Raises an `ArenaError` or `EngineError` for what is none.
    """
    words = moves.split()
    if len(words) > MAX_START_PLIES or len(moves) > MAX_MOVES_CHARS:
        raise ConfigError(f"an address has at most {MAX_MOVES_CHARS:,} characters of moves")
    if position:
        check_position(game, position)
    state = game.state_from_position(position) if position else game.new_initial_state()
    start = len(state.history())
    for number, word in enumerate(words):
        try:
            state.apply_action(state.string_to_action(word))
        except Exception as error:
            raise ConfigError(f"move {number + 1}: {error}") from None
    return request_for(game, position or None, tuple(state.history()[start:]))


def analysis_address(links: Links, game: Game, moves: str, position: str = "", played: str = "") -> str:
    """Return the address of the analysis of a position; empty where there are too many moves for one.

    `played` is the action that was chosen there in a match, in notation.
    """
    if len(moves) > MAX_MOVES_CHARS:
        return ""
    fields = {"game": game.spec, "players": game.players, "position": position, "moves": moves, "played": played}
    return links.path(f"/analysis?{urlencode({key: value for key, value in fields.items() if value})}")


def session_values(
    catalog: LogCatalog, links: Links, entry: RegisteredSession, owner: bool, narrow: bool
) -> dict[str, Any]:
    """Return all that the page of a session shows, with the addresses of what belongs to it."""
    session = entry.session
    view = session.view()
    start, actions = len(view.state.history()) - len(view.plies), view.state.history()
    sentences = session.narration.sentences(actions[start:], names_for(view.seats, owner))
    data = session_data(view, sentences, owner, narrow)
    data["line"] = catalog.words(view.line)
    words, position = [ply.text for ply in view.plies], session.setup.position or ""
    data["analysis"] = analysis_address(links, session.game, " ".join(words), position)
    data["turned"], data["turned_words"] = "", ""
    if (ply := view.turning_ply) is not None:
        data["turned_words"] = "Analyse where it turned" if view.has_turned else "Analyse the last choice"
        shown = data["plies"][ply] if ply < len(words) else None
        then = shown["text"] if shown and shown["by"] != "substitute" else ""
        data["turned"] = analysis_address(links, session.game, " ".join(words[:ply]), position, then)
    data["replay"] = ""
    if view.kept and session.plan is not None:
        data["replay"] = links.match(view.kept, match_id_of(session.plan))
    return data
