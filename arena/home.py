"""Where tournaments and submitted bots are kept."""

import os
from pathlib import Path


def home_folder(home: str | Path | None = None) -> Path:
    """The argument, else `ARENA_HOME`, else `reports`."""
    return Path(home or os.environ.get("ARENA_HOME") or "reports")
