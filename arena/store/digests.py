"""Digests over the rows of a log, so that a flipped bit is found and the damaged row is named.

A digest is BLAKE2b-64 over a tuple of values in Python's ASCII notation (`ascii`), in which different numbers, texts,
bytes and None are written differently, and floats exactly. A match has two: one over what follows from the plan (its
block, moves, result and causes), the same on every machine, and one over that and its side tables (times, texts of
faults, estimates).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from arena.core.match_ids import match_id

DIGEST_BYTES = 8
BATCH_BLOCKS = 256
"""Blocks read at a time."""
DIGESTED_TABLES = ("runs", "keys", "bots", "bundles", "uncounted", "events")
"""Tables whose rows each have a digest, in the last column."""
MATCH_TABLES = ("matches", "seats", "timings", "faults", "estimates")
"""Tables whose rows belong to matches; their first columns are block and line-up."""
Row = tuple[Any, ...]


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()


def match_digest(block: str, match: Row, seats: Iterable[Any]) -> bytes:
    """Return the digest of what follows from the plan; `block` is `ascii` of its row, `seats` are all rows joined."""
    return _digest(block + ascii((*match, *seats)))


def timing_digest(match: bytes, timing: Row, faults: Iterable[Any], estimates: Row = ()) -> bytes:
    """Return the digest of a match's `match_digest` and its rows in `timings`, `faults` and `estimates` joined."""
    return _digest(ascii((match, *timing, *faults, *estimates)))


def row_digest(table: str, row: Sequence[Any]) -> bytes:
    """Return the digest of a row of one of `DIGESTED_TABLES`, without its digest column; hash long bytes first."""
    short = (hashlib.blake2b(v).digest() if isinstance(v, bytes) and len(v) > 64 else v for v in row)
    return _digest(ascii((table, *short)))


class MatchRows(NamedTuple):
    """All rows of one match, unchecked; missing ones are None or empty."""

    key: int
    """Key of the block."""
    lineup: Any
    block: Row | None
    """(identity, id, game, players, round, opening, seed, kind of dice, hash of the key of secret dice)."""
    match: Row | None
    """(lineup, ended, plies, timed, final, moves, notes)."""
    digest: Any
    seats: list[Row]
    """(seat, bot's identity, rank, score, cause, forfeit_ply)."""
    timing: Row | None
    """(run, worker, seconds, clocks, retried, attempts)."""
    timing_digest: Any
    faults: list[Row]
    """(seat, detail)."""
    estimates: Row = ()
    """(moves, dropped), if there is a row."""

    @property
    def identity(self) -> Any:
        return self.block[0] if self.block else None

    @property
    def id(self) -> str:
        """The match id, or a description if the block is missing."""
        return _match_name(self.key, self.identity, self.lineup)

    def digests(self) -> tuple[bytes, bytes]:
        """Return both digests, computed from the rows."""
        first = match_digest(ascii(self.block), self.match or (), itertools.chain.from_iterable(self.seats))
        faults = itertools.chain.from_iterable(self.faults)
        return first, timing_digest(first, self.timing or (), faults, self.estimates)

    @property
    def is_sound(self) -> bool:
        return (self.digest, self.timing_digest) == self.digests()


def _match_name(key: Any, identity: Any, lineup: Any) -> str:
    if isinstance(identity, bytes) and isinstance(lineup, int):
        return match_id(identity, lineup)
    return f"the match of line-up {lineup!a} in the block with the key {key!a}"


def block_rows(db: sqlite3.Connection, keys: Sequence[int]) -> dict[int, Row]:
    """Return the rows of blocks by key, as in `WholeMatch.block`."""
    query = (
        "SELECT block, identity, id, game, players, round, opening, seed, dice, blocks.key, hash FROM blocks "
        "LEFT JOIN boards USING (board) LEFT JOIN keys ON number = blocks.key "
        f"WHERE block IN ({','.join('?' * len(keys))})"
    )
    found = db.execute(query, keys)
    return {
        key: (*row, dice, hash) if dice or number is not None else (*row, dice)
        for key, *row, dice, number, hash in found
    }


def match_rows(db: sqlite3.Connection, keys: Sequence[int], lineup: int | None = None) -> Iterator[MatchRows]:
    """Yield the matches of blocks, or those of a line-up, by key and line-up, also those with missing rows."""
    blocks = block_rows(db, keys)
    among = f"WHERE block IN ({','.join('?' * len(keys))}){f' AND lineup = {lineup:d}' if lineup is not None else ''}"
    query = f"SELECT block, lineup, ended, plies, timed, final, moves, notes, digest FROM matches {among}"
    matches = {row[:2]: row[1:] for row in db.execute(query, keys)}
    query = f"SELECT block, lineup, run, worker, seconds, clocks, retried, attempts, digest FROM timings {among}"
    timings = {row[:2]: row[2:] for row in db.execute(query, keys)}
    seats, faults = defaultdict[Row, list[Row]](list), defaultdict[Row, list[Row]](list)
    query = (
        "SELECT block, lineup, seat, identity, rank, score, cause, forfeit_ply FROM seats LEFT JOIN bots USING (bot) "
        f"{among} ORDER BY block, lineup, seat"
    )
    for row in db.execute(query, keys):
        seats[row[:2]].append(row[2:])
    for row in db.execute(f"SELECT * FROM faults {among} ORDER BY block, lineup, seat", keys):
        faults[row[:2]].append(row[2:])
    query = f"SELECT block, lineup, moves, dropped FROM estimates {among}"
    estimates = {row[:2]: row[2:] for row in db.execute(query, keys)}
    nothing: Row = (None,)
    for at in sorted(
        {*matches, *timings, *seats, *faults, *estimates},
        key=lambda at: (at[0], at[1] if isinstance(at[1], int) else -1),
    ):
        *match, digest = matches.get(at, nothing)
        *timing, second = timings.get(at, nothing)
        block, whole = blocks.get(at[0]), tuple(match) or None
        parts = seats.get(at, []), tuple(timing) or None, second, faults.get(at, []), estimates.get(at, ())
        yield MatchRows(at[0], at[1], block, whole, digest, *parts)


def block_keys(db: sqlite3.Connection) -> Iterator[list[int]]:
    """Yield the keys of all blocks in order, a batch at a time."""
    last, query = -math.inf, "SELECT block FROM blocks WHERE block > ? ORDER BY block LIMIT ?"
    while keys := [key for (key,) in db.execute(query, (last, BATCH_BLOCKS))]:
        yield keys
        last = keys[-1]


def damaged(db: sqlite3.Connection) -> Iterator[str]:
    """Yield what does not fit its digest: ids of matches, and names of rows of other tables."""
    yield from damaged_rows(db)
    for keys in block_keys(db):
        try:
            found = [whole.id for whole in match_rows(db, keys) if not whole.is_sound]
        except sqlite3.Error:  # invalid UTF-8, or a page that cannot be read
            found = [name for key in keys for name in _damaged_in(db, key)]
        yield from found
    for part in MATCH_TABLES:
        query = f"SELECT DISTINCT block, lineup FROM {part} WHERE block NOT IN (SELECT block FROM blocks)"
        yield from (f"{_match_name(key, None, lineup)}: its block is missing" for key, lineup in db.execute(query))


def damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the names of rows of `DIGESTED_TABLES` that do not fit their digest."""
    for table in DIGESTED_TABLES:
        yield from _damaged_rows(db, table)


def _damaged_rows(db: sqlite3.Connection, table: str) -> list[str]:
    with _any_text(db):
        rows = db.execute(f"SELECT * FROM {table}")
        return [f"{table} {row[0]!a}" for *row, digest in rows if digest != row_digest(table, row)]


def _damaged_in(db: sqlite3.Connection, key: int) -> list[str]:
    """Return the damaged matches of one block, whatever its rows hold."""
    try:
        with _any_text(db):
            return [whole.id for whole in match_rows(db, [key]) if not whole.is_sound]
    except sqlite3.Error as error:
        return [f"the block with the key {key}: {error}"]


@contextlib.contextmanager
def _any_text(db: sqlite3.Connection) -> Iterator[None]:
    """Read invalid UTF-8 too, within."""
    before, db.text_factory = db.text_factory, lambda raw: raw.decode(errors="surrogateescape")
    try:
        yield
    finally:
        db.text_factory = before
