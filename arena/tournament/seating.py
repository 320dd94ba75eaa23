"""The tables and entries of a plan in the matches of its log, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from arena.schedule.blocks import Schedule
from arena.store import Store
from arena.tournament.seats import PlanSeats
from arena.tournament.tournament import Tournament

NOT_PLANNED = -1
"""Table of a match that is not of the plan. The bots of such a match are told by ~number in place of an entry."""


class Seating:
    """Finds tables and entries of one plan."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._seats = PlanSeats(schedule)

    def lineups(self, board: tuple[str, int]) -> int:
        """Return the matches of a block of a board; of one that is not in the plan its number of players."""
        index = self._seats.boards.get(board)
        return board[1] if index is None else self._schedule.lineups(self._schedule.boards[index])

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
        schedule = Tournament(store, self._schedule).planned
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
        order = np.zeros((len(blocks), max(map(len, self._schedule.tables[board]), default=1)), np.int32)
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
