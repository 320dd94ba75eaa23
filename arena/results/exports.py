"""Export of a log to files."""

from __future__ import annotations

from collections.abc import Sequence
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
from arena.results.leaderboards import leaderboards
from arena.results.match_files import check_match_columns, write_matches
from arena.results.matches import board_matches
from arena.results.report import render_boards
from arena.schedule.blocks import Schedule
from arena.store import Store
from engine.errors import did_you_mean

WHAT = ("leaderboards", "crosstable", "matches")
JSON_LINES = "jsonl"
"""Format of matches only, and their default."""


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
        tables += render_boards(folder, schedule, crosstables(store, schedule), of_boards, columns, "crosstable")
    files = [write_file(path, [content]) for path, content in tables]
    if "matches" in what:
        files += write_matches(folder, store, schedule, formats or [JSON_LINES], columns)
    return [*files, *write_plan_and_versions(folder, with_disclosed_keys(resolved, store), store.last_versions())]


def crosstables(store: Store, schedule: Schedule) -> dict[int, pd.DataFrame]:
    """Return the crosstable of every board of the plan, by its number."""
    found = {}
    for index, board in enumerate(schedule.boards):
        out = disqualified(store, schedule, index)
        found[index] = crosstable(board_matches(store, schedule, index, out), board.players, out).pairs
    return found


def check_wanted(what: Sequence[str], formats: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `ConfigError` for what cannot be exported."""
    if "pairs" in what:
        raise ConfigError("'pairs' is now called 'crosstable'")
    named = [*((name, WHAT) for name in what), *((name, (*FORMATS, JSON_LINES)) for name in formats)]
    for name, allowed in named:
        if name not in allowed:
            raise ConfigError(f"'{name}' cannot be exported{did_you_mean(name, allowed)}")
    if JSON_LINES in formats and "matches" not in what:
        raise ConfigError(f"'{JSON_LINES}' is a format of matches alone")
