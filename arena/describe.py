"""What a bot says of itself: its parameters resolved, which games it plays. Asking runs its code."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path
from typing import Any

import engine
from arena.bundle import MANIFEST, Bundle
from arena.loader import in_a_bundle, load_class
from engine.specs import Parameter, canonical_options, resolve

MOST_ABOUT = 4000  # characters of a bot's docstring


def describe(bundle: Bundle, bot: dict[str, Any]) -> dict[str, Any]:
    """What a bot says of itself, its parameters resolved; under `error` why it cannot be used."""
    try:
        if bundle.is_program:
            return _program_description(bundle, bot)
        return _description(load_class(bundle, bot["class"]), bot)
    except engine.EngineError as error:
        return {"error": str(error)}
    except BaseException as error:  # the bot's own code may raise anything
        return {"error": f"cannot be loaded: {_in_short(error)}"}


def _description(bot_class: Any, bot: dict[str, Any]) -> dict[str, Any]:
    if not _is_bot(bot_class):
        return {"error": f"{bot['class']} is not a bot; derive it from bots.Bot and give it choose(self, state)"}
    if getattr(bot_class, "__abstractmethods__", None):
        return {"error": f"{bot['class']} lacks {', '.join(sorted(bot_class.__abstractmethods__))}"}
    parameters: tuple[Parameter, ...] = bot_class.parameters
    params = resolve(parameters, bot["options"], bot["name"])
    options = canonical_options(parameters, params)
    return {
        "params": params,
        "options": options,
        "about": inspect.cleandoc(bot_class.__doc__ or "")[:MOST_ABOUT],
        "games": sorted(bot_class.games) if bot_class.games is not None else None,
        "players": sorted(bot_class.players) if bot_class.players is not None else None,
        "parameters": [parameter.plain() for parameter in parameters],
        "refusals": [_refusal(bot_class, game, players) for game, players in bot["boards"]],
    }


def _program_description(bundle: Bundle, bot: dict[str, Any]) -> dict[str, Any]:
    from arena.sandbox.program import description, read_program  # slow to import, and needed for programs alone

    program = read_program(bundle.files[MANIFEST], bot["name"]).model_copy(update={"name": bot["name"]})
    return description(program, bot["options"], bot["boards"])


def _is_bot(found: Any) -> bool:
    return isinstance(found, type) and callable(getattr(found, "choose", None)) and hasattr(found, "parameters")


def _refusal(bot_class: Any, game: str, players: int) -> str | None:
    try:
        return bot_class.refusal(engine.load_game(game, players))
    except BaseException as error:
        return f"cannot say whether it plays {game}: {_in_short(error)}"


def _in_short(error: BaseException) -> str:
    """One line: the error, and the last line of the bot's own files that it passed through."""
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
    except BaseException:  # an error whose own text raises
        text = type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if in_a_bundle(frame.filename)]
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else text
