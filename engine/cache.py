"""Folders for files that can be made again."""

import hashlib
import importlib.util
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from engine.registry import GROUP, offers

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


UNRELATED_SETTINGS = ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS")
"""Settings of Numba that do not change what our kernels compile to."""


def kernel_cache() -> Path:
    """Return the folder for compiled kernels: `NUMBA_CACHE_DIR`, else one of our own.

    It is named by what Numba's own index does not watch: versions, flags, kernels of other files.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    flags = sorted(
        f"{key}={value}"
        for key, value in os.environ.items()
        if key.startswith("NUMBA_") and key not in UNRELATED_SETTINGS
    )
    shared = b"".join(path.read_bytes() for path in shared_sources())
    key = hashlib.blake2b(
        repr((version("numba"), version("numpy"), sys.version, flags)).encode() + shared, digest_size=8
    )
    return cache_root() / "numba" / key.hexdigest()


KERNEL_FILES = ("rules.py", "observation.py")
"""Files of a game whose kernels others call."""


def shared_sources() -> list[Path]:
    """Return the files whose kernels are called from others: ours, rules and observations of every installed game."""
    here = Path(__file__).parent
    found = {here / "kernel.py", here / "chance.py", here / "no_chance.py"}
    found.update(path for name in KERNEL_FILES for path in here.glob(f"*/{name}"))
    for entry in offers(GROUP):
        top, *rest = entry.value.partition(":")[0].split(".")
        spec = importlib.util.find_spec(top)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).parent.joinpath(*rest)
            found.update(path for name in KERNEL_FILES for path in folder.glob(name))
    return sorted(found)
