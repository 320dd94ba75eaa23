"""`arena leaderboard`, and leaderboards as tables for a person."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from arena import api
from arena.cli.output import Output, check_format, fitted_table, print_csv, print_json
from arena.results.analysis import choose_boards
from arena.results.report import markdown, records, titled

LESS_NEEDED = ("group", "ties", "wins", "rank", "margin", "matches", "ranks")
"""Columns of a board that a narrow terminal does without, the first ones first."""


def print_board(game: str, players: int, frame: pd.DataFrame) -> None:
    """A leaderboard as a table for a person, with the columns there is room for; all of them are in the files."""
    out = Output()
    table = fitted_table(board_columns(frame), ["bot"], LESS_NEEDED, out.width)
    out.print(titled(f"{game}, {players} players", frame.attrs.get("dice", "")), style="bold")
    if len(frame):
        out.print(table)
    for line in benched_lines(frame):
        out.print(line)
    out.print("" if len(frame) else "no complete block yet\n")


def benched_lines(frame: pd.DataFrame) -> list[str]:
    """What is said below a leaderboard of the bots that were benched."""
    if "benched" not in frame:
        return []
    columns = frame[frame["benched"].notna()][["benched", "bot", "forfeits", "matches"]]
    return [
        f"benched after round {number:,}: {bot} ({forfeits:,} of {matches:,} matches forfeited)"
        for number, bot, forfeits, matches in columns.itertuples(index=False)
    ]


def board_columns(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The cells of a leaderboard for a person, by column."""
    if not len(frame):
        return {}
    columns: dict[str, Iterable[str]] = {
        "#": frame["rank"].map(str),
        "bot": frame["bot"],
        "rating ± 95 %": _with_half_width(frame, "rating", "{:.2f}"),
        "ranks": [_range(low, high) for low, high in zip(frame["rank_low"], frame["rank_high"], strict=True)],
        "group": frame["group"],
        "matches": frame["matches"].map("{:,}".format),
        "wins": frame["wins"].map("{:,}".format),
        "ties": frame["ties"].map("{:,}".format),
        "rank": frame["mean_rank"].map("{:.2f}".format),
        "return ± 95 %": _with_half_width(frame, "return", "{:.3f}", "mean_return"),
    }
    if "worth" in frame:
        columns["worth"] = frame["worth"].map("{:+.2f}".format)
    if "mean_margin" in frame:
        columns["margin"] = frame["mean_margin"].map("{:+.2f}".format)
    if frame["forfeits"].sum():
        columns["forfeits"] = frame["forfeits"].map("{:,}".format)
    return {name: list(cells) for name, cells in columns.items()}


def _with_half_width(frame: pd.DataFrame, name: str, form: str, value: str | None = None) -> list[str]:
    halves = (frame[f"{name}_high"] - frame[f"{name}_low"]) / 2
    signed = form.replace(":", ":+") if value else form
    return [
        f"{signed.format(middle)} ± {form.format(half) if half == half else '?'}"
        for middle, half in zip(frame[value or name], halves, strict=True)
    ]


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def print_leaderboards(
    target: str, game: str | None, players: int | None, format: str, plackett_luce: bool, home: Path | None
) -> None:
    """`arena leaderboard`."""
    check_format(format)
    boards = api.leaderboard(target, home, plackett_luce)
    chosen = {at: boards[at] for at in choose_boards(target, boards, game, players)}
    if format == "json":
        print_json(
            [
                {
                    **{"game": at[0], "players": at[1]},
                    **{name: frame.attrs.get(name) for name in ("dice", "ratings")},
                    "leaderboard": records(frame),
                }
                for at, frame in chosen.items()
            ]
        )
    elif format == "csv":
        print_csv(chosen)
    else:
        for at, frame in chosen.items():
            if format == "md":
                title = titled(f"{at[0]}, {at[1]} players", frame.attrs.get("dice", ""))
                print(f"## {title}\n\n{markdown(frame)}")
            else:
                print_board(*at, frame)
