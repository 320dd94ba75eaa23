"""Index of a log's matches: what filters, sorting and mean returns need, as arrays.

It is derived from the log and never in it. A file in the cache folder spares reading all of a log again; only what the
log has gained since is read. A file of another log, or a broken one, is thrown away.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import threading
import time
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.core.errors import StoreError
from arena.core.files import write_file
from arena.plan.files import logged_plan
from arena.results.match_filter import Filter, Key, View, mask
from arena.results.matches import returns
from arena.store import Store
from engine.cache import cache_root

FORMAT = 1
"""Version of the file."""
BATCH = 500
"""Open blocks looked up at a time."""
MOST_WORDS = 1_000
"""Different endings, or causes, that are told apart."""
OTHER = "other"
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError)
"""What a changed file may raise besides; the last one where it seems to be encrypted, or of another version of zip."""
AGAIN = 2.0
"""Seconds after which a log that could not be read is tried again, though it is the same: it may have been locked."""
SAVE_AFTER = 1.1
"""Growth from which the file is written again."""
MATCH = {"block": np.int64, "lineup": np.int32, "board": np.int32, "plies": np.int32, "ended": np.int16}
SEAT = {"match": np.int32, "seat": np.int8, "bot": np.int32, "rank": np.int8, "cause": np.int16}
ORDERS = ("newest", "oldest", "longest", "shortest")
"""Orders of matches; `newest` is the log's own, backwards."""


class Found(NamedTuple):
    """A page of matches."""

    numbers: list[int]
    """Of the matches in the index."""
    total: int
    """Matches of the filter on all pages."""
    before: int
    """Those on earlier pages."""


class Mean(NamedTuple):
    """What a bot has got on a board, over all of its seats in the log."""

    bot: str
    """Identity."""
    matches: int
    """Seats, which are more than matches where a bot meets itself."""
    wins: int
    """Seats that beat all others."""
    mean_return: float


class Column:
    """An array that grows; views of it stay as they are."""

    def __init__(self, values: np.ndarray) -> None:
        self._values, self._used = values, len(values)

    def extend(self, values: np.ndarray) -> None:
        """Add values at the end."""
        used = self._used + len(values)
        if used > len(self._values):
            grown = np.empty(max(used, 2 * len(self._values)), self._values.dtype)
            grown[: self._used] = self._values[: self._used]
            self._values = grown
        self._values[self._used : used] = values
        self._used = used

    @property
    def view(self) -> np.ndarray:
        """What has been added so far."""
        return self._values[: self._used]


class Words:
    """Texts as small numbers; what is too much shares one."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = [*words]
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def number(self, word: str) -> int:
        """Return the number of a text, a new one if need be."""
        found = self.numbers.get(word)
        if found is None:
            if len(self.words) >= MOST_WORDS:
                return self.number(OTHER) if OTHER in self.numbers else 0
            word = sys.intern(str(word)) if len(self.words) < MOST_WORDS - 1 else OTHER
            found = self.numbers.setdefault(word, len(self.words))
            if found == len(self.words):
                self.words.append(word)
        return found


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
        self._reset()

    def _reset(self) -> None:
        self._view: View | None = None
        self._match = {name: Column(np.empty(0, kind)) for name, kind in MATCH.items()}
        self._seat = {name: Column(np.empty(0, kind)) for name, kind in SEAT.items()}
        self._ended, self._causes = Words(), Words([""])
        self._bots = Words()
        self._bot_numbers: dict[int, int] = {}
        self._boards: dict[int, tuple[str, int]] = {}
        self._means: dict[int, dict[int, np.ndarray]] = defaultdict(dict)
        self._open: dict[int, set[int]] = {}
        """Blocks that may gain matches, with their line-ups."""
        self._last = -(2**63)
        self._run: tuple[int, str] | None = None
        self._lineups: dict[tuple[str, int], int] = {}

    @property
    def path(self) -> Path:
        """The file in the cache folder."""
        name = hashlib.blake2b(os.fsencode(self.log.absolute()), digest_size=16).hexdigest()
        return cache_root() / "indexes" / f"{name}.npz"

    @property
    def size(self) -> int:
        """Matches in memory."""
        return len(self._match["block"].view)

    def view(self) -> View:
        """Return the index of what the log has now; raises `StoreError` for a damaged log."""
        with self._lock:
            seen = _stamps(self.log)
            if self._view is None or seen != self._seen:
                if self._failed is not None and self._failed[:1] == (seen,) and time.monotonic() < self._failed[2]:
                    raise self._failed[1].with_traceback(None)
                try:
                    self._view, self._seen = self._read(), seen
                except StoreError as error:
                    self._failed = seen, error, time.monotonic() + AGAIN
                    raise
            return self._view

    def _read(self) -> View:
        with Store.open(self.log) as store:
            stat = os.stat(self.log)
            if self._stamp != (stat.st_dev, stat.st_ino) or not self._is_of(store):
                self._reset()
                self._stamp = (stat.st_dev, stat.st_ino)
                self._load(store)
            run, view = store.latest_run(), self._view
            if self._extend(store, run) or view is None or view.run != run:
                self._orders = {}
                view = View(
                    {name: column.view for name, column in self._match.items()},
                    {name: column.view for name, column in self._seat.items()},
                    *(dict(self._boards), [*self._bots.words], [*self._ended.words], [*self._causes.words]),
                    {board: {bot: sums.copy() for bot, sums in of.items()} for board, of in self._means.items()},
                    run,
                )
            if view.total > SAVE_AFTER * self._saved:
                self._save(store)
            return view

    def _is_of(self, store: Store) -> bool:
        """Whether the log still has the match that was read last."""
        blocks = self._match["block"].view
        return not len(blocks) or store.digest_of(int(blocks[-1]), int(self._match["lineup"].view[-1])) is not None

    def _extend(self, store: Store, run: tuple[int, str]) -> bool:
        """Read what the log has gained; return whether there is anything new."""
        self._boards = store.board_names()
        if run != self._run:
            self._read_plan(store)
            self._run = run
        for bot, (identity, _) in store.bot_names().items():
            if bot not in self._bot_numbers:
                self._bot_numbers[bot] = len(self._bots.words)
                self._bots.words.append(identity)
        before = len(self._match["block"].view)
        waiting = sorted(self._open)
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            self._add(store, f"block IN ({','.join('?' * len(batch))})", batch)
        self._add(store, "block > ?", [self._last])
        return len(self._match["block"].view) > before

    def _read_plan(self, store: Store) -> None:
        """Find out how many line-ups blocks have, and so which may gain matches."""
        schedule = logged_plan(store).schedule()
        self._lineups = {(board.game, board.players): schedule.lineups(board) for board in schedule.boards}
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

    def _wanted(self, board: int) -> int:
        name = self._boards[board]
        return self._lineups.get(name, name[1])

    def _add(self, store: Store, where: str, parameters: Sequence[int]) -> None:
        """Read the matches of some blocks and add those that are new."""
        matches, seats = store.outlines(where, parameters)
        number = self._ended.number
        read = np.fromiter(
            ((block, lineup, board, plies, number(ended)) for block, lineup, board, plies, ended in matches),
            np.dtype([*MATCH.items()]),
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
        self._append(read, of_seats, players)

    def _append(self, read: np.ndarray, of_seats: np.ndarray, players: np.ndarray) -> None:
        base = len(self._match["block"].view)
        at = np.repeat(np.arange(len(read)), players)
        first = np.cumsum(players) - players
        numbers = {"match": base + at, "seat": np.arange(len(at)) - first[at]}
        for name in MATCH:
            self._match[name].extend(read[name])
        for name in SEAT:
            self._seat[name].extend(numbers[name] if name in numbers else of_seats[name])
        self._count(read["board"], np.repeat(read["board"], players), of_seats["bot"], of_seats["rank"])
        for block, lineup in read[["block", "lineup"]].tolist():
            self._open.setdefault(block, set()).add(lineup)
        boards = dict(zip(read["block"].tolist(), read["board"].tolist(), strict=True))
        for block, board in boards.items():
            if len(self._open[block]) >= self._wanted(board):
                del self._open[block]
        if len(read):
            self._last = max(self._last, int(read["block"].max()))

    def _count(self, boards: np.ndarray, board_of: np.ndarray, bots: np.ndarray, ranks: np.ndarray) -> None:
        """Add matches to the sums of returns."""
        for board in np.unique(boards).tolist():
            here, players = board_of == board, self._boards[board][1]
            who, places = bots[here], ranks[here].astype(np.int64).reshape(-1, players)
            alone = (places == 0) & ((places == 0).sum(axis=1, keepdims=True) == 1)
            kinds, number = np.unique(who, return_inverse=True)
            sums = [
                np.bincount(number, weights, len(kinds))
                for weights in (np.ones(len(who)), alone.ravel(), returns(places).ravel())
            ]
            for kind, *values in zip(kinds.tolist(), *sums, strict=True):
                self._means[board][kind] = self._means[board].get(kind, np.zeros(3)) + np.array(values)

    def means(self, view: View, game: str, players: int) -> list[Mean]:
        """Return the mean returns of a board's bots, best first."""
        found = []
        for board, name in view.boards.items():
            if name == (game, players):
                for bot, (seats, wins, total) in view.means.get(board, {}).items():
                    found.append(Mean(view.bots[bot], int(seats), int(wins), float(total / seats)))
        return sorted(found, key=lambda mean: (-mean.mean_return, mean.bot))

    def find(self, view: View, wanted: Filter, order: str, most: int, after: Key | None, back: bool = False) -> Found:
        """Return a page of at most so many matches, after one of them in an order, or `back`, before it."""
        order_of = self._order(view, order)
        places = np.flatnonzero(mask(view, wanted)[order_of])
        start = 0
        if after is not None:
            here = np.flatnonzero((view.match["block"] == after.block) & (view.match["lineup"] == after.lineup))
            if len(here):
                place = int(np.flatnonzero(order_of == here[0])[0])
                start = int(np.searchsorted(places, place, "left" if back else "right"))
                start = max(0, start - most) if back else start
        chosen = order_of[places[start : start + most]]
        return Found(chosen.tolist(), len(places), start)

    def _order(self, view: View, order: str) -> np.ndarray:
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
        about = {"format": FORMAT, "log": str(self.log.absolute()), "stamp": self._stamp}
        about |= {"ended": self._ended.words, "causes": self._causes.words, "bots": self._bots.words}
        about |= {"digest": self._newest_digest(store)}
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
        except (*BROKEN, OSError, ValueError, LookupError, TypeError, EOFError, MemoryError, AttributeError):
            self._reset()
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _take(self, store: Store, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Fill the index from a file; raises `ValueError` for one that does not fit the log or itself."""
        match = {name: arrays[f"match_{name}"] for name in MATCH}
        seat = {name: arrays[f"seat_{name}"] for name in SEAT}
        sizes = {len(values) for values in match.values()}, {len(values) for values in seat.values()}
        kinds = all(match[name].dtype == kind for name, kind in MATCH.items())
        kinds = kinds and all(seat[name].dtype == kind for name, kind in SEAT.items())
        stamped = [about["format"], about["log"], about["stamp"]] == [FORMAT, str(self.log.absolute()), [*self._stamp]]
        if not stamped or not kinds or [len(size) for size in sizes] != [1, 1]:
            raise ValueError("it is of another log")
        self._boards = store.board_names()
        known = {identity: bot for bot, (identity, _) in store.bot_names().items()}
        self._bots = Words(about["bots"])
        self._bot_numbers = {known[identity]: number for number, identity in enumerate(self._bots.words)}
        self._ended, self._causes = Words(about["ended"]), Words(about["causes"])
        counts = _of_each(match["board"], lambda board: self._boards[board][1])
        whole = np.array_equal(np.repeat(np.arange(len(counts)), counts), seat["match"])
        whole = whole and _within(match["ended"], len(self._ended.words))
        whole = whole and _within(seat["cause"], len(self._causes.words)) and _within(seat["bot"], len(known))
        if not whole or not _within(seat["rank"], 128):
            raise ValueError("it does not fit together")
        self._match = {name: Column(values) for name, values in match.items()}
        self._seat = {name: Column(values) for name, values in seat.items()}
        if about["digest"] != self._newest_digest(store):
            raise ValueError("the log has changed")
        self._count(match["board"], np.repeat(match["board"], counts), seat["bot"], seat["rank"])
        self._last = int(match["block"].max(initial=self._last))
        self._saved = len(counts)


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
