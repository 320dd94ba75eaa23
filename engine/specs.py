"""Specs: `name(key=value,...)` for games and `name:key=value,...` for bots, with typed, bounded parameters.

A spec has one canonical form: defaults left out, keys sorted. Anything that is not understood is an error.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from engine.errors import NotationError, ParameterError, UnknownNameError, did_you_mean

Value = bool | int | float | str

TIME = re.compile(r"(?P<number>[0-9]{1,7}(?:\.[0-9]{1,6})?)(?P<unit>ms|s)")
MIN_TIME_MS, MAX_TIME_MS = Decimal("0.1"), Decimal(3_600_000)

GAME_SPEC = re.compile(r"(?P<name>[^():=,\s]+)(?:\((?P<options>.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class Parameter:
    """A typed option of a game or a bot.

    `kind` is bool, int, float or str. `minimum` and `maximum` are inclusive. `choices` lists the only values
    allowed. `check(value)` may return a canonical form of the value or raise `ParameterError`. A `nested` text is a
    game spec, with commas and brackets of its own: `check` reads it and makes it canonical. A text that `stands_for`
    other parameters is a time a move, such as `20ms`, which a tournament calibrates into the number that the first of
    them is; the others keep their defaults.
    """

    name: str
    kind: type
    default: Value
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()
    check: Callable[[Value], Value] | None = None
    nested: bool = False
    stands_for: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ParameterError(f"'{self.name}' is no name for a parameter; letters, digits and _ make one")

    def read(self, value: object, owner: str) -> Value:
        """Return the typed value of a text or plain value; raises `ParameterError` that names owner, key and value."""
        where = f"{owner}: {self.name}={_short_repr(value)}"
        typed = self._typed(value, where)
        if self.choices and typed not in self.choices:
            known = [str(choice) for choice in self.choices]
            raise ParameterError(f"{where}: not a choice{did_you_mean(str(typed), known)}")
        if self.minimum is not None and not typed >= self.minimum:  # type: ignore[operator]  # only numbers have bounds
            raise ParameterError(f"{where}: below the smallest value allowed, {self.minimum:g}")
        if self.maximum is not None and not typed <= self.maximum:  # type: ignore[operator]  # only numbers have bounds
            raise ParameterError(f"{where}: above the largest value allowed, {self.maximum:g}")
        check = canonical_time if self.stands_for else self.check
        if check is not None:
            try:
                typed = check(typed)
            except ParameterError as error:
                raise ParameterError(f"{where}: {error}") from None
        return typed

    def _typed(self, value: object, where: str) -> Value:
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            if value in ("true", "false"):
                return value == "true"
            raise ParameterError(f"{where}: must be true or false")
        if self.kind is str:
            return self._text(value, where)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ParameterError(f"{where}: must be {_NUMBER[self.kind]}")
        if self.kind is int and isinstance(value, float) and not value.is_integer():
            raise ParameterError(f"{where}: must be a whole number")
        try:
            typed = self.kind(value)
        except (ValueError, OverflowError):
            raise ParameterError(f"{where}: must be {_NUMBER[self.kind]}") from None
        if typed != typed or typed in (float("inf"), float("-inf")):
            raise ParameterError(f"{where}: must be a finite number")
        if self.kind is int and typed.bit_length() > MAX_INT_BITS:
            raise ParameterError(f"{where}: must be a whole number of at most {MAX_INT_BITS} bits")
        return typed + self.kind(0)  # -0.0 is 0.0

    def _text(self, value: object, where: str) -> str:
        """Return a text as it stands, or a whole number's only spelling."""
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ParameterError(f"{where}: must be a text (in quotes)")
        text = str(value)
        if (re.search(r"[,|()\s]", text) and not self.nested) or not text.isprintable():
            raise ParameterError(f"{where}: may not hold commas, bars, brackets, white space or controls")
        if not text and text != self.default:
            raise ParameterError(f"{where}: may not be empty")
        return text

    def write(self, value: Value) -> str:
        """Return the text of a value, as it stands in a spec."""
        return str(value).lower() if self.kind is bool else str(value)

    def plain(self) -> dict[str, Any]:
        """Return all but `check` as plain data; `stands_for` where it stands for any."""
        stands_for = {"stands_for": [*self.stands_for]} if self.stands_for else {}
        return {
            "name": self.name,
            "kind": self.kind.__name__,
            "default": self.default,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "choices": list(self.choices),
            "help": self.help,
            **stands_for,
        }


def canonical_time(value: Value) -> str:
    """Return the one spelling of a time a move, such as `20ms` or `1.5s`; raises `ParameterError`."""
    if value == "":
        return ""
    match = TIME.fullmatch(str(value))
    milliseconds = Decimal(match["number"]) * (1 if match["unit"] == "ms" else 1000) if match else Decimal(0)
    if not MIN_TIME_MS <= milliseconds <= MAX_TIME_MS:
        raise ParameterError("must be a time from 0.1ms to 3600s, such as 20ms or 1.5s")
    number, unit = (milliseconds, "ms") if milliseconds < 1000 else (milliseconds / 1000, "s")
    text = f"{number:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{unit}"


def seconds_of(time: str) -> float:
    """Return the seconds of a canonical time."""
    return float(time[:-2]) / 1000 if time.endswith("ms") else float(time[:-1])


_NUMBER = {int: "a whole number", float: "a number"}
MAX_INT_BITS = 4096


def _short_repr(value: object) -> str:
    """Return the first letters of any value, even of one that cannot be written."""
    try:
        return f"{value!s:.60}"
    except Exception:
        return f"something of type {type(value).__name__}"


def split_game_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `"midgard(variant=odin)"` into `("midgard", {"variant": "odin"})`; raises `NotationError`.

    A value may be a game spec itself, as in `"openspiel.misere(game=tic_tac_toe())"`.
    """
    match = GAME_SPEC.fullmatch(spec.strip())
    parts = None if match is None else _outside_brackets(match["options"] or "")
    if match is None or parts is None:
        raise NotationError(f"game spec '{spec}' cannot be read; write {_as_game(spec)}")
    return match["name"], _split_options(parts, spec)


def _as_game(spec: str) -> str:
    """Return how a game spec is written, with the options of one that is written like a bot's, or without a name."""
    options = re.fullmatch(r"(?:(\w+):)?(\w+=[^():\s]+)", spec.strip())
    return f"{options[1] or 'GAME'}({options[2]})" if options else "name or name(key=value,...)"


def _outside_brackets(text: str) -> list[str] | None:
    """Return what the commas outside brackets separate, nothing for a blank text; None where brackets do not match."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return None
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return None if depth else parts if text.strip() else []


def split_bot_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `"flat_mc:playouts=100"` into `("flat_mc", {"playouts": "100"})`; raises `NotationError`.

    A bot may be named by a file, `path/to/file.py:key=value,...` or `path/to/file.py:ClassName:key=value,...`; then the
    name holds the class too. A program is named by its folder or manifest, `path/to/bot.toml:key=value,...`.
    """
    spec = spec.strip()
    name, _, rest = spec.partition(":")
    if name.endswith(".py") and rest and "=" not in rest.partition(":")[0]:
        class_name, _, rest = rest.partition(":")
        if not class_name.isidentifier():
            raise NotationError(f"bot spec '{spec}' cannot be read; write path/to/file.py:ClassName")
        name = f"{name}:{class_name}"
    is_path = "/" in name or name.partition(":")[0].endswith((".py", ".toml"))
    if re.fullmatch(r"\w+=\S*", spec):
        raise NotationError(
            f"'{spec}' is an option and no bot; write {_as_game(spec)} for a game's, BOT:{spec} for a bot's"
        )
    if not name or (not is_path and any(c in name for c in "(),= \t\n")) or (spec.endswith(":") and not rest):
        raise NotationError(f"bot spec '{spec}' cannot be read; write name or name:key=value,...")
    return name, _split_options(rest.split(",") if rest else [], spec)


def _split_options(parts: list[str], spec: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise NotationError(f"spec '{spec}' cannot be read at '{part}'; write key=value")
        if key in options:
            raise NotationError(f"spec '{spec}' gives '{key}' twice")
        options[key] = value
    return options


def resolve(parameters: Iterable[Parameter], given: Mapping[str, object], owner: str) -> dict[str, Value]:
    """Return every parameter's value, defaults included, in the order of their names.

    A value that equals its default is the default, also where it was written in another way (1 for 1.0).
    Raises `UnknownNameError` for a key that no parameter has, `ParameterError` for a value not allowed.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) if known else "; it has none"
            raise UnknownNameError(f"{owner} has no option '{key}'{hint}")
    values = {name: parameter.default for name, parameter in sorted(known.items())}
    for name in given:
        value = known[name].read(given[name], owner)
        if value != values[name]:
            values[name] = value
    return values


def refuse_times(parameters: Iterable[Parameter], values: Mapping[str, object], owner: str) -> None:
    """Raise `ParameterError` for a time a move where nothing calibrates it."""
    for parameter in parameters:
        if parameter.stands_for and values.get(parameter.name):
            raise ParameterError(
                f"{owner}: {parameter.name}={values[parameter.name]}: tournaments and comparisons alone calibrate it; "
                f"here give {parameter.stands_for[0]}"
            )


def canonical_options(parameters: Iterable[Parameter], values: Mapping[str, Value]) -> str:
    """Return `key=value,...` of every value that is not the default, keys sorted."""
    changed = [p for p in sorted(parameters, key=lambda p: p.name) if values[p.name] != p.default]
    return ",".join(f"{p.name}={p.write(values[p.name])}" for p in changed)
