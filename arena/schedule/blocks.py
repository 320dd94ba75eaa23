"""Blocks and matches of a plan: which bots sit where, with which dice. Pure, lazy, in one fixed order.

The unit is the block: a table (a set of bots) in one round, with all its line-ups, which share the opening and, unless
a bot sits there that is not trusted, the dice. A block's id depends on the tournament's seed, the board and the bots'
names alone, never on a position in a list, so that adding bots or blocks leaves every other block as it was.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.core.limits import Limits
from arena.core.match_ids import Kind, match_id, stream_ids
from arena.schedule.duels import Duel, duel_places
from arena.schedule.identities import BoardIds
from arena.schedule.seatings import Order, base_orders, duel_orders, seat_orders, seat_places
from arena.schedule.tables import Table, choose_tables


@dataclass(frozen=True)
class Entry:
    """A contestant of the plan."""

    label: str
    """Its name on the boards."""
    key: str
    """Its name in block ids: the canonical spec, `spec#label` where one spec enters more than once."""
    spec: str
    identity: str
    """`name@hash` over resolved parameters and source."""
    trusted: bool = True
    """Whether blocks in which it sits may have public dice, as `arena.plan.resolve.ResolvedBot.trusted` says."""


@dataclass(frozen=True)
class Board:
    """One game at one number of players, and everything that its matches share."""

    game: str
    """Canonical spec."""
    params: str
    """All options, defaults spelled out, as JSON."""
    players: int
    rules_version: int
    entries: tuple[int, ...]
    """Indexes of the entries that play here, ordered by key."""
    blocks: int
    opening: int
    """Random opening plies."""
    first_blocks: int = 0
    """Blocks that every table plays before `plan.adaptive` gives out the rest; 0: all tables play all `blocks`."""

    @property
    def title(self) -> str:
        return f"{self.game}, {self.players} players"

    @property
    def slug(self) -> str:
        """For file names."""
        clean = "".join(c if c.isalnum() or c in "_+-" else "." if c == "=" else "-" for c in self.game).strip("-")
        return f"{clean}_{self.players}p"


class Stage(NamedTuple):
    """How far an adaptive board has come; `arena.plan.adaptive` finds it from the log."""

    counts: tuple[int, ...]
    """Blocks by table, as many as have been given out."""
    done: tuple[int, ...]
    """The same before this stage, all of them in the log; equal to `counts` when nothing is left to be played."""
    disqualified: tuple[tuple[int, int], ...] | None
    """Entries with the last rounds that they play; None in the first stage, where rounds decide."""


class Block(NamedTuple):
    """One table in one round; `seats(lineup)` says who sits where."""

    board: int
    round: int
    table: Table
    """Entries in the round's base order."""
    id: bytes
    """16 bytes: what the dice are drawn from."""
    identity: bytes
    """16 bytes over everything that decides the block's results; matches are known by it and their line-up."""
    dice: Kind = Kind.PUBLIC
    key: str = ""
    """Hash of the secret key that its dice are drawn with; empty for public ones."""


class MatchSpec(NamedTuple):
    """One match of a block: entries by seat."""

    block: Block
    lineup: int
    seats: Table

    @property
    def id(self) -> str:
        """What the log and the commands call the match."""
        return match_id(self.block.identity, self.lineup)

    @property
    def stream_ids(self) -> tuple[bytes, ...]:
        """What its random streams begin with."""
        return stream_ids(self.block.dice, self.block.id, self.block.identity, self.lineup)


@dataclass(frozen=True)
class Schedule:
    """All blocks of a plan, lazily."""

    seed: int
    entries: tuple[Entry, ...]
    boards: tuple[Board, ...]
    permutations: bool
    max_tables: int
    challenger: int | None
    limits: Limits
    keys: tuple[str, ...] = ()
    """Hashes of the secret keys that blocks may have been drawn with; the last one is drawn with from now on."""
    secret_dice: Kind = Kind.SECRET
    """Of the blocks in which a bot sits that is not trusted; all others have public dice."""
    count_matches: Callable[[bytes], int] | None = field(default=None, compare=False, repr=False)
    """How many matches of a block a log holds; needed where there are several keys."""
    forfeit_limit: int = 0
    """Forfeits on a board from which a bot may be benched there, as `arena.plan.disqualification` says; 0: never."""
    duel: Duel | None = None
    """Instead of tables in every rotation: two bots that take turns in one seat, a block a round."""
    stages: tuple[Stage | None, ...] = ()
    """By board, of adaptive ones; empty until they are known."""

    def stage(self, index: int) -> Stage | None:
        """How far an adaptive board has come, as far as it is known; None for others."""
        return self.stages[index] if self.stages else None

    def counts(self, index: int) -> Sequence[int]:
        """Blocks of each of a board's tables; raises `ValueError` for an adaptive board whose stage is not known."""
        stage = self.stage(index)
        if stage is not None:
            return stage.counts
        if self.boards[index].first_blocks:
            raise ValueError(
                "an adaptive board's blocks follow from its log: arena.plan.adaptive.with_stages finds them"
            )
        return (self.boards[index].blocks,) * len(self.tables[index])

    def budget(self, index: int) -> int:
        """Matches that a board has in all: `blocks` for each table on average."""
        board = self.boards[index]
        return board.blocks * len(self.tables[index]) * self.lineups(board)

    def lineups(self, board: Board) -> int:
        """Matches in one block."""
        if self.duel is not None:
            return 2
        return math.factorial(board.players) if self.permutations else board.players

    def seats(self, block: Block, lineup: int) -> Table:
        """The entries by seat."""
        return self._orders(block)[lineup](block.table)

    def _orders(self, block: Block) -> list[Order]:
        """By line-up: from a block's table to the entries by seat."""
        players = self.boards[block.board].players
        if self.duel is not None:
            return duel_orders(players, block.round % players)
        return seat_orders(players, self.permutations)

    def places(self, players: int) -> list[list[Table]]:
        """By round, from 0 to where they begin again, and line-up: which place of a block's table sits in each seat."""
        if self.duel is not None:
            return [list(duel_places(players, seat)) for seat in range(players)]
        return [seat_places(players, self.permutations)]

    @functools.cached_property
    def tables(self) -> tuple[tuple[Table, ...], ...]:
        """The tables of every board, entries ordered by key."""
        return tuple(self._tables(board) for board in self.boards)

    def _tables(self, board: Board) -> tuple[Table, ...]:
        if self.duel is not None:
            return ((self.duel.first, self.duel.second, *self.duel.fillers),)
        if self.challenger is None:
            chosen = choose_tables(len(board.entries), board.players, self.max_tables)
            return tuple(tuple(board.entries[i] for i in table) for table in chosen)
        others = [entry for entry in board.entries if entry != self.challenger]
        chosen = choose_tables(len(others), board.players - 1, self.max_tables)
        order = {entry: place for place, entry in enumerate(board.entries)}
        return tuple(
            tuple(sorted((self.challenger, *(others[i] for i in table)), key=order.__getitem__)) for table in chosen
        )

    @property
    def total_matches(self) -> int:
        """Matches in the whole plan; those given out so far once the stages of adaptive boards are known."""
        if not self.stages:
            return sum(map(self.budget, range(len(self.boards))))
        return sum(sum(self.counts(index)) * self.lineups(board) for index, board in enumerate(self.boards))

    def blocks(self) -> Iterator[Block]:
        """Every block, in fold order: round by round, board by board, table by table."""
        counts = [self.counts(index) for index in range(len(self.boards))]
        most = [max(each, default=0) for each in counts]
        for number in range(max(most, default=0)):
            for index, tables in enumerate(self.tables):
                if number < most[index]:
                    for table, count in zip(tables, counts[index], strict=True):
                        if number < count:
                            yield self.block(index, number, table)

    def blocks_of(self, index: int, stage: Stage | None = None) -> Iterator[Block]:
        """A board's blocks, in fold order; all of them, or those that one stage has given out."""
        tables = self.tables[index]
        counts, done = (self.counts(index), (0,) * len(tables)) if stage is None else stage[:2]
        ranges = [*zip(tables, done, counts, strict=True)]
        for number in range(min(done, default=0), max(counts, default=0)):
            for table, since, count in ranges:
                if since <= number < count:
                    yield self.block(index, number, table)

    def block(self, index: int, number: int, table: Table) -> Block:
        """The block of a board's table (entries ordered by key) in one round.

        Of several keys it has the first with which the log holds it whole, else the latest one.
        """
        entries, players, ids = self.entries, self.boards[index].players, self._ids[index]
        if self.duel is not None:
            order = self.duel.table(players, number)
            id = ids.duel_id(number, *[entries[entry].key for entry in self.duel[:2]])
        else:
            orders = base_orders(players)
            order = orders[number % len(orders)](table)
            id = ids.id(number, [entries[entry].key for entry in table])
        bots = [entries[entry].identity for entry in order]
        if self._guests.isdisjoint(order):
            return Block(index, number, order, id, ids.identity(None, id, bots))
        *older, latest = self.keys or ("",)
        for key in older:
            identity = ids.identity(key, id, bots)
            if self.count_matches and self.count_matches(identity) == self.lineups(self.boards[index]):
                return Block(index, number, order, id, identity, self.secret_dice, key)
        return Block(index, number, order, id, ids.identity(latest, id, bots), self.secret_dice, latest)

    @functools.cached_property
    def _guests(self) -> frozenset[int]:
        """Entries that are not trusted."""
        return frozenset(number for number, entry in enumerate(self.entries) if not entry.trusted)

    @property
    def has_secret_dice(self) -> bool:
        """Whether the dice of any block are drawn with a secret key."""
        return any(not self._guests.isdisjoint(board.entries) for board in self.boards)

    def dice_of(self, index: int) -> list[Kind]:
        """The kinds of dice of a board's tables."""
        kinds = {not self._guests.isdisjoint(table) for table in self.tables[index]}
        return [self.secret_dice if guarded else Kind.PUBLIC for guarded in sorted(kinds)]

    @functools.cached_property
    def _ids(self) -> list[BoardIds]:
        return [
            BoardIds.of(
                seed=self.seed,
                game=board.game,
                params=board.params,
                players=board.players,
                rules_version=board.rules_version,
                opening=board.opening,
                limits=self.limits,
                permutations=self.permutations,
                kind=self.secret_dice,
                keys=self.keys or ("",),
            )
            for board in self.boards
        ]

    def matches(self, block: Block) -> list[MatchSpec]:
        """The matches of a block, by line-up."""
        return [MatchSpec(block, lineup, order(block.table)) for lineup, order in enumerate(self._orders(block))]
