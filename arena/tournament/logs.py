"""Find the logs of tournaments."""

from __future__ import annotations

from pathlib import Path

from arena.core.errors import UnknownTargetError
from arena.core.names import COMPARISONS_FOLDER, PLAYED_FOLDER
from arena.core.paths import home_folder
from arena.match.game_faults import GameFault, read_faults
from arena.plan.config import load_config

LOG_FILE = "matches.db"
"""Name of a log in its tournament's folder."""


def find_log(target: str | Path, home: str | Path | None = None) -> Path:
    """Return the log of a configuration, a tournament's name, its folder, or a database."""
    path = Path(target)
    if path.suffix == ".db":
        return path
    if path.suffix == ".toml":
        return home_folder(home) / load_config(path).name / LOG_FILE
    for folder in (path, *(home_folder(home) / part / path for part in ("", COMPARISONS_FOLDER, PLAYED_FOLDER))):
        if (folder / LOG_FILE).is_file():
            return folder / LOG_FILE
    raise UnknownTargetError(
        f"{target}: no tournament of that name under {home_folder(home).absolute()}, and no such file; name a config, "
        "folder or database, or another home: --home or ARENA_HOME"
    )


def logs_under(home: Path) -> list[Path]:
    """Return the logs of all tournaments, comparisons and matches of persons."""
    return sorted(
        log for part in ("", f"{COMPARISONS_FOLDER}/", f"{PLAYED_FOLDER}/") for log in home.glob(f"{part}*/{LOG_FILE}")
    )


def find_game_fault(target: str | Path | None, match: str, home: str | Path | None = None) -> GameFault | None:
    """Find the fault of a game that stopped a board, by the match's id or its beginning, as `find_match` does."""
    logs = [find_log(target, home)] if target is not None else logs_under(home_folder(home))
    found = (fault for log in logs for fault in read_faults(log.parent) if match and fault.match.startswith(match))
    return next(found, None)
