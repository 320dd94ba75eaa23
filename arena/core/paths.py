"""Folders: of the installed packages, and of tournaments and submitted bots."""

import os
from pathlib import Path

from arena.core.errors import ConfigError
from arena.core.files import in_the_way

ROOT = Path(__file__).resolve().parents[2]
"""Folder of the installed packages `arena`, `bots` and `engine`."""


def home_folder(home: str | Path | None = None) -> Path:
    """Return the argument, else `ARENA_HOME`, else `reports`; raises `ConfigError` where a file is in the way."""
    folder = home_path(home)
    if in_the_way(folder) is not None:
        raise ConfigError(f"{folder}: is a file, or below one; name a folder: --home or ARENA_HOME")
    return folder


def home_path(home: str | Path | None = None) -> Path:
    """Return the same, whatever is there."""
    return Path(home or os.environ.get("ARENA_HOME") or "reports")
