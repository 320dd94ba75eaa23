"""`arena leaderboard`, and leaderboards as tables for a person."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from rich import box
from rich.cells import cell_len
from rich.table import Column, Table

from arena import api
from arena.commands.output import Output
from arena.errors import ConfigError, StoreError
from arena.report import markdown, records

GAP = 3
"""Columns between columns."""
LESS_NEEDED = ("group", "ties", "wins", "rank", "margin", "matches")
"""Columns of a board that a narrow terminal does without, the first ones first."""


def print_board(game: str, players: int, frame: pd.DataFrame) -> None:
    """A leaderboard as a table for a person, with the columns there is room for; all of them are in the files."""
    out = Output()
    columns = board_columns(frame)
    for name in LESS_NEEDED:
        if sum(max(map(cell_len, (name, *cells))) + GAP for name, cells in columns.items()) - GAP > out.width:
            columns.pop(name, None)
    table = Table(
        *(Column(name, justify="left" if name == "bot" else "right", overflow="fold") for name in columns),
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, GAP - 1, 0, 0),  # and one for the box
        pad_edge=False,
    )
    for column in table.columns:
        column.no_wrap = column.header != "bot"
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    out.print(f"{game}, {players} players", style="bold")
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


def print_leaderboards(target: str, game: str | None, players: int | None, format: str, home: Path | None) -> None:
    """`arena leaderboard`."""
    if format not in ("table", "csv", "json", "md"):
        raise ConfigError(f"--format {format}: must be table, csv, json or md")
    boards = api.leaderboard(target, home)
    chosen = {
        at: frame
        for at, frame in boards.items()
        if (game is None or game in (at[0], at[0].partition("(")[0])) and (players is None or players == at[1])
    }
    if not chosen:
        known = "; ".join(f"{name}, {count} players" for name, count in boards)
        raise StoreError(f"{target}: has no such board; it has {known}")
    if format == "json":
        import json

        rows = [{"game": at[0], "players": at[1], "leaderboard": records(frame)} for at, frame in chosen.items()]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    elif format == "csv":
        frames = [frame.assign(game=at[0], players=at[1]) for at, frame in chosen.items()]
        whole = pd.concat(frames, ignore_index=True)
        leading = ["game", "players"]
        print(
            whole[leading + [c for c in whole.columns if c not in leading]].to_csv(index=False, lineterminator="\n"),
            end="",
        )
    else:
        for at, frame in chosen.items():
            if format == "md":
                print(f"## {at[0]}, {at[1]} players\n\n{markdown(frame)}")
            else:
                print_board(*at, frame)
