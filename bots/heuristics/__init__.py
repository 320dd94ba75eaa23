"""Heuristics for search, beyond the rules: one module per game, found by the game's name.

A module here, or one that a plug-in names under the entry-point group `arena.heuristics`, may define

    evaluate(state, seat) -> float        how good a running state is for a seat, within [-1, 1], higher is better
    rollout_action(state, rng, actions)   a legal action of the seat to move, for rollouts better than random ones
    finish_and_mark(state, rng, actions, played, stamp)   plays at random to the end, and writes `stamp` in
                                          `played[seat, action]` for every action made: a faster one than `uct` has
    outcome_key(state, outcome) -> int    at a chance node: outcomes with the same key leave states that play alike,
                                          move for move, so that a search need follow only one of them
    UCT, UCT_LEARNED                      {"exploration": ..., "rave": ...}, what suits the game in the bots `uct` and
                                          `learned_uct`, which has "prior" too
    FORESEES_ROLLS                        True when `evaluate` and `features` never look at the dice, so that before a
                                          roll they say what they would on average after it
    features(state, seat, active) -> int  writes the numbers of the features that a running state has for a seat, with
                                          two players always for the one whose turn it is, and returns how many; a
                                          number may occur more than once (`arena train`)
    ACTIVE                                room that `features` needs in `active`
    feature_count(players) -> int         how many features there are; a plain function

For a game with kernels these are kernels over the game's record; in plain Python `evaluate` takes the game's `State`,
and it is the only one asked for. `rng` is as `engine.chance` takes it, and `actions` scratch with room for all legal
actions. `rollout_action` is asked at every ply of a rollout, so it must be cheap. What `arena train` learns lies in the
folder `weights` beside the file that defines `features`.
"""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import entry_points
from types import ModuleType

from engine import DuplicateNameError, UnsupportedError

BUNDLE_FILES = ["*.py"]
GROUP = "arena.heuristics"


@functools.cache
def heuristics_of(game_name: str) -> ModuleType | None:
    """Return the heuristics module of a game, None when there is none; two raise `DuplicateNameError`."""
    built_in = _built_in_module(game_name)
    offers = sorted({entry.value for entry in entry_points(group=GROUP, name=game_name)})
    named = [*([f"bots.heuristics.{game_name}"] if built_in else []), *offers]
    if len(named) > 1:
        raise DuplicateNameError(f"several modules offer heuristics for '{game_name}', keep one: {', '.join(named)}")
    if built_in or not offers:
        return built_in
    try:
        return importlib.import_module(offers[0])
    except Exception as error:
        raise UnsupportedError(f"heuristics for '{game_name}' ({offers[0]}) cannot be loaded: {error}") from error


def _built_in_module(game_name: str) -> ModuleType | None:
    """Import the built-in module by `__import__`, which a bot's bundle replaces by one that looks into the bundle."""
    name = f"bots.heuristics.{game_name}"
    try:
        return __import__(name, fromlist=("evaluate",)) if game_name.isidentifier() else None
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
