"""Index of a log's matches: what filters and sorting need, as arrays.

It is derived from the log and never in it. A file in the cache folder spares reading all of a log again; only what the
log has gained since is read. A file of another log, or a broken one, is thrown away.

Why not a database: of 1,000,080 matches of 10 bots, a page of 50 with its total took 9 ms by bot, 17 ms by pair, 6 ms
by forfeit from these arrays; 94, 210 and 165 ms from the same columns in SQLite with four indexes (111 MB instead of
62 MB), and 56, 49 and 54 ms in DuckDB 2.0.1, whose library takes 69 MB. Reading the log, most of the 9 s that an index
takes, is the same for all three. (25 November 2026, processor time of one core, the shortest of 5.)
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.core.errors import StoreError
from arena.results.match_columns import MatchColumns, read_columns
from arena.results.match_filter import IndexView, MatchFilter, MatchKey, matching
from arena.results.match_reader import MatchReader
from arena.store import Store
from arena.tournament.extents import Extents, planned_matches
from engine.cache import cache_root

BROKEN_FILE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, RuntimeError),  # the last one where it seems to be encrypted, or of a newer zip
    *(OSError, ValueError, LookupError, TypeError, EOFError, MemoryError, AttributeError),
)
"""What reading a changed file may raise."""
RETRY_SECONDS = 2.0
"""Time after which a log that could not be read is tried again, though it is the same: it may have been locked."""
SAVE_GROWTH_FACTOR = 1.1
"""Growth from which the file is written again."""
ORDERS = ("newest", "oldest", "longest", "shortest")
"""Orders of matches; `newest` is the log's own, backwards."""

FileStamps = list[tuple[int, ...]]


class MatchPage(NamedTuple):
    """A page of matches."""

    numbers: list[int]
    """Of the matches in the index."""
    total: int
    """Matches of the filter on all pages."""
    before: int
    """Those on earlier pages."""


class MatchIndex:
    """The index of one log; safe to use from several threads."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._lock = threading.Lock()
        self._reader = MatchReader(log, MatchColumns(), {})
        self._view: IndexView | None = None
        self._read_at: FileStamps = []
        """What the log's files were like when they were read last."""
        self._failed: tuple[FileStamps, StoreError, float] | None = None
        """What they were like when they could not be read, why, and from when on that is tried again."""
        self._inode: tuple[int, int] = (0, 0)
        """Device and number of the log's file, by which a new log in its place is noticed."""
        self._saved = 0
        """Matches in the file."""
        self._orders: dict[str, np.ndarray] = {}
        self._planned: tuple[IndexView, Extents, np.ndarray] | None = None

    @property
    def path(self) -> Path:
        """The file in the cache folder."""
        name = hashlib.blake2b(os.fsencode(self.log.absolute()), digest_size=16).hexdigest()
        return cache_root() / "indexes" / f"{name}.npz"

    @property
    def size(self) -> int:
        """Matches in memory."""
        return len(self._reader.columns)

    def view(self) -> IndexView:
        """Return the index of what the log has now; raises `StoreError` for a damaged log."""
        with self._lock:
            stamps = _stamps(self.log)
            if self._view is None or stamps != self._read_at:
                if self._failed is not None and self._failed[0] == stamps and time.monotonic() < self._failed[2]:
                    raise self._failed[1].with_traceback(None)
                try:
                    self._view, self._read_at = self.read_new(), stamps
                except StoreError as error:
                    self._failed = stamps, error, time.monotonic() + RETRY_SECONDS
                    raise
            return self._view

    def read_new(self) -> IndexView:
        with Store.open(self.log) as store:
            stat = os.stat(self.log)
            if self._inode != (stat.st_dev, stat.st_ino) or not self._has_newest(store):
                self._inode = (stat.st_dev, stat.st_ino)
                self._reader, self._view = MatchReader(self.log, MatchColumns(), {}), None
                self._load(store)
            run, view = store.runs.latest_run(), self._view
            if self._reader.update(store, run) or view is None or view.run != run:
                self._orders = {}
                view = self._reader.view(store, run)
            if view.total > SAVE_GROWTH_FACTOR * self._saved:
                self._save(store)
            return view

    def _has_newest(self, store: Store) -> bool:
        """Return whether the log still has the match that was read last."""
        newest = self._reader.columns.newest
        return newest is None or store.digest_of(*newest) is not None

    def planned(self, view: IndexView, of: Extents) -> np.ndarray:
        """Return which matches are of the plan, in complete blocks or not."""
        if self._planned is None or self._planned[0] is not view or self._planned[1] is not of:
            self._planned = view, of, planned_matches(of, view.boards, view.match, view.seat)
        return self._planned[2]

    def find(
        self,
        view: IndexView,
        wanted: MatchFilter,
        order: str,
        most: int,
        after: MatchKey | None,
        back: bool = False,
        of: Extents | None = None,
    ) -> MatchPage:
        """Return a page of at most so many matches, after one of them in an order, or `back`, before it.

        `of` leaves those of the plan alone; without it all matches of the log are looked through.
        """
        order_of, chosen = self._order(view, order), matching(view, wanted)
        if of is not None:
            chosen &= self.planned(view, of)
        has_all = bool(chosen.all())  # as where a page shows the whole plan: nothing as long as the log is made then
        shown = order_of if has_all else order_of[chosen[order_of]]
        start = 0
        if after is not None:
            here = np.flatnonzero((view.match["block"] == after.block) & (view.match["lineup"] == after.lineup))
            if len(here):
                place = int(np.flatnonzero(order_of == here[0])[0])
                before = place if has_all else int(np.count_nonzero(chosen[order_of[:place]]))
                start = max(0, before - most) if back else before + bool(chosen[here[0]])
        return MatchPage(shown[start : start + most].tolist(), len(shown), start)

    def _order(self, view: IndexView, order: str) -> np.ndarray:
        """Return the numbers of matches in an order."""
        with self._lock:
            if view is self._view and order in self._orders:
                return self._orders[order]
        block, lineup, plies = (view.match[name] for name in ("block", "lineup", "plies"))
        if order in ("newest", "oldest"):
            step = np.diff(block)
            in_order = bool(((step > 0) | ((step == 0) & (np.diff(lineup) > 0))).all())
            found = np.arange(len(block)) if in_order else np.lexsort((lineup, block))
            found = found[::-1] if order == "newest" else found
        else:
            found = np.lexsort((-lineup, -block, -plies if order == "longest" else plies))
        with self._lock:
            if view is self._view:
                self._orders[order] = found
        return found

    def close(self) -> None:
        """Write the file if the log has grown since."""
        with contextlib.suppress(StoreError, OSError), self._lock:
            if self.size > self._saved:
                with Store.open(self.log) as store:
                    self._save(store)

    def _save(self, store: Store) -> None:
        """Write the file; without room for it the index stays in memory."""
        columns = self._reader.columns
        about = {"log": str(self.log.absolute()), "stamp": self._inode, "digest": _newest_digest(store, columns)}
        with contextlib.suppress(OSError):
            columns.write(self.path, about)
        self._saved = len(columns)

    def _load(self, store: Store) -> None:
        """Load the file if it belongs to this log and is sound; else remove it."""
        self._saved = 0
        try:
            self._reader = self._read_file(store)
            self._saved = self.size
        except FileNotFoundError:
            return
        except BROKEN_FILE_ERRORS:
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _read_file(self, store: Store) -> MatchReader:
        """Return a reader that goes on from the file; raises `ValueError` for one that does not fit the log."""
        columns, about = read_columns(self.path)
        if [about["log"], about["stamp"]] != [str(self.log.absolute()), [*self._inode]]:
            raise ValueError("it is of another log")
        known = {identity: bot for bot, (identity, _) in store.bots.names().items()}
        bots = {known[identity]: number for number, identity in enumerate(columns.bots.words)}
        columns.check(store.board_names())
        if about["digest"] != _newest_digest(store, columns):
            raise ValueError("the log has changed")
        return MatchReader(self.log, columns, bots)


def _newest_digest(store: Store, columns: MatchColumns) -> str:
    """Return the digest of the match that was read last; empty where there is none."""
    digest = None if columns.newest is None else store.digest_of(*columns.newest)
    return digest.hex() if digest else ""


def _stamps(log: Path) -> list[tuple[int, ...]]:
    """Return what changes with every write to a log."""
    found: list[tuple[int, ...]] = []
    for path in (str(log), f"{log}-wal"):
        try:
            stat = os.stat(path)
            found.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except OSError:
            found.append(())
    return found
