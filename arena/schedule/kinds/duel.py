"""Duel: two bots take turns in one seat, against the same others, with the same dice and opening.

From round to round the seat moves on around the table; after each turn around it the others change. After as many
rounds as players the two have been in every seat, and after as many turns as fillers each filler has been everywhere
equally often.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from arena.core.models import as_tuple
from arena.schedule.boards import Board, Entry
from arena.schedule.scheduler import Scheduler
from arena.schedule.tables import Table


class Duel(Scheduler):
    """Two bots who take turns in one seat; `arena compare` makes it, for more than two players."""

    kind = "duel"
    configurable = False

    bots: Annotated[tuple[str, str], BeforeValidator(as_tuple)]
    """Labels of the two, ordered by key."""
    fillers: Annotated[tuple[str, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    """Labels of the bots in the other seats, ordered by key; the two may be among them."""

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        labels = [entry.label for entry in entries]
        if missing := {*self.bots, *self.fillers} - {*labels}:
            raise ValueError(f"duel: there is no bot {min(missing)}")
        if any({*self.bots} - {labels[entry] for entry in board.entries} for board in boards):
            raise ValueError("duel: its two bots have to play on every board")
        return self

    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        labels = [entry.label for entry in entries]
        return (tuple(labels.index(label) for label in (*self.bots, *self.fillers)),)

    def takes_turns(self, players: int) -> bool:
        return True

    def base_order(self, players: int, table: Table, number: int) -> Table:
        """Return the two, then the others seat by seat from theirs on."""
        fillers = table[2:]
        turn, start = divmod(number // players, len(fillers))
        far = _distances(len(fillers), players - 1)
        distance = far[turn % len(far)]
        behind = [(start + place * distance) % len(fillers) for place in range(players - 1)]
        return (*table[:2], *[fillers[place] for place in behind])

    def block_name(self, number: int, keys: Sequence[str]) -> list[Any]:
        return [number, ["duel", *keys[:2]]]

    def places(self, players: int, permutations: bool) -> list[list[Table]]:
        return _places(players)


@functools.cache
def _places(players: int) -> list[list[Table]]:
    """Return which place of the round's table sits in each seat, by the seat of the two, and line-up."""
    return [
        [tuple(turn if other == seat else behind[other] for other in range(players)) for turn in range(2)]
        for seat in range(players)
        for behind in [[2 + (other - seat - 1) % players for other in range(players)]]
    ]


@functools.cache
def _distances(fillers: int, seats: int) -> list[int]:
    """Return distances in the list for neighbours at the table that repeat no filler more than needed."""
    return [far for far in range(1, fillers + 1) if fillers // math.gcd(fillers, far) >= min(fillers, seats)]
