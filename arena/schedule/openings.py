"""Openings: random plies before the bots move, written `none` or `random:k`."""

from __future__ import annotations

import contextlib
import random
import re
from typing import TYPE_CHECKING

from arena.core.errors import ConfigError

if TYPE_CHECKING:
    from engine import Game

OPENING_PATTERN = re.compile(r"none|random:([1-9][0-9]{0,2})")
OPENING_RULE = "must be none or random:k with k from 1 to 999"
OPENING_TRIALS = 20
"""Random openings that are tried before one of unusual length is played."""


def opening_plies(text: str) -> int:
    """Return the random plies of an opening; raises `ValueError`."""
    found = OPENING_PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(OPENING_RULE)
    return int(found[1] or 0)


def chosen_plies(asked: str | None, default: str) -> int:
    """Return the random plies of the opening that is asked for, else of the default; raises `ConfigError`."""
    try:
        return opening_plies(default if asked is None else asked)
    except ValueError as error:
        raise ConfigError(f"opening = '{asked}': {error}") from None


def checked_plies(text: str | None, game: Game) -> int:
    """Return the random plies of an opening, by default the game's; raises as `check_opening` does."""
    plies = opening_plies(text or game.default_opening)
    check_opening(game, plies)
    return plies


def setup_plies(game: Game) -> int:
    """Return the number of plies of chance before the first decision."""
    state, count = game.new_initial_state(), 0
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
        count += 1
    return count


def check_opening(game: Game, plies: int) -> None:
    """Raise `ConfigError` for an opening longer than matches are, which would leave next to no move to the bots.

    Of `OPENING_TRIALS` openings, always the same ones, at least one has to come to its end.
    """
    if plies <= opening_plies(game.default_opening):
        return
    lengths = []
    for number in range(OPENING_TRIALS):
        with contextlib.suppress(Exception):  # a game that fails does so again in play, where that is told
            lengths.append(random_plies(game, plies, random.Random(number)))
    if lengths and max(lengths) < plies:
        raise ConfigError(
            f"opening = 'random:{plies}': leaves the bots no say: of {OPENING_TRIALS} random matches of {game.spec} "
            f"with {game.players} players all had ended before, most by ply {sorted(lengths)[len(lengths) // 2] + 1}"
        )


def random_plies(game: Game, most: int, rng: random.Random) -> int:
    """Return the plies of an opening that the referee could play, up to the one that would end the match."""
    state, plies = game.new_initial_state(), 0
    while plies < most and not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, weights)[0])
            continue
        action = rng.choice(state.legal_actions())
        if state.child(action).is_terminal():
            break
        state.apply_action(action)
        plies += 1
    return plies
