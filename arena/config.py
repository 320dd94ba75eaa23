"""A tournament's configuration: TOML read into frozen models; what is not understood is an error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

import engine
from arena.errors import ConfigError
from arena.files import read_regular
from engine.errors import EngineError, did_you_mean
from engine.specs import split_bot_spec, split_game_spec

Format = Literal["csv", "json", "md", "parquet", "html", "tex"]
FORMATS: tuple[Format, ...] = get_args(Format)
DEFAULT_FORMATS: tuple[Format, ...] = ("csv", "json", "md", "parquet")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
MARKUP = re.compile(r"[<>|/\\`{}\[\]*$^~]|^[=+@-]")
"""What no name needs, and pages, tables, spreadsheets or terminals take for something else."""
MAX_LABEL = 40
PLAIN_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "tuple": "a list",
    "boolean": "true or false",
    "dictionary": "a table",
}
MAX_TOML = 2**24
"""Bytes of a TOML file."""
OPENING = re.compile(r"none|random:([1-9][0-9]{0,2})")


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _opening(text: str | None) -> str | None:
    if text is not None and not OPENING.fullmatch(text):
        raise ValueError("must be none or random:k with k from 1 to 999")
    return text


def _scalar(value: object) -> object:
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError("must be true, false, a number or a text")
    return value


Scalar = Annotated[bool | int | float | str, BeforeValidator(_scalar)]
Options = dict[str, Scalar]
AnyModel = TypeVar("AnyModel", bound=Model)
SUBMISSIONS = "bots"
"""The folder, among those of tournaments, that holds submitted bots."""
COMPARISONS = "compare"
"""The one that holds comparisons: a folder for each two bots, game, number of players and fillers."""


def plain_name(value: str) -> str:
    """The name itself; raises `ValueError` for one that names no tournament or bot."""
    if not NAME.fullmatch(value):
        raise ValueError("must be 1 to 64 letters, digits, _, - or ., beginning with a letter or digit")
    return value


def shown_name(value: str, most: int) -> str:
    """The name itself, of a contestant or an author; raises `ValueError` for one that is more than a name."""
    if not (0 < len(value) <= most and value.isprintable() and value == value.strip()) or MARKUP.search(value):
        raise ValueError(
            f"must be 1 to {most} printable characters without < > | / \\ ` {{ }} [ ] * $ ^ ~, "
            "must not begin with = + - @, and have no space at its ends"
        )
    return value


def tournament_name(value: str) -> str:
    """The name itself; raises `ValueError` for one that names no tournament."""
    if value == SUBMISSIONS:
        raise ValueError("is the folder of submitted bots; choose another name")
    if value == COMPARISONS:
        raise ValueError("is the folder of comparisons; choose another name")
    return plain_name(value)


def as_tuple(value: object) -> object:
    """A list as a tuple, for strict models; anything else as it is."""
    return tuple(value) if isinstance(value, list) else value


def different_numbers(value: object) -> object:
    """One number or a list of different ones, as a tuple; anything else as it is."""
    listed = [value] if type(value) is int else value
    if isinstance(listed, list) and (not listed or len(set(map(str, listed))) < len(listed)):
        raise ValueError("must be a list of different numbers, with at least one")
    return as_tuple(listed)


Isolation = Literal["none", "process", "sandbox"]
"""Where a bot runs: in the worker process, in a limited process of its own, or in a sandbox for strangers."""


class Limits(Model):
    """What a bot may use; part of every match's identity."""

    seconds_per_move: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Wall-clock seconds for one move; more is a `timeout` fault."""
    seconds_to_prepare: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Wall-clock seconds for a bot's preparations before a match; more is an `init` fault."""
    seconds_to_start: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Wall-clock seconds for a bot's process to come up and load the bot; more is an `init` fault."""
    seconds_per_match: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """Wall-clock seconds for all of a bot's moves in a match, without preparations; 0 for no such limit."""
    increment: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """Seconds added to what is left of `seconds_per_match` after each of its moves."""
    margin: Annotated[float, Field(ge=0, le=86_400)] = 0.05
    """Seconds that a move may overrun before it is a fault: for what the machine does besides."""
    memory: Annotated[int, Field(ge=64, le=1_048_576)] = 1024
    """MiB that a bot's process may use (`process` and `sandbox`); more is a `memory` fault."""

    @field_validator("*", mode="before")
    @classmethod
    def _whole_numbers_are_seconds_too(cls, value: object, info: ValidationInfo) -> object:
        return float(value) if type(value) is int and info.field_name != "memory" else value


class GameEntry(Model):
    """One game with its options, and the boards it is played on."""

    game: str
    """A game's name or spec, `epicycle` or `epicycle(setup=random)`."""
    players: tuple[int, ...] | None = None
    """Numbers of players, one board each; by default all that the game allows."""
    options: Options = {}
    """The game's options, instead of or beside those in the spec."""
    blocks: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Blocks per table on these boards, instead of the tournament's."""
    opening: str | None = None
    """`none` or `random:k`, instead of the tournament's."""

    _check_opening = field_validator("opening")(_opening)

    _one_number_will_do = field_validator("players", mode="before")(different_numbers)


class BotEntry(Model):
    """One contestant."""

    bot: str
    """A bot's name, spec `name:key=value,...`, `path/to/file.py:ClassName`, or a program's `path/to/bot.toml`."""
    params: Options = {}
    """The bot's parameters, instead of or beside those in the spec."""
    label: str | None = None
    """The name on the boards; by default the bot's canonical spec."""
    isolation: Isolation | None = None
    """By default `sandbox` for submitted bots, `process` for programs, `none` for others."""

    @field_validator("label")
    @classmethod
    def _fits_a_table(cls, value: str | None) -> str | None:
        return None if value is None else shown_name(value, MAX_LABEL)


class Output(Model):
    """What is written after the run."""

    formats: tuple[Format, ...] = DEFAULT_FORMATS
    """Formats of the leaderboards."""

    _listed = field_validator("formats", mode="before")(as_tuple)


class Config(Model):
    """A tournament, as its author wrote it."""

    name: str
    """Names the folder that holds its log and boards; letters, digits, `_`, `-`, `.`."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """The one number all chance in the tournament comes from."""
    games: Annotated[tuple[GameEntry, ...], Field(min_length=1)]
    bots: Annotated[tuple[BotEntry, ...], Field(min_length=1)]
    bot_paths: tuple[str, ...] = ()
    """Folders searched for the files of bots named by path, relative to the configuration."""
    blocks: Annotated[int, Field(ge=1, le=10_000_000)] = 10
    """Blocks per table: a block is every line-up of a table, played with the same dice and opening."""
    schedule: Literal["round_robin", "gauntlet", "adaptive"] = "round_robin"
    """All sets of bots; those with one bot, the `hero`, in them; all, and most blocks where ranks are least certain."""
    first_blocks: Annotated[int, Field(ge=2, le=10_000_000)] | None = None
    """Blocks that every table of an adaptive schedule plays; by default about a quarter of `blocks`, at least 2."""
    hero: str | None = None
    """Label or spec of the gauntlet's one bot; by default the first one."""
    line_ups: Literal["rotations", "permutations"] = "rotations"
    """Line-ups of a block: each seat once for every bot, or every order."""
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """With more sets of bots than this on a board, a balanced sample of them is played."""
    opening: str | None = None
    """`none` or `random:k`; by default what suits each game."""
    bench_after: Annotated[int, Field(ge=0, le=10_000_000)] = 10
    """Forfeits on a board from which a bot is benched there, if they are a tenth of its matches; 0 for never."""
    dice: Literal["auto", "secret"] = "auto"
    """Which blocks have secret dice: those in which a submitted or sandboxed bot sits, or all."""
    common_dice: bool = False
    """Whether the matches of a block share their dice where these are secret; public ones are always shared."""
    limits: Limits = Limits()
    output: Output = Output()

    _check_opening = field_validator("opening")(_opening)

    _listed = field_validator("games", "bots", "bot_paths", mode="before")(as_tuple)

    @field_validator("name")
    @classmethod
    def _is_a_folder_name(cls, value: str) -> str:
        return tournament_name(value)

    @model_validator(mode="after")
    def _hero_needs_a_gauntlet(self) -> Config:
        if self.hero is not None and self.schedule != "gauntlet":
            raise ValueError('hero: goes with schedule = "gauntlet" only')
        return self

    @model_validator(mode="after")
    def _first_blocks_fit(self) -> Config:
        if self.first_blocks is None:
            return self
        if self.schedule != "adaptive":
            raise ValueError('first_blocks: goes with schedule = "adaptive" only')
        fewest = min(entry.blocks or self.blocks for entry in self.games)
        if self.first_blocks > fewest:
            raise ValueError(
                f"first_blocks = {self.first_blocks}: must be at most blocks, which is {fewest} on a board"
            )
        return self

    def boards(self) -> Iterator[tuple[GameEntry, engine.Game]]:
        """Every game at every number of players; raises an `EngineError` for what the engine does not know."""
        for entry in self.games:
            kind = engine.game_type(entry.game.partition("(")[0])
            for players in entry.players or range(kind.min_players, kind.max_players + 1):
                yield entry, kind.load(players, {**split_game_spec(entry.game)[1], **entry.options})


def load_config(path: str | Path) -> Config:
    """Read and validate a TOML file; raises `ConfigError` that names file, key, value and what would be right."""
    return config_from(read_toml(Path(path)), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The plain data of a TOML file; raises `ConfigError` that names it."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; name a TOML file")
    try:
        content = read_regular(path, MAX_TOML)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}, too large for a configuration") from None
    return parse_toml(content, str(path))


def parse_toml(content: bytes, source: str) -> dict[str, Any]:
    """The plain data of TOML text; `source` is what errors name."""
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: is not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets nested as deep
        raise ConfigError(f"{source}: is not TOML: {error}") from None


def validated(model: type[AnyModel], data: dict[str, Any], source: str, parts: Mapping[str, type[Model]]) -> AnyModel:
    """Plain data as a model, with `parts` the models below its keys; raises `ConfigError` of one line."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_first_problem(error, model, parts)}") from None


def config_from(data: dict[str, Any], source: str = "config") -> Config:
    """Validate a configuration given as plain data; `source` is what errors name."""
    parts: dict[str, type[Model]] = {"games": GameEntry, "bots": BotEntry, "limits": Limits, "output": Output}
    config = validated(Config, data, source, parts)
    for number, entry in enumerate(config.games):
        try:
            list(Config.boards(config.model_copy(update={"games": (entry,)})))
        except EngineError as error:
            raise ConfigError(f"{source}: games[{number}]: {error}") from None
    for number, bot in enumerate(config.bots):
        try:
            split_bot_spec(bot.bot)
        except EngineError as error:
            raise ConfigError(f"{source}: bots[{number}]: {error}") from None
    return config


def _first_problem(error: ValidationError, model: type[Model], parts: Mapping[str, type[Model]]) -> str:
    problem = _most_telling(error.errors(include_url=False, include_context=False), model)
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]).lstrip(".")
    message = re.sub("^(Input|String|Tuple) should ", "must ", problem["msg"].removeprefix("Value error, "))
    message = re.sub(
        f"a valid ({'|'.join(PLAIN_WORDS)})( or instance of .*)?", lambda kind: PLAIN_WORDS[kind[1]], message
    )
    message = re.sub(" after validation, not 0$", "", message)
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


def _most_telling(problems: list[Any], model: type[Model]) -> Any:
    """The first problem; where a key is missing, before it one that looks as if it was meant."""
    unknown = (problem for problem in problems if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1)
    if problems[0]["type"] == "missing":
        near = (each for each in unknown if did_you_mean(str(each["loc"][0]), list(model.model_fields)).endswith("?"))
        return next(near, problems[0])
    return problems[0]


def _short(value: object) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else text[:57] + "..."
