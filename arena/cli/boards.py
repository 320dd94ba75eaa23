"""`arena leaderboard`, and leaderboards as tables in a terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena import api
from arena.cli.output import Output, check_format, fitted_table, print_boards
from arena.results.columns import LEADERBOARD
from arena.results.matches import BoardName, choose_boards
from arena.results.report import titled

LESS_NEEDED = ("group", "ties", "wins", "rank", "margin", "matches", "ranks")
"""Columns left out in a narrow terminal, the first ones first."""


def print_board(at: BoardName, frame: pd.DataFrame) -> None:
    """Print a leaderboard with the columns that fit; files have all of them."""
    out = Output()
    out.print(titled(f"{at[0]}, {at[1]} players", frame.attrs.get("dice", "")), style="bold")
    if len(frame):
        shown = frame if frame["forfeits"].any() else frame.drop(columns="forfeits")
        out.print(fitted_table(LEADERBOARD.cells(shown), ["bot"], LESS_NEEDED, out.width))
    for line in disqualified_lines(frame):
        out.print(line)
    out.print("" if len(frame) else "no complete block yet\n")


def disqualified_lines(frame: pd.DataFrame) -> list[str]:
    """Return the lines below a leaderboard about disqualified bots."""
    if "disqualified" not in frame:
        return []
    columns = frame[frame["disqualified"].notna()][["disqualified", "bot", "forfeits", "matches"]]
    return [
        f"disqualified after round {number:,}: {bot} ({forfeits:,} of {matches:,} matches forfeited)"
        for number, bot, forfeits, matches in columns.itertuples(index=False)
    ]


def print_leaderboards(
    target: str, game: str | None, players: int | None, format: str, plackett_luce: bool, home: Path | None
) -> None:
    """Run `arena leaderboard`."""
    check_format(format)
    boards = api.leaderboard(target, home, plackett_luce)
    chosen = {at: boards[at] for at in choose_boards(target, boards, game, players)}
    print_boards(chosen, "leaderboard", format, print_board)
