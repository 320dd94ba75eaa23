"""Results of matches that were played elsewhere, as a schedule: who met whom is in the log alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Self

from arena.core.match_ids import DiceKind
from arena.schedule.blocks import Block, MatchSpec, Schedule
from arena.schedule.boards import Board
from arena.schedule.tables import Table

if TYPE_CHECKING:
    from arena.schedule.scheduler import Stage

FOREIGN_RESULTS_LABEL = "unverified foreign results"
"""What is said wherever such results are shown."""


def foreign_name(name: str) -> str:
    """Return the name of a game or bot as specs of foreign results have it, which no game or bot of ours has."""
    return f"{name}({FOREIGN_RESULTS_LABEL})"


def is_foreign_name(text: str) -> bool:
    """Return whether a game's or a bot's spec is one of foreign results."""
    return text.endswith(f"({FOREIGN_RESULTS_LABEL})")


@dataclass(frozen=True)
class ForeignSchedule(Schedule):
    """Boards of foreign results; `Board.blocks` is the number of matches, each of which is a block of the log.

    There are no tables, and nothing can be played. `Block.table` has the entries by seat. What statistics take for a
    block are the matches with the same `Block.id`.
    """

    is_foreign: ClassVar[bool] = True
    has_seats: bool = True
    """Whether seats are known; if not, seat numbers are arbitrary."""

    @classmethod
    def of(cls, schedule: Schedule, has_seats: bool) -> Self:
        """Return a schedule as one of foreign results."""
        return cls(**{each.name: getattr(schedule, each.name) for each in fields(Schedule)}, has_seats=has_seats)

    def lineups(self, board: Board) -> int:
        return 1

    def counts(self, index: int) -> tuple[int, ...]:
        return ()

    def budget(self, index: int) -> int:
        return self.boards[index].blocks

    @property
    def total_matches(self) -> int:
        return sum(board.blocks for board in self.boards)

    def seats(self, block: Block, lineup: int) -> Table:
        return block.table

    def matches(self, block: Block) -> list[MatchSpec]:
        return [MatchSpec(block, 0, block.table)]

    def blocks(self) -> Iterator[Block]:
        return iter(())

    def blocks_of(self, index: int, stage: Stage | None = None) -> Iterator[Block]:
        return iter(())

    def identities(self, index: int) -> Iterator[tuple[int, Table, bytes]]:
        return iter(())

    def dice_kinds(self, index: int | None = None) -> list[DiceKind]:
        return []

    def _tables(self, board: Board) -> tuple[Table, ...]:
        return ()
