"""Writing a log: one driver at a time."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.dice import key_hash
from arena.errors import StoreError
from arena.schedule import Block, Schedule
from arena.store.reading import StoreReader
from arena.store.rows import BotRow, Finished, SecretKey
from arena.store.schema import connect, lay_out, lock_log

LONG_COURSE = 256


class Store(StoreReader):
    """An open log. Use `Store.create` or `Store.open` as a context manager."""

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open for writing, made if need be. Raises `StoreError` when another driver holds it or it is no log."""
        lock = lock_log(path)
        try:
            return cls(path, connect(path, "rwc", lay_out), lock)
        except sqlite3.Error as error:
            os.close(lock)
            raise StoreError(f"{path}: cannot be used as a match log: {error}") from None
        except StoreError:
            os.close(lock)
            raise

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing of what is written within; it may be part of a larger one."""
        if self._db.in_transaction:
            yield
            return
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def begin_run(self, plan: str, versions: str, started: str, bots: Iterable[BotRow], bundles: dict[str, str]) -> int:
        """Note a run, its bots and their source (JSON of hexadecimal files by bundle hash); return its number."""
        with self.transaction():
            for key, files in bundles.items():
                self._db.execute("INSERT OR IGNORE INTO bundles VALUES (?, ?)", (key, zlib.compress(files.encode())))
            for bot in bots:
                self._db.execute(
                    "INSERT OR IGNORE INTO bots (identity, spec, module, class, bundle) VALUES (?, ?, ?, ?, ?)",
                    (bot.identity, bot.spec, bot.module, bot.class_name, bot.bundle),
                )
            cursor = self._db.execute(
                "INSERT INTO runs (plan, versions, started) VALUES (?, ?, ?)", (plan, versions, started)
            )
        return int(cursor.lastrowid or 0)

    def finish_run(self, when: str, disclose: bool) -> None:
        """Note that every match of the latest run's plan is in the log and, if so, that its dice key is disclosed."""
        with self.transaction():
            self._db.execute(
                "UPDATE runs SET finished = ? WHERE run = (SELECT max(run) FROM runs) AND finished IS NULL", (when,)
            )
            if disclose:
                self._db.execute("UPDATE keys SET disclosed = ? WHERE disclosed IS NULL", (when,))

    def keep_key(self, key: bytes, drawn: str, disclosed: str | None = None) -> SecretKey:
        """Keep the key of secret dice for good; a second one is refused by the database."""
        with self.transaction():
            self._db.execute("INSERT INTO keys VALUES (1, ?, ?, ?, ?)", (key, key_hash(key), drawn, disclosed))
        return SecretKey(key, key_hash(key), drawn, disclosed)

    def add(self, schedule: Schedule, results: Sequence[Finished], run: int) -> None:
        """Write finished matches in one transaction; a match that is there already is refused by the database."""
        try:
            self._add(schedule, results, run)
        except BaseException:  # what was remembered of this transaction is not in the log
            self._blocks.clear()
            self._boards.clear()
            raise

    def _add(self, schedule: Schedule, results: Sequence[Finished], run: int) -> None:
        rows: tuple[list[tuple[Any, ...]], ...] = ([], [], [], [])
        matches, seats, timings, faults = rows
        with self.transaction():
            for spec, row, worker, attempts in results:
                key = self._block_key(schedule, spec.block)
                at = (key, row.lineup)
                course = row.course if len(row.course) < LONG_COURSE else zlib.compress(row.course.encode())
                notes = json.dumps(row.notes) if row.notes else None
                final = bytes.fromhex(row.final)
                matches.append((*at, row.ended, row.plies, int(row.timed), final, course, notes))
                for seat, (entry, result) in enumerate(zip(spec.seats, row.seats, strict=True)):
                    seats.append((*at, seat, self._bot_key(schedule.entries[entry].identity), *result))
                timings.append((*at, run, worker, row.seconds, row.clocks, int(row.again), attempts))
                faults.extend((*at, int(seat), detail) for seat, detail in row.details.items())
            self._db.executemany("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", matches)
            self._db.executemany("INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)", seats)
            self._db.executemany("INSERT INTO timings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", timings)
            self._db.executemany("INSERT INTO faults VALUES (?, ?, ?, ?)", faults)

    def _block_key(self, schedule: Schedule, block: Block) -> int:
        key = self._blocks.get(block.identity)
        if key is None:
            key = self._remember(block.identity, self._new_block(schedule, block))
        return key

    def _new_block(self, schedule: Schedule, block: Block) -> int:
        board = schedule.boards[block.board]
        at = (board.game, board.players)
        if at not in self._boards:
            self._db.execute("INSERT OR IGNORE INTO boards (game, players) VALUES (?, ?)", at)
            query = "SELECT board FROM boards WHERE game = ? AND players = ?"
            self._boards[at] = self._db.execute(query, at).fetchone()[0]
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO blocks (identity, id, board, round, opening, seed, secret) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(block.identity, block.id, self._boards[at], block.round, board.opening),
                *(schedule.seed, int(schedule.secret != "")),
            ),
        )
        if cursor.rowcount == 1:
            return int(cursor.lastrowid or 0)
        found = self._db.execute("SELECT block FROM blocks WHERE identity = ?", (block.identity,))
        return int(found.fetchone()[0])

    def _bot_key(self, identity: str) -> int:
        if identity not in self._bots:
            self._bots.update(self._db.execute("SELECT identity, bot FROM bots"))
        return self._bots[identity]


def set_aside(log: Path) -> Path | None:
    """Rename a log that is there, sound or not, to matches.1.db (or .2, .3 ...); its new path.

    Raises `StoreError` while a run writes to it.
    """
    if not log.exists():
        return None
    lock = lock_log(log)
    try:
        kept = next(path for n in itertools.count(1) if not (path := log.with_suffix(f".{n}.db")).exists())
        for suffix in ("-wal", "-shm", ""):  # SQLite's own files first: they are found by the name of the log
            part = Path(f"{log}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
    finally:
        os.close(lock)
    return kept
