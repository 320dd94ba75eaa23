"""Index of a log's matches: what filters and sorting need, as arrays.

It is derived from the log and never in it. A file in the cache folder spares reading all of a log again; only what the
log has gained since is read. A file of another log, or a broken one, is thrown away.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.core.errors import StoreError
from arena.core.files import write_file
from arena.results.growing import GrowingArray, Vocabulary
from arena.results.match_filter import IndexView, MatchFilter, MatchKey, matching
from arena.store import Store
from arena.tournament.extents import Extents, planned
from arena.tournament.seats import Seating
from arena.tournament.tournament import Tournament
from engine.cache import cache_root

FILE_VERSION = 2
"""Version of the file."""
BLOCKS_PER_QUERY = 500
"""Open blocks looked up at a time."""
BROKEN_FILE_ERRORS = (zipfile.BadZipFile, zlib.error, RuntimeError)
"""What a changed file may raise besides; the last one where it seems to be encrypted, or of another version of zip."""
RETRY_SECONDS = 2.0
"""Seconds after which a log that could not be read is tried again, though it is the same: it may have been locked."""
SAVE_GROWTH_FACTOR = 1.1
"""Growth from which the file is written again."""
LOG_COLUMNS = {
    "block": np.int64,
    "lineup": np.int32,
    "board": np.int32,
    "round": np.int32,
    "plies": np.int32,
    "ended": np.int16,
}
"""Columns of matches that the log has."""
MATCH_COLUMNS = {**LOG_COLUMNS, "table": np.int32}
SEAT_COLUMNS = {
    "match": np.int32,
    "seat": np.int8,
    "bot": np.int32,
    "rank": np.int8,
    "cause": np.int16,
    "entry": np.int32,
}
ORDERS = ("newest", "oldest", "longest", "shortest")
"""Orders of matches; `newest` is the log's own, backwards."""


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
        self._seen: list[tuple[int, ...]] = []
        """What the log's files were like when they were read last."""
        self._failed: tuple[list[tuple[int, ...]], StoreError, float] | None = None
        """What they were like when they could not be read, why, and from when on that is tried again."""
        self._stamp: tuple[int, int] = (0, 0)
        self._saved = 0
        self._orders: dict[str, np.ndarray] = {}
        self._planned: tuple[IndexView, Extents, np.ndarray] | None = None
        self._reset()

    def _reset(self) -> None:
        self._view: IndexView | None = None
        self._match = {name: GrowingArray(np.empty(0, kind)) for name, kind in MATCH_COLUMNS.items()}
        self._seat = {name: GrowingArray(np.empty(0, kind)) for name, kind in SEAT_COLUMNS.items()}
        self._ended, self._causes = Vocabulary(), Vocabulary([""])
        self._bots = Vocabulary()
        self._bot_numbers: dict[int, int] = {}
        self._boards: dict[int, tuple[str, int]] = {}
        self._open: dict[int, set[int]] = {}
        """Blocks that may gain matches, with their line-ups."""
        self._last = -(2**63)
        self._run: tuple[int, str] | None = None
        self._seating: Seating | None = None
        """Of the plan of that run."""
        self._specs: list[str] = []
        """By number of the bot."""
        self._seated = ""
        """Digest of the plan that tables and entries are of."""

    @property
    def path(self) -> Path:
        """The file in the cache folder."""
        name = hashlib.blake2b(os.fsencode(self.log.absolute()), digest_size=16).hexdigest()
        return cache_root() / "indexes" / f"{name}.npz"

    @property
    def size(self) -> int:
        """Matches in memory."""
        return len(self._match["block"].view)

    def view(self) -> IndexView:
        """Return the index of what the log has now; raises `StoreError` for a damaged log."""
        with self._lock:
            seen = _stamps(self.log)
            if self._view is None or seen != self._seen:
                if self._failed is not None and self._failed[:1] == (seen,) and time.monotonic() < self._failed[2]:
                    raise self._failed[1].with_traceback(None)
                try:
                    self._view, self._seen = self._read(), seen
                except StoreError as error:
                    self._failed = seen, error, time.monotonic() + RETRY_SECONDS
                    raise
            return self._view

    def _read(self) -> IndexView:
        with Store.open(self.log) as store:
            stat = os.stat(self.log)
            if self._stamp != (stat.st_dev, stat.st_ino) or not self._is_of(store):
                self._reset()
                self._stamp = (stat.st_dev, stat.st_ino)
                self._load(store)
            run, view = store.latest_run(), self._view
            if self._extend(store, run) or view is None or view.run != run:
                self._orders = {}
                view = IndexView(
                    {name: column.view for name, column in self._match.items()},
                    {name: column.view for name, column in self._seat.items()},
                    dict(self._boards),
                    self._seating.labels() if self._seating else [],
                    *([*self._specs], [*self._ended.words], [*self._causes.words]),
                    run,
                )
            if view.total > SAVE_GROWTH_FACTOR * self._saved:
                self._save(store)
            return view

    def _is_of(self, store: Store) -> bool:
        """Whether the log still has the match that was read last."""
        blocks = self._match["block"].view
        return not len(blocks) or store.digest_of(int(blocks[-1]), int(self._match["lineup"].view[-1])) is not None

    def _extend(self, store: Store, run: tuple[int, str]) -> bool:
        """Read what the log has gained; return whether there is anything new."""
        self._boards = store.board_names()
        names = store.bot_names()
        for bot, (identity, _) in names.items():
            if bot not in self._bot_numbers:
                self._bot_numbers[bot] = len(self._bots.words)
                self._bots.words.append(identity)
        specs = {self._bot_numbers[bot]: spec for bot, (_, spec) in names.items()}
        self._specs = [specs[number] for number in range(len(specs))]
        if run != self._run:
            self._read_plan(store)
            self._run = run
        before = len(self._match["block"].view)
        waiting = sorted(self._open)
        for start in range(0, len(waiting), BLOCKS_PER_QUERY):
            batch = waiting[start : start + BLOCKS_PER_QUERY]
            self._add(store, f"block IN ({','.join('?' * len(batch))})", batch)
        self._add(store, "block > ?", [self._last])
        return len(self._match["block"].view) > before

    def _read_plan(self, store: Store) -> None:
        """Find out where matches are in the plan, how many line-ups blocks have, and so which may gain matches."""
        self._seating, plan = Seating(Tournament(store).plan.schedule()), _digest(store.last_plan())
        if plan != self._seated:
            table, entry = self._seat_all(store)
            self._match["table"], self._seat["entry"], self._seated = GrowingArray(table), GrowingArray(entry), plan
        blocks = self._match["block"].view
        if not len(blocks):
            return
        found, first, counts = np.unique(blocks, return_index=True, return_counts=True)
        board = self._match["board"].view[first]
        wanted = _of_each(board, self._wanted)
        self._open = {int(block): set() for block in found[counts < wanted]}
        if self._open:
            at = np.flatnonzero(np.isin(blocks, np.fromiter(self._open, np.int64)))
            for block, lineup in zip(blocks[at].tolist(), self._match["lineup"].view[at].tolist(), strict=True):
                self._open[block].add(lineup)

    def _seat_all(self, store: Store) -> tuple[np.ndarray, np.ndarray]:
        """Return the table of every match that has been read, and the entry of every seat."""
        assert self._seating is not None
        match = {name: self._match[name].view for name in LOG_COLUMNS}
        return self._seating.seat(store, self._boards, self._bots.words, match, self._seat["bot"].view)

    def _wanted(self, board: int) -> int:
        assert self._seating is not None
        return self._seating.lineups(self._boards[board])

    def _add(self, store: Store, where: str, parameters: Sequence[int]) -> None:
        """Read the matches of some blocks and add those that are new."""
        matches, seats = store.outlines(where, parameters)
        number = self._ended.number
        read = np.fromiter(
            ((*match, number(ended)) for *match, ended in matches),
            np.dtype([*LOG_COLUMNS.items()]),
        )
        cause_of, bots = self._causes.number, self._bot_numbers
        of_seats = np.fromiter(
            (
                (block, lineup, bots[bot], rank, 0 if cause is None else cause_of(cause))
                for block, lineup, bot, rank, cause in seats
            ),
            np.dtype([("block", "i8"), ("lineup", "i4"), ("bot", "i4"), ("rank", "i1"), ("cause", "i2")]),
        )
        if not len(read):
            return
        players = _of_each(read["board"], lambda board: self._boards[board][1])
        whole = _within(players - 1, len(of_seats)) and int(players.sum()) == len(of_seats)
        at = np.repeat(np.arange(len(read)), players if whole else 0)  # a damaged log may name any number of players
        if not whole or any((read[name][at] != of_seats[name]).any() for name in ("block", "lineup")):
            raise StoreError(f"{self.log}: the log is damaged: matches have missing seats")
        if ((of_seats["rank"] < 0) | (of_seats["rank"] >= players[at])).any():
            raise StoreError(f"{self.log}: the log is damaged: it has ranks that there are not")
        known = np.array([lineup in self._open.get(block, ()) for block, lineup in read[["block", "lineup"]].tolist()])
        if known.any():
            read, of_seats, players = read[~known], of_seats[~known[at]], players[~known]
        self._append(store, read, of_seats, players)

    def _append(self, store: Store, read: np.ndarray, of_seats: np.ndarray, players: np.ndarray) -> None:
        base = len(self._match["block"].view)
        at = np.repeat(np.arange(len(read)), players)
        first = np.cumsum(players) - players
        numbers = {"match": base + at, "seat": np.arange(len(at)) - first[at]}
        assert self._seating is not None
        table, numbers["entry"] = self._seating.seat(store, self._boards, self._bots.words, read, of_seats["bot"])
        for name in MATCH_COLUMNS:
            self._match[name].extend(table if name == "table" else read[name])
        for name in SEAT_COLUMNS:
            self._seat[name].extend(numbers[name] if name in numbers else of_seats[name])
        for block, lineup in read[["block", "lineup"]].tolist():
            self._open.setdefault(block, set()).add(lineup)
        boards = dict(zip(read["block"].tolist(), read["board"].tolist(), strict=True))
        for block, board in boards.items():
            if len(self._open[block]) >= self._wanted(board):
                del self._open[block]
        if len(read):
            self._last = max(self._last, int(read["block"].max()))

    def planned(self, view: IndexView, of: Extents) -> np.ndarray:
        """Return which matches are of the plan, in complete blocks or not."""
        if self._planned is None or self._planned[0] is not view or self._planned[1] is not of:
            self._planned = view, of, planned(of, view.boards, view.match, view.seat)
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
        places = np.flatnonzero(chosen[order_of])
        start = 0
        if after is not None:
            here = np.flatnonzero((view.match["block"] == after.block) & (view.match["lineup"] == after.lineup))
            if len(here):
                place = int(np.flatnonzero(order_of == here[0])[0])
                start = int(np.searchsorted(places, place, "left" if back else "right"))
                start = max(0, start - most) if back else start
        return MatchPage(order_of[places[start : start + most]].tolist(), len(places), start)

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
            if len(self._match["block"].view) > self._saved:
                with Store.open(self.log) as store:
                    self._save(store)

    def _save(self, store: Store) -> None:
        """Write the file; without room for it the index stays in memory."""
        about = {"format": FILE_VERSION, "log": str(self.log.absolute()), "stamp": self._stamp}
        about |= {"ended": self._ended.words, "causes": self._causes.words, "bots": self._bots.words}
        about |= {"digest": self._newest_digest(store), "plan": self._seated}
        content = io.BytesIO()
        arrays = {f"match_{name}": column.view for name, column in self._match.items()}
        arrays |= {f"seat_{name}": column.view for name, column in self._seat.items()}
        np.savez(content, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
        with contextlib.suppress(OSError):
            write_file(self.path, [content.getvalue()])
        self._saved = len(self._match["block"].view)

    def _newest_digest(self, store: Store) -> str:
        """Return the digest of the match that was read last; empty where there is none."""
        blocks, lineups = self._match["block"].view, self._match["lineup"].view
        digest = store.digest_of(int(blocks[-1]), int(lineups[-1])) if len(blocks) else None
        return digest.hex() if digest else ""

    def _load(self, store: Store) -> None:
        """Take over what the file has, if it is of this log and whole."""
        self._saved = 0
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                about = json.loads(found["about"].tobytes())
                arrays = {name: found[name] for name in found.files if name != "about"}
            self._take(store, about, arrays)
        except FileNotFoundError:
            return
        except (
            *BROKEN_FILE_ERRORS,
            OSError,
            ValueError,
            LookupError,
            TypeError,
            EOFError,
            MemoryError,
            AttributeError,
        ):
            self._reset()
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _take(self, store: Store, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Fill the index from a file; raises `ValueError` for one that does not fit the log or itself."""
        match = {name: arrays[f"match_{name}"] for name in MATCH_COLUMNS}
        seat = {name: arrays[f"seat_{name}"] for name in SEAT_COLUMNS}
        sizes = {len(values) for values in match.values()}, {len(values) for values in seat.values()}
        kinds = all(match[name].dtype == kind for name, kind in MATCH_COLUMNS.items())
        kinds = kinds and all(seat[name].dtype == kind for name, kind in SEAT_COLUMNS.items())
        stamped = [about["format"], about["log"], about["stamp"]] == [
            FILE_VERSION,
            str(self.log.absolute()),
            [*self._stamp],
        ]
        if not stamped or not kinds or [len(size) for size in sizes] != [1, 1]:
            raise ValueError("it is of another log")
        self._boards = store.board_names()
        known = {identity: bot for bot, (identity, _) in store.bot_names().items()}
        self._bots = Vocabulary(about["bots"])
        self._bot_numbers = {known[identity]: number for number, identity in enumerate(self._bots.words)}
        self._ended, self._causes = Vocabulary(about["ended"]), Vocabulary(about["causes"])
        counts = _of_each(match["board"], lambda board: self._boards[board][1])
        whole = np.array_equal(np.repeat(np.arange(len(counts)), counts), seat["match"])
        whole = whole and _within(match["ended"], len(self._ended.words))
        whole = whole and _within(seat["cause"], len(self._causes.words)) and _within(seat["bot"], len(known))
        if not whole or not _within(seat["rank"], 128):
            raise ValueError("it does not fit together")
        self._match = {name: GrowingArray(values) for name, values in match.items()}
        self._seat = {name: GrowingArray(values) for name, values in seat.items()}
        if about["digest"] != self._newest_digest(store):
            raise ValueError("the log has changed")
        self._seated = str(about["plan"])
        self._last = int(match["block"].max(initial=self._last))
        self._saved = len(counts)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


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


def _of_each(values: np.ndarray, function: Callable[[int], int]) -> np.ndarray:
    """Return a function of each value, called once for those that are equal."""
    kinds, number = np.unique(values, return_inverse=True)
    return np.array([function(kind) for kind in kinds.tolist()], np.int64)[number]


def _within(values: np.ndarray, count: int) -> bool:
    return bool(((values >= 0) & (values < count)).all())
