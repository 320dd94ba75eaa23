"""The table of results that wait until an earlier round decides whether they count."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from arena.core.records import read
from arena.match.result import MatchRow
from arena.schedule.blocks import MatchSpec
from arena.store.digests import row_digest
from arena.store.reading import in_batches
from arena.store.rows import Finished

Match = tuple[bytes, int]
"""Identity of a block, and line-up."""
KINDS: tuple[type | tuple[type, ...], ...] = (
    *(int, str, int, bool, str, str, list, list, dict, (int, float), str, bool),
    *(str, dict),
)
"""Types of the values of a `MatchRow`."""


def key_of(spec: MatchSpec) -> Match:
    """Return the key of a match in the log."""
    return spec.block.identity, spec.lineup


def write_waiting(db: sqlite3.Connection, results: Iterable[tuple[str, Finished]], run: int) -> None:
    """Store results that a run has played, each with the row of its block as text."""
    rows = []
    for block, result in results:
        text = json.dumps([result.row, result.worker, result.attempts, run], separators=(",", ":"), default=dict)
        row = (*key_of(result.spec), block, text)
        rows.append((*row, row_digest("waiting", row)))
    db.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?)", rows)


def any_waiting(db: sqlite3.Connection) -> bool:
    """Return whether any result waits."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM waiting)").fetchone()[0])


def end_waiting(db: sqlite3.Connection, matches: Iterable[Match]) -> None:
    """Delete results that count now, or have left the plan."""
    if any_waiting(db):
        db.executemany("DELETE FROM waiting WHERE identity = ? AND lineup = ?", matches)


def read_waiting(db: sqlite3.Connection, blocks: Mapping[bytes, str]) -> dict[Match, tuple[MatchRow, str, int, int]]:
    """Return results of blocks, given the blocks' rows as text: match row, worker, attempts and number of the run.

    Damaged results, and those whose block has other dice now, are left out and played again.
    """
    found = {}
    for *row, digest in in_batches(db, "SELECT * FROM waiting WHERE identity IN", [*blocks]):
        identity, lineup, block, text = row
        result = _parsed(text, lineup)
        if result is not None and digest == row_digest("waiting", row) and block == blocks[identity]:
            found[identity, lineup] = result
    return found


def _parsed(text: Any, lineup: Any) -> tuple[MatchRow, str, int, int] | None:
    """Read a result that `write_waiting` wrote; None if it is damaged."""
    try:
        row, worker, attempts, run = json.loads(text)
        shape = all(isinstance(value, kind) for value, kind in zip(row, KINDS, strict=True))
        shape = shape and row[0] == lineup and all(len(seat) == 4 and isinstance(seat[0], int) for seat in row[7])
        result = read(MatchRow, row)
        bytes.fromhex(result.final)
    except (ValueError, TypeError, RecursionError):
        return None
    shape = shape and isinstance(worker, str) and isinstance(attempts, int) and isinstance(run, int)
    return (result, worker, attempts, run) if shape else None
