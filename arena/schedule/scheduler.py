"""What the arena asks of a kind of schedule: which tables there are, and how many blocks each of them plays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from arena.core.models import Model
from arena.schedule.boards import Board, Entry
from arena.schedule.seatings import base_orders, seat_places
from arena.schedule.tables import Table
from engine.errors import one_line

ConfigHints = Mapping[str, tuple[Any, str]]
"""By key: a value for example, and what the key means."""


class Stage(NamedTuple):
    """Progress of a board whose blocks depend on results, which follows from the log."""

    counts: tuple[int, ...]
    """Blocks given out, by table."""
    done: tuple[int, ...]
    """Blocks given out before this stage, all in the log; equal to `counts` when nothing is left to play."""
    disqualified: tuple[tuple[int, int], ...] | None
    """Disqualified entries with the last rounds that they play; None in the first stage, where rounds decide."""
    tables: tuple[Table, ...] | None = None
    """The tables so far, in the order in which they were found, where results decide which there are."""


@dataclass(frozen=True)
class StandingsTable:
    """A table that a kind of schedule shows of a board: a bracket, or how bots stand."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    note: str = ""
    """What its columns mean."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that hold more than numbers."""
        return tuple(
            name
            for number, name in enumerate(self.columns)
            if not all(str(row[number]).replace(".", "", 1).isdigit() for row in self.rows)
        )

    def printable(self) -> StandingsTable:
        """Return it with every text on one line."""
        rows = tuple(tuple(one_line(cell) if isinstance(cell, str) else cell for cell in row) for row in self.rows)
        return replace(self, title=one_line(self.title), rows=rows)


class Results(Protocol):
    """All results of a board's complete stages, in the order of the plan."""

    @property
    def counts(self) -> Sequence[int]:
        """Blocks by table."""

    @property
    def out(self) -> Mapping[int, int]:
        """Disqualified entries with the last rounds that they played."""

    @property
    def last_stages(self) -> Mapping[int, int]:
        """Disqualified entries with the stages, from 0, at whose end they were disqualified."""

    @property
    def stage_count(self) -> int:
        """Stages so far."""

    @property
    def entries(self) -> np.ndarray:
        """(matches, seats) entries."""

    @property
    def ranks(self) -> np.ndarray:
        """(matches, seats) ranks from 0, the best."""

    @property
    def forfeited(self) -> np.ndarray:
        """(matches, seats) whether a seat forfeited."""

    @property
    def blocks(self) -> np.ndarray:
        """(matches,) numbers of blocks, from 0; the matches of a block lie together."""

    @property
    def stages(self) -> np.ndarray:
        """(matches,) numbers of stages, from 0, in order."""

    @property
    def kept(self) -> dict[str, Any]:
        """What the kind of schedule keeps of these stages, so that it need not read them again with the next ones."""


class Scheduler(Model, ABC):
    """A kind of schedule. Its fields are its keys in a configuration and in the plan.

    A board's blocks are a number for each of its tables: round 0, 1, ... of that table. They are given out in stages:
    `start` has those of the first one, `next` those up to the end of the following one. Both are pure functions of
    what they are given; whatever else they depend on, time, order or a generator of their own, breaks the promise that
    results follow from the plan. A kind without `next` gives everything at once, and its results are never read.
    """

    kind: ClassVar[str]
    """Its name in configurations."""
    version: ClassVar[int] = 1
    """Raised when the same fields give other blocks, so that older logs are refused, not misread."""
    configurable: ClassVar[bool] = True
    """Whether configurations may name it."""
    hints: ClassVar[ConfigHints] = {}
    """Of the keys that `arena init` writes commented out."""
    finds_tables: ClassVar[bool] = False
    """Whether results decide which tables there are: `tables` has those of the first stage, `next` adds others."""
    purpose: ClassVar[str] = ""
    """What it is chosen for, in a few words, as `arena init` advises."""
    has_rounds: ClassVar[bool] = False
    """Whether the plan changes from round to round, each of which follows from the one before."""
    has_events: ClassVar[bool] = False
    """Whether rounds are bound to events: bots that join and leave."""

    @property
    def has_stages(self) -> bool:
        """Whether its blocks depend on results."""
        return type(self).next is not Scheduler.next

    @property
    def has_standings(self) -> bool:
        """Whether it shows standings of its own."""
        return type(self).standings is not Scheduler.standings

    @property
    def has_usual_orders(self) -> bool:
        """Whether base orders and names of blocks are those of most kinds, which the schedule makes many of at once."""
        usual, own = (Scheduler.base_order, Scheduler.block_name), type(self)
        return (own.base_order, own.block_name) == usual

    def describe(self) -> str:
        """Return what a report calls it."""
        return self.kind.replace("_", " ")

    def resolved(self, entries: Sequence[Entry], boards: Sequence[Board]) -> Self:
        """Return the same schedule with names of bots as labels; raises `ValueError` that names a key and its value.

        What it returns, it returns again when it is asked: plans hold it so.
        """
        return self

    @abstractmethod
    def tables(self, board: Board, entries: Sequence[Entry]) -> Sequence[Table]:
        """Return every table that a board may have, as numbers of entries in the order of `board.entries`.

        A kind that `finds_tables` returns those of the first stage alone.
        """

    def start(self, board: Board, tables: Sequence[Table]) -> Sequence[int]:
        """Return the blocks of the first stage, by table; by default as many for each as the plan has."""
        return (board.blocks,) * len(tables)

    def next(self, board: Board, tables: Sequence[Table], results: Results) -> Sequence[int] | Mapping[Table, int]:
        """Return the blocks up to the end of the next stage, by table: `results.counts` when nothing is left to play.

        A kind that `finds_tables` returns the blocks that the next stage adds, by table, new tables among them; none
        when nothing is left to play. A table with a disqualified bot plays no more, whatever is returned for it.
        """
        return results.counts

    def budget(self, board: Board, tables: Sequence[Table]) -> int:
        """Return the blocks that the board will have if nobody is disqualified; stages may not give out more."""
        return sum(self.start(board, tables))

    def with_seed(self, seed: int) -> Self:
        """Return the same schedule with the tournament's seed, for a kind that draws lots."""
        return self

    def standings(
        self, board: Board, tables: Sequence[Table], results: Results, labels: Sequence[str]
    ) -> Sequence[StandingsTable]:
        """Return what is shown of a board beside its leaderboard, as of complete stages; `labels` are by entry."""
        return ()

    # Seats

    def takes_turns(self, players: int) -> bool:
        """Return whether the first two entries of the one table take turns in a seat, in which alone they are compared.

        It may depend on the number of players.
        """
        return False

    def base_order(self, players: int, table: Table, number: int) -> Table:
        """Return the entries of a table in a round in the order that line-ups are told from."""
        orders = base_orders(players)
        return orders[number % len(orders)](table)

    def block_name(self, number: int, keys: Sequence[str]) -> list[Any]:
        """Return what tells the block of a table in a round from others of its board, given its entries' keys."""
        return [number, *keys]

    def places(self, players: int, permutations: bool) -> list[list[Table]]:
        """Return which place of the base order sits in each seat, by round (as many as differ) and line-up."""
        return [seat_places(players, permutations)]
