"""What is wrong with a command line, in sentences of ours."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from arena.core.text import describe_bounds
from engine.errors import did_you_mean

NUMBER_WORDS = {int: "a whole number", float: "a number"}


def sentence(error: Any, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line, and what would be right, for a usage error of Typer's."""
    kind, message = type(error).__name__, error.format_message()
    if kind == "NoSuchOption":
        return f"no option {error.option_name}{did_you_mean(error.option_name, _options(error.ctx.command))}"
    if kind == "BadOptionUsage":
        return f"{error.option_name}: {'needs a value' if 'requires' in message else 'takes no value'}"
    if kind == "MissingParameter":
        return f"{_name(error.param)}: is missing; `{error.ctx.command_path} --help` tells more"
    if kind == "BadParameter":
        return _of_value(error, arguments) if error.param_hint is None else f"{error.param_hint}: {error.message}"
    if extra := re.fullmatch(r"Got unexpected extra arguments? ?(?:\(s\) )?\((.*)\)", message):
        return f"'{extra[1]}': more than the command takes; `{error.ctx.command_path} --help` tells more"
    return str(message)


def _options(command: Any) -> list[str]:
    return sorted(option for parameter in command.params for option in parameter.opts if option.startswith("--"))


def _name(parameter: Any) -> str:
    """Return an option as it is typed, or an argument as the help calls it."""
    return max(parameter.opts, key=len) if parameter.param_type_name == "option" else str(parameter.metavar)


def _of_value(error: Any, arguments: Sequence[str]) -> str:
    """Return what is wrong with the value of an option or argument, by its declaration."""
    name, declared = _name(error.param), inspect.signature(error.ctx.command.callback).parameters[error.param.name]
    annotation, *metadata = get_args(declared.annotation)
    info = next(each for each in metadata if hasattr(each, "min"))
    given = _given(name, arguments)
    where = name if given is None else f"{name} {given}"
    if choices := _choices(annotation):
        return f"{where}: not a choice{did_you_mean(given or '', choices)}"
    number = next((kind for kind in NUMBER_WORDS if kind in _parts(annotation)), None)
    return (
        f"{where}: must be {describe_bounds(NUMBER_WORDS[number], info.min, info.max)}"
        if number
        else f"{where}: {error.message}"
    )


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Return a type, and all that it is made of."""
    return (annotation, *(part for each in get_args(annotation) for part in _parts(each)))


def _choices(annotation: Any) -> list[str]:
    return [choice for part in _parts(annotation) if get_origin(part) is Literal for choice in get_args(part)]


def _given(name: str, arguments: Sequence[str]) -> str | None:
    """Return the last value given for an option on the command line."""
    values = [argument.partition("=")[2] for argument in arguments if argument.startswith(f"{name}=")]
    values += [value for option, value in itertools.pairwise(arguments) if option == name]
    return values[-1] if values else None
