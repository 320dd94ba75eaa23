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
from arena.match.alarm import GAME_CPU_SECONDS, Alarm
from arena.match.game_faults import TimeUp
from arena.match.replay import Ply, game_of, replay
from arena.match.stored import StoredMatch
from arena.results.pages.templates import notation, single_file
from engine import CHANCE, State
from engine.errors import EngineError, summarise_error


def replay_page(match: StoredMatch) -> bytes:
    """Return the page of a match; raises `StoreError` when the match cannot be replayed, or its game cannot draw it."""
    data, values = replay_values(match)
    return single_file("replay.html", data, "replay.js", **values)


def replay_values(match: StoredMatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data that the script of a match's page reads, and the values of its template."""
    game = game_of(match)
    notes, frames, mistakes = dict(match.notes), [], _Mistakes()
    plies: list[dict[str, Any]] = []
    with bounded(f"match {match_id(match.identity, match.lineup)}") as alarm:
        alarm.arm(GAME_CPU_SECONDS)
        before = game.new_initial_state()
        frames.append(frame(before))
        for ply in replay(match):
            marks = [*_marks(before, ply.state), *mistakes.marks(ply)]
            plies.append(
                {
                    "seat": None if ply.seat == CHANCE else ply.seat,
                    "roller": before.rolling_seat() if ply.seat == CHANCE else None,
                    "text": ply.text,
                    "by": ply.by,
                    "note": notes.get(ply.number),
                    "evaluation": ply.evaluation,
                    "line": ply.line,
                    "marks": [text for _, text in marks],
                    "kinds": [kind for kind, _ in marks],
                }
            )
            frames.append(frame(ply.state))
            before = ply.state
            alarm.arm(GAME_CPU_SECONDS)
    for seat, (cause, ply_number) in match.forfeits.items():
        if plies:
            ply_data = plies[min(max(ply_number, 0), len(plies) - 1)]
            ply_data["marks"].append(f"seat {seat} forfeits: {cause}")
            ply_data["kinds"].append("forfeit")
    places = sorted(range(match.players), key=lambda seat: match.ranks[seat])
    pictures, elements = _deduplicated([picture for _, picture in frames])
    texts = [text for text, _ in frames]
    data = {
        "plies": plies,
        "pictures": pictures,
        "elements": elements,
        "texts": texts,
        "clocks": _clocks(match),
        "players": match.players,
        "bots": match.names,
    }
    name = match_id(match.identity, match.lineup)
    return data, {
        "title": f"{game.type.title}: {' – '.join(match.names)}",
        "match": match,
        "name": name,
        "game": game,
        "places": places,
        "plies": plies,
        "final": frames[-1],
        "kinds": sorted({kind for each in plies for kind in each["kinds"]}),
        "curves": _curves(plies, match.players),
        "graph": GRAPH_SIZE,
        "step": MISTAKE_DROP,
        "notation": notation(game.type),
    }


def write_replay(path: Path, match: StoredMatch) -> Path:
    """Write the page of a match, and return its path."""
    return write_file(path, [replay_page(match)])


MAX_SVG_CHARS = 2**20
"""Letters in the drawing of a position; those of the games here have up to 40,000."""


class Frame(NamedTuple):
    """A position's drawing: as text, and as SVG, which is empty where the game has none."""

    text: str
    picture: str


@contextmanager
def bounded(name: str) -> Iterator[Alarm]:
    """Turn all that the code of a game raises within into a `StoreError`, and interrupt it when the alarm rings.

    `name` is what messages call the match.
    """
    try:
        with Alarm() as alarm:
            yield alarm
    except StoreError:
        raise
    except TimeUp:
        raise StoreError(f"{name}: its game did not draw a position within {GAME_CPU_SECONDS:g} s") from None
    except Exception as error:
        raise StoreError(f"{name}: its game fails when it is drawn: {summarise_error(error)}") from error


def frame(state: State) -> Frame:
    """Return a position's drawing; raises `ValueError` for one that no page can show, and what the game raises."""
    text = str(state)
    try:
        picture = state.svg()
    except EngineError:
        return Frame(text, "")
    if not isinstance(picture, str) or len(picture) > MAX_SVG_CHARS:
        raise ValueError(f"svg() must return text of at most {MAX_SVG_CHARS:,} letters")
    return Frame(text, picture)


def _deduplicated(pictures: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Return pictures as numbers of elements, and the elements: most of them are the same in many pictures."""
    numbers: dict[str, int] = {}
    split = [re.findall("[^>]*>", picture) for picture in pictures]
    return [[numbers.setdefault(element, len(numbers)) for element in elements] for elements in split], list(numbers)


MISTAKE_DROP = 0.2
"""By how much a seat's own evaluation falls from one of its moves to the next where that is marked as a mistake."""
GRAPH_SIZE = (600, 160)
"""Width and height of the graph of evaluations, in units of its drawing."""
Mark = tuple[str, str]
"""Kind and text."""


class Curve(NamedTuple):
    """The evaluations of a seat's return along a match."""

    seat: int
    own: bool
    """Whether they are those of its own bot."""
    points: str
    """As SVG has them."""
    last: tuple[float, float]
    """Where it ends."""


def _curves(plies: Sequence[dict[str, Any]], players: int) -> list[Curve]:
    """Return the evaluations by seat: those of its own bot, or the others' where that gives none."""
    curves = []
    for seat in range(players):
        evaluated = [(number, ply) for number, ply in enumerate(plies, 1) if ply["evaluation"]]
        own = [(number, ply) for number, ply in evaluated if ply["seat"] == seat]
        points = [_point(number / len(plies), ply["evaluation"][seat]) for number, ply in own or evaluated]
        if points:
            text = " ".join(f"{across:g},{down:g}" for across, down in points)
            curves.append(Curve(seat, bool(own), text, points[-1]))
    return curves


def _point(at: float, value: float) -> tuple[float, float]:
    width, height = GRAPH_SIZE
    return round(width * at, 1), round(height * (1 - value) / 2, 1)


class _Mistakes:
    """Finds the moves at which a bot expects much less than at its move before."""

    def __init__(self) -> None:
        self.before: dict[int, float] = {}

    def marks(self, ply: Ply) -> list[Mark]:
        """Return the mark of a ply, if it has one."""
        if ply.evaluation is None or ply.seat < 0:
            return []
        now = ply.evaluation[ply.seat]
        fall = self.before.get(ply.seat, now) - now
        self.before[ply.seat] = now
        return [("mistake", f"seat {ply.seat} expects {fall:.2f} less than before")] * (fall > MISTAKE_DROP - 1e-9)


def _marks(before: State, after: State) -> list[Mark]:
    """Return marks of events in a ply: seats whose score fell."""
    fallen = [
        seat
        for seat, (old, new) in enumerate(zip(before.scores() or (), after.scores() or (), strict=True))
        if new < old
    ]
    return [("capture", f"seat {seat} loses {before.game.type.score_unit}") for seat in fallen]


def _clocks(match: StoredMatch) -> list[list[int]]:
    """Return the wall clock of every call of a bot: seat, ply (-1: preparations), microseconds."""
    return [[clock.seat, clock.ply, round(clock.wall * 1e6)] for clock in match.clocks]
