"""Gauntlet: one bot, the challenger, sits at every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field

from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import ConfigHints, Scheduler
from arena.schedule.tables import Table, choose_tables
from engine.errors import did_you_mean


class Gauntlet(Scheduler):
    """All sets of bots with the `challenger`."""

    kind = "gauntlet"
    purpose = "one bot against all others"
    hints: ClassVar[ConfigHints] = {"challenger": ("greedy", "gauntlet: the bot in every table; by default the first")}

    challenger: str | None = None
    """Label or spec of the gauntlet's one bot; by default the first one."""
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """With more sets of bots than this on a board, a balanced sample of them is played."""

    def describe(self) -> str:
        return f"gauntlet of {self.challenger}"

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        labels, specs = [entry.label for entry in entries], [entry.spec for entry in entries]
        name = labels[0] if self.challenger is None else self.challenger
        if name not in labels and specs.count(name) != 1:
            why = f"{specs.count(name)} bots have that spec" if name in specs else "no bot has that label"
            raise ValueError(f"challenger = '{name}': {why}{did_you_mean(name, labels)}")
        number = labels.index(name) if name in labels else specs.index(name)
        for board in boards:
            if number not in board.entries:
                raise ValueError(f"challenger = '{name}' does not play {board.title}")
        return self.model_copy(update={"challenger": labels[number]})

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        challenger = [entry.label for entry in entries].index(str(self.challenger))
        others = [entry for entry in board.entries if entry != challenger]
        chosen = choose_tables(len(others), board.players - 1, self.max_tables)
        order = {entry: place for place, entry in enumerate(board.entries)}
        return tuple(
            tuple(sorted((challenger, *(others[i] for i in table)), key=order.__getitem__)) for table in chosen
        )
