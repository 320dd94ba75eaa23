"""Output of commands: terminal, tables, errors of bots."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table

from arena.cli.exit_codes import INTERRUPTED
from arena.cli.interrupts import how_to_resume
from arena.core.command import COMMAND

if TYPE_CHECKING:
    import pandas as pd

    from engine.game_types import GameType

COLUMN_GAP = 3
"""Spaces between columns."""
SCREEN_COLUMNS = 80
"""Most columns of prose about a match."""
OWN_DICE = (
    "The saving by common dice is not estimable: each match draws its own dice where a sandboxed or submitted bot sits."
)
MATCHES_SAVED = "all matches written before are saved"
MAX_DETAIL_LINES = 12
"""Lines of a traceback or of standard error shown for a fault."""


class Output(Console):
    """Standard output, as wide as the terminal or `COLUMNS`, else 100 columns."""

    def __init__(self) -> None:
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
        super().__init__(highlight=False, markup=False, emoji=False, width=width)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def print_text(text: str) -> None:
    """Print prose, wrapped to the width of the output; a word that is longer, such as a path, has a line of its own."""
    out = Output()
    for line in text.split("\n"):
        if all(cell_len(word) <= out.width for word in line.split()):
            out.print(line)
        else:
            print(textwrap.fill(line, out.width, break_long_words=False, break_on_hyphens=False))


def print_to_stderr(line: str) -> None:
    """Print a line on standard error; a closed stream is no error."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def print_interrupted(saved: str) -> int:
    """Print what is saved and how to resume, and return the exit code."""
    print_to_stderr(how_to_resume(saved, COMMAND.get().line))
    return INTERRUPTED


def can_draw(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and not Console(file=stream).is_dumb_terminal


def board_in_colours(kind: GameType, text: str) -> str:
    """Return a board in text, in colours where standard output is a terminal and the variable NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or not can_draw(sys.stdout):
        return text
    from engine.terminal import coloured  # only where a board is shown

    return coloured(kind, text, "utf" in (sys.stdout.encoding or "").lower())


def wrong_estimates_in_words(count: int) -> str:
    """Return in words how many evaluations, lines and visit counts were not kept, and what they have to be."""
    given = "1 evaluation, line or visit count that is"
    if count > 1:
        given = f"{count:,} evaluations, lines or visit counts that are"
    return (
        f"{given} wrong, and not kept: a return from -1 to 1 for each seat; actions, the one chosen first; counts of "
        "legal actions."
    )


def matches_in_words(count: int) -> str:
    """Return a number of matches in words."""
    return "1 match" if count == 1 else f"{count:,} matches"


def plain_table(*columns: str) -> Table:
    """Return a table without lines; without a header when no columns are named."""
    table = Table(show_edge=False, show_header=bool(columns), box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def fitted_table(columns: dict[str, list[str]], texts: Sequence[str], less_needed: Sequence[str], width: int) -> Table:
    """Return a table of cells by column; columns in `texts` are aligned to the left, and folded if needed.

    Where the width is too small, columns of `less_needed` are left out, the first ones first.
    """
    columns = dict(columns)
    for name in less_needed:
        if sum(max(map(cell_len, (name, *cells))) + COLUMN_GAP for name, cells in columns.items()) - COLUMN_GAP > width:
            columns.pop(name, None)
    table = Table(
        *(Column(name, justify="left" if name in texts else "right", overflow="fold") for name in columns),
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, COLUMN_GAP - 1, 0, 0),  # and one for the box
        pad_edge=False,
    )
    for column in table.columns:
        column.no_wrap = column.header not in texts
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def print_csv(frames: Mapping[tuple[str, int], pd.DataFrame]) -> None:
    """Print the frames of boards as one, with the columns game and players first."""
    import pandas as pd

    from arena.results.tables import as_csv

    whole = pd.concat([frame.assign(game=at[0], players=at[1]) for at, frame in frames.items()], ignore_index=True)
    leading = ["game", "players"]
    rest = [column for column in whole.columns if column not in leading]
    print(as_csv(whole[leading + rest]), end="")


def print_boards(
    frames: Mapping[tuple[str, int], pd.DataFrame],
    what: str,
    format: str,
    show: Callable[[tuple[str, int], pd.DataFrame], None],
) -> None:
    """Print the tables of boards in a format; `show` prints one in a terminal."""
    from arena.results.leaderboard_files import board_title
    from arena.results.tables import markdown, records

    if format == "json":
        rows = [dict(frame.attrs) | {what: records(frame)} for frame in frames.values()]
        print_json([{"game": at[0], "players": at[1]} | row for at, row in zip(frames, rows, strict=True)])
    elif format == "csv":
        print_csv(frames)
    else:
        for at, frame in frames.items():
            if format == "md":
                print(
                    f"## {board_title(f'{at[0]}, {at[1]} players', frame.attrs.get('dice', ''))}\n\n{markdown(frame)}"
                )
            else:
                show(at, frame)


def print_json(data: Any) -> None:
    """Print plain data as JSON."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    print(text if text.replace("\n", "").isprintable() else json.dumps(data, indent=1))


def print_detail(text: str) -> None:
    """Print the end of a bot's error output, indented; of a traceback only the bot's part."""
    from arena.core.text import bots_part, without_controls

    end = "\n".join(bots_part(text).splitlines()[-MAX_DETAIL_LINES:]).strip("\n")
    Output().print(Padding(without_controls(end), (0, 0, 0, 4), expand=False))
