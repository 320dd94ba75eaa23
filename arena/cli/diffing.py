"""`arena diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.cli.output import Output, fitted_table, print_json
from arena.results.columns import as_text, format_of
from arena.results.diff import BoardDiff, diff
from arena.results.tables import markdown, records


def print_diff(before: str, after: str, format: str, home: Path | None) -> None:
    """Run `arena diff`."""
    boards = diff(before, after, home)
    if format == "json":
        print_json([as_data(board) for board in boards])
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
    out, (value, low, high) = Output(), board.measure
    form = ".2f" if value == "rating" else ".3f"
    frame = board.frame
    stars = ["*" if each is True else " " for each in frame["significant"]]
    columns = {
        "bot": list(frame["bot"]),
        "rank": [_ranks(*both) for both in zip(frame["rank_before"], frame["rank_after"], strict=True)],
        "before": [as_text(each, form) for each in frame["before"]],
        "after": [as_text(each, form) for each in frame["after"]],
        "change": [as_text(each, f"+{form}") for each in frame["change"]],
        "z": [as_text(z, format_of("z")) + star for z, star in zip(frame["z"], stars, strict=True)],
        "because": list(frame["because"]),
    }
    out.print(board.board, style="bold")
    for remark in board.remarks:
        out.print(remark)
    out.print(fitted_table(columns, ["bot", "rank", "because"], [], out.width))
    out.print(f"{value}, errors from {low} and {high}; * is |z| of 1.96 and more: 1 in 20 by chance alone\n")


def _ranks(before: Any, after: Any) -> str:
    texts = [as_text(rank) or "-" for rank in (before, after)]
    return texts[0] if texts[0] == texts[1] else " > ".join(texts)
