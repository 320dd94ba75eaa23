"""The game registry: games under the entry-point group `arena.games`, and those that a program registers.

Whole libraries of games come by a *provider*, an entry point of the group `arena.game_providers`: a function
`(name, options) -> GameType` for all games called `provider.name`, which are too many to be listed.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from engine.errors import (
    DuplicateNameError,
    EngineError,
    UnknownNameError,
    UnsupportedError,
    did_you_mean,
    nearest,
    summarise_error,
)
from engine.game_types import GameType
from engine.specs import split_game_spec

GROUP = "arena.games"
PROVIDERS = "arena.game_providers"

Provider = Callable[[str, Mapping[str, str]], GameType]
"""Returns the game type of that name, `provider.name` in full, for the options of a spec as they are written.

It raises an `EngineError` for a name or an option that it does not know. The options may narrow the numbers of players.
"""

registered_games: dict[str, GameType] = {}
"""Games that `register_game` was given in this process, by name."""


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
    taken = registered_games.get(game_type.name)
    if game_type.name in _installed() or (taken is not None and taken is not game_type):
        raise DuplicateNameError(f"a game '{game_type.name}' is registered already")
    registered_games[game_type.name] = game_type
    return game_type


def game_names() -> list[str]:
    """Return the names of all games, sorted."""
    return sorted({*_installed(), *registered_games})


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
        raise UnsupportedError(f"game '{name}' ({entry.value}) cannot be loaded: {summarise_error(error)}") from error
    if not isinstance(game_type, GameType) or game_type.name != name:
        raise UnsupportedError(f"game '{name}': entry point {entry.value} is not a GameType of that name")
    return game_type


@functools.cache
def _provider(prefix: str) -> Provider | None:
    """Return the provider of that name; None without one. Raises `UnsupportedError` when it cannot be loaded."""
    found = {entry.value: entry for entry in offers(PROVIDERS) if entry.name == prefix}
    if not found:
        return None
    entry, *others = found.values()
    if others:
        raise DuplicateNameError(
            f"two plug-ins provide games '{prefix}.…': {entry.value} and {others[0].value}; uninstall one"
        )
    try:
        provider: Provider = entry.load()
    except (Exception, SystemExit) as error:
        raise UnsupportedError(
            f"the games '{prefix}.…' ({entry.value}) cannot be loaded: {summarise_error(error)}"
        ) from error
    return provider


def provider_names() -> list[str]:
    """Return the names of the providers of games, sorted; their games are called `provider.name`."""
    return sorted({entry.name for entry in offers(PROVIDERS)})


def is_provided(spec: str) -> bool:
    """Return whether a spec names a game of a provider's, without loading that."""
    name = spec.partition("(")[0]
    prefix, dot, _ = name.partition(".")
    return bool(dot) and prefix in provider_names() and name not in {*_installed(), *registered_games}


def _hint(name: str) -> str:
    """Return the end of an error about a name that no game has: the variant of that name, else the nearest game."""
    variants: dict[str, str] = {}
    for game in game_names():
        with contextlib.suppress(EngineError):  # a plug-in that cannot be loaded has no variants
            variants |= game_type(game).variants()
    if near := nearest(name, [*variants, *game_names()]):
        return f"; did you mean '{variants.get(near, near)}'?"
    return did_you_mean(name, game_names())


def game_type(spec: str) -> GameType:
    """Return the game type of a name or a spec; raises `UnknownNameError` with the nearest known name.

    Of a provider's game it is the type for the options of the spec, which may narrow the numbers of players.
    """
    name = spec.partition("(")[0].strip()
    if "=" in name:
        split_game_spec(spec)  # which says how options are written
    if name in registered_games:
        return registered_games[name]
    if name in _installed():
        return _load_installed(name)
    prefix, dot, _ = name.partition(".")
    provider = _provider(prefix) if dot else None
    if provider is None:
        raise UnknownNameError(f"no game '{name}'{_hint(name)}")
    return provider(*split_game_spec(spec))
