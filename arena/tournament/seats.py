"""Find the entries of a plan that sat in the matches of its log.

Logs name bots by identity, and several entries of a plan may share one. Which of them sat in a match follows from the
identity of its block, which is made from the names of entries.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

from arena.match.stored import StoredMatch
from arena.schedule.blocks import Schedule
from arena.schedule.tables import Table
from arena.store import Store


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

    def tables(self, schedule: Schedule, board: int, bots: Collection[str]) -> list[int]:
        """Return the places on a board of the tables at which bots of these identities sit."""
        if schedule.duel is not None:
            return [*range(len(self._schedule.tables[board]))]
        return self._places[board].get(tuple(sorted(bots)), [])

    def table(
        self, schedule: Schedule, board: int, number: int, block: bytes, bots: Collection[str]
    ) -> tuple[int, Table] | None:
        """Return the table of a block, by its identity, round and bots: its place on the board, its entries in base
        order; None for a block of another plan.

        `schedule` is the plan's own with the keys of the log.
        """
        for place in self.tables(schedule, board, bots):
            planned = schedule.block(board, number, self._schedule.tables[board][place])
            if planned.identity == block:
                return place, planned.table
        return None


def labels_of(store: Store, schedule: Schedule, match: StoredMatch) -> list[str]:
    """Return the labels by seat that the bots of a match have in a plan; none if it is not of that plan.

    `schedule` has the keys of the log; which blocks are whole is looked up for the tables of these bots alone.
    """
    seats, bots = PlanSeats(schedule), store.bots_of(match.identity, match.lineup)
    board = seats.boards.get((match.game, match.players))
    if board is None:
        return []
    if schedule.is_foreign:
        entries = [seats.entries[bot] for bot in bots if bot in seats.entries]
    else:
        if len(schedule.keys) > 1:
            tables = (schedule.tables[board][place] for place in seats.tables(schedule, board, bots))
            drawn = [block.identity for table in tables for block in schedule.drawn(board, match.round, table)]
            lineups = schedule.lineups(schedule.boards[board])
            whole = (identity for identity, there in store.finished(drawn).items() if len(there) == lineups)
            schedule = replace(schedule, whole=frozenset(whole))
        found = seats.table(schedule, board, match.round, match.identity, bots)
        places = schedule.places(match.players)
        orders = places[match.round % len(places)]
        known = found is not None and match.lineup < len(orders)
        entries = [found[1][place] for place in orders[match.lineup]] if found is not None and known else []
    return [schedule.entries[entry].label for entry in entries]
