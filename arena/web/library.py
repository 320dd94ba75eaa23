"""The tournaments under a home folder, and what pages show of them: read from logs, kept while these stay the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from arena import api
from arena.core.errors import ArenaError
from arena.core.files import MAX_NAME
from arena.core.names import COMPARISONS
from arena.core.paths import home_path
from arena.plan.logs import LOG, logs_under
from arena.results.run_status import RunStatus
from arena.store import read_writer
from arena.web.keeping import Keeper, Known

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a page waits for a result before it is shown without."""


class NotFoundError(ArenaError):
    """Nothing has the address that was asked for."""


@dataclass(frozen=True)
class Log:
    """A log under the home."""

    name: str
    """Its folder below the home, with `comparisons/` in front of a comparison's."""
    path: Path

    @property
    def is_comparison(self) -> bool:
        return self.name.startswith(f"{COMPARISONS}/")

    def stamp(self) -> Hashable:
        """Return what changes whenever something is written to the log."""
        found = []
        for path in (self.path, Path(f"{self.path}-wal")):
            try:
                stat = os.stat(path)
            except OSError:
                continue
            if path == self.path or stat.st_size:
                found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(found)

    def is_running(self) -> bool:
        """Whether a process writes to the log."""
        return read_writer(self.path)[0]


class Library:
    """Tournaments under a home folder; safe to use from several threads.

    `patience` is how many seconds a page waits for a result: None for pages that are written as files.
    """

    def __init__(self, home: str | Path | None = None, patience: float | None = None) -> None:
        self.home = home_path(home).absolute()
        self.patience = patience
        self.keeper = Keeper()

    def logs(self) -> list[Log]:
        """Return all logs under the home."""
        return [Log(str(path.parent.relative_to(self.home)), path) for path in logs_under(self.home)]

    def log(self, name: str) -> Log:
        """Return a log by its name; raises `NotFoundError` where there is none."""
        folder = name.removeprefix(f"{COMPARISONS}/")
        path = self.home / name / LOG
        plain = folder not in ("", ".", "..", COMPARISONS) and not set(folder) & {"/", "\0"}
        if not plain or len(os.fsencode(folder)) > MAX_NAME or not path.is_file():
            kind = "comparison" if folder != name else "tournament"
            raise NotFoundError(f"there is no {kind} of this name under {self.home}")
        return Log(name, path)

    def kept(self, log: Log, what: Hashable, compute: Callable[[], T], patience: float | None = -1) -> Known[T] | None:
        """Return what is computed of a log, as `Kept.get` does; what a run no longer changes is computed at once."""
        wait = self.patience if patience == -1 else patience
        return self.keeper.get((log.path, what), log.stamp(), compute, wait, urgent=not log.is_running())

    def status(self, log: Log) -> RunStatus:
        """Return the status of a tournament; raises `ArenaError` for a damaged log."""
        found = self.keeper.get((log.path, "status"), (log.stamp(), log.is_running()), lambda: api.status(log.path))
        assert found is not None  # nothing gives up waiting
        return found.value

    def close(self) -> None:
        """End the threads that compute."""
        self.keeper.close()
