"""Read TOML into frozen models, with one-line errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from arena.core.errors import ConfigError
from arena.core.files import read_regular
from engine.errors import did_you_mean

ERROR_SENTENCES = {
    "greater_than_equal": "must be {ge:,} or more",
    "greater_than": "must be more than {gt:,}",
    "less_than_equal": "must be at most {le:,}",
    "less_than": "must be less than {lt:,}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "too_short": "must have at least {min_length:,}",
    "too_long": "must have at most {max_length:,}",
    "string_too_short": "must have at least {min_length:,} letters",
    "string_too_long": "must have at most {max_length:,} letters",
    "string_pattern_mismatch": "must be of the form {pattern}",
}
"""What is wrong with a value, by the kind of pydantic's error."""
MAX_TOML_BYTES = 2**24
"""Most bytes of a TOML file."""


class Model(BaseModel):
    """A frozen record in which every key and type is checked."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _scalar(value: object) -> object:
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError("must be true, false, a number or a text")
    return value


Scalar = Annotated[bool | int | float | str, BeforeValidator(_scalar)]


def _scalars(value: object) -> object:
    return tuple(map(_scalar, value)) if isinstance(value, list | tuple) else _scalar(value)


Scalars = Annotated[bool | int | float | str | tuple[bool | int | float | str, ...], BeforeValidator(_scalars)]
"""One value, or a list of values."""


AnyModel = TypeVar("AnyModel", bound=Model)


def as_tuple(value: object) -> object:
    """Return a list as a tuple, for strict models, and anything else as it is."""
    return tuple(value) if isinstance(value, list) else value


def as_distinct_numbers(value: object) -> object:
    """Return one number or a list of different ones as a tuple, and anything else as it is."""
    listed = [value] if type(value) is int else value
    if isinstance(listed, list) and (not listed or len(set(map(str, listed))) < len(listed)):
        raise ValueError("must be a list of different numbers, with at least one")
    return as_tuple(listed)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the data of a TOML file; raises `ConfigError` that names it."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; name a TOML file")
    try:
        content = read_regular(path, MAX_TOML_BYTES)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}, too large for a configuration") from None
    return parse_toml(content, str(path))


def parse_toml(content: bytes, source: str) -> dict[str, Any]:
    """Return the data of TOML text; `source` is what errors name."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))  # some editors put a byte order mark there
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: is not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets nested as deep
        raise ConfigError(f"{source}: is not TOML: {error}") from None


def validated(model: type[AnyModel], data: dict[str, Any], source: str, parts: Mapping[str, type[Model]]) -> AnyModel:
    """Return data as a model, with `parts` the models below its keys; raises `ConfigError` of one line."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_first_problem(error, model, parts)}") from None


def checked(model: type[AnyModel], data: dict[str, Any]) -> AnyModel:
    """Return data as a model; raises `ValueError` of one line, also inside of another model's validator."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ValueError(_first_problem(error, model, {})) from None


def _first_problem(error: ValidationError, model: type[Model], parts: Mapping[str, type[Model]]) -> str:
    problem = _most_helpful_problem(error.errors(include_url=False), model)
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]).lstrip(".")
    message = _sentence(problem)
    if problem["type"] == "missing":
        return f"{where}: is missing"
    if not where:
        return message
    if problem["loc"] in (("games",), ("bots",)) and problem["type"] == "tuple_type":
        message += f"; above each of its entries write [[{where}]]"
    if problem["loc"][0] in ("games", "bots") and problem["type"] == "model_type":
        message += f' such as {{ {problem["loc"][0].rstrip("s")} = "NAME" }}'
    found = f"{where} = {_short(problem['input'])}"
    if problem["type"] == "extra_forbidden":
        *above, key = problem["loc"]
        known = parts.get(str(above[0]), model) if above else model
        return f"{found}: unknown key{did_you_mean(str(key), list(known.model_fields))}"
    if problem["type"] == "literal_error":
        choices = re.findall("'([^']+)'", message)
        return f"{found}: not a choice{did_you_mean(str(problem['input']), choices)}"
    return f"{found}: {message}"


def _most_helpful_problem(problems: list[Any], model: type[Model]) -> Any:
    """Return the first problem; where a key is missing, rather an unknown one that looks like it."""
    unknown = (problem for problem in problems if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1)
    if problems[0]["type"] == "missing":
        near = (each for each in unknown if did_you_mean(str(each["loc"][0]), list(model.model_fields)).endswith("?"))
        return next(near, problems[0])
    return problems[0]


def _sentence(problem: Any) -> str:
    """Return what is wrong with a value in words."""
    if problem["type"] not in ERROR_SENTENCES:
        return re.sub("^Input should ", "must ", problem["msg"].removeprefix("Value error, "))
    context = problem.get("ctx", {}).items()
    whole = {name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in context}
    return ERROR_SENTENCES[problem["type"]].format(**whole)


def _short(value: object) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else text[:57] + "..."
