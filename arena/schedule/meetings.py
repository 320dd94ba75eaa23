"""Meetings: the blocks of one table that decide who of it is better, and the rule by which they end.

A bot's points in a match are the others that it is ahead of, and half of those that it ties with; here they are counted
in halves, so that everything is a whole number.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field

from arena.schedule.boards import Board
from arena.schedule.scheduler import Results
from arena.schedule.seeding import SeededScheduler
from arena.schedule.tables import Table

MAX_BLOCKS_FACTOR = 4
"""Most blocks of a meeting for each of its first ones, by default."""


class Meeting(NamedTuple):
    """What the bots of a table have scored against each other."""

    table: Table
    blocks: tuple[tuple[int, ...], ...] = ()
    """Half points by block and place in the table."""
    stages: int = 0
    """Stages that it has taken."""

    @property
    def totals(self) -> dict[int, int]:
        """Half points by entry."""
        return {entry: sum(block[place] for block in self.blocks) for place, entry in enumerate(self.table)}

    def shares(self) -> dict[int, Fraction]:
        """Return by entry the points as a share of the most there are, of which every table has a half on average."""
        whole = sum(map(sum, self.blocks))
        players = len(self.table)
        return {
            entry: Fraction(total * players, 2 * whole) if whole else Fraction(1, 2)
            for entry, total in self.totals.items()
        }

    def followed_by(self, more: Meeting) -> Meeting:
        """Return the meeting with the blocks of its next stage."""
        return Meeting(self.table, self.blocks + more.blocks, self.stages + 1)

    def order(self, seeds: Sequence[int], out: Collection[int] = ()) -> list[int]:
        """Return the entries by points, the best first; equal ones by seed, disqualified ones last."""
        totals = self.totals
        return sorted(self.table, key=lambda entry: (entry in out, -totals[entry], seeds.index(entry)))

    def lead(self, one: int, other: int) -> list[int]:
        """Return by block how many half points one bot has more than another one."""
        first, second = self.table.index(one), self.table.index(other)
        return [block[first] - block[second] for block in self.blocks]


def played_meetings(board: Board, results: Results) -> list[dict[Table, Meeting]]:
    """Return what was played on a board, by stage and table."""
    found: list[dict[Table, Meeting]] = [{} for _ in range(results.stage_count)]
    entries, ranks = results.entries, results.ranks
    if not len(entries):
        return found
    place = np.zeros(max(board.entries) + 1, np.int64)
    place[list(board.entries)] = np.arange(len(board.entries))
    by_key = np.argsort(place[entries], axis=1)
    units = 2 * (ranks[:, :, None] < ranks[:, None, :]).sum(axis=2) + (ranks[:, :, None] == ranks[:, None, :]).sum(
        axis=2
    )
    units = np.take_along_axis(units - 1, by_key, axis=1)
    first = np.flatnonzero(np.diff(results.blocks, prepend=-1))
    tables = np.take_along_axis(entries, by_key, axis=1)[first].tolist()
    blocks: dict[tuple[int, Table], list[tuple[int, ...]]] = {}
    for stage, table, of_block in zip(
        results.stages[first].tolist(), tables, np.add.reduceat(units, first).tolist(), strict=True
    ):
        blocks.setdefault((stage, tuple(table)), []).append(tuple(of_block))
    for (stage, of_table), made in blocks.items():
        found[stage][of_table] = Meeting(of_table, tuple(made), 1)
    return found


def as_table(board: Board, members: Collection[int]) -> Table:
    """Return a set of entries as a table of a board."""
    return tuple(entry for entry in board.entries if entry in members)


def out_after(results: Results, stage: int) -> set[int]:
    """Return the entries that are disqualified at the end of a stage, or before."""
    return {entry for entry, last in results.last_stages.items() if last <= stage}


def _as_number(value: object) -> object:
    return float(value) if type(value) is int else value


class MeetingScheduler(SeededScheduler, ABC):
    """A kind of schedule of meetings that go on until they are decided."""

    margin: Annotated[float, BeforeValidator(_as_number), Field(ge=0, le=10)] = 1.0
    """Standard errors of the difference by which a meeting has to be decided; 0 for any lead."""
    max_blocks: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Blocks after which points decide a meeting, and seeds where they are equal; by default four times `blocks`."""

    def most(self, board: Board) -> int:
        """Return the most blocks of a meeting."""
        return max(board.blocks, self.max_blocks or MAX_BLOCKS_FACTOR * board.blocks)

    def more(self, board: Board, meeting: Meeting) -> int:
        """Return the blocks of a meeting's next stage."""
        return min(board.blocks, self.most(board) - len(meeting.blocks))

    def is_decided(self, board: Board, meeting: Meeting, order: Sequence[int], best: int, out: Collection[int]) -> bool:
        """Return whether it is decided who are the `best` of a meeting, the first of its order."""
        count = len(meeting.blocks)
        if count >= self.most(board) or not {*out}.isdisjoint(meeting.table):
            return True
        leads = meeting.lead(order[best - 1], order[best])
        lead, squares = sum(leads), sum(each * each for each in leads)
        if lead <= 0 or (count < 2 and self.margin):
            return False
        return lead**2 * (count - 1) >= Fraction(self.margin) ** 2 * (count * squares - lead**2)


def points_text(meeting: Meeting, order: Sequence[int], labels: Sequence[str]) -> str:
    """Return the bots of a meeting with their points, in an order, as text."""
    totals = meeting.totals
    return ", ".join(f"{labels[entry]} {totals[entry] / 2:g}" for entry in order)
