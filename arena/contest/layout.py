"""Where the files of a contest are below a home."""

from __future__ import annotations

from pathlib import Path

from arena.core.names import CONTESTS_FOLDER
from arena.core.paths import home_folder
from arena.tournament.logs import LOG_FILE

CONFIG_FILE = "contest.toml"
"""The configuration as it was given."""
FINAL_FOLDER = "final"
ARCHIVE_FILE = "archive.zip"
"""Of a season that has ended, or of its final, beside its log."""


def contest_folder(home: str | Path | None, contest: str) -> Path:
    """Return the folder of a contest."""
    return home_folder(home) / CONTESTS_FOLDER / contest


def season_folder(home: str | Path | None, contest: str, season: int) -> Path:
    """Return the folder of a season's log and standings."""
    return contest_folder(home, contest) / f"season-{season}"


def season_log(home: str | Path | None, contest: str, season: int) -> Path:
    """Return the log of a season."""
    return season_folder(home, contest, season) / LOG_FILE


def final_log(home: str | Path | None, contest: str, season: int) -> Path:
    """Return the log of a season's final."""
    return season_folder(home, contest, season) / FINAL_FOLDER / LOG_FILE


def season_name(contest: str, season: int) -> str:
    """Return the name of a season's tournament."""
    return f"{CONTESTS_FOLDER}/{contest}/season-{season}"
