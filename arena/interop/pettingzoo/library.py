"""The package itself, and environments of its own and of others, imported when they are needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, version
from typing import Any

from engine.errors import UnknownNameError, UnsupportedError, did_you_mean, summarise_error
from engine.registry import offers

GAME_PREFIX = "pettingzoo."
ENTRY_POINT_GROUP = "arena.pettingzoo"
"""Entry points of environments whose authors declare that they have perfect information and no chance."""
CLASSIC_MODULES = {
    "chess_v6": "pettingzoo.classic.chess.chess",
    "connect_four_v3": "pettingzoo.classic.connect_four.connect_four",
    "go_v5": "pettingzoo.classic.go.go",
    "tictactoe_v3": "pettingzoo.classic.tictactoe.tictactoe",
}
"""PettingZoo's own environments with perfect information, of which it does not tell, and their modules."""
HIDDEN_INFORMATION = "hides information from its players; such games cannot be played here"
UNSUPPORTED = {
    **dict.fromkeys(
        ("gin_rummy", "hanabi", "leduc_holdem", "texas_holdem", "texas_holdem_no_limit"), HIDDEN_INFORMATION
    ),
    "rps": "has its players choose at the same time, without seeing what the other one has chosen",
}
"""Others in `pettingzoo.classic`, by their names without versions, and why they cannot be played here."""
SIMULTANEOUS_FAMILIES = ("atari", "butterfly", "magent", "mpe", "sisl")
"""Families of environments whose agents all act at the same time."""


@cache
def library() -> Any:
    """Return the module `pettingzoo`; raises `UnsupportedError` with what to install when it is missing."""
    try:
        return import_module("pettingzoo")
    except ImportError:
        raise UnsupportedError(
            "PettingZoo's environments need PettingZoo: pip install 'pyramid-arena[pettingzoo]'"
        ) from None


@cache
def source(name: str) -> tuple[Callable[..., Any], str]:
    """Return what makes the environment of that name, and the version of the package that it comes from.

    Raises `UnsupportedError` for one that cannot be played here, with the reason, and `UnknownNameError`.
    """
    paths = library().__path__
    if name in CLASSIC_MODULES:
        return _classic(name), version("pettingzoo")
    declared = {entry.name: entry for entry in offers(ENTRY_POINT_GROUP)}
    if name in declared:
        return _declared(declared[name])
    base = name.rpartition("_v")[0]
    if base in UNSUPPORTED:
        raise UnsupportedError(f"{GAME_PREFIX}{name} {UNSUPPORTED[base]}")
    folders = [f"{path}/{family}" for path in paths for family in SIMULTANEOUS_FAMILIES]
    if name.isidentifier() and PathFinder.find_spec(name, folders):
        raise UnsupportedError(f"{GAME_PREFIX}{name} has its agents act at the same time; a match here has turns")
    raise UnknownNameError(
        f"no environment '{GAME_PREFIX}{name}' is known to have perfect information"
        f"{did_you_mean(name, sorted({*CLASSIC_MODULES, *declared}))}"
    )


def _classic(name: str) -> Callable[..., Any]:
    try:
        with _silent_pygame():
            module = import_module(CLASSIC_MODULES[name])
    except ImportError as error:
        raise UnsupportedError(f"{GAME_PREFIX}{name} needs {error.name}: pip install 'pettingzoo[classic]'") from None
    if module.raw_env.metadata["name"] != name:
        raise UnsupportedError(f"PettingZoo {version('pettingzoo')} has {module.raw_env.metadata['name']}, not {name}")
    return module.raw_env


def _declared(entry: EntryPoint) -> tuple[Callable[..., Any], str]:
    try:
        with _silent_pygame():
            make = entry.load()
    except (Exception, SystemExit) as error:
        raise UnsupportedError(
            f"{GAME_PREFIX}{entry.name} ({entry.value}) cannot be loaded: {summarise_error(error)}"
        ) from error
    if not callable(make):
        raise UnsupportedError(f"{GAME_PREFIX}{entry.name}: entry point {entry.value} cannot be called")
    return make, entry.dist.version if entry.dist else "0"


@contextlib.contextmanager
def _silent_pygame() -> Iterator[None]:
    """Keep the greeting that pygame prints when it is imported from standard output."""
    name = "PYGAME_HIDE_SUPPORT_PROMPT"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
