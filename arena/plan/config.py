"""Configurations of tournaments: TOML read into models. Unknown keys and values are errors."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

import engine
from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError
from arena.core.models import Model, Scalar, as_distinct_numbers, as_tuple, checked, read_toml, validated
from arena.core.names import (
    COMPARISONS_FOLDER,
    CONTESTS_FOLDER,
    DATABASE_FILE,
    PLAYED_FOLDER,
    SUBMISSIONS_FOLDER,
    plain_name,
)
from arena.plan.bot_entry import BotEntry
from arena.plan.grids import Entrant, entrants_of_entry
from arena.schedule.kinds import kinds
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.openings import opening_plies
from arena.schedule.scheduler import Scheduler
from engine import Game
from engine.errors import EngineError, did_you_mean
from engine.loading import load
from engine.specs import split_bot_spec, split_game_spec

Format = Literal["csv", "json", "md", "parquet", "html", "tex"]
FORMATS: tuple[Format, ...] = get_args(Format)
DatasetFormat = Literal["parquet", "npz"]
DEFAULT_FORMATS: tuple[Format, ...] = ("csv", "json", "md", "parquet")
RESERVED_FOLDERS = {
    SUBMISSIONS_FOLDER: "submitted bots",
    COMPARISONS_FOLDER: "comparisons",
    PLAYED_FOLDER: "matches of persons",
    CONTESTS_FOLDER: "contests",
}


def _opening(text: str | None) -> str | None:
    if text is not None:
        opening_plies(text)
    return text


def tournament_name(value: str) -> str:
    """Return the name of a tournament; raises `ValueError` for one that cannot be its folder's."""
    if what := RESERVED_FOLDERS.get(value):
        raise ValueError(f"is the folder of {what}; choose another name")
    if value.startswith(DATABASE_FILE):
        raise ValueError(f"must not begin with {DATABASE_FILE}, the file of accounts")
    return plain_name(value)


class Limits(Model):
    """Limits of a bot's time and memory; part of every match's identity."""

    seconds_per_move: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Wall-clock seconds for one move; more is a `timeout` fault."""
    seconds_to_prepare: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Wall-clock seconds for a bot's preparations before a match; more is an `init` fault."""
    seconds_to_start: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Wall-clock seconds for a bot's process to start and load the bot; more is an `init` fault."""
    seconds_per_match: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """Wall-clock seconds for all of a bot's moves in a match, without preparations; 0 for no such limit."""
    increment: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """Seconds added to what is left of `seconds_per_match` after each of its moves."""
    margin: Annotated[float, Field(ge=0, le=86_400)] = 0.05
    """Seconds that a move may overrun before it is a fault, for whatever else the machine does."""
    memory: Annotated[int, Field(ge=64, le=1_048_576)] = 1024
    """MiB that a bot's process may use (`process` and `sandbox`); more is a `memory` fault."""

    @field_validator("*", mode="before")
    @classmethod
    def _whole_numbers_are_seconds_too(cls, value: object, info: ValidationInfo) -> object:
        return float(value) if type(value) is int and info.field_name != "memory" else value


class Adjudication(Model):
    """Rules by which the referee ends matches early, by default none; part of every match's identity."""

    agreement: Annotated[int, Field(ge=0, le=1_000)] = 0
    """Evaluations in a row of every bot, its latest ones, that have to expect the same places; 0 for never."""
    threshold: Annotated[float, Field(ge=0.5, le=1)] = 0.95
    """How sure they have to be: 1 less the most that a seat's value may differ from the return of its place."""
    certainty: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Positions that the referee searches before each move for a proof of how the match ends; 0 for none."""

    @field_validator("threshold", mode="before")
    @classmethod
    def _one_is_a_threshold_too(cls, value: object) -> object:
        return float(value) if type(value) is int else value

    @classmethod
    def checked(cls, **given: float) -> AdjudicationRules:
        """Return rules that are on; raises `ConfigError` for others."""
        rules = validated(cls, given, "adjudication", {}).rules()
        if rules is None:
            raise ConfigError("adjudication: needs agreement, certainty or both, above 0")
        return rules

    def rules(self) -> AdjudicationRules | None:
        """Return the rules; None where no match can be adjudicated."""
        rules = AdjudicationRules(**self.model_dump())
        return rules if rules.is_on else None

    def rules_on(self, game: Game) -> AdjudicationRules | None:
        """Return the rules on a game; raises `ConfigError` for one whose results are more than places."""
        return adjudicable(self.rules(), game)


def adjudicable(rules: AdjudicationRules | None, game: Game) -> AdjudicationRules | None:
    """Return rules that are on; raises `ConfigError` for them where the game's results are more than places."""
    if rules is None or not rules.is_on:
        return None
    if game.type.own_utilities:
        raise ConfigError(f"adjudication: not with {game.spec}, whose utilities do not follow from places")
    return rules


class GameEntry(Model):
    """A game with its options, and the boards it is played on."""

    game: str
    """A game's name or spec, `epicycle` or `epicycle(setup=random)`."""
    players: tuple[int, ...] | None = None
    """Numbers of players, one board each; by default all that the game allows."""
    options: dict[str, Scalar] = Field(default_factory=dict)
    """The game's options, instead of or beside those in the spec."""
    blocks: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Blocks per table on these boards, instead of the tournament's."""
    opening: str | None = None
    """`none` or `random:k`, instead of the tournament's."""
    adjudication: Adjudication | None = None
    """Rules of [adjudication](#adjudication), instead of the tournament's."""

    _check_opening = field_validator("opening")(_opening)

    _one_number_will_do = field_validator("players", mode="before")(as_distinct_numbers)

    def shapes(self) -> list[tuple[engine.GameType, dict[str, Any], int]]:
        """Return its boards as game, not loaded, options and number of players; raises an `EngineError`."""
        kind, options = engine.game_type(self.game), {**split_game_spec(self.game)[1], **self.options}
        kind = engine.game_type(kind.spec(kind.resolve(options)))
        return [(kind, options, n) for n in self.players or range(kind.min_players, kind.max_players + 1)]


class Output(Model):
    """Files written after a run."""

    formats: tuple[Format, ...] = DEFAULT_FORMATS
    """Formats of the leaderboards."""
    report: bool = True
    """Whether a run ends by writing its report, `index.html`."""
    dataset: DatasetFormat | None = None
    """Format of a dataset of all decisions that a run ends by writing, in the folder `dataset`; by default none."""

    _listed = field_validator("formats", mode="before")(as_tuple)


class Config(Model):
    """A tournament as its author describes it."""

    name: str
    """Name of the folder that holds its log and boards: letters, digits, `_`, `-`, `.`."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """The number that all chance in the tournament comes from."""
    games: Annotated[tuple[GameEntry, ...], Field(min_length=1)]
    bots: tuple[BotEntry, ...] = ()
    """The contestants; at least one, unless `submissions` brings some."""
    submissions: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Submitted bots that also enter, in their newest versions: `all`, or those of a list of authors."""
    bot_paths: tuple[str, ...] = ()
    """Folders to search for bots named by path, relative to the configuration."""
    blocks: Annotated[int, Field(ge=1, le=10_000_000)] = 10
    """Blocks per table: a block is every line-up of a table, played with the same dice and opening."""
    schedule: Annotated[Scheduler, WithJsonSchema({"type": "string"})] = RoundRobin()
    """Who meets whom, by default `round_robin`: a kind of [schedule](#schedules), its keys beside it or behind it."""
    line_ups: Literal["rotations", "permutations"] = "rotations"
    """Line-ups of a block: each seat once for every bot, or every order."""
    opening: str | None = None
    """`none` or `random:k`; by default what suits each game."""
    forfeit_limit: Annotated[int, Field(ge=0, le=10_000_000)] = 10
    """Forfeits on a board from which a bot is disqualified there, if they are a tenth of its matches; 0 for never."""
    dice: Literal["auto", "secret"] = "auto"
    """Which blocks have secret dice: those in which a submitted or sandboxed bot plays, or all."""
    common_dice: bool = False
    """Whether the matches of a block share their dice where these are secret; public ones are always shared."""
    limits: Limits = Limits()
    adjudication: Adjudication = Adjudication()
    output: Output = Output()

    _check_opening = field_validator("opening")(_opening)

    _listed = field_validator("games", "bots", "bot_paths", mode="before")(as_tuple)

    _is_a_folder_name = field_validator("name")(tournament_name)

    @field_validator("submissions", mode="before")
    @classmethod
    def _all_or_authors(cls, value: object) -> object:
        if value == "all" or (isinstance(value, list) and value and all(isinstance(each, str) for each in value)):
            return as_tuple(value)
        raise ValueError('must be "all", or a list of authors such as ["Ann"]')

    @model_validator(mode="before")
    @classmethod
    def _has_a_kind(cls, data: Any) -> Any:
        """Read the kind of schedule with its keys, which are top-level keys too."""
        return _with_scheduler(data, cls.model_fields.keys()) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _has_bots(self) -> Config:
        if not self.bots and self.submissions is None:
            raise ValueError("bots: is missing; list at least one, or enter submitted ones by submissions")
        return self

    def entrants(self, source: str) -> dict[str, Entrant]:
        """Return every bot that `bots` stands for, those of grids one by one, by its place there, which errors name.

        Raises `ConfigError`.
        """
        found: dict[str, Entrant] = {}
        for number, entry in enumerate(self.bots):
            place = f"{source}: bots[{number}]"
            try:
                entrants = entrants_of_entry(entry)
                for entrant in entrants:
                    split_bot_spec(entrant.entry.bot)
            except (ConfigError, EngineError) as error:
                raise ConfigError(f"{place}: {error}") from None
            single = len(entrants) == 1
            found |= {place if single else f"{place} ({entrant.given})": entrant for entrant in entrants}
        return found

    def boards(self, bots: int, source: str) -> list[tuple[GameEntry, engine.Game]]:
        """Return every game at every number of players, loaded; raises an `EngineError` if one cannot be.

        Raises `ConfigError` for a board with more players than `bots`, before any game is loaded.
        """
        shapes = [(number, entry, *shape) for number, entry in enumerate(self.games) for shape in entry.shapes()]
        for number, _, kind, options, players in shapes:
            if bots < players <= kind.max_players:
                where, spec = f"{source}: games[{number}]", kind.spec(kind.resolve(options))
                listed = f"{bots} {'is' if bots == 1 else 'are'} listed"
                raise ConfigError(f"{where}: {spec} with {players} players needs at least {players} bots; {listed}")
        return [(entry, load(kind, players, options)) for _, entry, kind, options, players in shapes]


def _with_scheduler(data: dict[str, Any], common: Collection[str]) -> dict[str, Any]:
    """Return a configuration's data with the schedule as a `Scheduler`; raises `ValueError`."""
    given = data.get("schedule", RoundRobin.kind)
    if isinstance(given, Scheduler):
        return data
    if not isinstance(given, str):
        raise ValueError(f"schedule = {given!r}: must be a text such as {RoundRobin.kind!r}")
    name, _, text = given.partition(":")
    if name not in (known := {kind.kind: kind for kind in kinds()}):
        raise ValueError(f"schedule = {name!r}: not a choice{did_you_mean(name, [*known])}")
    keys = known[name].model_fields.keys()
    own = {key: data[key] for key in data if key in keys} | _fields(text, name, keys)
    rest = {key: value for key, value in data.items() if key not in keys}
    for key in rest.keys() - common:
        if others := [kind.kind for kind in known.values() if key in kind.model_fields]:
            raise ValueError(f'{key}: goes with schedule = "{" or ".join(others)}" only')
    return {**rest, "schedule": checked(known[name], own)}


def _fields(text: str, name: str, keys: Collection[str]) -> dict[str, Any]:
    """Return the fields in the text of a schedule behind its kind, `key=value,...`; raises `ValueError`."""
    found = {}
    for part in re.split(rf",(?=(?:{'|'.join(keys)})=)", text) if text else ():
        key, equals, value = part.partition("=")
        if key not in keys or not equals:
            raise ValueError(f"schedule = '{name}:{text}': must be {name}:key=value{did_you_mean(key, [*keys])}")
        found[key] = int(value) if re.fullmatch("[0-9]{1,18}", value) else value
    return found


def read_config(config: str | Path | Config | dict[str, Any]) -> tuple[Config, str, Path | None]:
    """Return the configuration in a file, a `Config` or plain data, the name of its source, and the folder of its file.

    Raises `ConfigError` of one line.
    """
    if isinstance(config, Config):
        return config, "config", None
    source, folder = ("config", None) if isinstance(config, dict) else (str(config), Path(config).parent)
    data = config if isinstance(config, dict) else read_toml(Path(config))
    return config_from(data, source), source, folder


def load_config(path: str | Path) -> Config:
    """Read a TOML file; raises `ConfigError` that names file, key, value and what would be right."""
    return config_from(read_toml(Path(path)), str(path))


def config_from(data: dict[str, Any], source: str = "config") -> Config:
    """Return the configuration in plain data; `source` is what errors name."""
    sections: dict[str, type[Model]] = {"limits": Limits, "adjudication": Adjudication, "output": Output}
    parts: dict[str, type[Model]] = {"games": GameEntry, "bots": BotEntry, **sections}
    config = validated(Config, data, source, parts)
    entrants = config.entrants(source)
    for number, entry in enumerate(config.games):
        try:
            shapes = entry.shapes()
            seatable = [shape for shape in shapes if not len(entrants) < shape[2] <= shape[0].max_players]
            if entry.players or len(seatable) == len(shapes):  # others are refused when they are resolved
                for kind, options, players in seatable:
                    load(kind, players, options)
        except EngineError as error:
            raise ConfigError(f"{source}: games[{number}]: {error}") from None
    return config
