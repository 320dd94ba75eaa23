"""The rules of a game as its package has them."""

import re
from importlib.resources import files

import engine
from arena.core.errors import ConfigError
from arena.core.text import without_controls

RULES_FILE = "RULES.md"
"""File of a game's package with its rules."""

SUMMARY = "In a minute"
"""Heading of the section of the rules that sums them up."""


def rules_of(game: str) -> str:
    """Return the rules of a game, in Markdown; raises `ConfigError` where its package has none."""
    kind = engine.game_type(game)
    package = kind.package or getattr(kind.factory, "__module__", "").partition(".")[0]
    try:
        return without_controls((files(package) / RULES_FILE).read_text("utf-8"))
    except (ImportError, OSError, ValueError):
        raise ConfigError(f"game '{kind.name}': its package '{package}' has no {RULES_FILE}") from None


def summary_of(game: str) -> str:
    """Return the summary of a game's rules, in Markdown, without its heading; empty where there is none."""
    found = re.search(rf"^## {SUMMARY}\n(.*?)(?=^## |\Z)", rules_of(game), re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""
