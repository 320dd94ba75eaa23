"""The entry of a bot in a configuration."""

from __future__ import annotations

from pydantic import Field, field_validator

from arena.core.models import Model, Scalars
from arena.core.names import shown_name
from arena.isolation import Isolation

MAX_LABEL_CHARS = 40


class BotEntry(Model):
    """A contestant."""

    bot: str
    """A bot's name, spec `name:key=value,...`, `path/to/file.py`, or a folder with a `bot.toml`."""
    params: dict[str, Scalars] = Field(default_factory=dict)
    """The bot's parameters, instead of or beside those in the spec; lists of values make a [grid](#grids)."""
    label: str | None = None
    """The name on the boards; by default the bot's canonical spec, in a grid its name with what differs."""
    isolation: Isolation | None = None
    """By default `sandbox` for submitted bots, `process` for programs, `none` for others."""

    @field_validator("label")
    @classmethod
    def _fits_a_table(cls, value: str | None) -> str | None:
        return None if value is None else shown_name(value, MAX_LABEL_CHARS)
