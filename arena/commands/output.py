"""What the commands share: the terminal, tables, what a bot said when it failed."""

from __future__ import annotations

import os
import re
import sys
from typing import get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from arena.bundle import HOUSE
from arena.config import Isolation
from arena.errors import ConfigError
from engine.errors import did_you_mean

MOST_DETAIL = 12
"""Lines of a traceback or of standard error that are shown of a fault."""
OUR_FRAME = re.compile(rf'^  File "{re.escape(str(HOUSE / "arena"))}/.*\n(?:    .*\n)+', re.MULTILINE)
"""A call in a traceback that is none of the bot's."""
BUNDLED = re.compile(r'(?<=^  File ").*/bundles/[0-9a-f]{32}/', re.MULTILINE)
"""Where a bot's own files lie when it plays."""


class Output(Console):
    """Standard output as wide as the terminal or `COLUMNS` says, 100 columns when neither does."""

    def __init__(self) -> None:
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
        super().__init__(highlight=False, markup=False, emoji=False, width=width)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def say(text: str) -> None:
    """Print prose, wrapped to the width there is."""
    Output().print(text)


def plain_table(*columns: str) -> Table:
    """A table without lines; without a header when no columns are named."""
    table = Table(show_edge=False, show_header=bool(columns), box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def print_detail(text: str) -> None:
    """The end of what a bot said when it failed, indented; of a traceback its own part."""
    if BUNDLED.search(text):
        text = BUNDLED.sub("", OUR_FRAME.sub("", text))
    end = "\n".join(text.splitlines()[-MOST_DETAIL:]).strip("\n")
    Output().print(Padding(end, (0, 0, 0, 4), expand=False))


def isolation_of(name: str) -> Isolation:
    """A level of isolation by its name."""
    for isolation in get_args(Isolation):
        if isolation == name:
            return isolation
    raise ConfigError(f"--isolation {name}: not a choice{did_you_mean(name, get_args(Isolation))}")
