"""Pyramid: one bot holds the top, and the others challenge it in turn (king of the hill)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.meetings import Meeting, MeetingRule, MeetingScheduler, as_table, folded, points_text
from arena.schedule.scheduler import ConfigHints, Results, StandingsTable
from arena.schedule.tables import Table

PASSES = 2
"""Challenges of each bot, by default: enough for the best to defeat all others."""
NOTE = (
    "Points are the others that a bot was ahead of, match by match, and half of those that it tied with. The first of "
    "a meeting holds the top; of two with equal points the one that holds it, or else the better seed."
)


class Challenge(NamedTuple):
    """A finished challenge."""

    holder: int
    meeting: Meeting
    winner: int
    order: tuple[int, ...]
    """Entries, the best first."""


class Hill:
    """A pyramid after some challenges: who holds the top, and who comes next."""

    def __init__(self, board: Board, rule: MeetingRule, seeds: Sequence[int]) -> None:
        """Begin with the best seed on top, and the others waiting, the best first."""
        self.board, self.rule, self.seeds = board, rule, tuple(seeds)
        self.holder = seeds[0]
        self.waiting = deque(seeds[1:])
        self.defeated: set[int] = set()
        """Entries that the holder has been ahead of since it holds the top."""
        self.done: list[Challenge] = []
        self.present = Meeting(self._next_table())

    def is_finished(self, most: int) -> bool:
        """Return whether the holder has defeated all others, or there were as many challenges as there may be."""
        few = len(self.waiting) < self.board.players - 1
        return few or len(self.done) >= most or self.defeated >= {*self.waiting}

    def take(self, played: Mapping[Table, Meeting], out: Collection[int]) -> None:
        """Take the next stage, given what was played in it and who is disqualified at its end."""
        self.present = self.present.followed_by(played.get(self.present.table, Meeting(self.present.table)))
        order = self.present.order([self.holder, *(entry for entry in self.seeds if entry != self.holder)], out)
        if self.rule.is_decided(self.present, order, 1, out):
            self._close(order, out)

    def _close(self, order: Sequence[int], out: Collection[int]) -> None:
        """End the present meeting and call the next challengers."""
        winner, others = order[0], order[1:]
        self.done.append(Challenge(self.holder, self.present, winner, tuple(order)))
        if winner != self.holder:
            self.defeated = set()
        self.holder = winner
        self.defeated |= {*others}
        rest = [entry for entry in self.waiting if entry not in others and entry != winner]
        self.waiting = deque(entry for entry in (*rest, *others) if entry not in out)
        if winner in out and self.waiting:
            self.holder, self.defeated = self.waiting.popleft(), set()
        self.defeated -= {*out}
        self.present = Meeting(self._next_table())

    def _next_table(self) -> Table:
        """Return the holder with the first that wait and have not been defeated by it, then others."""
        fresh = [entry for entry in self.waiting if entry not in self.defeated]
        again = [entry for entry in self.waiting if entry in self.defeated]
        return as_table(self.board, [self.holder, *[*fresh, *again][: self.board.players - 1]])


class Pyramid(MeetingScheduler):
    """Challengers meet the bot on top, and the best of a meeting holds it."""

    kind = "pyramid"
    purpose = "the best bot as well, one meeting at a time"
    hints: ClassVar[ConfigHints] = {"challenges": (20, "pyramid: meetings at most; it ends when all are defeated")}

    challenges: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Meetings at most; by default as many as let every bot challenge twice."""

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        return (Hill(board, self.rule(board), self.seeds(board)).present.table,)

    def next(self, board: Board, tables: Sequence[Table], results: Results) -> dict[Table, int]:
        hill = self.hill(board, results)
        if hill.is_finished(self._challenge_count(board)):
            return {}
        return {hill.present.table: hill.rule.more(hill.present)}

    def budget(self, board: Board, tables: Sequence[Table]) -> int:
        return self._challenge_count(board) * self.rule(board).most

    def standings(
        self, board: Board, tables: Sequence[Table], results: Results, labels: Sequence[str]
    ) -> Sequence[StandingsTable]:
        hill = self.hill(board, results)
        rows = tuple(
            (number, labels[each.holder], points_text(each.meeting, each.order, labels), labels[each.winner])
            for number, each in enumerate(hill.done, 1)
        )
        kept = Counter(each.winner for each in hill.done if each.winner == each.holder)
        took = Counter(each.winner for each in hill.done if each.winner != each.holder)
        on_top = [hill.holder, *(entry for entry in reversed([*took]) if entry != hill.holder)]
        stands = tuple((place, labels[entry], took[entry], kept[entry]) for place, entry in enumerate(on_top, 1))
        return (
            StandingsTable(f"Top of the pyramid: {labels[hill.holder]}", ("place", "bot", "taken", "held"), stands),
            StandingsTable("Challenges", ("challenge", "on top", "bots and points", "then on top"), rows, NOTE),
        )

    def hill(self, board: Board, results: Results) -> Hill:
        """Return the pyramid after complete stages."""
        return folded(board, results, lambda: Hill(board, self.rule(board), self.seeds(board)))

    def _challenge_count(self, board: Board) -> int:
        return self.challenges or PASSES * -(-(len(board.entries) - 1) // (board.players - 1))
