"""Names of exported files, and which of them are in a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.plan.config import FORMATS, DatasetFormat

EXPORTS = ("leaderboards", "crosstable", "costs", "matches", "paper", "report")
REPORT_NAME = "index.html"
JSON_LINES = "jsonl"
"""Format of matches only, and their default."""
DATASET_FOLDER = "dataset"
FORMAT_PATTERN = "|".join(FORMATS)
FILE_PATTERNS = {
    "leaderboards": re.compile(rf".+_[0-9]+p\.({FORMAT_PATTERN})"),
    "crosstable": re.compile(rf".+_[0-9]+p_crosstable\.({FORMAT_PATTERN})"),
    "costs": re.compile(rf".+_[0-9]+p_costs\.({FORMAT_PATTERN})"),
    "matches": re.compile(rf"matches\.({FORMAT_PATTERN}|{JSON_LINES})"),
    "paper": re.compile(r"paper_table\.(tex|md|csv|json|parquet)|paper_methods\.(tex|md)|paper\.bib"),
    "report": re.compile(re.escape(REPORT_NAME)),
    "plan": re.compile(r"(plan|versions)\.json"),
    "dataset": re.compile(DATASET_FOLDER),
}
"""By kind: names of files, or of a folder."""


def exported(folder: Path) -> dict[str, list[str]]:
    """Return the names of what was exported into a folder by kind, of `FILE_PATTERNS`, kinds without any left out."""
    names = sorted(path.name for path in folder.iterdir())
    found = {kind: [name for name in names if pattern.fullmatch(name)] for kind, pattern in FILE_PATTERNS.items()}
    return {kind: there for kind, there in found.items() if there}


class Outputs(NamedTuple):
    """What a run writes at its end."""

    formats: Sequence[str]
    """Of leaderboards."""
    report: bool
    dataset: Path | None
    """Folder of the dataset; None for none."""
    dataset_format: DatasetFormat | None = None
