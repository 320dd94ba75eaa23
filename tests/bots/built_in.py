"""Which bots and games there are to be tested: the registry's, and two small ones made for tests."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bots
import engine
from bots import Bot
from engine import Game
from engine.loading import load
from tests.bots.plain import plain
from tests.bots.race import GAME as RACE

FOLDER = Path(bots.__file__).parent


def names_in_source(path: Path) -> Iterator[tuple[str, str]]:
    """Return (class, bot name) of every class in the file that says `name = "..."`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for line in node.body if isinstance(node, ast.ClassDef) else ():
            match line:
                case ast.Assign(targets=[ast.Name(id="name")], value=ast.Constant(value=str(name))) if name:
                    yield node.name, name


def built_in_bots() -> dict[str, type[Bot]]:
    """Return the built-in bots by name."""
    return {
        name: getattr(importlib.import_module(module_name(path)), class_name)
        for path in sorted(FOLDER.rglob("*.py"))
        for class_name, name in names_in_source(path)
    }


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)


def load_race(players: int, **options: object) -> Game:
    return load(RACE, players, options)


def installed_games() -> list[Game]:
    """Return every installed game for every number of players, and once with every other choice of an option."""
    games = []
    for name in engine.game_names():
        kind = engine.game_type(name)
        for players in range(kind.min_players, kind.max_players + 1):
            games.append(engine.load_game(name, players))
        for parameter in kind.parameters:
            for choice in parameter.choices if parameter.kind is str else ():
                if choice != parameter.default:
                    games.append(engine.load_game(name, kind.min_players, **{parameter.name: choice}))
    return games


def kernel_games() -> list[Game]:
    return [*installed_games(), *map(load_race, (2, 3, 4))]


def all_games() -> list[Game]:
    return [*kernel_games(), plain(engine.load_game("epicycle", 2)), plain(load_race(3))]


def as_params(pairs: list[tuple[type[Bot], Game]]) -> list[Any]:
    """Return pairs of a bot and a game as parameters; of the race, three players are for the short lane.

    Its bots are compiled for each number of players, for which the short lane has the installed games.
    """
    return [
        pytest.param(*pair, marks=pytest.mark.system if (pair[1].name, pair[1].players) in RARE else ())
        for pair in pairs
    ]


RARE = {("race", 2), ("race", 4)}


def label(value: object) -> str | None:
    """Return how pytest shows a game or a bot."""
    if isinstance(value, Game):
        return f"{value.spec}-{value.players}p"
    return value.name if isinstance(value, type) and issubclass(value, Bot) else None
