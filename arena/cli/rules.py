"""`arena rules`, and the notation of a game above its drawings."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.resources import files

from rich.markdown import Markdown

import engine
from arena.cli.output import Output, can_draw
from arena.core.errors import ConfigError
from arena.core.text import without_controls

RULES = "RULES.md"
"""File of a game's package with its rules."""
WIDEST = 100
"""Columns in which rules are read well."""
NOTATION = re.compile(r"^##[^\n]*\bNotation\n(.*?)(?=^\*\*Position|^## |\Z)", re.MULTILINE | re.DOTALL)
"""How actions and chance outcomes are written, as far as where positions are."""


def rules_of(game: str) -> str:
    """Return the rules of a game, in Markdown; raises `ConfigError` where its package has none."""
    kind = engine.game_type(game.partition("(")[0])
    package = kind.package or getattr(kind.factory, "__module__", "").partition(".")[0]
    try:
        return without_controls((files(package) / RULES).read_text("utf-8"))
    except (ImportError, OSError, ValueError):
        raise ConfigError(f"game '{kind.name}': its package '{package}' has no {RULES}") from None


def print_rules(game: str) -> None:
    """Run `arena rules`; on a terminal in a pager."""
    text = rules_of(game)
    if not can_draw(sys.stdout):
        _print(text)
        return
    os.environ.setdefault("LESS", "FRX")  # no pager for what fits, colours as they are, nothing cleared
    out = Output()
    out.width = min(out.width, WIDEST)
    with out.pager(styles="less" in os.environ.get("PAGER", "less") and shutil.which("less") is not None):
        out.print(Markdown(text, hyperlinks=False))


def print_notation(game: str) -> None:
    """Print how the actions of a game are written, if its rules say so."""
    try:
        found = NOTATION.search(rules_of(game))
    except ConfigError:
        return
    if found is not None:
        _print(f"How actions are written (`arena rules {game.partition('(')[0]}` has the rules):\n\n{found[1]}")


def _print(text: str) -> None:
    """Print Markdown without what it leaves at the ends of lines."""
    out = Output()
    out.width = min(out.width, WIDEST)
    with out.capture() as captured:
        out.print(Markdown(text, hyperlinks=False))
    lines = "\n".join(line.rstrip() for line in captured.get().splitlines())
    print(re.sub("\n{3,}", "\n\n", lines), end="\n\n")
