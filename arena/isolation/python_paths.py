"""What a Python process of a bot reads: the interpreter, its libraries, our own code, plug-in games."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path

from arena.core.paths import ROOT
from arena.registry.plugin_games import planned_folders


def python() -> str:
    """Return the interpreter itself, not a virtual environment's link to it."""
    return os.path.realpath(sys.executable)


@functools.cache
def _packages() -> tuple[Path, ...]:
    """Return the folders or files of our own packages and of plug-in games, with the metadata of these."""
    found = [ROOT / package for package in ("arena", "bots", "engine")]
    for entry in entry_points(group="arena.games"):
        spec = importlib.util.find_spec(entry.value.partition(":")[0].partition(".")[0])
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            found.append(origin.parent if origin.name == "__init__.py" else origin)
        if entry.dist is not None:
            about = f"{entry.dist.name.replace('-', '_')}-{entry.dist.version}.dist-info"
            found.append(Path(str(entry.dist.locate_file(about))))
    return tuple(path for path in dict.fromkeys(found) if path.exists())


def trusted_sources() -> list[str]:
    """Return a source file in each folder that holds some of our engine, our bots and plug-in games."""
    found: dict[Path, str] = {}
    for path in _packages():
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        found |= {file.parent: str(file) for file in files if path != ROOT / "arena" and file.suffix == ".py"}
    return list(found.values())


def _libraries() -> list[str]:
    return [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)]


def python_paths() -> tuple[str, ...]:
    """Return what a Python process must be able to read: the interpreter, its libraries, our code, plug-in games."""
    found = [python(), sys.base_prefix, *_libraries(), *planned_folders(), *map(str, _packages())]
    return tuple(dict.fromkeys(path for path in found if not path.startswith("/usr/")))


def import_paths() -> tuple[str, ...]:
    """Return what such a process puts on its `sys.path`, behind the standard library."""
    return tuple(dict.fromkeys([*planned_folders(), *(str(path.parent) for path in _packages()), *_libraries()]))
