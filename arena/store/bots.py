"""Read the bots of a log, and their sources."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path

from arena.core.errors import StoreError
from arena.store.rows import BotRow, estimates_of_columns

MAX_BUNDLE_BYTES = 2**26
"""Largest bundle, unpacked; in the log its files are hexadecimal."""


class BotReader:
    """The bots in a log."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._db = path, connection

    def names(self) -> dict[int, tuple[str, str]]:
        """Return identity and spec of every bot in the log, by key."""
        return {
            bot: (identity, spec) for bot, identity, spec in self._db.execute("SELECT bot, identity, spec FROM bots")
        }

    def rows(self) -> dict[str, BotRow]:
        """Return every bot in the log, by identity."""
        query = "SELECT identity, spec, module, class, bundle FROM bots"
        return {row[0]: BotRow(*row) for row in self._db.execute(query)}

    def files(self, bundle: str) -> dict[str, bytes]:
        """Return the files of a bundle; none where they were erased. Raises `StoreError` for what is none."""
        row = self._db.execute("SELECT files FROM bundles WHERE bundle = ?", (bundle,)).fetchone()
        if row is None:
            raise StoreError(f"{self._path}: the log is damaged: it has no bundle {bundle}")
        if not row[0]:
            return {}
        try:
            content = zlib.decompressobj().decompress(row[0], 4 * MAX_BUNDLE_BYTES)
            return {name: bytes.fromhex(text) for name, text in json.loads(content).items()}
        except (zlib.error, ValueError, TypeError, AttributeError, RecursionError):
            raise StoreError(f"{self._path}: the log is damaged: bundle {bundle} cannot be read") from None

    def bundles(self) -> set[str]:
        """Return the hashes of the bundles whose files the log has."""
        return {bundle for (bundle,) in self._db.execute("SELECT bundle FROM bundles WHERE length(files) > 0")}

    def of_match(self, identity: bytes, lineup: int) -> list[str]:
        """Return the identities of a match's bots by seat."""
        query = (
            "SELECT o.identity FROM blocks b JOIN seats s USING (block) JOIN bots o USING (bot) "
            "WHERE b.identity = ? AND lineup = ? ORDER BY seat"
        )
        return [bot for (bot,) in self._db.execute(query, (identity, lineup))]

    def wrong_estimates(self) -> dict[str, int]:
        """Return how many evaluations, lines and visit counts were wrong in all matches, by the bots' identities."""
        counts: dict[str, int] = {}
        query = (
            "SELECT block, lineup, dropped, group_concat(identity, ' ') FROM (SELECT s.block, s.lineup, dropped, "
            "identity FROM estimates e JOIN seats s USING (block, lineup) JOIN bots USING (bot) WHERE dropped <> '' "
            "ORDER BY s.block, s.lineup, seat) GROUP BY block, lineup"
        )
        for _, _, dropped, identities in self._db.execute(query):
            bots = identities.split(" ")
            for seat, count in estimates_of_columns(b"", dropped)[1].items():
                if seat >= len(bots):
                    raise StoreError(f"{self._path}: the log is damaged: wrong evaluations of a seat that there is not")
                counts[bots[seat]] = counts.get(bots[seat], 0) + count
        return counts
