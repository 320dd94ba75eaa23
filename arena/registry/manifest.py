"""Manifests `bot.toml` of programs as bots, read without starting anything."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

import engine
from arena.core.errors import ConfigError
from arena.core.models import Model, Scalar, as_distinct_numbers, as_tuple, parse_toml, read_toml, validated
from arena.core.names import plain_name
from arena.core.text import without_controls
from arena.registry.bundles import MANIFEST_FILE, Bundle, SourceFolder
from engine.specs import Parameter

PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_ABOUT_CHARS = 4000

Command = tuple[str, ...]
Prose = Annotated[str, Field(max_length=MAX_ABOUT_CHARS), AfterValidator(without_controls)]


class Setting(Model):
    """A parameter, of its default's type."""

    default: Scalar
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: Prose = ""

    _listed = field_validator("choices", mode="before")(as_tuple)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name; raises `ValueError` when its parts do not fit together."""
        if not PARAMETER_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name for a parameter; letters, digits and _ make one")
        kind = type(self.default)
        bounded = self.minimum is not None or self.maximum is not None
        if bounded and kind not in (int, float):
            raise ValueError(f"{name}: minimum and maximum are for numbers")
        open_ended = Parameter(name, kind, self.default, self.help, self.minimum, self.maximum)
        choices = tuple(open_ended.read(choice, "choices") for choice in self.choices)
        whole = Parameter(name, kind, self.default, self.help, self.minimum, self.maximum, choices)
        whole.read(self.default, "default")
        return whole


class Program(Model):
    """A bot's manifest."""

    name: str
    about: Prose = ""
    command: Annotated[Command, Field(min_length=1)]
    """Command that starts it: a program on PATH or `./file` of the bot's folder, and its arguments."""
    build: Command = ()
    """Command that builds it, once, in the folder of its files."""
    files: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Glob patterns; by default every file that is not hidden, in `__pycache__` or in `node_modules`."""
    games: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """The games it plays: `midgard` with any options, or `midgard(variant=odin)`; by default every game."""
    players: tuple[Annotated[int, Field(ge=1)], ...] | None = None
    """Numbers of players that it plays with; by default any."""
    resettable: bool = False
    """Whether one process may serve one match after another."""
    parameters: dict[str, Setting] = Field(default_factory=dict)

    _named = field_validator("name")(plain_name)
    _listed = field_validator("command", "build", "files", "games", mode="before")(as_tuple)
    _one_number_will_do = field_validator("players", mode="before")(as_distinct_numbers)

    @field_validator("command", "build")
    @classmethod
    def _can_be_started(cls, value: Command) -> Command:
        if any(not word or "\0" in word for word in value):
            raise ValueError("must be a list of words, none of them empty")
        if value and "/" in value[0] and not own_file(value[0]):
            raise ValueError("must begin with a program on PATH or with ./file of the bot's own folder")
        return value

    @field_validator("games")
    @classmethod
    def _can_be_printed(cls, value: Command | None) -> Command | None:
        for name in value or ():
            if not name.isprintable():
                raise ValueError(f"'{name}' is no name of a game")
        return value

    @field_validator("files")
    @classmethod
    def _stay_in_the_folder(cls, value: Command | None) -> Command | None:
        for pattern in value or ():
            if not pattern or pattern.startswith("/") or ".." in PurePosixPath(pattern).parts:
                raise ValueError(f"'{pattern}' leaves the bot's folder")
        return value

    @model_validator(mode="after")
    def _parameters_fit(self) -> Program:
        try:
            _ = self.settings
        except ValueError as error:
            raise ValueError(f"parameters: {error}") from None
        return self

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """Parameters in the order of the manifest."""
        return tuple(setting.parameter(name) for name, setting in self.parameters.items())

    def refusal(self, game: engine.Game) -> str | None:
        """Return why the program does not play a game, in words that follow its name; None when it does."""
        if self.games is not None and not game.is_named_by(self.games):
            return f"plays {', '.join(sorted(self.games))}, not {game.spec}"
        if self.players is not None and game.players not in self.players:
            return f"plays with {', '.join(map(str, sorted(self.players)))} players, not {game.players}"
        return None

    def check_files(self, files: Collection[str], source: str) -> None:
        """Raise `ConfigError` when the program is neither among the bot's files nor made by its build."""
        for key, command in (("build", self.build), ("command", () if self.build else self.command)):
            name = own_file(command[0]) if command else ""
            if name and name not in files:
                made = "" if self.build else ", and no build makes it"
                raise ConfigError(f"{source}: {key}: no file '{name}' among the bot's files{made}")


def own_file(word: str) -> str:
    """Return the path below the bot's folder of a command's first word; empty for a program on PATH."""
    inside = word.startswith("./") and ".." not in PurePosixPath(word).parts
    return PurePosixPath(word).as_posix() if inside else ""


PARTS = {"parameters": Setting}
"""Models of the tables of a manifest."""


def load_program(path: Path, content: bytes | None = None) -> Program:
    """Read a manifest, from its content if given; by default the bot has its folder's name."""
    data = read_toml(path) if content is None else parse_toml(content, str(path))
    folder = path.absolute().parent.name
    if "name" not in data:
        try:
            plain_name(folder)
        except ValueError as error:
            raise ConfigError(f"{path}: name: is missing, and the folder's name, '{folder}', {error}") from None
    return validated(Program, {"name": folder, **data}, str(path), PARTS)


def read_program(content: bytes, name: str) -> Program:
    """Return a manifest's text as a program; `name` is its default name, and its name in errors."""
    source = f"{name}: {MANIFEST_FILE}"
    return validated(Program, {"name": name, **parse_toml(content, source)}, source, PARTS)


def bundle_program(path: Path) -> Bundle:
    """Return the bundle of a program: its manifest and the files that this declares."""
    folder, files = SourceFolder(path.parent), dict[str, bytes]()
    folder.take(MANIFEST_FILE, files)
    program = load_program(path, files[MANIFEST_FILE])
    declared = [folder.matches(PurePosixPath(), each, f"{path}: files: '{each}'") for each in program.files or ()]
    for name in folder.names(PurePosixPath()) if program.files is None else chain(*declared):
        folder.take(name, files)
    program.check_files(files, str(path))
    return Bundle(MANIFEST_FILE, files)
