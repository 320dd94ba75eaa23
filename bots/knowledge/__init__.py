"""What search may know about a game beyond its rules: a module a game, found by the game's name.

A module here, or one that a plug-in names under the entry-point group `arena.knowledge`, may offer

    evaluate(state, seat) -> float    how good a running state is for a seat, within [-1, 1], higher is better

For a game with kernels it is a kernel over the game's record, for a game in plain Python a function of its `State`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from importlib.metadata import entry_points
from types import ModuleType

from engine import DuplicateNameError, UnsupportedError

GROUP = "arena.knowledge"


@functools.cache
def knowledge_of(game_name: str) -> ModuleType | None:
    """The module that knows about the game; None when there is none, `DuplicateNameError` when there are two."""
    entries = entry_points(group=GROUP, name=game_name)
    offers = sorted({entry.value for entry in entries} | _house_offer(game_name))
    if len(offers) > 1:
        raise DuplicateNameError(f"several modules offer knowledge of '{game_name}', keep one: {', '.join(offers)}")
    if not offers:
        return None
    try:
        return importlib.import_module(offers[0])
    except Exception as error:
        raise UnsupportedError(f"knowledge of '{game_name}' ({offers[0]}) cannot be loaded: {error}") from error


def _house_offer(game_name: str) -> set[str]:
    name = f"{__name__}.{game_name}"
    return {name} if game_name.isidentifier() and importlib.util.find_spec(name) else set()
