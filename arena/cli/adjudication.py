"""`arena adjudication`: what rules that end matches early would have done to those of a log."""

from __future__ import annotations

from typing import Any

import pandas as pd

from arena import api
from arena.cli.arguments import BoardOptions
from arena.cli.output import Output, matches_in_words, print_json, print_text
from arena.results.tables import as_csv, markdown, records


def print_adjudication(boards: BoardOptions, agreement: int, threshold: float, certainty: int) -> None:
    """Run `arena adjudication`."""
    rules = agreement, threshold, certainty
    frame = api.adjudication(boards.target, *rules, boards.game, boards.players, boards.home)
    if boards.format == "table":
        for row in frame.to_dict("records"):
            Output().print(f"{row['game']}, {row['players']} players", style="bold")
            for line in _lines(row):
                print_text(f"  {line}")
    elif boards.format == "json":
        print_json(records(frame))
    else:
        print(as_csv(frame) if boards.format == "csv" else markdown(frame), end="")


def _lines(row: dict[Any, Any]) -> list[str]:
    """Return the measurement of a board in words."""
    lines = [f"{row['adjudicated']:,} of {matches_in_words(row['matches'])} would have been adjudicated."]
    if row["left_out"]:
        lines.append(f"Left out: {matches_in_words(row['left_out'])} adjudicated when played.")
    if not row["adjudicated"]:
        return lines
    times = "" if pd.isna(row["seconds_saved"]) else f" and {row['seconds_saved']:.1%} of the time of bots"
    interval = f"{row['error_ci_low']:.1%} to {row['error_ci_high']:.1%} at 95 %"
    return [
        *lines,
        f"Saved: {row['plies_saved']:.1%} of all plies{times}.",
        f"Other places than in truth: {row['other']:,} of them, {row['error']:.1%} ({interval}).",
    ]
