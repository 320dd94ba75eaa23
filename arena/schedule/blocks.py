"""Blocks and matches of a plan: which bots sit where, with which dice. Pure, lazy, in one fixed order.

The unit is the block: a table (a set of bots) in one round, with all its line-ups, which share the opening and, unless
a bot sits there that is not trusted, the dice. A block's id depends on the tournament's seed, the board and the bots'
names alone, never on a position in a list, so that adding bots or blocks leaves every other block as it was.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from arena.core.limits import Limits
from arena.core.match_ids import DiceKind, match_id, stream_ids
from arena.schedule.block_ids import BlockHashers, digest, redrawn_identity
from arena.schedule.boards import Board, Entry
from arena.schedule.comparisons import ComparisonPlan
from arena.schedule.seatings import Order, base_orders
from arena.schedule.tables import Table

if TYPE_CHECKING:  # the kinds of schedule are models, and workers, which have no use for them, load no Pydantic
    from arena.schedule.scheduler import Scheduler, Stage


class Block(NamedTuple):
    """One table in one round, with all its line-ups."""

    board: int
    round: int
    table: Table
    """Entries in the round's base order."""
    id: bytes
    """16 bytes that common dice are drawn from."""
    identity: bytes
    """16 bytes over everything that decides the block's results; identity and line-up name a match."""
    dice: DiceKind = DiceKind.PUBLIC
    key: str = ""
    """Hash of the secret key of its dice; empty for public ones."""


class MatchSpec(NamedTuple):
    """One match of a block: entries by seat."""

    block: Block
    lineup: int
    seats: Table

    @property
    def id(self) -> str:
        """Name of the match in logs and commands."""
        return match_id(self.block.identity, self.lineup)

    @property
    def stream_ids(self) -> tuple[bytes, ...]:
        """Ids that its random streams are drawn from."""
        return stream_ids(self.block.dice, self.block.id, self.block.identity, self.lineup)


@dataclass(frozen=True)
class Schedule:
    """All blocks of a plan, made as they are asked for."""

    is_foreign: ClassVar[bool] = False
    """Whether the results come from elsewhere (`arena.schedule.foreign`)."""
    seed: int
    entries: tuple[Entry, ...]
    boards: tuple[Board, ...]
    permutations: bool
    """Whether a block has every order of its table; else each seat once for every bot."""
    scheduler: Scheduler
    """Which tables there are, and how many blocks each of them plays."""
    limits: Limits
    keys: tuple[str, ...] = ()
    """Hashes of the secret keys that blocks may have been drawn with; the last one is in use."""
    secret_dice: DiceKind = DiceKind.SECRET
    """Kind of the dice of blocks with a bot that is not trusted; all others have public dice."""
    complete: frozenset[bytes] = field(default=frozenset(), compare=False, repr=False)
    """Identities of the blocks that the log holds complete with a key before the last one, and that keep it."""
    redrawn: frozenset[bytes] = field(default=frozenset(), compare=False, repr=False)
    """Identities of blocks that did not count when their key was disclosed, and are drawn anew with the next one."""
    forfeit_limit: int = 0
    """Forfeits on a board from which a bot may be disqualified there; 0 for never."""
    comparison: ComparisonPlan | None = None
    """What is asked of a comparison, which has one board; None for tournaments."""
    stages: tuple[Stage | None, ...] = ()
    """Progress of boards whose blocks depend on results, by board; empty until it is known."""

    def stage(self, index: int) -> Stage | None:
        """Return the progress of a board whose blocks depend on results; None for others, and where it is not known."""
        return self.stages[index] if self.stages else None

    def counts(self, index: int) -> Sequence[int]:
        """Return the blocks of each table of a board; raises `ValueError` where stages are needed and not known."""
        stage = self.stage(index)
        if stage is not None:
            return stage.counts
        if self.scheduler.has_stages:
            raise ValueError("these blocks follow from the log: arena.tournament.stages.with_stages finds them")
        return self.start(index)

    def start(self, index: int) -> Sequence[int]:
        """Return the blocks of each table of a board in the first stage, which of most kinds is the only one."""
        board, tables = self.boards[index], self.tables[index]
        if not self.scheduler.finds_tables:
            return self.scheduler.start(board, tables)
        first = self._tables(board)
        return (*self.scheduler.start(board, first), *(0,) * (len(tables) - len(first)))

    def budget(self, index: int) -> int:
        """Return the matches of a whole board if nobody is disqualified."""
        board = self.boards[index]
        return self.scheduler.budget(board, self.tables[index]) * self.lineups(board)

    def lineups(self, board: Board) -> int:
        """Return the number of matches in a block."""
        return len(self.places(board.players)[0])

    def seats(self, block: Block, lineup: int) -> Table:
        """Return the entries by seat."""
        return _by_round(self._orders[block.board], block.round)[lineup](block.table)

    @functools.cached_property
    def _orders(self) -> list[list[list[Order]]]:
        """Functions from a block's table to entries by seat: by board, round (as many as differ) and line-up."""
        return [
            [[itemgetter(*each) for each in lineups] for lineups in self.places(board.players)] for board in self.boards
        ]

    def places(self, players: int) -> list[list[Table]]:
        """Return which place of a block's table sits in each seat, by round (as many as differ) and line-up."""
        return self.scheduler.places(players, self.permutations)

    def compared_pair(self, index: int) -> tuple[int, ...] | None:
        """Return the two who take turns in one seat of a board, in which alone they are compared; None elsewhere."""
        return self.tables[index][0][:2] if self.takes_turns(index) else None

    def fillers(self, index: int) -> tuple[int, ...]:
        """Return the entries that fill the other seats where two take turns in one."""
        return self.tables[index][0][2:] if self.takes_turns(index) else ()

    def takes_turns(self, index: int) -> bool:
        """Return whether two take turns in one seat of a board."""
        return self.scheduler.takes_turns(self.boards[index].players)

    @functools.cached_property
    def tables(self) -> tuple[tuple[Table, ...], ...]:
        """Tables by board as far as they are known, their entries ordered by key."""
        stages = self.stages or (None,) * len(self.boards)
        return tuple(
            self._tables(board) if stage is None or stage.tables is None else stage.tables
            for board, stage in zip(self.boards, stages, strict=True)
        )

    def _tables(self, board: Board) -> tuple[Table, ...]:
        return tuple(self.scheduler.tables(board, self.entries))

    @property
    def total_matches(self) -> int:
        """Matches of the whole plan; those given out so far where stages are known."""
        if not self.stages:
            return sum(map(self.budget, range(len(self.boards))))
        return sum(sum(self.counts(index)) * self.lineups(board) for index, board in enumerate(self.boards))

    def blocks(self) -> Iterator[Block]:
        """Yield every block in canonical order: by round, board and table."""
        counts = [self.counts(index) for index in range(len(self.boards))]
        rounds = [max(each, default=0) for each in counts]
        for number in range(max(rounds, default=0)):
            for index, tables in enumerate(self.tables):
                if number < rounds[index]:
                    for table, count in zip(tables, counts[index], strict=True):
                        if number < count:
                            yield self.block(index, number, table)

    def blocks_of(self, index: int, stage: Stage | None = None) -> Iterator[Block]:
        """Yield a board's blocks in canonical order; all of them, or those that one stage has given out."""
        tables = self.tables[index] if stage is None or stage.tables is None else stage.tables
        counts, done = (self.counts(index), (0,) * len(tables)) if stage is None else stage[:2]
        for number in range(min(done, default=0), max(counts, default=0)):
            for table, since, count in zip(tables, done, counts, strict=True):
                if since <= number < count:
                    yield self.block(index, number, table)

    def identities(self, index: int) -> Iterator[tuple[int, Table, bytes]]:
        """Yield round, table and identity of the blocks of `blocks_of`, in a third of its time."""
        board, entries = self.boards[index], self.entries
        if not self.scheduler.has_usual_orders or not self._untrusted.isdisjoint(board.entries):
            yield from ((block.round, block.table, block.identity) for block in self.blocks_of(index))
            return
        orders, hashers, counts = base_orders(board.players), self._hashers[index], self.counts(index)
        names = [name.encode() for name in hashers.names]
        keys = [json.dumps([entries[entry].key for entry in table])[1:] for table in self.tables[index]]
        for number in range(max(counts, default=0)):
            order = orders[number % len(orders)]
            for table, key, count in zip(self.tables[index], keys, counts, strict=True):
                if number < count:
                    table = order(table)
                    id = digest(hashers.ids, f"[{number}, {key}".encode())
                    yield number, table, digest(hashers.public, id + b"".join([names[entry] for entry in table]))

    def block(self, index: int, number: int, table: Table) -> Block:
        """Return the block of a board's table (entries ordered by key) in a round.

        Of several keys it has the first with which the log holds it `complete`, else the last one.
        """
        *older, block = self.drawn(index, number, table)
        if older:
            block = next((each for each in older if each.identity in self.complete), block)
        if block.identity in self.redrawn:  # what it is drawn with next is not known, and in no log
            return block._replace(identity=redrawn_identity(block.identity))
        return block

    def drawn(self, index: int, number: int, table: Table) -> list[Block]:
        """Return the block of a table in a round as each key draws it, the last one in use last."""
        entries, players = self.entries, self.boards[index].players
        order = self.scheduler.base_order(players, table, number)
        key = self.scheduler.block_name(number, [entries[entry].key for entry in table])
        ids, public, secret, names = self._hashers[index]
        id = digest(ids, json.dumps(key).encode())
        rest = id + "".join([names[entry] for entry in order]).encode()
        if self._untrusted.isdisjoint(order):
            return [Block(index, number, order, id, digest(public, rest))]
        return [
            Block(index, number, order, id, digest(hasher, rest), self.secret_dice, hash)
            for hash, hasher in secret.items()
        ]

    @functools.cached_property
    def _untrusted(self) -> frozenset[int]:
        """Entries that are not trusted."""
        return frozenset(number for number, entry in enumerate(self.entries) if not entry.trusted)

    @property
    def has_secret_dice(self) -> bool:
        """Whether any block has secret dice."""
        return any(not self._untrusted.isdisjoint(board.entries) for board in self.boards)

    def dice_kinds(self, index: int | None = None) -> list[DiceKind]:
        """Return the kinds of dice of a board's tables, by default of all boards."""
        indices = range(len(self.boards)) if index is None else (index,)
        secret = {each for number in indices for each in self._have_secret_dice(number)}
        return sorted(self.secret_dice if each else DiceKind.PUBLIC for each in secret)

    def _have_secret_dice(self, index: int) -> set[bool]:
        """Return whether tables of a board have secret dice: for all of them, also those that results may bring."""
        if not self.scheduler.finds_tables:
            return {not self._untrusted.isdisjoint(table) for table in self.tables[index]}
        board, untrusted = self.boards[index], self._untrusted.intersection(self.boards[index].entries)
        found = {True} if untrusted else set()
        return found | ({False} if len(board.entries) - len(untrusted) >= board.players else set())

    @functools.cached_property
    def _hashers(self) -> list[BlockHashers]:
        """Hashers of block ids and identities, by board."""
        more = self.seed, self.limits.key, self.permutations, self.keys, self.secret_dice
        return [BlockHashers.of(board, self.entries, *more) for board in self.boards]

    def matches(self, block: Block) -> list[MatchSpec]:
        """Return the matches of a block, by line-up."""
        orders = _by_round(self._orders[block.board], block.round)
        return [MatchSpec(block, lineup, order(block.table)) for lineup, order in enumerate(orders)]


def _by_round(orders: list[list[Order]], number: int) -> list[Order]:
    """Return by line-up the function from a block's table to entries by seat, given those that differ by round."""
    return orders[number % len(orders)]
