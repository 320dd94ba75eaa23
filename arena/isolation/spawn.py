"""A command to run for a bot; its level of isolation runs it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.isolation.python_paths import python

LAUNCH = Path(__file__).with_name("launch.py")
SPARE = ("PATH", "LANG", "LC_ALL", "TZ")
"""What a process outside the sandbox keeps of the environment."""
TEMPORARY = {"HOME": "/tmp", "TMPDIR": "/tmp"}
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
        return {**{name: os.environ[name] for name in SPARE if name in os.environ}, **self.environment}
