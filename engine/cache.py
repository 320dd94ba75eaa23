"""The folder for files that can be made again."""

import os
import tempfile
from pathlib import Path

if chosen := os.environ.get("ARENA_CACHE"):
    os.environ["ARENA_CACHE"] = os.path.abspath(chosen)  # for processes started elsewhere, as workers are


def cache_root() -> Path:
    """Return the folder for files that can be made again: `ARENA_CACHE`, else the user's cache folder.

    Falls back to a folder of this user's under the system's temporary folder when that cannot be written.
    """
    chosen = os.environ.get("ARENA_CACHE")
    root = (
        Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pyramid-arena"
    )
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    root = Path(tempfile.gettempdir()) / f"pyramid-arena-{os.getuid()}"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise PermissionError(f"cache folder {root} belongs to somebody else; set ARENA_CACHE to a folder of yours")
    return root
