"""Compare exported files with what the log says now."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.core.files import read_regular, temporary_folder
from arena.plan.config import FORMATS
from arena.plan.files import write_plan
from arena.results.exported import JSON_LINES, REPORT_NAME
from arena.results.exports import export_log
from arena.results.pages.report import Sameness, compare_reports
from arena.results.paper import FORMATS as PAPER_FORMATS
from arena.schedule.blocks import Schedule
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.verify.findings import Findings
from arena.verify.plans import LoggedPlan

MAX_SIZE_RATIO = 4
"""Largest size of a file that another version of a library wrote, in multiples of the size of ours."""
TABLE_PATTERN = re.compile(rf"(.+_[0-9]+p)(?:_crosstable|_costs)?\.(?:{'|'.join(FORMATS)})")
"""Names of files of a board's tables, with its `slug`."""
ExportRequest = tuple[str, Sequence[str]]
"""What to export, and in which formats."""


class ComparedExports(NamedTuple):
    """Names of the exports that were compared."""

    names: list[str]
    different: list[str]
    """What an export would write differently now."""
    redrawn: list[str]
    """Reports that are the same but for their pictures."""


def compare_exports(store: Store, plan: LoggedPlan, findings: Findings) -> ComparedExports:
    """Compare the exports beside a log with what an export would write now."""
    folder, compared = store.path.parent, ComparedExports([], [], [])
    with findings.guard("what was exported cannot be compared"), temporary_folder(None, "arena-exports-") as place:
        wanted = list(_existing_exports(folder, plan.resolved.schedule()))
        if wanted or any((folder / name).exists() for name in ("plan.json", "versions.json")):
            tournament = Tournament(store, plan=plan.resolved)
            for what, formats in wanted or [("", [])]:
                export_log(tournament, place, [what], formats)
            if plan.is_open_ended:
                write_plan(place, tournament.published())
        for made in sorted(place.iterdir()):
            theirs = folder / made.name
            if theirs.is_file():
                compared.names.append(made.name)
                if (found := compare_files(theirs, made)) is not Sameness.ALL:
                    (compared.redrawn if found is Sameness.ALL_BUT_PICTURES else compared.different).append(made.name)
    return compared


def _existing_exports(folder: Path, schedule: Schedule) -> Iterator[ExportRequest]:
    """Yield which exports exist beside a log, by the names of files."""
    slugs = [board.slug for board in schedule.boards]
    of_boards = {what: [f"{slug}_{what}" for slug in slugs] for what in ("crosstable", "costs")}
    for what, names in ({"leaderboards": slugs} | of_boards).items():
        formats: list[str] = [kind for kind in FORMATS if any((folder / f"{name}.{kind}").is_file() for name in names)]
        if formats:
            yield what, formats
    formats = [kind for kind in (*FORMATS, JSON_LINES) if (folder / f"matches.{kind}").is_file()]
    if formats:
        yield "matches", formats
    formats = [kind for kind in PAPER_FORMATS if (folder / f"paper_table.{kind}").is_file()]
    if formats:
        yield "paper", formats
    if (folder / REPORT_NAME).is_file():
        yield "report", []


def unplanned_exports(folder: Path, schedule: Schedule) -> list[str]:
    """Return the names of files beside a log that look like tables of boards, and are of none of its plan."""
    slugs = {board.slug for board in schedule.boards}
    found = [(path.name, TABLE_PATTERN.fullmatch(path.name)) for path in sorted(folder.iterdir()) if path.is_file()]
    return [name for name, match in found if match is not None and match[1] not in slugs]


def compare_files(theirs: Path, ours: Path) -> Sameness:
    """Compare the bytes of two files; of Parquet files and reports, which libraries write, the data."""
    other = ours.read_bytes()
    try:
        one = read_regular(theirs, MAX_SIZE_RATIO * len(other) + 2**20)
    except (OSError, ValueError):
        return Sameness.NONE
    if theirs.name == REPORT_NAME:
        return compare_reports(one, other)
    return Sameness.ALL if one == other or (theirs.suffix == ".parquet" and _same_data(one, other)) else Sameness.NONE


def _same_data(one: bytes, other: bytes) -> bool:
    """Whether two Parquet files have the same rows."""
    try:
        if _rows(one) != _rows(other):  # a small file may claim any number of rows
            return False
        return pd.read_parquet(io.BytesIO(one)).equals(pd.read_parquet(io.BytesIO(other)))
    except Exception:  # the library may raise anything for a damaged file
        return False


def _rows(content: bytes) -> tuple[int, int]:
    """Return the numbers of rows and columns that a Parquet file claims to have."""
    from pyarrow.parquet import read_metadata

    about = read_metadata(io.BytesIO(content))
    return about.num_rows, about.num_columns
