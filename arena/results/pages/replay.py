"""A match as a page that is stepped through: the engine draws every position, the page only shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.core.files import write_file
from arena.core.match_ids import match_id
from arena.match.alarm import GAME_SECONDS, Alarm
from arena.match.game_faults import TimeUp
from arena.match.replay import game_of, replay
from arena.match.stored import StoredMatch
from arena.results.pages.templates import notation, single_file
from engine import CHANCE, State
from engine.errors import EngineError, in_short


def replay_page(match: StoredMatch) -> bytes:
    """Return the page of a match; raises `StoreError` when the match cannot be replayed, or its game cannot draw it."""
    data, values = replay_values(match)
    return single_file("replay.html", data, "replay.js", **values)


def replay_values(match: StoredMatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data that the script of a match's page reads, and the values of its template."""
    game = game_of(match)
    notes, frames = dict(match.notes), []
    plies: list[dict[str, Any]] = []
    with _bounded(match) as alarm:
        alarm.arm(GAME_SECONDS)
        before = game.new_initial_state()
        frames.append(_frame(before))
        for ply in replay(match):
            plies.append(
                {
                    "seat": None if ply.seat == CHANCE else ply.seat,
                    "roller": before.rolling_seat() if ply.seat == CHANCE else None,
                    "text": ply.text,
                    "by": ply.by,
                    "note": notes.get(ply.number),
                    "marks": _marks(before, ply.state),
                }
            )
            frames.append(_frame(ply.state))
            before = ply.state
            alarm.arm(GAME_SECONDS)
    for seat, (cause, ply_number) in match.forfeits.items():
        if plies:
            plies[min(max(ply_number, 0), len(plies) - 1)]["marks"].append(f"seat {seat} forfeits: {cause}")
    places = sorted(range(match.players), key=lambda seat: match.ranks[seat])
    pictures, elements = _shared([picture for _, picture in frames])
    texts = [text for text, _ in frames]
    data = {
        "plies": plies,
        "pictures": pictures,
        "elements": elements,
        "texts": texts,
        "clocks": _clocks(match),
        "players": match.players,
    }
    name = match_id(match.identity, match.lineup)
    return data, {
        "title": f"{game.type.title}: {' – '.join(match.bots)}",
        "match": match,
        "name": name,
        "game": game,
        "places": places,
        "plies": plies,
        "final": frames[-1],
        "notation": notation(game.type),
    }


def write_replay(path: Path, match: StoredMatch) -> Path:
    """Write the page of a match, and return its path."""
    return write_file(path, [replay_page(match)])


MOST_PICTURE = 2**20
"""Letters in the drawing of a position; those of the games here have up to 40,000."""


class Frame(NamedTuple):
    """A position's drawing: as text, and as SVG, which is empty where the game has none."""

    text: str
    picture: str


@contextmanager
def _bounded(match: StoredMatch) -> Iterator[Alarm]:
    """Turn all that the code of a game raises within into a `StoreError`, and interrupt it when the alarm rings."""
    name = match_id(match.identity, match.lineup)
    try:
        with Alarm() as alarm:
            yield alarm
    except StoreError:
        raise
    except TimeUp:
        raise StoreError(f"match {name}: its game did not draw a position within {GAME_SECONDS:g} s") from None
    except Exception as error:
        raise StoreError(f"match {name}: its game fails when it is drawn: {in_short(error)}") from error


def _frame(state: State) -> Frame:
    text = str(state)
    try:
        picture = state.svg()
    except EngineError:
        return Frame(text, "")
    if not isinstance(picture, str) or len(picture) > MOST_PICTURE:
        raise ValueError(f"svg() must return text of at most {MOST_PICTURE:,} letters")
    return Frame(text, picture)


def _shared(pictures: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Return pictures as numbers of elements, and the elements: most of them are the same in many pictures."""
    numbers: dict[str, int] = {}
    split = [re.findall("[^>]*>", picture) for picture in pictures]
    return [[numbers.setdefault(element, len(numbers)) for element in elements] for elements in split], list(numbers)


def _marks(before: State, after: State) -> list[str]:
    """Return what a ply did that a reader may look for: whose score fell."""
    fallen = [
        seat
        for seat, (old, new) in enumerate(zip(before.scores() or (), after.scores() or (), strict=True))
        if new < old
    ]
    return [f"seat {seat} loses {before.game.type.score_unit}" for seat in fallen]


def _clocks(match: StoredMatch) -> list[list[int]]:
    """Return the wall clock of every call of a bot: seat, ply (-1: preparations), microseconds."""
    return [[clock.seat, clock.ply, round(clock.wall * 1e6)] for clock in match.clocks]
