"""Results of a run that has ended: its boards rated, and its files written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from arena.results.dataset import DatasetOptions, write_dataset
from arena.results.early import EarlyLeaderboards
from arena.results.exported import Outputs
from arena.results.exports import write_report
from arena.results.leaderboard_files import write_leaderboards
from arena.results.leaderboards import faults, leaderboards
from arena.tournament.tournament import Tournament


class Results(NamedTuple):
    """Results of a run, and the files that they are in."""

    leaderboards: dict[int, pd.DataFrame]
    """By number of the board."""
    faults: pd.DataFrame
    files: list[Path]
    report: Path | None
    dataset: tuple[Path, dict[str, Any]] | None
    """Folder and manifest."""


def finish(
    tournament: Tournament, early: EarlyLeaderboards, outputs: Outputs, show_phase: Callable[[str], None]
) -> Results:
    """Rate a tournament and write its files; `show_phase` is called with what is done, in words."""
    schedule, folder = tournament.schedule, tournament.store.path.parent

    def show(verb: str, number: int) -> None:
        show_phase(f"{verb} {schedule.boards[number].title} ({number + 1} of {len(schedule.boards)})")

    def rating(number: int) -> None:
        show("rating", number)

    boards = leaderboards(tournament, begin=rating, early=early.end(rating))
    faulty = faults(tournament)
    files = write_leaderboards(folder, tournament, boards, outputs.formats)
    page = None
    if outputs.report:
        page = write_report(folder, tournament, boards, faulty, lambda number: show("drawing", number))
        files.append(page)
    if outputs.dataset is None:
        return Results(boards, faulty, files, page, None)
    show_phase("writing the dataset")
    manifest = write_dataset(tournament, outputs.dataset, DatasetOptions(outputs.dataset_format or "parquet"))
    return Results(boards, faulty, files, page, (outputs.dataset, manifest))
