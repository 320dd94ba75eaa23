"""Export of a log to files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from arena.core.errors import ConfigError
from arena.core.files import write_file
from arena.plan.config import DEFAULT_FORMATS, FORMATS
from arena.plan.files import write_plan_and_versions
from arena.results.costs import board_costs
from arena.results.crosstable import board_crosstable
from arena.results.exported import EXPORTS, JSON_LINES, REPORT_NAME
from arena.results.leaderboard_files import render_tables
from arena.results.leaderboards import leaderboards
from arena.results.match_files import check_match_columns, write_matches
from arena.results.paper import write_paper
from arena.tournament.tournament import Tournament
from engine.errors import did_you_mean


def export_log(
    tournament: Tournament,
    folder: Path,
    what: Sequence[str],
    formats: Sequence[str],
    columns: Sequence[str] = (),
) -> list[Path]:
    """Write files of a log with its plan and versions, and return the paths; columns are checked first."""
    schedule = tournament.schedule
    formats = list(dict.fromkeys(formats))
    of_boards = [kind for kind in formats if kind != JSON_LINES] or tournament.plan.formats or DEFAULT_FORMATS
    tables: list[tuple[Path, bytes]] = []
    if "matches" in what:
        check_match_columns(schedule, formats or [JSON_LINES], columns)
    if "leaderboards" in what:
        tables += render_tables(folder, schedule, leaderboards(tournament), of_boards, columns)
    if "crosstable" in what:
        pairs = {index: board_crosstable(tournament, index).pairs for index in range(len(schedule.boards))}
        tables += render_tables(folder, schedule, pairs, of_boards, columns, "crosstable")
    if "costs" in what:
        frames = {index: board_costs(tournament, index) for index in range(len(schedule.boards))}
        tables += render_tables(folder, schedule, frames, of_boards, columns, "costs")
    if "report" in what:
        from arena.results.pages.report import report_page  # with the libraries that draw

        tables.append((folder / REPORT_NAME, report_page(tournament)))
    files = [write_file(path, [content]) for path, content in tables]
    if "paper" in what:
        files += write_paper(folder, tournament, formats, columns)
    if "matches" in what:
        files += write_matches(folder, tournament, formats or [JSON_LINES], columns)
    return [*files, *write_plan_and_versions(folder, tournament.published(), tournament.store.runs.last_versions())]


def write_report(
    folder: Path,
    tournament: Tournament,
    leaderboards: Mapping[int, pd.DataFrame],
    faults: pd.DataFrame,
    begin: Callable[[int], None],
) -> Path:
    """Write the report of a log whose leaderboards and faults are known; `begin` is called before each board."""
    from arena.results.pages.report import ComputedResults, report_page  # with the libraries that draw

    return write_file(folder / REPORT_NAME, [report_page(tournament, ComputedResults(leaderboards, faults), begin)])


def check_export(what: Sequence[str], formats: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `ConfigError` for what cannot be exported."""
    named = [*((name, EXPORTS) for name in what), *((name, (*FORMATS, JSON_LINES)) for name in formats)]
    for name, allowed in named:
        if name not in allowed:
            raise ConfigError(f"'{name}' cannot be exported{did_you_mean(name, allowed)}")
    if JSON_LINES in formats and "matches" not in what:
        raise ConfigError(f"'{JSON_LINES}' is a format of matches alone")
