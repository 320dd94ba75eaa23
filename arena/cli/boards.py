"""`arena leaderboard`, and leaderboards as tables in a terminal."""

from __future__ import annotations

import pandas as pd

from arena import api
from arena.cli.arguments import BoardOptions
from arena.cli.output import Output, fitted_table, print_boards
from arena.cli.status import print_standings
from arena.results.leaderboard_files import board_title
from arena.results.leaderboards import cells, notes_below
from arena.results.matches import BoardName, choose_boards

OPTIONAL_COLUMNS = ("ties", "wins", "place", "margin", "matches", "ranks", "return ± 95 %")
"""Columns left out in a narrow terminal, the first ones first; never `group`, which says which bots differ."""


def print_board(at: BoardName, frame: pd.DataFrame) -> None:
    """Print a leaderboard with the columns that fit; files have all of them."""
    out = Output()
    out.print(board_title(f"{at[0]}, {at[1]} players", frame.attrs.get("dice", "")), style="bold")
    if len(frame):
        out.print(fitted_table(cells(frame), ["bot"], OPTIONAL_COLUMNS, out.width))
    for line in notes_below(frame):
        out.print(line)
    out.print("" if len(frame) else "no complete block yet\n")


def print_leaderboards(boards: BoardOptions, plackett_luce: bool) -> None:
    """Run `arena leaderboard`."""
    found = api.leaderboard(boards.target, boards.home, plackett_luce)
    chosen = {at: found[at] for at in choose_boards(boards.target, found, boards.game, boards.players)}
    print_boards(chosen, "leaderboard", boards.format, print_board)
    if boards.format == "table":
        stands = api.standings(boards.target, boards.home)
        for at in chosen:
            print_standings(stands.get(at, ()))
