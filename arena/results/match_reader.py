"""Read the matches of a log into columns, and later those that the log has gained."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from arena.core.errors import StoreError
from arena.results.match_columns import LOG_COLUMNS, SEAT_COLUMNS, MatchColumns, all_below, for_each_value
from arena.results.match_filter import IndexView
from arena.store import Store
from arena.tournament.seats import Seating
from arena.tournament.tournament import Tournament

BLOCKS_PER_QUERY = 500
"""Incomplete blocks looked up at a time."""


class MatchReader:
    """Columns of the matches of one log, and which of its blocks may gain matches."""

    def __init__(self, log: Path, columns: MatchColumns, bots: Mapping[int, int]) -> None:
        """Begin with columns read before, and their numbers of bots by those of the log."""
        self.log, self.columns = log, columns
        self._bots = dict(bots)
        self._boards: dict[int, tuple[str, int]] = {}
        self._open: dict[int, set[int]] = {}
        """Line-ups that were read of the blocks that may gain matches."""
        self._last_block = int(columns.match["block"].view.max(initial=-(2**63)))
        self._run: tuple[int, str] | None = None
        self._seating: Seating | None = None
        """Of the plan of that run."""
        self._tables = 0
        """Its tables, where results decide which there are."""

    def update(self, store: Store, run: tuple[int, str]) -> bool:
        """Read what the log has gained; return whether there is anything new."""
        self._boards = store.board_names()
        for bot, (identity, _) in store.bots.names().items():
            if bot not in self._bots:
                self._bots[bot] = len(self.columns.bots.words)
                self.columns.bots.words.append(identity)
        if run != self._run or self._seating is None or self._seating.tables_found(store) != self._tables:
            self._read_plan(store)
            self._run = run
        before = len(self.columns)
        waiting = sorted(self._open)
        for start in range(0, len(waiting), BLOCKS_PER_QUERY):
            batch = waiting[start : start + BLOCKS_PER_QUERY]
            self._add(store, f"block IN ({','.join('?' * len(batch))})", batch)
        self._add(store, "block > ?", [self._last_block])
        return len(self.columns) > before

    def view(self, store: Store, run: tuple[int, str]) -> IndexView:
        """Return the columns as they are now."""
        specs = {self._bots[bot]: spec for bot, (_, spec) in store.bots.names().items()}
        return IndexView(
            {name: column.view for name, column in self.columns.match.items()},
            {name: column.view for name, column in self.columns.seat.items()},
            dict(self._boards),
            self._seating.labels() if self._seating else [],
            [specs[number] for number in range(len(specs))],
            [*self.columns.ended.words],
            [*self.columns.causes.words],
            run,
        )

    def _read_plan(self, store: Store) -> None:
        """Find out where matches are in the plan, how many line-ups blocks have, and so which may gain matches."""
        columns, match = self.columns, {name: self.columns.match[name] for name in LOG_COLUMNS}
        self._seating, plan = Seating(Tournament(store).plan.schedule()), _digest(store.runs.last_plan())
        self._tables = self._seating.tables_found(store)
        plan += f" {self._tables}" if self._tables else ""
        if plan != columns.plan:
            read = {name: column.view for name, column in match.items()}
            table, entry = self._seats(store, read, columns.seat["bot"].view)
            columns.match["table"].replace(table)
            columns.seat["entry"].replace(entry)
            columns.plan = plan
        blocks = match["block"].view
        if not len(blocks):
            return
        found, first, counts = np.unique(blocks, return_index=True, return_counts=True)
        lineups = for_each_value(match["board"].view[first], self._lineups)
        self._open = {int(block): set() for block in found[counts < lineups]}
        if self._open:
            at = np.flatnonzero(np.isin(blocks, np.fromiter(self._open, np.int64)))
            for block, lineup in zip(blocks[at].tolist(), match["lineup"].view[at].tolist(), strict=True):
                self._open[block].add(lineup)

    def _seats(
        self, store: Store, match: Mapping[str, np.ndarray] | np.ndarray, bots: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the table of each match, and the entry of each seat."""
        assert self._seating is not None
        return self._seating.seat(store, self._boards, self.columns.bots.words, match, bots)

    def _lineups(self, board: int) -> int:
        """Return how many matches a block of a board has."""
        assert self._seating is not None
        return self._seating.lineups(self._boards[board])

    def _add(self, store: Store, where: str, parameters: Sequence[int]) -> None:
        """Read the matches of some blocks and add those that are new."""
        matches, seats = store.outlines(where, parameters)
        ended_of, cause_of, bots = self.columns.ended.number, self.columns.causes.number, self._bots
        read = np.fromiter(
            ((*match, ended_of(ended)) for *match, ended in matches),
            np.dtype([*LOG_COLUMNS.items()]),
        )
        of_seats = np.fromiter(
            (
                (block, lineup, bots[bot], rank, 0 if cause is None else cause_of(cause))
                for block, lineup, bot, rank, cause in seats
            ),
            np.dtype([("block", "i8"), ("lineup", "i4"), ("bot", "i4"), ("rank", "i1"), ("cause", "i2")]),
        )
        if not len(read):
            return
        players = for_each_value(read["board"], lambda board: self._boards[board][1])
        whole = all_below(players - 1, len(of_seats)) and int(players.sum()) == len(of_seats)
        at = np.repeat(np.arange(len(read)), players if whole else 0)  # a damaged log may name any number of players
        if not whole or any((read[name][at] != of_seats[name]).any() for name in ("block", "lineup")):
            raise StoreError(f"{self.log}: the log is damaged: matches have missing seats")
        if ((of_seats["rank"] < 0) | (of_seats["rank"] >= players[at])).any():
            raise StoreError(f"{self.log}: the log is damaged: it has impossible ranks")
        known = np.array([lineup in self._open.get(block, ()) for block, lineup in read[["block", "lineup"]].tolist()])
        if known.any():
            read, of_seats, players = read[~known], of_seats[~known[at]], players[~known]
        if len(read):
            self._append(store, read, of_seats, players)

    def _append(self, store: Store, read: np.ndarray, of_seats: np.ndarray, players: np.ndarray) -> None:
        """Add new matches and their seats to the columns, and note which blocks are complete."""
        at = np.repeat(np.arange(len(read)), players)
        first = np.cumsum(players) - players
        table, entry = self._seats(store, read, of_seats["bot"])
        match = {"table": table, **{name: read[name] for name in LOG_COLUMNS}}
        seat = {"match": len(self.columns) + at, "seat": np.arange(len(at)) - first[at], "entry": entry}
        seat |= {name: of_seats[name] for name in SEAT_COLUMNS if name not in seat}
        self.columns.append(match, seat)
        for block, lineup in read[["block", "lineup"]].tolist():
            self._open.setdefault(block, set()).add(lineup)
        boards = dict(zip(read["block"].tolist(), read["board"].tolist(), strict=True))
        for block, board in boards.items():
            if len(self._open[block]) >= self._lineups(board):
                del self._open[block]
        self._last_block = max(self._last_block, int(read["block"].max()))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
