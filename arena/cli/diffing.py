"""`arena diff`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from rich import box
from rich.table import Column, Table

from arena.cli.output import Output
from arena.core.errors import ConfigError
from arena.results.diff import BoardDiff, diff
from arena.results.tables import markdown, records


def print_diff(before: str, after: str, format: str, home: Path | None) -> None:
    """Run `arena diff`."""
    if format not in ("table", "json", "md"):
        raise ConfigError(f"--format {format}: must be table, json or md")
    boards = diff(before, after, home)
    if format == "json":
        print(json.dumps([as_data(board) for board in boards], indent=1, ensure_ascii=False))
        return
    for board in boards:
        if format == "md":
            remarks = "".join(f"- {remark}\n" for remark in board.remarks)
            print(f"## {board.board}\n\n{remarks}\n{markdown(board.frame)}")
        else:
            _print_board(board)


def as_data(board: BoardDiff) -> dict[str, object]:
    """Return a comparison as plain data."""
    return {
        "board": board.board,
        "measure": list(board.measure),
        "remarks": board.remarks,
        "bots": records(board.frame),
    }


def _print_board(board: BoardDiff) -> None:
    out = Output()
    value, low, high = board.measure
    table = Table(
        Column("bot", overflow="fold"),
        Column("rank", no_wrap=True),
        *(Column(name, justify="right", no_wrap=True) for name in ("before", "after", "change", "z")),
        Column("because", overflow="fold"),
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for row in _cells(board):
        table.add_row(*row)
    out.print(board.board, style="bold")
    for remark in board.remarks:
        out.print(remark)
    out.print(table)
    out.print(f"{value}, errors from {low} and {high}; * is |z| of 1.96 and more: 1 in 20 by chance alone\n")


def _cells(board: BoardDiff) -> Iterator[list[str]]:
    digits = 2 if board.measure[0] == "rating" else 3
    for row in board.frame.to_dict("records"):
        ranks = ["-" if pd.isna(row[at]) else str(row[at]) for at in ("rank_before", "rank_after")]
        yield [
            row["bot"],
            ranks[0] if ranks[0] == ranks[1] else " > ".join(ranks),
            _number(row["before"], f".{digits}f"),
            _number(row["after"], f".{digits}f"),
            _number(row["change"], f"+.{digits}f"),
            _number(row["z"], "+.1f") + ("*" if row["significant"] is True else " "),
            row["because"],
        ]


def _number(value: float, form: str) -> str:
    return format(value, form) if value == value else ""
