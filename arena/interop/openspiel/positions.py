"""Position strings of OpenSpiel's games: the history of a match, as OpenSpiel serialises states, in one line.

It is the numbers of all actions and chance outcomes since the start, with single spaces, and `-` for the start itself.
OpenSpiel's own reader trusts its text, so it is never given one: every number is checked before it is played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.errors import IllegalActionError, PositionError
from engine.game import CHANCE, State, shown

START_POSITION = "-"
PLIES_FIELD = "PLIES"
PLY_NUMBER = re.compile("0|[1-9][0-9]{0,9}")


def write_plies(plies: Sequence[int]) -> str:
    """Return the position string of a history."""
    return " ".join(map(str, plies)) or START_POSITION


def play_plies(state: State, text: str) -> None:
    """Play from the start what a position string says; raises `PositionError` for the first ply that cannot be."""
    for number, ply in enumerate(_read(text), 1):
        if state.is_terminal():
            raise PositionError(PLIES_FIELD, f"the match is over before ply {number}")
        who = state.current_player()
        try:
            state.apply_action(ply)
        except IllegalActionError:
            what = "a chance outcome that can happen" if who == CHANCE else f"legal for seat {who}"
            raise PositionError(PLIES_FIELD, f"ply {number}, {ply}, is not {what} there") from None


def _read(text: str) -> Iterator[int]:
    if text == START_POSITION:
        return
    for number, word in enumerate(text.split(" "), 1):
        if not PLY_NUMBER.fullmatch(word):
            why = "is not the number of an action or chance outcome"
            raise PositionError(PLIES_FIELD, f"ply {number}, {shown(word)}, {why}; single spaces are between them")
        yield int(word)
