"""Meetings: the blocks of one table that decide who of it is better, and the rule by which they end.

A bot's points in a match are the others that it is ahead of, and half of those that it ties with; here they are counted
in halves, so that everything is a whole number.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple, Protocol, TypeVar, cast

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
        return Meeting(self.table, self.blocks + more.blocks)

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
    found: list[dict[Table, Meeting]] = results.kept.setdefault("meetings", [])
    since = int(np.searchsorted(results.stages, len(found)))
    blocks: list[dict[Table, list[tuple[int, ...]]]] = [{} for _ in range(len(found), results.stage_count)]
    entries, ranks = results.entries[since:], results.ranks[since:]
    if len(entries):
        place = np.zeros(max(board.entries) + 1, np.int64)
        place[list(board.entries)] = np.arange(len(board.entries))
        by_key = np.argsort(place[entries], axis=1)
        ahead, level = (compare(ranks[:, :, None], ranks[:, None, :]) for compare in (np.less, np.equal))
        units = np.take_along_axis(2 * ahead.sum(axis=2) + level.sum(axis=2) - 1, by_key, axis=1)
        first = np.flatnonzero(np.diff(results.blocks[since:], prepend=-1))
        tables = np.take_along_axis(entries, by_key, axis=1)[first].tolist()
        totals = np.add.reduceat(units, first).tolist()
        for stage, table, of_block in zip(results.stages[since:][first].tolist(), tables, totals, strict=True):
            blocks[stage - len(found)].setdefault(tuple(table), []).append(tuple(of_block))
    found += [{table: Meeting(table, tuple(made)) for table, made in each.items()} for each in blocks]
    return found


def as_table(board: Board, members: Collection[int]) -> Table:
    """Return a set of entries as a table of a board."""
    return tuple(entry for entry in board.entries if entry in members)


def out_after(results: Results, stage: int) -> set[int]:
    """Return the entries that are disqualified at the end of a stage, or before."""
    return {entry for entry, last in results.last_stages.items() if last <= stage}


class MeetingRule(NamedTuple):
    """When a meeting is decided."""

    blocks: int
    """Of each of its stages."""
    most: int
    """Blocks after which points decide, and seeds where they are equal."""
    margin: float
    """Standard errors of the difference between the last that goes on and the next, from which that is decided."""

    def more(self, meeting: Meeting) -> int:
        """Return the blocks of a meeting's next stage."""
        return min(self.blocks, self.most - len(meeting.blocks))

    def is_decided(self, meeting: Meeting, order: Sequence[int], best: int, out: Collection[int]) -> bool:
        """Return whether it is decided who are the `best` of a meeting, the first of its order."""
        count = len(meeting.blocks)
        if count >= self.most or not {*out}.isdisjoint(meeting.table):
            return True
        leads = meeting.lead(order[best - 1], order[best])
        lead, squares = sum(leads), sum(each * each for each in leads)
        if lead <= 0 or (count < 2 and self.margin):
            return False
        return lead**2 * (count - 1) >= Fraction(self.margin) ** 2 * (count * squares - lead**2)


class MeetingFold(Protocol):
    """What a kind of schedule makes of meetings, stage by stage."""

    def take(self, played: Mapping[Table, Meeting], out: Collection[int]) -> None:
        """Take the next stage, given what was played in it and who is disqualified at its end."""


Fold = TypeVar("Fold", bound=MeetingFold)


def folded(board: Board, results: Results, new: Callable[[], Fold]) -> Fold:
    """Return a fold after complete stages, of which it takes those that it has not taken before."""
    fold, done = results.kept.get("fold") or (new(), 0)
    played = played_meetings(board, results)
    for stage in range(done, results.stage_count):
        fold.take(played[stage], out_after(results, stage))
    results.kept["fold"] = fold, results.stage_count
    return cast(Fold, fold)


def _as_number(value: object) -> object:
    """Return whole numbers, and numbers in the text of a schedule, as they are meant."""
    is_number = type(value) is int or (isinstance(value, str) and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", value))
    return float(str(value)) if is_number else value


class MeetingScheduler(SeededScheduler, ABC):
    """A kind of schedule of meetings that go on until they are decided."""

    margin: Annotated[float, BeforeValidator(_as_number), Field(ge=0, le=10)] = 1.0
    """Standard errors of the difference by which a meeting has to be decided; 0 for any lead."""
    max_blocks: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Blocks after which points decide a meeting, and seeds where they are equal; by default four times `blocks`."""

    def rule(self, board: Board) -> MeetingRule:
        """Return when a meeting of a board is decided."""
        most = max(board.blocks, self.max_blocks or MAX_BLOCKS_FACTOR * board.blocks)
        return MeetingRule(board.blocks, most, self.margin)


def points_text(meeting: Meeting, order: Sequence[int], labels: Sequence[str]) -> str:
    """Return the bots of a meeting with their points, in an order, as text."""
    totals = meeting.totals
    return ", ".join(f"{labels[entry]} {totals[entry] / 2:g}" for entry in order)
