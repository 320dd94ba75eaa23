"""Plug-in games of a plan: their source, snapshot by content, so that workers play what was planned.

A snapshot holds, as files of a folder to import from, the packages that offer the plan's games and what is known about
them, and beside each distribution's packages what makes it an installed one: its name and its entry points. A worker
imports from it unless it has the same content installed. Our own games are part of the code that is checked.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from arena.core.errors import ConfigError
from arena.registry.bundles import IGNORED_FOLDERS, MAX_BUNDLE_BYTES, RESERVED_PACKAGES, hash_of
from arena.registry.loader import materialize
from engine.cache import cache_root

ENTRY_POINT_GROUPS = ("arena.games", "arena.heuristics")


def snapshot(games: Iterable[str]) -> dict[str, bytes]:
    """Return the files of plug-ins for games of these names, by path; raises `ConfigError` for a missing package."""
    files: dict[str, bytes] = {}
    points: dict[tuple[str, str], list[EntryPoint]] = defaultdict(list)
    for entry in _offers(set(games)):
        files.update(_package(entry))
        points[(entry.dist.name, entry.dist.version) if entry.dist else ("plug-in", "0")].append(entry)
    for (name, version), entries in points.items():
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        files[f"{folder}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
        files[f"{folder}/entry_points.txt"] = "".join(
            f"[{entry.group}]\n{entry.name} = {entry.value}\n" for entry in entries
        ).encode()
    if sum(map(len, files.values())) > MAX_BUNDLE_BYTES:
        raise ConfigError(f"plug-in games' packages are limited to {MAX_BUNDLE_BYTES >> 20} MiB")
    return files


def _offers(games: set[str]) -> Iterator[EntryPoint]:
    for group in ENTRY_POINT_GROUPS:
        for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
            if entry.name in games and _top(entry) not in (*RESERVED_PACKAGES, "bots"):
                yield entry


def _top(entry: EntryPoint) -> str:
    return entry.value.partition(":")[0].partition(".")[0].strip()


def _package(entry: EntryPoint) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a package, or the one file of a module, by path relative to its folder."""
    spec = importlib.util.find_spec(_top(entry))
    if spec is None or spec.origin is None:
        raise ConfigError(f"game '{entry.name}': its package '{_top(entry)}' cannot be found")
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        yield origin.name, origin.read_bytes()
        return
    for at, folders, names in os.walk(origin.parent):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS and not name.startswith("."))
        for path in (Path(at, name) for name in sorted(names) if not name.startswith(".")):
            yield path.relative_to(origin.parents[1]).as_posix(), path.read_bytes()


def folders_for(games: Iterable[str], files: dict[str, bytes]) -> tuple[str, ...]:
    """Return where a worker is to import from first, to play games by their snapshot: nowhere, or one folder."""
    importlib.invalidate_caches()
    with contextlib.suppress(ConfigError, OSError):
        if not files or snapshot(games) == files:
            return ()
    return (str(materialize(files, _root() / hash_of(files))),)


def _root() -> Path:
    return cache_root() / "games"


def planned_folders() -> tuple[str, ...]:
    """Return the folders that this process imports a plan's games from, before everything else."""
    return tuple(path for path in sys.path if path.startswith(f"{_root()}{os.sep}"))
