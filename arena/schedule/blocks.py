"""From a resolved plan to blocks: which bots sit where, with which dice. Pure, lazy, in one fixed order.

The unit is the block: a table (a set of bots) in one round, with all its line-ups, which share the opening and, unless
a bot sits there that is not trusted, the dice. A block's id depends on the tournament's seed, the board and the bots'
names alone, never on a position in a list, so that adding bots or blocks leaves every other block as it was.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from arena.core.limits import Limits
from arena.core.match_ids import Kind, match_id, stream_ids
from arena.schedule.duels import Duel, duel_places

Table = tuple[int, ...]


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


def _digest_of(prefix: Any, rest: bytes) -> bytes:
    hasher = prefix.copy()
    hasher.update(rest)
    return bytes(hasher.digest())


def _hasher(parts: list[Any]) -> Any:
    """BLAKE2b-128 that has taken the parts as compact JSON."""
    return hashlib.blake2b(json.dumps(parts, separators=(",", ":")).encode(), digest_size=16)


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
        entries, players = self.entries, self.boards[index].players
        if self.duel is not None:
            order = self.duel.table(players, number)
            key: list[Any] = [number, ["duel", *(entries[entry].key for entry in self.duel[:2])]]
        else:
            orders = base_orders(players)
            order = orders[number % len(orders)](table)
            key = [number, *(entries[entry].key for entry in table)]
        dice, public, secret = self._prefixes[index]
        hasher = dice.copy()
        hasher.update(json.dumps(key).encode())
        id = hasher.digest()
        rest = id + "".join([entries[entry].identity for entry in order]).encode()
        if self._guests.isdisjoint(order):
            return Block(index, number, order, id, _digest_of(public, rest))
        *older, latest = self.keys or ("",)
        for hash in older:
            found = _digest_of(secret[hash], rest)
            if self.count_matches and self.count_matches(found) == self.lineups(self.boards[index]):
                return Block(index, number, order, id, found, self.secret_dice, hash)
        return Block(index, number, order, id, _digest_of(secret[latest], rest), self.secret_dice, latest)

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
    def _prefixes(self) -> list[tuple[Any, Any, dict[str, Any]]]:
        """By board: hashers that have taken what all its block ids, and all its blocks' identities, begin with.

        The latter for public dice, and for secret ones by the hash of their key.
        """
        found = []
        for board in self.boards:
            name = board.game.partition("(")[0]
            common = [self.seed, name, board.params, board.players]
            rest = [board.rules_version, board.opening, self.limits.key, self.permutations]
            secret = {key: _hasher([*common, self._named(key), *rest]) for key in self.keys or ("",)}
            found.append((_hasher(common), _hasher([*common, "", *rest]), secret))
        return found

    def _named(self, key: str) -> Any:
        """A secret key and the kind of its dice, as identities have it."""
        return key if self.secret_dice == Kind.VERSION_1 else [self.secret_dice.name.lower(), key]

    def matches(self, block: Block) -> list[MatchSpec]:
        """The matches of a block, by line-up."""
        return [MatchSpec(block, lineup, order(block.table)) for lineup, order in enumerate(self._orders(block))]


Order = Callable[[Table], Table]


@functools.cache
def base_orders(players: int) -> list[Order]:
    """The cyclic orders of a table: one for each round in turn, so that neighbours are balanced as well as seats."""
    return [itemgetter(0, *order) for order in itertools.permutations(range(1, players))]


@functools.cache
def seat_places(players: int, permutations: bool) -> list[Table]:
    """By line-up: which place of the base order sits in each seat; rotations, or every order."""
    if permutations:
        return list(itertools.permutations(range(players)))
    return [tuple((seat + turn) % players for seat in range(players)) for turn in range(players)]


@functools.cache
def seat_orders(players: int, permutations: bool) -> list[Order]:
    """By line-up: from the base order to the entries by seat."""
    return [itemgetter(*places) for places in seat_places(players, permutations)]


@functools.cache
def duel_orders(players: int, seat: int) -> list[Order]:
    """The same in a duel."""
    return [itemgetter(*places) for places in duel_places(players, seat)]


@functools.lru_cache(maxsize=64)
def choose_tables(count: int, size: int, most: int) -> tuple[Table, ...]:
    """All sets of `size` out of `count` bots; when there are more than `most`, a balanced choice of that many.

    In a choice every bot appears as often as every other, within 2, and so does every pair; no set comes twice. The
    sets are not enumerated: each new table takes the bots that appeared least, then those that met least.
    """
    if size == 0 or count < size:
        return ()
    if math.comb(count, size) <= most:
        return tuple(itertools.combinations(range(count), size))
    if math.comb(count, size) - most < most:  # few are left out: choose those instead
        left_out = set(choose_tables(count, size, math.comb(count, size) - most))
        return tuple(table for table in itertools.combinations(range(count), size) if table not in left_out)
    appeared = np.zeros(count, np.int64)
    met = np.zeros((count, count), np.int64)
    chosen: dict[Table, None] = {}
    while len(chosen) < most:
        table = _next_table(appeared, met, size, chosen)
        chosen[table] = None
        appeared[list(table)] += 1
        met[np.ix_(table, table)] += 1
    np.fill_diagonal(met, 0)
    _even_out(chosen, appeared, met)
    return tuple(sorted(chosen))


def _even_out(chosen: dict[Table, None], appeared: np.ndarray, met: np.ndarray) -> None:
    """Exchange single bots between in and out of tables until counts are within 2, or nothing helps any more."""
    pairs = np.triu_indices(len(appeared), 1)
    for _ in range(4 * len(appeared)):
        counts = met[pairs]
        if np.ptp(appeared) <= 2 and np.ptp(counts) <= 2:
            return
        extremes = [(pairs[0][i], pairs[1][i]) for i in (np.argmax(counts), np.argmin(counts))]
        extremes += [(int(np.argmax(appeared)), int(np.argmin(appeared)))]
        wanted = {int(bot) for pair in extremes for bot in pair}
        exchange = _best_exchange([table for table in chosen if wanted.intersection(table)], chosen, appeared, met)
        if exchange is None:
            return
        table, out, into = exchange
        rest = [member for member in table if member != out]
        del chosen[table]
        chosen[tuple(sorted([*rest, into]))] = None
        appeared[out] -= 1
        appeared[into] += 1
        for bot, change in ((out, -1), (into, 1)):
            met[bot, rest] += change
            met[rest, bot] += change


def _best_exchange(
    tables: Sequence[Table], chosen: dict[Table, None], appeared: np.ndarray, met: np.ndarray
) -> tuple[Table, int, int] | None:
    """The exchange that lowers the sum of fourth powers of the counts' distances from their means most."""
    pair_mean, bot_mean = met.sum() / (len(met) * (len(met) - 1)), appeared.mean()
    fewer = (appeared - 1 - bot_mean) ** 4 - (appeared - bot_mean) ** 4
    more = (appeared + 1 - bot_mean) ** 4 - (appeared - bot_mean) ** 4
    best, exchange = -1e-9, None
    for table in sorted(tables):
        columns = met[:, table] - pair_mean
        loosened = (columns - 1) ** 4 - columns**4
        tightened = (columns + 1) ** 4 - columns**4
        for place, out in enumerate(table):
            rest = [i for i in range(len(table)) if i != place]
            gain = more + tightened[:, rest].sum(axis=1) + fewer[out] + loosened[out, rest].sum()
            gain[list(table)] = np.inf
            for into in np.argsort(gain, kind="stable")[:4]:
                moved = tuple(sorted([*(table[i] for i in rest), int(into)]))
                if gain[into] < best and moved not in chosen:
                    best, exchange = gain[into], (table, out, int(into))
    return exchange


def _next_table(appeared: np.ndarray, met: np.ndarray, size: int, chosen: dict[Table, None]) -> Table:
    """The least used bots that met each other least; the next best set while that one is taken."""
    excess = np.maximum(appeared - appeared.min(), 1) * 1e9
    for start in np.argsort(appeared, kind="stable") if len(chosen) else (0,):
        members = [int(start)]
        together = met[start].astype(float)
        while len(members) < size:
            cost = excess + together**2
            cost[members] = np.inf
            pick = int(np.argmin(cost))
            while len(members) + 1 == size and tuple(sorted([*members, pick])) in chosen:
                cost[pick] = np.inf
                pick = int(np.argmin(cost))
                if cost[pick] == np.inf:
                    break
            if cost[pick] == np.inf:
                break
            members.append(pick)
            together += met[pick]
        if len(members) == size:
            return tuple(sorted(members))
    return next(table for table in itertools.combinations(range(len(appeared)), size) if table not in chosen)
