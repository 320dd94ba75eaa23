"""The tournaments under a home folder, and what pages show of them: read from logs, kept while these stay the same.

`cachetools.LRUCache` would replace 3 of the 9 lines that bound the indexes in memory, but asks for the size of an entry
once, when it is put in; an index grows with its log.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from arena import api
from arena.core.errors import ArenaError, StoreError
from arena.core.files import MAX_FILE_NAME_BYTES
from arena.core.names import COMPARISONS_FOLDER, CONTESTS_FOLDER, NAME_PATTERN, PLAYED_FOLDER
from arena.core.paths import home_path
from arena.plan.model import ResolvedPlan
from arena.results.match_filter import IndexView, MatchFilter, MatchKey
from arena.results.match_index import ORDERS, MatchIndex, MatchPage
from arena.results.run_status import RUNNING, RunStatus
from arena.schedule.blocks import Schedule
from arena.store import read_writer
from arena.tournament.extents import Extents, extents_of
from arena.tournament.logs import LOG_FILE, logs_under
from arena.tournament.tournament import Tournament
from arena.web.compute_process import ComputeProcess
from arena.web.filters import below
from arena.web.result_cache import CachedResult, ResultCache

T = TypeVar("T")

PAGE_TIMEOUT_SECONDS = 0.5
"""Time that a page waits for a result before it is shown without."""
STATUS_TIMEOUT_SECONDS = 60.0
"""Time that it waits for the first status of a log."""
MAX_DRAWINGS, MAX_DRAWING_BYTES = 256, 2**25
"""Drawings of positions kept at once, and their memory."""
MAX_INDEXED_MATCHES = 5_000_000
"""Matches in all indexes in memory, about 65 bytes each; the index used last is kept in any case."""
SEASON_PATTERN, FINAL_FOLDER = re.compile("season-[1-9][0-9]{0,5}"), "final"
"""Folders of a contest's logs."""
MIN_INDEX_MATCHES = 1_000
"""Matches that an index counts for at least."""


class NotFoundError(ArenaError):
    """Nothing has the address that was asked for."""


@dataclass(frozen=True)
class Log:
    """A log under the home, for the time of one request."""

    name: str
    """Its folder below the home, with `comparisons/` in front of a comparison's."""
    path: Path
    contest: str = ""
    """Title of the contest that it is of."""

    @property
    def title(self) -> str:
        """What pages call it."""
        return self.contest or self.name.removeprefix(f"{COMPARISONS_FOLDER}/")

    @property
    def is_comparison(self) -> bool:
        return self.name.startswith(f"{COMPARISONS_FOLDER}/")

    @property
    def is_played(self) -> bool:
        """Whether it is a match of persons."""
        return self.name.startswith(f"{PLAYED_FOLDER}/")

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


class LogNames(NamedTuple):
    """What pages call the bots of a log where that is not their label: in contests, whose logs have opaque ones."""

    by_label: Mapping[str, str] = MappingProxyType({})
    version: int = 0
    """Another one when names have changed."""


class ContestLine(NamedTuple):
    """A contest of the home, as the first page lists it."""

    id: str
    title: str
    state: str
    """How it stands, in words."""
    bots: int


class LogPlan(NamedTuple):
    """The plan of a log's latest run."""

    resolved: ResolvedPlan
    schedule: Schedule
    names: LogNames = LogNames()

    def name(self, label: str) -> str:
        """Return what pages call a bot."""
        return self.names.by_label.get(label, label)


class _LogStatus(NamedTuple):
    """What is read of a log at one moment."""

    run: RunStatus
    total: int
    """Matches in the log."""


class _RunExtents(NamedTuple):
    """Which blocks are in the plan of a run."""

    run: tuple[int, str]
    """As in `IndexView`."""
    extents: Extents


class LogCatalog:
    """Tournaments under a home folder; safe to use from several threads.

    `patience` is how many seconds a page waits for a result: None for pages that are written as files. `computer` is
    what computes slow ones, this process without it; it is closed with the catalog.
    """

    def __init__(
        self, home: str | Path | None = None, patience: float | None = None, computer: ComputeProcess | None = None
    ) -> None:
        self.home = home_path(home).absolute()
        self.patience = patience
        self.results = ResultCache(computer)
        self.drawings = ResultCache(most=MAX_DRAWINGS, threads=2, most_bytes=MAX_DRAWING_BYTES)
        """Positions of matches: there are so many that they may push out, and keep waiting, nothing but each other."""
        self.names_in: Callable[[Log], LogNames] = lambda log: LogNames()
        """Returns what pages call the bots of a log."""
        self.contest_title: Callable[[str], str] = lambda id: id
        """Returns what pages call a contest."""
        self.contests: Callable[[int], list[ContestLine]] = lambda most: []
        """Returns at most so many contests of the home, open ones first."""
        self._lock = threading.Lock()
        self._indexes: OrderedDict[Path, MatchIndex] = OrderedDict()
        self._computed: Counter[Path] = Counter()

    def words(self, problem: object) -> str:
        """Return what an error says, without the folder that the home is in."""
        return below(self.home, str(problem))

    def logs(self) -> list[Log]:
        """Return all logs under the home."""
        return [Log(str(path.parent.relative_to(self.home)), path) for path in logs_under(self.home)]

    def log(self, name: str) -> Log:
        """Return a log by its name; raises `NotFoundError` where there is none."""
        if name.startswith(f"{CONTESTS_FOLDER}/"):
            return self._contest_log(name)
        prefix = next((each for each in (f"{COMPARISONS_FOLDER}/", f"{PLAYED_FOLDER}/") if name.startswith(each)), "")
        folder = name.removeprefix(prefix)
        path = self.home / name / LOG_FILE
        plain = folder not in ("", ".", "..", COMPARISONS_FOLDER, PLAYED_FOLDER) and not set(folder) & {"/", "\0"}
        if not plain or len(os.fsencode(folder)) > MAX_FILE_NAME_BYTES or not path.is_file():
            kind = {"": "tournament", f"{PLAYED_FOLDER}/": "match of persons"}.get(prefix, "comparison")
            raise NotFoundError(f"there is no {kind} of this name here")
        return Log(name, path)

    def _contest_log(self, name: str) -> Log:
        """Return the log of a contest's season, or of its final."""
        parts = name.split("/")
        plain = len(parts) > 2 and NAME_PATTERN.fullmatch(parts[1]) and SEASON_PATTERN.fullmatch(parts[2])
        if not plain or parts[3:] not in ([], [FINAL_FOLDER]):
            raise NotFoundError("there is no such season")
        path = self.home / name / LOG_FILE
        if not path.is_file():
            raise NotFoundError("nothing has been played in this contest yet")
        return Log(name, path, ", ".join([self.contest_title(parts[1]), *("the final" for _ in parts[3:])]))

    def kept(
        self, log: Log, what: str | tuple[str, int], compute: Callable[[], T], patience: float | None = -1
    ) -> CachedResult[T] | None:
        """Return what is computed of a log, as `CacheEntry.get` does; what no run changes is computed at once.

        `what` is its kind, with the number of a board where it is of one.
        """
        wait = self.patience if patience == -1 else patience
        urgent, kind = not log.is_running(), what if isinstance(what, str) else what[0]
        done = partial(self.count_result, log)
        return self.results.get((log.path, what), log.stamp(), compute, wait, urgent, slow=True, kind=kind, done=done)

    def count_result(self, log: Log) -> None:
        """Count a result that pages of a log may wait for, when it is there or has failed."""
        with self._lock:
            self._computed[log.path] += 1

    def computed(self, log: Log | None = None) -> int:
        """Return how many such results there have been of a log, or of all of them."""
        with self._lock:
            return self._computed.total() if log is None else self._computed[log.path]

    def deadline(self) -> float | None:
        """Return when the patience of a page that is asked for now is over, by the monotonic clock; None for never."""
        return None if self.patience is None else time.monotonic() + self.patience

    def all_kept(
        self, log: Log, what: str, computes: Mapping[int, Callable[[], T]], ends: float | None
    ) -> list[CachedResult[T] | None]:
        """Return what is computed of boards of a log by their numbers, as `kept` does, with one deadline for all."""
        if ends is not None:
            for index, compute in computes.items():
                self.kept(log, (what, index), compute, 0.0)
        return [
            self.kept(log, (what, index), compute, None if ends is None else max(0.0, ends - time.monotonic()))
            for index, compute in computes.items()
        ]

    def is_old(self, log: Log, known: CachedResult[Any]) -> bool:
        """Whether what is known of a log, to which nobody writes, is of an earlier state of it, and made again."""
        return not log.is_running() and known.version != log.stamp()

    def view(self, log: Log) -> tuple[MatchIndex, IndexView]:
        """Return the index of a log's matches, and what it has now; raises `StoreError` for a damaged log."""
        if any("\ud800" <= letter <= "\udfff" for letter in log.name):
            raise StoreError(f"the name of folder {log.name!a} is not UTF-8, so no address leads there; rename it")
        with self._lock:
            index = self._indexes.setdefault(log.path, MatchIndex(log.path))
            self._indexes.move_to_end(log.path)
        view = index.view()
        for dropped in self._evicted():
            dropped.close()
        return index, view

    def _evicted(self) -> list[MatchIndex]:
        """Take indexes that were used longest ago out of memory, where there are more matches than fit."""
        with self._lock:
            left = sum(max(index.size, MIN_INDEX_MATCHES) for index in self._indexes.values())
            dropped: list[MatchIndex] = []
            while left > MAX_INDEXED_MATCHES and len(self._indexes) > 1:
                dropped.append(self._indexes.popitem(last=False)[1])
                left -= max(dropped[-1].size, MIN_INDEX_MATCHES)
        return dropped

    def plan(self, log: Log) -> LogPlan:
        """Return the plan of a log's latest run; raises `ArenaError` for a damaged log."""
        _, view = self.view(log)

        def read() -> LogPlan:
            with Tournament.open(log.path) as tournament:
                return LogPlan(tournament.plan, tournament.plan.schedule())

        found = self.results.get((log.path, "plan"), (log.path.stat().st_ino, view.run), read)
        assert found is not None  # nothing gives up waiting
        return found.value._replace(names=self.names_in(log))

    def status(self, log: Log) -> RunStatus:
        """Return the status of a tournament; raises `ArenaError` for a damaged log."""
        found = self._status(log)
        status, total = found.value
        more = self.view(log)[1].total - total if found.version != (log.stamp(), log.is_running()) else 0
        return replace(status, matches=max(status.matches, min(status.planned, status.matches + more)))

    def extents(self, log: Log) -> Extents:
        """Return which blocks of the plan of a log are still in it.

        While a log is written bots may have been disqualified meanwhile; but its plan is always that of the latest run.
        """
        running, run = log.is_running(), self.view(log)[1].run

        def read() -> _RunExtents:
            read_at = self.view(log)[1].run
            with Tournament.open(log.path) as tournament:
                return _RunExtents(read_at, extents_of(tournament, decided=not running))

        key, version = (log.path, "extents"), (log.stamp(), running)
        found = self.results.get(key, version, read, patience=STATUS_TIMEOUT_SECONDS, urgent=not running)
        if found is None or found.value.run != run:
            found = self.results.get(key, version, read)
        assert found is not None  # nothing gives up waiting
        return found.value.extents

    def _status(self, log: Log) -> CachedResult[_LogStatus]:
        running = log.is_running()

        def read() -> _LogStatus:
            status = api.status(log.path)
            status = replace(status, failed=[self.words(line) for line in status.failed])
            return _LogStatus(status, self.view(log)[1].total)

        key, version = (log.path, "status"), (log.stamp(), running)
        found = self.results.get(key, version, read, patience=STATUS_TIMEOUT_SECONDS, urgent=not running)
        if found is None or (found.value.run.state == RUNNING) != running:
            found = self.results.get(key, version, read)
        assert found is not None  # nothing gives up waiting
        return found

    def planned(self, log: Log) -> np.ndarray:
        """Return which matches of a log are of its plan, by their numbers in the index."""
        index, view = self.view(log)
        return index.planned(view, self.extents(log))

    def find(
        self,
        log: Log,
        wanted: MatchFilter | None = None,
        order: str = ORDERS[0],
        most: int = 0,
        after: MatchKey | None = None,
        back: bool = False,
        all_plans: bool = False,
    ) -> tuple[IndexView, MatchPage]:
        """Return a page of a log's matches, as `MatchIndex.find` does: those of its plan, or of `all_plans`."""
        index, view = self.view(log)
        of = None if all_plans else self.extents(log)
        return view, index.find(view, wanted or MatchFilter(), order, most, after, back, of)

    def close(self) -> None:
        """End the threads that compute, and keep indexes for the next time."""
        self.results.close()
        self.drawings.close()
        for index in self._indexes.values():
            index.close()
