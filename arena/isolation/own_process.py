"""What levels whose bots run in processes of their own decide; how these play is the same at all of them."""

from __future__ import annotations

import contextlib
import subprocess
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.core.errors import WorkerError
from arena.isolation import Host, Isolation, Launcher, launcher
from arena.isolation.spawn import Spawn

if TYPE_CHECKING:
    from arena.isolation.launched import LaunchedBot
    from arena.isolation.refusals import Refusals
    from arena.match.player import SeatTaker
    from arena.registry.describe import Board
    from arena.registry.manifest import Program


class ServerPlace(NamedTuple):
    """Where a fork server runs."""

    folder: str
    """For temporary files."""
    environment: Mapping[str, str] = {}
    """Beyond what every process of bots gets."""
    bound: Sequence[tuple[str, str]] = ()
    """As in `Spawn`."""
    filter: bytes = b""
    """The seccomp filter of its children; empty for none."""


class ProcessLauncher(Launcher):
    """A level whose bots run in processes of their own."""

    def contestant(self, bot: LaunchedBot, host: Host) -> SeatTaker:
        return host.pool.contestant(bot)

    def describe(self, bot: LaunchedBot, boards: Sequence[Board], host: Host) -> Any:
        return host.pool.describe(bot, boards)

    def check(self) -> None:
        """Raise `WorkerError` when this machine cannot isolate bots so."""
        if refusal := self.refusal():
            raise WorkerError(refusal)

    @abstractmethod
    def run(
        self, spawn: Spawn, stdin: int, stdout: int, stderr: int
    ) -> contextlib.AbstractContextManager[tuple[subprocess.Popen[bytes], int]]:
        """Start a command; give its process and its number as seen from here, and end it when the context is left.

        Raises `OSError` when it cannot be started, `KilledAtStart` when somebody prevented it.
        """

    @abstractmethod
    def server_place(self, stack: contextlib.ExitStack) -> ServerPlace:
        """Return where a fork server runs; what is made for it goes with the stack."""

    @abstractmethod
    def program(self, command: Sequence[str], folder: Path, limits: Mapping[str, float]) -> Spawn:
        """Return how a program is started whose files are in a folder."""

    @abstractmethod
    def build(self, program: Program, files: Mapping[str, bytes], folder: Path, until: float) -> None:
        """Build a program's files in an empty folder; raises `Fault`, or `ProcessKilled` when it was killed."""

    def bound_threads(self, number: int) -> None:
        """Have the kernel refuse a process that has been started too many threads, where it can."""

    def private_files(self, number: int) -> str:
        """Return where the private temporary files of a process are seen from here; empty when it has none."""
        return ""

    def watch(self, number: int) -> Refusals | None:
        """Watch which system calls a process is refused, where some are and that can be had."""
        return None

    def explained(self, detail: str) -> str:
        """Return a fault's detail, with a hint if it may be due to the level."""
        return detail


def process_launcher(name: Isolation) -> ProcessLauncher:
    """Return such a level by its name."""
    found = launcher(name)
    if not isinstance(found, ProcessLauncher):
        raise ValueError(f"bots with isolation {name} have no process of their own")
    return found
