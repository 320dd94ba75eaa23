"""The tournaments under a home folder, and what pages show of them: read from logs, kept while these stay the same."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from arena import api
from arena.core.errors import ArenaError, StoreError
from arena.core.files import MAX_NAME
from arena.core.names import COMPARISONS, PLAYED
from arena.core.paths import home_path
from arena.plan.logs import LOG, logs_under
from arena.plan.model import ResolvedPlan
from arena.results.match_filter import View
from arena.results.match_index import MatchIndex
from arena.results.run_status import RUNNING, RunStatus
from arena.schedule.blocks import Schedule
from arena.store import read_writer
from arena.web.computing import Computer
from arena.web.keeping import Keeper, Known
from arena.web.words import below, name_in

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a page waits for a result before it is shown without."""
FIRST = 60.0
"""Seconds that it waits for the first status of a log."""
MOST_INDEXED = 5_000_000
"""Matches in all indexes in memory, about 50 bytes each; the index used last is kept in any case."""
SMALLEST = 1_000
"""Matches that an index counts for at least."""


class NotFoundError(ArenaError):
    """Nothing has the address that was asked for."""


@dataclass(frozen=True)
class Log:
    """A log under the home, for the time of one request."""

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

    @cached_property
    def _is_running(self) -> bool:
        return read_writer(self.path)[0]

    def is_running(self) -> bool:
        """Whether a process wrote to the log when this was asked first."""
        return self._is_running


class Plan(NamedTuple):
    """The plan of a log's latest run."""

    resolved: ResolvedPlan
    schedule: Schedule
    labels: dict[str, str]
    """Names of bots by identity: those that they have on boards, else those of their specs."""

    def label(self, identity: str) -> str:
        """Return the name of a bot."""
        return self.labels.get(identity, identity)

    def identity(self, label: str) -> str | None:
        """Return the identity of a bot by its name on boards, or by itself; None where there is none."""
        found = [entry.identity for entry in self.schedule.entries if entry.label == label]
        found += [identity for identity, of in self.labels.items() if of == label]
        return found[0] if found else label if label in self.labels else None


class Library:
    """Tournaments under a home folder; safe to use from several threads.

    `patience` is how many seconds a page waits for a result: None for pages that are written as files. `computer` is
    what computes slow ones, this process without it; it is closed with the library.
    """

    def __init__(
        self, home: str | Path | None = None, patience: float | None = None, computer: Computer | None = None
    ) -> None:
        self.home = home_path(home).absolute()
        self.patience = patience
        self.keeper = Keeper(computer)
        self._lock = threading.Lock()
        self._indexes: OrderedDict[Path, MatchIndex] = OrderedDict()

    def words(self, problem: object) -> str:
        """Return what an error says, without the folder that the home is in."""
        return below(self.home, str(problem))

    def logs(self) -> list[Log]:
        """Return all logs under the home."""
        return [Log(str(path.parent.relative_to(self.home)), path) for path in logs_under(self.home)]

    def log(self, name: str) -> Log:
        """Return a log by its name; raises `NotFoundError` where there is none."""
        prefix = next((each for each in (f"{COMPARISONS}/", f"{PLAYED}/") if name.startswith(each)), "")
        folder = name.removeprefix(prefix)
        path = self.home / name / LOG
        plain = folder not in ("", ".", "..", COMPARISONS, PLAYED) and not set(folder) & {"/", "\0"}
        if not plain or len(os.fsencode(folder)) > MAX_NAME or not path.is_file():
            kind = {"": "tournament", f"{PLAYED}/": "match of persons"}.get(prefix, "comparison")
            raise NotFoundError(f"there is no {kind} of this name here")
        return Log(name, path)

    def kept(self, log: Log, what: Hashable, compute: Callable[[], T], patience: float | None = -1) -> Known[T] | None:
        """Return what is computed of a log, as `Kept.get` does; what a run no longer changes is computed at once."""
        wait = self.patience if patience == -1 else patience
        return self.keeper.get((log.path, what), log.stamp(), compute, wait, urgent=not log.is_running(), slow=True)

    def all_kept(self, log: Log, what: str, computes: Sequence[Callable[[], T]]) -> list[Known[T] | None]:
        """Return what is computed of each board of a log, as `kept` does, with patience for all of them together."""
        if self.patience is None:
            return [self.kept(log, (what, index), compute) for index, compute in enumerate(computes)]
        ends = time.monotonic() + self.patience
        for index, compute in enumerate(computes):
            self.kept(log, (what, index), compute, 0.0)
        return [
            self.kept(log, (what, index), compute, max(0.0, ends - time.monotonic()))
            for index, compute in enumerate(computes)
        ]

    def view(self, log: Log) -> tuple[MatchIndex, View]:
        """Return the index of a log's matches, and what it has now; raises `StoreError` for a damaged log."""
        if any("\ud800" <= letter <= "\udfff" for letter in log.name):
            raise StoreError(f"the name of folder {log.name!a} is not UTF-8, so no address leads there; rename it")
        with self._lock:
            index = self._indexes.setdefault(log.path, MatchIndex(log.path))
            self._indexes.move_to_end(log.path)
        view = index.view()
        for dropped in self._too_many():
            dropped.close()
        return index, view

    def _too_many(self) -> list[MatchIndex]:
        """Take indexes that were used longest ago out of memory, where there are more matches than fit."""
        with self._lock:
            left = sum(max(index.size, SMALLEST) for index in self._indexes.values())
            dropped: list[MatchIndex] = []
            while left > MOST_INDEXED and len(self._indexes) > 1:
                dropped.append(self._indexes.popitem(last=False)[1])
                left -= max(dropped[-1].size, SMALLEST)
        return dropped

    def plan(self, log: Log) -> Plan:
        """Return the plan of a log's latest run; raises `ArenaError` for a damaged log."""
        _, view = self.view(log)

        def read() -> Plan:
            store, resolved = api.open_log(log.path)
            with store:
                schedule = store.known(resolved.schedule())
                names = {identity: name_in(spec) for identity, spec in store.bot_names().values()}
            labels: dict[str, list[str]] = {}
            for entry in schedule.entries:
                labels.setdefault(entry.identity, []).append(entry.label)
            listed = {identity: ", ".join(of) for identity, of in labels.items()}
            return Plan(resolved, schedule, {**names, **listed})

        found = self.keeper.get((log.path, "plan"), (log.path.stat().st_ino, view.run), read)
        assert found is not None  # nothing gives up waiting
        return found.value

    def status(self, log: Log) -> RunStatus:
        """Return the status of a tournament; raises `ArenaError` for a damaged log."""
        running = log.is_running()

        def read() -> tuple[RunStatus, int]:
            status = api.status(log.path)
            return replace(status, failed=[self.words(line) for line in status.failed]), self.view(log)[1].total

        key, version = (log.path, "status"), (log.stamp(), running)
        found = self.keeper.get(key, version, read, patience=FIRST, urgent=not running)
        if found is None or (found.value[0].state == RUNNING) != running:
            found = self.keeper.get(key, version, read)
        assert found is not None  # nothing gives up waiting
        status, total = found.value
        more = self.view(log)[1].total - total if found.version != version else 0
        return replace(status, matches=max(status.matches, min(status.planned, status.matches + more)))

    def close(self) -> None:
        """End the threads that compute, and keep indexes for the next time."""
        self.keeper.close()
        for index in self._indexes.values():
            index.close()
