"""Colour a board in plain text for a terminal with 256 colours: every sign stays in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from engine.game_types import GameType
from engine.svg.colours import DARK, LIGHT, MARK, SEAT_COLOURS, SEAT_INKS

LEVELS = (0, 95, 135, 175, 215, 255)
"""Of red, green and blue in the 216 colours that terminals have alike."""
END = "\x1b[0m"


class Token(NamedTuple):
    """Signs of a board in text that have a colour.

    `pattern` is a regular expression. Its group `seat` is the number of the seat whose colour they have; without one
    they are of `seat`, or nobody's. `shown` is what a terminal with Unicode shows instead, which is as wide.
    """

    pattern: str
    seat: int | None = None
    shown: str = ""


LAST = Token(r"\[(?=\S{1,2}\])|(?<=\[\S)\]|(?<=\[\S\S)\]")
"""Brackets around the last play."""
SEATS = Token(r"\bseat (?P<seat>[0-4])\b")


def coloured(kind: GameType, text: str, unicode: bool = True) -> str:
    """Return the text of a board with colours; as it is for a game whose module `drawing` has no `TOKENS`."""
    tokens = _tokens(kind)
    if not tokens:
        return text
    pattern = "|".join(f"(?P<t{number}>{_numbered(token.pattern, number)})" for number, token in enumerate(tokens))
    return re.sub(pattern, lambda found: _painted(found, tokens, unicode), text)


def _tokens(kind: GameType) -> Sequence[Token]:
    if not kind.package or find_spec(f"{kind.package}.drawing") is None:
        return ()
    return getattr(kind.module("drawing"), "TOKENS", ())


def _numbered(pattern: str, number: int) -> str:
    return pattern.replace("(?P<seat>", f"(?P<seat{number}>")


def _painted(found: re.Match[str], tokens: Sequence[Token], unicode: bool) -> str:
    number = int(str(found.lastgroup)[1:])  # that of the outermost group, which is closed last
    token, signs = tokens[number], found[0]
    owner = found.groupdict().get(f"seat{number}")
    seat = token.seat if owner is None else int(owner)
    shown = token.shown if token.shown and unicode else signs
    if seat is not None:
        return f"\x1b[1;38;5;{_nearest(SEAT_INKS[seat])};48;5;{_nearest(SEAT_COLOURS[seat])}m{shown}{END}"
    if token is LAST:
        return f"\x1b[1;38;5;{_nearest(MARK)}m{shown}{END}"
    return f"\x1b[38;5;{_nearest(DARK)};48;5;{_nearest(LIGHT)}m{shown}{END}"


@cache
def _nearest(colour: str) -> int:
    """Return the number of the colour of a terminal that is closest to this one."""
    values = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    red, green, blue = (_closest_level(value) for value in values)
    return 16 + 36 * red + 6 * green + blue


def _closest_level(value: int) -> int:
    return min(range(len(LEVELS)), key=lambda step: abs(LEVELS[step] - value))
