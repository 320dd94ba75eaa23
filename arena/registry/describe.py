"""Ask bots for their parameters and games, which runs their code."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import engine
from arena.registry.bundles import MANIFEST_FILE, Bundle
from arena.registry.loader import in_a_bundle, load_class
from engine.specs import Parameter, Value, canonical_options

Board = tuple[str, int]
"""Game, number of players."""
MAX_ABOUT_CHARS = 4000  # characters of a bot's docstring
CHANGED_DECLARATION = "it declares other parameters than when it was planned"


def describe(bundle: Bundle, name: str, class_name: str, boards: Sequence[Board]) -> dict[str, Any]:
    """Return what a bot declares, in the form of `arena.registry.declarations`; under `error` why it cannot be used."""
    try:
        if bundle.is_program:
            from arena.registry.manifest import read_program  # slow to import, and needed for programs alone

            program = read_program(bundle.files[MANIFEST_FILE], name)
            return _declaration(program, program.about.strip(), program.settings, boards)
        return _description(load_class(bundle, class_name), class_name, boards)
    except engine.EngineError as error:
        return {"error": str(error)}
    except BaseException as error:  # the bot's own code may raise anything
        return {"error": f"cannot be loaded: {_in_short(error)}"}


def _description(bot_class: Any, class_name: str, boards: Sequence[Board]) -> dict[str, Any]:
    is_bot = isinstance(bot_class, type) and callable(getattr(bot_class, "choose", None))
    if not is_bot or not hasattr(bot_class, "parameters"):
        return {"error": f"{class_name} is not a bot; derive it from bots.Bot and give it choose(self, state)"}
    if getattr(bot_class, "__abstractmethods__", None):
        missing = ", ".join(f"{name}(self, state)" for name in sorted(bot_class.__abstractmethods__))
        return {"error": f"{class_name} lacks {missing}"}
    if not _can_be_made(bot_class):
        return {"error": f"{class_name} has an __init__ of its own; put what it does into prepare(self)"}
    about = inspect.cleandoc(bot_class.__doc__ or "")[:MAX_ABOUT_CHARS]
    return _declaration(bot_class, about, bot_class.parameters, boards)


def _declaration(bot: Any, about: str, parameters: Sequence[Parameter], boards: Sequence[Board]) -> dict[str, Any]:
    return {
        "about": about,
        "games": sorted(bot.games) if bot.games is not None else None,
        "players": sorted(bot.players) if bot.players is not None else None,
        "parameters": [parameter.plain() for parameter in parameters],
        "refusals": [_refusal(bot, game, players) for game, players in boards],
    }


def defaults(bot_class: Any) -> dict[str, Value]:
    """Return the defaults of a class's parameters."""
    return {parameter.name: parameter.default for parameter in bot_class.parameters}


def is_as_planned(declared: object, params: Mapping[str, Value], options: str) -> bool:
    """Return whether declared defaults give a bot's planned parameters and the options of its spec."""
    if not isinstance(declared, dict) or declared.keys() != params.keys():
        return False
    if any(type(declared[name]) is not type(value) for name, value in params.items()):
        return False
    settings = [Parameter(name, type(value), declared[name]) for name, value in params.items()]
    return canonical_options(settings, params) == options


def _can_be_made(bot_class: Any) -> bool:
    """Return whether a class's constructor takes the arguments of every bot."""
    try:
        inspect.signature(bot_class).bind("game", "seat", "seed", "params")
    except TypeError:
        return False
    except ValueError:  # a constructor that does not say what it takes
        pass
    return True


def _refusal(bot: Any, game: str, players: int) -> str | None:
    try:
        return bot.refusal(engine.load_game(game, players))
    except BaseException as error:
        return f"cannot say whether it plays {game}: {_in_short(error)}"


def _in_short(error: BaseException) -> str:
    """Return an error in one line, with the last line of the bot's own files that it passed through."""
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
    except BaseException:  # an error whose own text raises
        text = type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if in_a_bundle(frame.filename)]
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else text
