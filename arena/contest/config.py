"""Configurations of contests: TOML read into a model. Everything but the name and the boards has a default.

Times are `2026-05-01T18:00:00` in `time_zone`, or with an offset of their own.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, PlainSerializer, field_validator, model_validator

import engine
from arena.accounts.submissions import Allowance
from arena.core.errors import ConfigError
from arena.core.models import Model, as_tuple, read_toml, validated
from arena.core.names import plain_name
from arena.plan.config import Adjudication, GameEntry, Limits
from engine.errors import EngineError
from engine.specs import split_bot_spec

MAX_TITLE_CHARS, MAX_TEXT_CHARS = 100, 20_000
MAX_BOARDS = 20
MAX_UPLOAD_MIB = 64
UTC_NAME = "UTC"

Moment = Annotated[datetime, PlainSerializer(datetime.isoformat)]
"""A time with a zone."""


class ContestLimits(Limits):
    """Limits of a bot's time and memory in a contest; shorter than those of a tournament of one's own bots."""

    seconds_per_move: Annotated[float, Field(gt=0, le=86_400)] = 2.0
    """Wall-clock seconds for one move; more is a `timeout` fault."""
    seconds_to_prepare: Annotated[float, Field(gt=0, le=86_400)] = 20.0
    """Wall-clock seconds for a bot's preparations before a match; more is an `init` fault."""
    seconds_to_start: Annotated[float, Field(gt=0, le=86_400)] = 20.0
    """Wall-clock seconds for a bot's process to start and load the bot; more is an `init` fault."""
    memory: Annotated[int, Field(ge=64, le=1_048_576)] = 512
    """MiB that a bot's process may use; more is a `memory` fault."""


class Calendar(Model):
    """When a contest opens, ends, and shows its standings as they were."""

    time_zone: str = UTC_NAME
    """Of times without an offset, such as `Europe/Berlin`, and of what pages show."""
    opens: Moment | None = None
    """When bots can be handed in; by default at once."""
    deadline: Moment | None = None
    """Until when; by default for good."""
    freeze: Moment | None = None
    """From when to the end the standings are shown as they were; by default never."""

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("must be a time zone such as Europe/Berlin") from None
        return value

    @model_validator(mode="before")
    @classmethod
    def _with_zones(cls, data: Any) -> Any:
        """Read times, and give the zone to those without an offset."""
        if not isinstance(data, dict):
            return data
        zone = data.get("time_zone", UTC_NAME)
        times = {key: _moment(data[key], zone, key) for key in ("opens", "deadline", "freeze") if data.get(key)}
        return {**data, **times}

    @model_validator(mode="after")
    def _in_order(self) -> Calendar:
        if self.opens and self.deadline and self.opens >= self.deadline:
            raise ValueError("deadline: must be after opens")
        if self.freeze and self.deadline and self.freeze > self.deadline:
            raise ValueError("freeze: must not be after the deadline")
        return self

    def is_open(self, now: datetime, own_deadline: datetime | None = None) -> bool:
        """Whether bots can be handed in at a time, by an author who may have a deadline of their own."""
        deadline = own_deadline or self.deadline
        return (self.opens is None or now >= self.opens) and (deadline is None or now <= deadline)

    def is_frozen(self, now: datetime) -> bool:
        """Whether standings are shown as they were when the freeze began."""
        return self.freeze is not None and now >= self.freeze

    def local(self, time: datetime) -> str:
        """Return a time as pages show it."""
        return f"{time.astimezone(ZoneInfo(self.time_zone)):%d %B %Y, %H:%M} ({self.time_zone})"


class Rounds(Model):
    """What a contest plays, round after round and in the end."""

    schedule: Literal["ladder", "nightly"] = "ladder"
    """`ladder` plays round after round; `nightly` plays one round a day, between all bots."""
    nightly_at: Annotated[str, Field(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "02:00"
    """When a nightly round begins, in `time_zone`."""
    round_blocks: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Blocks of a ladder's round on each board; by default one for each bot."""
    placement_blocks: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Blocks that a new version plays in its first round on each board."""
    floor_blocks: Annotated[int, Field(ge=0, le=10_000)] = 1
    """Blocks that every bot plays in a round on each board."""
    forfeit_limit: Annotated[int, Field(ge=0, le=10_000_000)] = 10
    """Forfeits on a board from which a version is suspended, if they are a tenth of its matches; 0 for never."""
    final_blocks: Annotated[int, Field(ge=0, le=100_000)] = 20
    """Blocks of each table in the final, a round robin after the deadline; 0 for no final."""


class ContestConfig(Calendar, Rounds):
    """A contest as its organiser describes it."""

    name: str
    """Its name in addresses and folders: letters, digits, `_`, `-`, `.`."""
    boards: Annotated[tuple[GameEntry, ...], Field(min_length=1, max_length=MAX_BOARDS)]
    """What is played: `[[boards]]`, with the keys of a tournament's `[[games]]`."""
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)] = ""
    """What pages call it; by default its name."""
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] = ""
    """What its page says, in Markdown."""
    entry: Literal["invited", "open"] = "invited"
    """Who may take part: who has an invitation, or everybody."""
    bots_per_author: Annotated[int, Field(ge=1, le=1_000)] = 1
    submissions_per_day: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Versions that an author may hand in a day, in UTC."""
    max_upload: Annotated[int, Field(ge=1, le=MAX_UPLOAD_MIB)] = 8
    """MiB of what is handed in."""
    house: tuple[str, ...] = ("random",)
    """Bots of the house, by their specs: they play along, and show what a rating means."""
    standings: Literal["bot", "author"] = "bot"
    """Whether the standings have a row for each bot, or for the best bot of each author."""
    show_matches: Literal["everybody", "members", "nobody"] = "everybody"
    """Who sees matches: everybody, who takes part, or organisers alone."""
    show_in_play: bool = False
    """Whether matches in play are shown."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    limits: ContestLimits = ContestLimits()
    adjudication: Adjudication = Adjudication()

    _listed = field_validator("boards", "house", mode="before")(as_tuple)

    @field_validator("name")
    @classmethod
    def _is_a_folder_name(cls, value: str) -> str:
        return plain_name(value)

    @field_validator("house")
    @classmethod
    def _are_specs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for spec in value:
            try:
                split_bot_spec(spec)
            except EngineError as error:
                raise ValueError(str(error)) from None
        return value

    def adjudication_of(self, entry: GameEntry) -> Adjudication:
        """Return what is set for the boards of an entry: its own, or the contest's."""
        return entry.adjudication or self.adjudication

    @property
    def shown_title(self) -> str:
        """What pages call it."""
        return self.title or self.name

    @property
    def allowance(self) -> Allowance:
        """What an author may hand in."""
        return Allowance(self.bots_per_author, self.submissions_per_day, self.deadline)

    def as_data(self) -> dict[str, Any]:
        """Return the configuration as plain data, for `contest_from`."""
        return dict(json.loads(self.model_dump_json(exclude_none=True)))


def _moment(value: Any, zone: Any, key: str) -> datetime:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"{key} = {str(value)[:40]!r}: must be a time such as 2026-05-01T18:00:00") from None
    try:
        own = ZoneInfo(zone) if moment.tzinfo is None else moment.tzinfo
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        own = UTC  # the zone's own check says what is wrong
    return moment.replace(tzinfo=own).astimezone(UTC)


def read_contest(path: Path) -> ContestConfig:
    """Read a contest's TOML file; raises `ConfigError` that names file, key, value and what would be right."""
    return contest_from(read_toml(path), str(path))


def contest_from(data: dict[str, Any], source: str = "contest") -> ContestConfig:
    """Return the configuration in plain data; `source` is what errors name."""
    sections: dict[str, type[Model]] = {"boards": GameEntry, "limits": ContestLimits, "adjudication": Adjudication}
    config = validated(ContestConfig, data, source, sections)
    for number, entry in enumerate(config.boards):
        try:
            for kind, options, players in entry.shapes():
                game = engine.load_game(kind.spec(kind.resolve(options)), players)
                config.adjudication_of(entry).rules_on(game)
        except (ConfigError, EngineError) as error:
            raise ConfigError(f"{source}: boards[{number}]: {error}") from None
    return config
