"""`arena rules`, and the notation of a game above its drawings."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from arena.cli.output import Output, can_draw
from arena.core.errors import ConfigError
from arena.registry.rules import rules_of

if TYPE_CHECKING:
    from rich.markdown import Markdown

MAX_COLUMNS = 100
"""Columns in which rules are read well."""
NOTATION_SECTION = re.compile(r"^##[^\n]*\bNotation\n(.*?)(?=^\*\*Position|^## |\Z)", re.MULTILINE | re.DOTALL)
"""How actions and chance outcomes are written, as far as where positions are."""


def print_rules(game: str) -> None:
    """Run `arena rules`; on a terminal in a pager."""
    text = rules_of(game)
    if not can_draw(sys.stdout):
        _print(text)
        return
    os.environ.setdefault("LESS", "FRX")  # no pager for what fits, colours as they are, nothing cleared
    out = Output()
    out.width = min(out.width, MAX_COLUMNS)
    with out.pager(styles="less" in os.environ.get("PAGER", "less") and shutil.which("less") is not None):
        out.print(_markdown(text))


def print_notation(game: str) -> None:
    """Print how the actions of a game are written, if its rules say so."""
    try:
        found = NOTATION_SECTION.search(rules_of(game))
    except ConfigError:
        return
    if found is not None:
        _print(f"How actions are written (`arena rules {game.partition('(')[0]}` has the rules):\n\n{found[1]}")


def _markdown(text: str) -> Markdown:
    from rich.markdown import Markdown  # slow to load, and most matches are shown without

    return Markdown(text, hyperlinks=False)


def _print(text: str) -> None:
    """Print Markdown without what it leaves at the ends of lines."""
    out = Output()
    out.width = min(out.width, MAX_COLUMNS)
    with out.capture() as captured:
        out.print(_markdown(text))
    lines = "\n".join(line.rstrip() for line in captured.get().splitlines())
    print(re.sub("\n{3,}", "\n\n", lines), end="\n\n")
