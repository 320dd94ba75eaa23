"""What `arena play --terminal` says in sentences, as games tell it (`State.prompt`, `State.tell`, `State.verdict`)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from arena.cli.output import SCREEN_COLUMNS
from arena.sessions.narration import spoken
from arena.sessions.session import PlaySession
from arena.sessions.view import SessionView
from engine import Names, Sentence

INDENT = " " * 5


def names_of(view: SessionView) -> Names:
    """Return the players' names, with their seats where several have the same; a person alone is spoken to."""
    names = [seat.name for seat in view.seats]
    labels = (f"{name[:11]} (seat {n})" if names.count(name) > 1 else name for n, name in enumerate(names))
    persons = [number for number, seat in enumerate(view.seats) if seat.person]
    return Names(tuple(labels), persons[0] if len(persons) == 1 else None)


def told(session: PlaySession, view: SessionView, first: int) -> Iterator[str]:
    """Yield what each ply from the first one on did, in lines that fit; empty where the game's words fail."""
    state, names = session.state_at(first), names_of(view)
    for action in islice(view.state.history(), first, None):
        yield _lines(partial(state.tell, action, names), INDENT)
        state.apply_action(action)


def asked(view: SessionView) -> str:
    """Return what the person to move is asked, likewise."""
    return _lines(lambda: view.state.prompt(names_of(view)))


def concluded(view: SessionView) -> str:
    """Return how the match ended and why, likewise; empty where seats have forfeited, of which games know nothing."""
    if any(seat.forfeit for seat in view.seats):
        return ""
    names = names_of(view)
    return _lines(lambda: view.state.verdict(names.you, names))


def _lines(say: Callable[[], Sentence], indent: str = "") -> str:
    said = spoken(say)  # without one there is the notation
    return textwrap.fill(said.text, SCREEN_COLUMNS, initial_indent=indent, subsequent_indent=indent) if said else ""
