"""The ladder of a contest: every round has a plan of its own, which holds the blocks that each table has had so far.

`arena.schedule.ladder_rounds` decides a round from the one before. To all who read it the plan of a round is like any
other: a bot that has left is not in it, and its matches stay in the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field

from arena.core.models import Model, as_tuple
from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import Scheduler
from arena.schedule.tables import Table

LABEL_SEPARATOR = " "
"""Between the labels of a table; no bot of a ladder has it in its label."""
Labels = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]


class LadderRules(Model):
    """How the rounds of a ladder are decided."""

    mode: Literal["ladder", "nightly"] = "ladder"
    """Blocks where ranks are least certain, or as many for every table."""
    placement: Annotated[int, Field(ge=1, le=1000)] = 10
    """Blocks on a board that a new bot plays before others get more than the floor."""
    floor: Annotated[int, Field(ge=0, le=100)] = 1
    """Blocks of every bot on a board in a round."""
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Blocks of a board in a round, more only where the floor needs them; by default as many as bots."""
    max_blocks: Annotated[int, Field(ge=1, le=10_000_000)] = 1000
    """Blocks of a bot on a board from which it is settled; where all bots are, the ladder rests."""
    nightly_blocks: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Blocks of every table in a nightly round."""
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """With more sets of bots than this on a board, a balanced choice of them plays a nightly round."""
    forfeit_limit: Annotated[int, Field(ge=0, le=10_000_000)] = 10
    """Forfeits on a board from which a bot is suspended, if they are a tenth of its matches; 0 for never."""


class LadderBoard(Model):
    """What the tables of a board have been given up to a round."""

    game: str
    players: int
    tables: Mapping[str, Annotated[int, Field(ge=1, le=10_000_000)]]
    """Blocks by table: the labels of its bots, in order, with a space between them."""


class Ladder(Scheduler):
    """The rounds of a contest up to one of them; a contest makes it."""

    kind = "ladder"
    configurable = False
    has_rounds = True
    has_events = True

    round: Annotated[int, Field(ge=0, le=10_000_000)]
    """Number of the round, from 1; 0 before the first."""
    rules: LadderRules
    boards: Annotated[tuple[LadderBoard, ...], BeforeValidator(as_tuple)]
    """By board of the plan."""
    suspended: Labels = ()
    """Bots that have forfeited too often: they play no more, and their results stay."""
    retired: Labels = ()
    """Bots that play no more, and whose results stay."""

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        if [(board.game, board.players) for board in self.boards] != [(each.game, each.players) for each in boards]:
            raise ValueError("ladder: its boards are not those of the plan")
        known = {entry.label for entry in entries}
        if missing := {*self.suspended, *self.retired} - known:
            raise ValueError(f"ladder: there is no bot {min(missing)}")
        for of_ladder, board in zip(self.boards, boards, strict=True):
            here = {entries[place].label for place in board.entries}
            for table in of_ladder.tables:
                labels = table.split(LABEL_SEPARATOR)
                if len(labels) != board.players or labels != sorted({*labels}) or not here.issuperset(labels):
                    raise ValueError(f"ladder: {table!r} is no table of {board.title}")
        return self

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        place = {entries[entry].label: (number, entry) for number, entry in enumerate(board.entries)}
        tables = (sorted(place[label] for label in table.split(LABEL_SEPARATOR)) for table in self._of(board))
        return tuple(tuple(entry for _, entry in table) for table in tables)

    def start(self, board: Board, tables: Sequence[Table]) -> Sequence[int]:
        found = self._of(board)
        return tuple(found[table] for table in found)

    def _of(self, board: Board) -> dict[str, int]:
        """Return the tables of a board, in order, with their blocks."""
        of_ladder = next(each for each in self.boards if (each.game, each.players) == (board.game, board.players))
        return dict(sorted(of_ladder.tables.items()))
