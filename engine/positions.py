"""Reading the fields that position strings of several games share; errors are `PositionError`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.errors import PositionError

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def split_fields(text: str, names: str) -> list[str]:
    """Return the fields of a position string, as many as there are names, with single spaces between them."""
    fields, expected = text.split(" "), len(names.split(" "))
    if len(fields) != expected:
        wanted = f"{NUMBERS[expected]} fields with single spaces"
        raise PositionError("count", f"expected {names}, {wanted}, found {len(fields)}")
    return fields


def read_turn(text: str, cap: int, unit: str) -> int:
    """Read TURN, a number of turns or plays up to the cap, without leading zeros."""
    if not re.fullmatch("0|[1-9][0-9]{0,5}", text):
        raise PositionError("TURN", f"'{text}' is not a number of {unit}")
    if int(text) > cap:
        raise PositionError("TURN", f"{text} is above the cap, max_turns={cap}")
    return int(text)


def read_seat(text: str, players: int) -> int:
    """Read SEAT, one of the seats."""
    if not re.fullmatch("[0-9]", text) or int(text) >= players:
        raise PositionError("SEAT", f"'{text}' is not a seat from 0 to {players - 1}, nor -")
    return int(text)


def check_ranks_out(field: str, ranks: Sequence[int], players: int) -> None:
    """Check that seats that are out hold the last ranks, each once, and some seat is still in."""
    if sorted(ranks) != list(range(players - len(ranks), players)) or len(ranks) == players:
        raise PositionError(field, "the ranks of the seats out are not the last ones, each once, with a seat still in")
