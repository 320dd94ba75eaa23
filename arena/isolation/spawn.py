"""Commands that levels of isolation run for bots, and what those of Python bots must be able to read."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from arena.core.paths import ROOT
from arena.registry.plugin_games import planned_folders

LAUNCH = Path(__file__).with_name("launch.py")
PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ")
"""What a process outside the sandbox keeps of the environment."""
TEMPORARY_ENVIRONMENT = {"HOME": "/tmp", "TMPDIR": "/tmp"}
"""Environment of a program."""


class KilledAtStart(OSError):
    """A process was killed before anything of the bot's ran, so by somebody outside."""


@dataclass
class Spawn:
    """A command, and what it is given."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    readable: Sequence[str] = ()
    """Paths that a sandbox shows, besides the system's, read-only and under their own names."""
    room: tuple[str, int] | None = None
    """A folder of a sandbox, besides /tmp, that may be written to, and how many bytes it takes."""
    bound: Sequence[tuple[str, str]] = ()
    """(folder outside, folder inside) that a sandbox shows read-only."""
    folder: str = "/tmp"
    limits: Mapping[str, float] | None = None
    """For `arena.isolation.launch`; None for what limits itself."""
    processes: bool = False
    """Whether it may start others."""
    divides: bool = False
    """Whether it is a program of ours that gives each of its children a sandbox within the sandbox.

    It has the capability that this takes, and puts on the seccomp filter itself.
    """

    def limited(self, command: Sequence[str], sandboxed: bool) -> list[str]:
        """Return a command line that sets the limits, then becomes `command`."""
        if self.limits is None:
            return [*command]
        return [python(), "-I", "-S", str(LAUNCH), json.dumps({**self.limits, "sandboxed": sandboxed}), *command]

    def outer_environment(self) -> dict[str, str]:
        """Return the environment of a process outside of any sandbox."""
        return {**{name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}, **self.environment}


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
