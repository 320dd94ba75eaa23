"""A match as a page that is stepped through: the engine draws every position, the page only shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.core.adjudication import adjudication_in_words
from arena.core.errors import StoreError
from arena.core.files import write_file
from arena.match.alarm import GAME_CPU_SECONDS, Alarm
from arena.match.game_faults import TimeUp
from arena.match.person import is_person
from arena.match.replay import Ply, follow, game_of
from arena.match.stored import StoredMatch
from arena.results.pages.templates import notation, single_file
from engine import CHANCE, State
from engine.errors import EngineError, summarise_error
from engine.words import Names, colour_name, placing


def replay_page(match: StoredMatch) -> bytes:
    """Return the page of a match; raises `StoreError` when the match cannot be replayed, or its game cannot draw it."""
    data, values = replay_values(match)
    return single_file("replay.html", data, "replay.js", **values)


def replay_values(match: StoredMatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data that the script of a match's page reads, and the values of its template."""
    game = game_of(match)
    notes, mistakes, names = dict(match.notes), _Mistakes(), Names.of_players(match.names)
    frames: list[Frame] = []
    slim: list[str] = []
    plies: list[dict[str, Any]] = []
    with bounded(f"match {match.id}") as alarm:
        alarm.arm(GAME_CPU_SECONDS)
        last = game.new_initial_state()
        frames.append(frame(last, match.names))
        slim.append(drawn(last, match.names, narrow=True))
        for before, ply in follow(match):
            marks = [*_marks(before, ply.state, names), *mistakes.marks(ply, names)]
            plies.append(
                {
                    "seat": None if ply.seat == CHANCE else ply.seat,
                    "roller": before.rolling_seat() if ply.seat == CHANCE else None,
                    "text": ply.text,
                    "says": says_of(before, before.string_to_action(ply.text), ply.state, names),
                    "by": ply.by,
                    "note": notes.get(ply.number),
                    "evaluation": ply.evaluation,
                    "line": ply.line,
                    "marks": [text for _, text in marks],
                    "kinds": [kind for kind, _ in marks],
                }
            )
            frames.append(frame(ply.state, match.names))
            slim.append(drawn(ply.state, match.names, narrow=True))
            last = ply.state
            alarm.arm(GAME_CPU_SECONDS)
        outcome = outcome_of(match, last, names)
    for seat, (cause, ply_number) in match.forfeits.items():
        if plies:
            ply_data = plies[min(max(ply_number, 0), len(plies) - 1)]
            ply_data["marks"].append(f"{names.does(seat, 'forfeit')}: {cause}")
            ply_data["kinds"].append("forfeit")
    places = sorted(range(match.players), key=lambda seat: match.ranks[seat])
    wide = [picture for _, picture in frames]
    pictures, elements = _deduplicated(wide if slim == wide else [*wide, *slim])
    texts = [text for text, _ in frames]
    data = {
        "plies": plies,
        "pictures": pictures[: len(wide)],
        "narrow": pictures[-len(slim) :],
        "elements": elements,
        "texts": texts,
        "clocks": _clocks(match),
        "players": match.players,
        "bots": names.labels,
        "persons": [is_person(bot) for bot in match.bots],
    }
    name = match.id
    return data, {
        "title": f"{' – '.join(match.names)}: {game.type.title}",
        "outcome": outcome,
        "colours": [colour_name(seat) for seat in range(match.players)],
        "labels": names.labels,
        "match": match,
        "name": name,
        "game": game,
        "places": places,
        "plies": plies,
        "final": frames[-1],
        "kinds": sorted({kind for each in plies for kind in each["kinds"]}),
        "curves": _curves(plies, match.players),
        "graph": GRAPH_SIZE,
        "ticks": _ticks(len(plies)),
        "chance": "dice" if any(ply["seat"] is None and ply["roller"] >= 0 for ply in plies) else "chance",
        "rolls": [_across(number, len(plies)) for number, ply in enumerate(plies, 1) if ply["seat"] is None],
        "step": MISTAKE_DROP,
        "notation": notation(game.type),
    }


def says_of(before: State, action: int, after: State, names: Names) -> str:
    """Return what a ply did, in words; raises `ValueError` for words that no page can show."""
    text = before.tell(action, names, after).text
    if not isinstance(text, str) or len(text) > MAX_WORDS_CHARS:
        raise ValueError(f"tell() must return text of at most {MAX_WORDS_CHARS:,} letters")
    return text


def outcome_of(match: StoredMatch, last: State, names: Names) -> str:
    """Return how a match ended, in words: the game's own, or the referee's where somebody forfeited."""
    if why := adjudication_in_words(match.ended, len(match.moves)):
        return f"{placing(match.ranks, None, names)}: {why}."
    if match.forfeits or not last.is_terminal():
        why = "; ".join(f"{names.does(seat, 'forfeit')} ({cause})" for seat, (cause, _) in match.forfeits.items())
        return f"{placing(match.ranks, None, names)}{why and f': {why}'}."
    text = last.verdict(None, names).text
    if not isinstance(text, str) or len(text) > MAX_WORDS_CHARS:
        raise ValueError(f"verdict() must return text of at most {MAX_WORDS_CHARS:,} letters")
    return text


def write_replay(path: Path, match: StoredMatch) -> Path:
    """Write the page of a match, and return its path."""
    return write_file(path, [replay_page(match)])


MAX_SVG_CHARS = 2**20
"""Letters in the drawing of a position; those of the games here have up to 40,000."""


MAX_WORDS_CHARS = 2_000
"""Letters of a sentence about a move or a result."""


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


def frame(state: State, names: Sequence[str] | None = None) -> Frame:
    """Return a position's drawing, with the players' names.

    Raises `ValueError` for one that no page can show, and what the game raises.
    """
    return Frame(str(state), drawn(state, names))


def drawn(state: State, names: Sequence[str] | None = None, narrow: bool = False) -> str:
    """Return a position as SVG, empty where its game draws none; raises what `frame` raises."""
    try:
        picture = state.picture(names=names, narrow=narrow)
    except EngineError:
        return ""
    if not isinstance(picture, str) or len(picture) > MAX_SVG_CHARS:
        raise ValueError(f"svg() must return text of at most {MAX_SVG_CHARS:,} letters")
    return picture


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


def _across(ply: int, plies: int) -> float:
    """Return where a ply is on the axis of the graph."""
    return round(GRAPH_SIZE[0] * ply / max(1, plies), 1)


def _ticks(plies: int) -> list[tuple[int, float]]:
    """Return numbers of plies to write below the graph, with their places."""
    step = next(step for power in range(20) for step in (10**power, 2 * 10**power, 5 * 10**power) if 6 * step >= plies)
    return [(ply, _across(ply, plies)) for ply in range(0, plies + 1, step)]


class _Mistakes:
    """Finds the moves at which a bot expects much less than at its move before."""

    def __init__(self) -> None:
        self.before: dict[int, float] = {}

    def marks(self, ply: Ply, names: Names) -> list[Mark]:
        """Return the mark of a ply, if it has one."""
        if ply.evaluation is None or ply.seat < 0:
            return []
        now = ply.evaluation[ply.seat]
        fall = self.before.get(ply.seat, now) - now
        self.before[ply.seat] = now
        words = f"{names.does(ply.seat, 'expect')} {fall:.2f} less than before"
        return [("mistake", words)] * (fall > MISTAKE_DROP - 1e-9)


def _marks(before: State, after: State, names: Names) -> list[Mark]:
    """Return marks of events in a ply: seats whose score fell."""
    scores = zip(before.scores() or (), after.scores() or (), strict=True)
    return [
        ("capture", f"{names.whose(seat)} score falls by {old - new:,.10g}")
        for seat, (old, new) in enumerate(scores)
        if new < old
    ]


def _clocks(match: StoredMatch) -> list[list[int]]:
    """Return the wall clock of every call of a bot: seat, ply (-1: preparations), microseconds."""
    return [[clock.seat, clock.ply, round(clock.wall * 1e6)] for clock in match.clocks]
