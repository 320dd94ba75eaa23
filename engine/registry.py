"""The game registry: games under the entry-point group `arena.games`, and those that a program registers."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from engine.errors import DuplicateNameError, UnknownNameError, UnsupportedError, did_you_mean, in_short
from engine.game_types import GameType

GROUP = "arena.games"

_registered: dict[str, GameType] = {}


@functools.cache
def all_offers() -> Any:
    """Return all installed entry points, of a class that depends on Python's version; reading them takes a while."""
    return entry_points()


def offers(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, by name and value."""
    return sorted(all_offers().select(group=group), key=lambda entry: (entry.name, entry.value))


@functools.cache
def _installed() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points of games, by name and value."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in offers(GROUP):
        found.setdefault(entry.name, {}).setdefault(entry.value, entry)
    return found


def register_game(game_type: GameType) -> GameType:
    """Make a game known to this process; raises `DuplicateNameError` when its name is taken by another one.

    Worker processes do not share this: a tournament's games must be installed, with an entry point.
    """
    taken = _registered.get(game_type.name)
    if game_type.name in _installed() or (taken is not None and taken is not game_type):
        raise DuplicateNameError(f"a game '{game_type.name}' is registered already")
    _registered[game_type.name] = game_type
    return game_type


def game_names() -> list[str]:
    """Return the names of all games, sorted."""
    return sorted({*_installed(), *_registered})


@functools.cache
def _load_installed(name: str) -> GameType:
    entry, *others = _installed()[name].values()
    if others:
        raise DuplicateNameError(
            f"two plug-ins offer a game '{name}': {entry.value} and {others[0].value}; uninstall one"
        )
    try:
        game_type = entry.load()
    except (Exception, SystemExit) as error:
        raise UnsupportedError(f"game '{name}' ({entry.value}) cannot be loaded: {in_short(error)}") from error
    if not isinstance(game_type, GameType) or game_type.name != name:
        raise UnsupportedError(f"game '{name}': entry point {entry.value} is not a GameType of that name")
    return game_type


def game_type(name: str) -> GameType:
    """Return the game type of that name; raises `UnknownNameError` with the nearest known name."""
    if name in _registered:
        return _registered[name]
    if name not in _installed():
        raise UnknownNameError(f"no game '{name}'{did_you_mean(name, game_names())}")
    return _load_installed(name)
