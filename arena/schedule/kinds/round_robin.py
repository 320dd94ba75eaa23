"""Round robin: every set of bots is a table, or a balanced choice of them where there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import Scheduler
from arena.schedule.tables import Table, choose_tables


class RoundRobin(Scheduler):
    """All sets of bots."""

    kind = "round_robin"
    purpose = "all ratings, and how each bot does against each"

    max_tables: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """With more sets of bots than this on a board, a balanced sample of them is played."""

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        chosen = choose_tables(len(board.entries), board.players, self.max_tables)
        return tuple(tuple(board.entries[i] for i in table) for table in chosen)
