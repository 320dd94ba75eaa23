"""The rules of a game as its package has them."""

from importlib.resources import files

import engine
from arena.core.errors import ConfigError
from arena.core.text import without_controls

RULES = "RULES.md"
"""File of a game's package with its rules."""


def rules_of(game: str) -> str:
    """Return the rules of a game, in Markdown; raises `ConfigError` where its package has none."""
    kind = engine.game_type(game)
    package = kind.package or getattr(kind.factory, "__module__", "").partition(".")[0]
    try:
        return without_controls((files(package) / RULES).read_text("utf-8"))
    except (ImportError, OSError, ValueError):
        raise ConfigError(f"game '{kind.name}': its package '{package}' has no {RULES}") from None
