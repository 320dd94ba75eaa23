"""Openings: random plies before the bots move, written `none` or `random:k`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from arena.core.errors import ConfigError

if TYPE_CHECKING:
    from engine import Game

OPENING = re.compile(r"none|random:([1-9][0-9]{0,2})")
REMEDY = "must be none or random:k with k from 1 to 999"


def opening_plies(text: str) -> int:
    """Return the random plies of an opening; raises `ValueError`."""
    found = OPENING.fullmatch(text)
    if found is None:
        raise ValueError(REMEDY)
    return int(found[1] or 0)


def chosen_plies(asked: str | None, default: str) -> int:
    """Return the random plies of the opening that is asked for, else of the default; raises `ConfigError`."""
    try:
        return opening_plies(default if asked is None else asked)
    except ValueError as error:
        raise ConfigError(f"opening = '{asked}': {error}") from None


def setup_plies(game: Game) -> int:
    """Return the number of plies of chance before the first decision."""
    state, count = game.new_initial_state(), 0
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
        count += 1
    return count
