"""Read the keys of secret dice of a log, and what was played with which kind of dice."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from arena.core.errors import StoreError
from arena.core.match_ids import DiceKind
from arena.match.stored import SecretKey


class KeyReader:
    """The keys of secret dice in a log."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._db = path, connection

    def all(self) -> list[SecretKey]:
        """Return the keys of secret dice in the order of their creation, unchecked.

        Raises `StoreError` if a key that matches were played with is missing.
        """
        found = self.by_number()
        marks = ",".join("?" * len(found))
        lost = f"SELECT EXISTS (SELECT 1 FROM blocks WHERE key IS NOT NULL AND key NOT IN ({marks}))"
        if self._db.execute(lost, [*found]).fetchone()[0]:
            raise self.lost_key()
        return [*found.values()]

    def by_number(self) -> dict[int, SecretKey]:
        """Return the keys of secret dice by number."""
        query = "SELECT number, CAST(key AS BLOB), hash, created, disclosed FROM keys ORDER BY number"
        return {number: SecretKey(*row) for number, *row in self._db.execute(query)}

    def hashes(self) -> list[str]:
        """Return the hashes of the keys of secret dice, in the order of their creation."""
        return [hash for (hash,) in self._db.execute("SELECT hash FROM keys ORDER BY number")]

    def uncounted_blocks(self) -> frozenset[bytes]:
        """Return the identities of blocks with secret dice that did not count when their key was disclosed."""
        return frozenset(bytes(identity) for (identity,) in self._db.execute("SELECT identity FROM uncounted"))

    def lost_key(self) -> StoreError:
        return StoreError(f"{self._path}: the log is damaged: it holds matches with secret dice, but not their key")

    def dice_kinds(self) -> set[DiceKind]:
        """Return the kinds of dice that blocks were played with."""
        return {DiceKind(kind) for (kind,) in self._db.execute("SELECT DISTINCT dice FROM blocks")}
