"""Read the rows of a log's blocks, and check that they have the arena's format."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.core.errors import StoreError
from arena.core.match_ids import DiceKind
from arena.match.estimates import unpack_estimates
from arena.match.faults import CLOCK_CAUSES
from arena.match.player import MAX_MATCH_NOTES_CHARS
from arena.match.result import MatchRow, SeatRow
from arena.match.stored import PlannedMatch, StoredMatch, stored_match
from arena.store import MAX_MOVES_BYTES, MIN_COMPRESSED_MOVES_CHARS, MatchRows, estimates_of_columns, match_rows

CLOCKS_TEXT = re.compile(r"(?:[0-9]+,(?:-1|[0-9]+)(?:,[0-9]+){3}(?: (?!$)|$))*")


class BlockRow(NamedTuple):
    """A block's row, with its board."""

    identity: bytes
    id: bytes
    game: str
    players: int
    round: int
    opening: int
    seed: int
    dice: int
    key: str | None
    """Hash of the key of secret dice."""
    number: int | None
    """Number of that key in the log."""


class BlockRows(NamedTuple):
    """All rows of a block."""

    block: BlockRow
    matches: list[MatchRows]


def read_rows(db: sqlite3.Connection, keys: Sequence[int], lineup: int | None = None) -> dict[int, BlockRows]:
    """Return all rows of some blocks, or of one match, by the keys of the blocks."""
    query = (
        "SELECT block, identity, id, game, players, round, opening, seed, dice, hash, blocks.key FROM blocks LEFT JOIN "
        f"boards USING (board) LEFT JOIN keys ON number = blocks.key WHERE block IN ({','.join('?' * len(keys))})"
    )
    found = {key: BlockRows(BlockRow(*row), []) for key, *row in db.execute(query, keys)}
    for match in match_rows(db, keys, lineup):
        found[match.key].matches.append(match)
    return found


def match_of_rows(block: BlockRow, rows: MatchRows) -> StoredMatch:
    """Return a match for `arena.match.replay`; raises `StoreError` if the arena does not write such rows."""
    assert rows.match is not None
    lineup, ended, plies, timed, final, packed, notes = rows.match
    moves = _moves(packed)
    forfeits = {}
    for seat, _, _, _, cause, forfeit_ply in rows.seats:
        if (cause is None) != (forfeit_ply is None):
            raise StoreError(f"seat {seat} has a cause of a forfeit, but no ply, or the other way round")
        if cause is not None:
            forfeits[seat] = (cause, forfeit_ply)
    clocked = any(cause in CLOCK_CAUSES for cause, _ in forfeits.values())
    if plies != len(moves):
        raise StoreError(f"has {len(moves)} plies, but its row says {plies}")
    if timed not in (0, 1) or clocked > timed:
        raise StoreError(f"timed cannot be {timed}")
    of_block = (block.game, block.players, block.round, block.opening, block.seed, DiceKind(block.dice))
    place = PlannedMatch(block.identity, block.id, lineup, *of_block)
    checked_notes = _notes(notes, plies) if notes is not None else []
    of_seats = [SeatRow(*of_seat) for _, _, *of_seat in rows.seats]
    return stored_match(
        place, MatchRow(lineup, ended, plies, bool(timed), final.hex(), " ".join(moves), checked_notes, of_seats)
    )


def _moves(packed: Any) -> list[str]:
    """Return the moves; raises `StoreError` if they are not formatted and compressed as the arena does."""
    text = packed
    if isinstance(packed, bytes):
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, MAX_MOVES_BYTES).decode()
        if not unpacker.eof or unpacker.unused_data:
            raise StoreError("its moves are damaged, or too long")
    moves = text.split()
    if " ".join(moves) != text or isinstance(packed, bytes) != (len(text) >= MIN_COMPRESSED_MOVES_CHARS):
        raise StoreError("its moves are not in the arena's format")
    return moves


def _notes(text: str, plies: int) -> list[tuple[int, str]]:
    notes = [(ply, note) for ply, note in json.loads(text)]
    at = [ply for ply, _ in notes]
    whole = all(type(ply) is int and isinstance(note, str) for ply, note in notes)
    if not notes or not whole or at != sorted(set(at)) or not 0 <= at[0] <= at[-1] < plies:
        raise StoreError("its notes do not belong to its plies, one each in their order")
    if sum(len(note) for _, note in notes[:-1]) >= MAX_MATCH_NOTES_CHARS:
        raise StoreError(f"its notes have more than {MAX_MATCH_NOTES_CHARS:,} characters")
    return notes


def check_side_tables(rows: MatchRows, match: StoredMatch, runs: set[int]) -> None:
    """Check that the rows of side tables exist and have the arena's format."""
    if rows.timing is None:
        raise StoreError("has no row in timings")
    run, worker, seconds, clocks, retried, attempts = rows.timing
    if run not in runs:
        raise StoreError(f"was played in run {run}, which is not in the log")
    plain = isinstance(worker, str) and isinstance(seconds, float) and seconds >= 0 and retried in (0, 1)
    if not plain or not isinstance(attempts, int) or attempts < 1 or not CLOCKS_TEXT.fullmatch(clocks):
        raise StoreError("its row in timings is not one that the arena writes")
    if rows.estimates:
        moves, dropped = rows.estimates
        if not isinstance(moves, bytes) or not isinstance(dropped, str):
            raise StoreError("its row in estimates is not one that the arena writes")
        packed, counts = estimates_of_columns(moves, dropped)
        kept = unpack_estimates(packed, match.players, len(match.moves))
        if not (kept or counts) or max(counts, default=0) >= match.players:
            raise StoreError("its row in estimates is not one that the arena writes")
    if not {seat if isinstance(detail, str) else -1 for seat, detail in rows.faults} <= match.forfeits.keys():
        raise StoreError("has a row in faults for a seat that did not forfeit")
