"""Find the entries of a plan that sat in the matches of its log.

Logs name bots by identity, and several entries of a plan may share one. Which of them sat in a match follows from the
identity of its block, which is made from the names of entries.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from arena.match.stored import StoredMatch
from arena.schedule.blocks import Schedule
from arena.schedule.tables import Table
from arena.store import Store
from arena.tournament.log_keys import with_complete_blocks, with_log_keys
from arena.tournament.stages import with_stages

NOT_PLANNED = -1
"""Table of a match that is not of the plan. The bots of such a match are told by ~number in place of an entry."""


class PlanSeats:
    """The tables of a plan, by the identities of the bots that sit there."""

    def __init__(self, schedule: Schedule) -> None:
        self.boards = {(board.game, board.players): index for index, board in enumerate(schedule.boards)}
        """Numbers of boards by game and number of players."""
        self.entries = {entry.identity: number for number, entry in enumerate(schedule.entries)}
        """Entries by identity; the last one where several share it."""
        self._schedule = schedule

    @cached_property
    def _places(self) -> list[dict[tuple[str, ...], list[int]]]:
        """By board: places of its tables by the identities that sit there."""
        identities = [entry.identity for entry in self._schedule.entries]
        found: list[dict[tuple[str, ...], list[int]]] = []
        for tables in self._schedule.tables:
            by_bots: dict[tuple[str, ...], list[int]] = {}
            for place, table in enumerate(tables):
                by_bots.setdefault(tuple(sorted(identities[entry] for entry in table)), []).append(place)
            found.append(by_bots)
        return found

    @cached_property
    def _by_identity(self) -> list[dict[str, list[int]]]:
        """By board: its entries by identity."""
        found: list[dict[str, list[int]]] = []
        for board in self._schedule.boards:
            by_identity: dict[str, list[int]] = {}
            for entry in board.entries:
                by_identity.setdefault(self._schedule.entries[entry].identity, []).append(entry)
            found.append(by_identity)
        return found

    def tables(self, schedule: Schedule, board: int, bots: Collection[str]) -> list[tuple[int, Table]]:
        """Return the tables of a board at which bots of these identities sit, with their places there.

        Where results decide which tables there are, one that may come yet has the place `NOT_PLANNED`.
        """
        planned = self._schedule.tables[board]
        if schedule.takes_turns(board):
            return [*enumerate(planned)]
        if schedule.scheduler.finds_tables:
            place = {table: number for number, table in enumerate(schedule.tables[board])}
            return [(place.get(table, NOT_PLANNED), table) for table in self._possible_tables(board, bots)]
        return [(place, planned[place]) for place in self._places[board].get(tuple(sorted(bots)), [])]

    def _possible_tables(self, board: int, bots: Collection[str]) -> list[Table]:
        """Return all tables of a board's entries at which bots of these identities may sit."""
        order = self._schedule.boards[board].entries.index
        chosen = (
            itertools.combinations(self._by_identity[board].get(identity, ()), count)
            for identity, count in sorted(Counter(bots).items())
        )
        return [tuple(sorted(itertools.chain(*parts), key=order)) for parts in itertools.product(*chosen)]

    def table(
        self, schedule: Schedule, board: int, number: int, block: bytes, bots: Collection[str]
    ) -> tuple[int, Table] | None:
        """Return the table of a block, by its identity, round and bots: its place on the board, its entries in base
        order; None for a block of another plan.

        `schedule` is the plan's own with the keys of the log.
        """
        for place, table in self.tables(schedule, board, bots):
            planned = schedule.block(board, number, table)
            if planned.identity == block:
                return place, planned.table
        return None


def labels_of(store: Store, schedule: Schedule, match: StoredMatch) -> list[str]:
    """Return the labels by seat that the bots of a match have in a plan; none if it is not of that plan.

    `schedule` has the keys of the log; which blocks are whole is looked up for the tables of these bots alone.
    """
    seats, bots = PlanSeats(schedule), store.bots.of_match(match.identity, match.lineup)
    board = seats.boards.get((match.game, match.players))
    if board is None:
        return []
    if schedule.is_foreign:
        entries = [seats.entries[bot] for bot in bots if bot in seats.entries]
    else:
        if len(schedule.keys) > 1:
            tables = [table for _, table in seats.tables(schedule, board, bots)]
            drawn = [block.identity for table in tables for block in schedule.drawn(board, match.round, table)]
            lineups = schedule.lineups(schedule.boards[board])
            whole = (identity for identity, there in store.finished(drawn).items() if len(there) == lineups)
            schedule = replace(schedule, complete=frozenset(whole))
        found = seats.table(schedule, board, match.round, match.identity, bots)
        places = schedule.places(match.players)
        orders = places[match.round % len(places)]
        known = found is not None and match.lineup < len(orders)
        entries = [found[1][place] for place in orders[match.lineup]] if found is not None and known else []
    return [schedule.entries[entry].label for entry in entries]


class Seating:
    """Finds tables and entries of one plan."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._seats = PlanSeats(schedule)

    def lineups(self, board: tuple[str, int]) -> int:
        """Return the matches of a block of a board; of one that is not in the plan its number of players."""
        index = self._seats.boards.get(board)
        return board[1] if index is None else self._schedule.lineups(self._schedule.boards[index])

    def tables_found(self, store: Store) -> int:
        """Return how many tables there are where results decide that; 0 elsewhere."""
        if not self._schedule.scheduler.finds_tables:
            return 0
        schedule = with_stages(store, with_complete_blocks(store, with_log_keys(store, self._schedule)))
        return sum(map(len, schedule.tables))

    def labels(self) -> list[str]:
        """Return the labels of entries."""
        return [entry.label for entry in self._schedule.entries]

    def seat(
        self,
        store: Store,
        boards: Mapping[int, tuple[str, int]],
        bots: Sequence[str],
        match: Mapping[str, np.ndarray] | np.ndarray,
        seated: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the table of each match, and the entry of each seat.

        `bots` are identities by number, `seated` the numbers of bots by match and seat. The matches of a block lie
        together.
        """
        table, entry = np.full(len(match["block"]), NOT_PLANNED, np.int32), ~seated.astype(np.int32)
        if not len(table):
            return table, entry
        schedule = with_complete_blocks(store, with_log_keys(store, self._schedule))
        if schedule.scheduler.finds_tables:
            schedule = with_stages(store, schedule)
        players = np.array([boards[board][1] for board in match["board"].tolist()], np.int64)
        first = np.cumsum(players) - players
        for board, name in boards.items():
            index, rows = self._seats.boards.get(name), np.flatnonzero(match["board"] == board)
            if index is None or not len(rows):
                continue
            at = first[rows][:, None] + np.arange(name[1])
            if schedule.is_foreign:
                places, entries = self._foreign(bots, seated[at])
            else:
                here = {column: match[column][rows] for column in ("block", "lineup", "round")}
                places, entries = self._planned(store, schedule, index, bots, here, seated[at])
            whole = places >= 0
            table[rows[whole]], entry[at[whole]] = places[whole], entries[whole]
        return table, entry

    def _foreign(self, bots: Sequence[str], seated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return table 0 of each match whose bots are all in the plan, and entries by match and seat."""
        known = np.array([self._seats.entries.get(bot, NOT_PLANNED) for bot in bots], np.int32)
        entries = known[seated]
        return np.where((entries >= 0).all(axis=1), 0, NOT_PLANNED), entries

    def _planned(
        self,
        store: Store,
        schedule: Schedule,
        board: int,
        bots: Sequence[str],
        match: Mapping[str, np.ndarray],
        seated: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the table of each match of a board, and entries by match and seat."""
        blocks, one, of = np.unique(match["block"], return_index=True, return_inverse=True)
        identities = store.identities_of(blocks.tolist())
        order = np.zeros((len(blocks), max(map(len, self._schedule.tables[board]), default=seated.shape[1])), np.int32)
        place = np.full(len(blocks), NOT_PLANNED, np.int32)
        for number, (block, row) in enumerate(zip(blocks.tolist(), one.tolist(), strict=True)):
            names = [bots[bot] for bot in seated[row].tolist()]
            found = self._seats.table(schedule, board, int(match["round"][row]), identities[block], names)
            if found is not None:
                place[number], order[number] = found
        seats = np.array(schedule.places(seated.shape[1]))
        lineup = match["lineup"]
        known = (lineup >= 0) & (lineup < seats.shape[1])
        chosen = seats[match["round"] % len(seats), np.where(known, lineup, 0)]
        return np.where(known, place[of], NOT_PLANNED), np.take_along_axis(order[of], chosen, axis=1)
