"""Export of a log to files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from arena.core.errors import ConfigError
from arena.core.files import write_file
from arena.plan.config import DEFAULT_FORMATS, FORMATS
from arena.plan.dice_keys import with_disclosed_keys
from arena.plan.disqualification import disqualified
from arena.plan.files import write_plan_and_versions
from arena.plan.model import ResolvedPlan
from arena.results.crosstable import crosstable
from arena.results.exported import JSON_LINES, REPORT, WHAT
from arena.results.leaderboards import leaderboards
from arena.results.match_files import check_match_columns, write_matches
from arena.results.matches import board_matches
from arena.results.report import render_boards
from arena.store import Store
from engine.errors import did_you_mean


def export_log(
    store: Store,
    resolved: ResolvedPlan,
    folder: Path,
    what: Sequence[str],
    formats: Sequence[str],
    columns: Sequence[str] = (),
) -> list[Path]:
    """Write files of a log with its plan and versions, and return the paths; columns are checked first."""
    schedule = store.known(resolved.schedule())
    formats = list(dict.fromkeys(formats))
    of_boards = [kind for kind in formats if kind != JSON_LINES] or resolved.formats or DEFAULT_FORMATS
    tables: list[tuple[Path, bytes]] = []
    if "matches" in what:
        check_match_columns(formats or [JSON_LINES], columns)
    if "leaderboards" in what:
        tables += render_boards(folder, schedule, leaderboards(store, schedule), of_boards, columns)
    if "crosstable" in what:
        outs = [disqualified(store, schedule, index) for index in range(len(schedule.boards))]
        pairs = {
            index: crosstable(board_matches(store, schedule, index, out), schedule.boards[index].players, out).pairs
            for index, out in enumerate(outs)
        }
        tables += render_boards(folder, schedule, pairs, of_boards, columns, "crosstable")
    if "report" in what:
        from arena.results.pages.report import report_page  # with the libraries that draw

        tables.append((folder / REPORT, report_page(store, resolved)))
    files = [write_file(path, [content]) for path, content in tables]
    if "matches" in what:
        files += write_matches(folder, store, schedule, formats or [JSON_LINES], columns)
    return [*files, *write_plan_and_versions(folder, with_disclosed_keys(resolved, store), store.last_versions())]


def write_report(
    folder: Path,
    store: Store,
    resolved: ResolvedPlan,
    leaderboards: Mapping[int, pd.DataFrame],
    faults: pd.DataFrame,
    begin: Callable[[int], None],
) -> Path:
    """Write the report of a log whose leaderboards and faults are known; `begin` is called before each board."""
    from arena.results.pages.report import Known, report_page  # with the libraries that draw

    return write_file(folder / REPORT, [report_page(store, resolved, Known(leaderboards, faults), begin)])


def check_wanted(what: Sequence[str], formats: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `ConfigError` for what cannot be exported."""
    named = [*((name, WHAT) for name in what), *((name, (*FORMATS, JSON_LINES)) for name in formats)]
    for name, allowed in named:
        if name not in allowed:
            raise ConfigError(f"'{name}' cannot be exported{did_you_mean(name, allowed)}")
    if JSON_LINES in formats and "matches" not in what:
        raise ConfigError(f"'{JSON_LINES}' is a format of matches alone")
