"""Knockout: the best of each meeting go on, the others are out, at once or after a second defeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.brackets import Bracket, BracketMeeting, BracketRules, most_meetings
from arena.schedule.meetings import MeetingScheduler, folded, points_text
from arena.schedule.scheduler import ConfigHints, Results, StandingsTable
from arena.schedule.tables import Table

NOTE = "Points are the others that a bot was ahead of, match by match, and half of those that it tied with."


class Knockout(MeetingScheduler):
    """Rounds of meetings, of which the best go on, until one bot is left."""

    kind = "knockout"
    purpose = "the best bot, in half the matches of a round robin"
    hints: ClassVar[ConfigHints] = {
        "elimination": ("double", "knockout: out after one defeat (`single`) or two"),
        "advance": (1, "knockout: bots of a table that go on; by default half of it"),
    }

    elimination: Literal["single", "double"] = "single"
    """Whether a bot is out after its first defeat or its second."""
    advance: Annotated[int, Field(ge=1, le=100)] | None = None
    """Bots of a table that go on; by default half of it, rounded down."""

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        fewest = min(board.players for board in boards)
        if self.advance is not None and self.advance >= fewest:
            raise ValueError(f"advance = {self.advance}: must be less than the players of a table, {fewest} on a board")
        return self

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        return tuple(each.meeting.table for each in self._new_bracket(board).present)

    def next(self, board: Board, tables: Sequence[Table], results: Results) -> dict[Table, int]:
        return self.bracket(board, results).next_blocks()

    def budget(self, board: Board, tables: Sequence[Table]) -> int:
        return most_meetings(len(board.entries), self._rules(board)) * self.rule(board).most

    def standings(
        self, board: Board, tables: Sequence[Table], results: Results, labels: Sequence[str]
    ) -> Sequence[StandingsTable]:
        bracket = self.bracket(board, results)
        rows = tuple(_row(each, bracket, labels) for each in bracket.meetings)
        columns = ("round", "meeting", "bots and points", "go on", "blocks")
        title = "Bracket" if bracket.winner is None else f"Bracket, won by {labels[bracket.winner]}"
        return (StandingsTable(title, columns, rows, NOTE),)

    def bracket(self, board: Board, results: Results) -> Bracket:
        """Return the bracket after complete stages."""
        return folded(board, results, lambda: self._new_bracket(board))

    def _new_bracket(self, board: Board) -> Bracket:
        return Bracket(self._rules(board), self.rule(board), self.seeds(board), board.entries)

    def _rules(self, board: Board) -> BracketRules:
        lives = 1 if self.elimination == "single" else 2
        return BracketRules(board.players, lives, self.advance or board.players // 2)


def _row(each: BracketMeeting, bracket: Bracket, labels: Sequence[str]) -> tuple[str | int, ...]:
    order = each.order or each.meeting.order([*bracket.seeds])
    going_on = [labels[entry] for entry in each.order[: each.best]]
    bots = points_text(each.meeting, order, labels)
    return each.round + 1, each.name, bots, ", ".join(going_on), len(each.meeting.blocks)
