"""The match log: one SQLite file, written by one driver, read by anybody.

A block has an integer key in the order of its first result; its identity is unique. Matches and seats are keyed by
(block, line-up), so that inserting stays as cheap in a log of millions. What differs from run to run (times, hosts,
tracebacks) lies in side tables.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from arena.dice import key_hash
from arena.errors import StoreError
from arena.referee import Clocking
from arena.schedule import Block, MatchSpec, Schedule, match_id

SCHEMA_VERSION = 2
LONG_COURSE = 256
BATCH = 500
MAX_COURSE = 64 * 2**20
SHORT_ID = 12
"""Hexadecimal digits that tell the matches of all but the largest logs apart."""
MATCH_ID = re.compile(r"[0-9a-f]{1,32}(-[0-9]{1,9})?")

SCHEMA = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    plan TEXT NOT NULL,          -- the resolved plan, JSON
    versions TEXT NOT NULL,      -- of Python and the packages that played, JSON
    started TEXT NOT NULL,       -- UTC
    finished TEXT                -- UTC: when every match of the plan was in the log
);
CREATE TABLE keys (              -- the key of secret dice: one row, or none
    number INTEGER PRIMARY KEY CHECK (number = 1),
    key BLOB NOT NULL,
    hash TEXT NOT NULL,          -- BLAKE2b-256 of it, hexadecimal
    drawn TEXT NOT NULL,         -- UTC
    disclosed TEXT               -- UTC: when it was first written beside the leaderboards
);
CREATE TABLE bots (
    bot INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE, -- name@hash
    spec TEXT NOT NULL,
    module TEXT NOT NULL,
    class TEXT NOT NULL,
    bundle TEXT NOT NULL
);
CREATE TABLE bundles (
    bundle TEXT PRIMARY KEY,     -- hash of names and contents
    files BLOB NOT NULL          -- zlib over JSON: {path: hexadecimal content}
);
CREATE TABLE boards (
    board INTEGER PRIMARY KEY,
    game TEXT NOT NULL,          -- canonical spec
    players INTEGER NOT NULL,
    UNIQUE (game, players)
);
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    identity BLOB NOT NULL UNIQUE,
    id BLOB NOT NULL,            -- what the dice are drawn from
    board INTEGER NOT NULL REFERENCES boards,
    round INTEGER NOT NULL,
    opening INTEGER NOT NULL,    -- random plies
    seed INTEGER NOT NULL,
    secret INTEGER NOT NULL      -- 1 when the dice are drawn with the key in `keys`
);
CREATE TABLE matches (
    block INTEGER NOT NULL REFERENCES blocks,
    lineup INTEGER NOT NULL,
    ended TEXT NOT NULL,
    plies INTEGER NOT NULL,
    timed INTEGER NOT NULL,      -- 1 when a clock or the machine's memory had a say
    final BLOB NOT NULL,         -- hash of the final position
    course NOT NULL,             -- TEXT in notation, or a BLOB: zlib of it
    notes TEXT,                  -- what bots said of their moves: JSON [[ply, text], ...]
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
CREATE TABLE seats (
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    bot INTEGER NOT NULL REFERENCES bots,
    rank INTEGER NOT NULL,
    score INTEGER,
    cause TEXT,                  -- why the seat forfeited
    fell INTEGER,                -- at which ply, -1 before play
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
CREATE INDEX forfeits ON seats (block, lineup, seat) WHERE cause IS NOT NULL;
CREATE TABLE timings (           -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    run INTEGER NOT NULL,
    worker TEXT NOT NULL,
    seconds REAL NOT NULL,
    clocks TEXT NOT NULL,        -- what each call of a bot took: seat,ply,wall,cpu in microseconds; ply -1: preparing
    again INTEGER NOT NULL,      -- 1 when a bot overran its time on a starved machine, so that it was played once more
    attempts INTEGER NOT NULL,   -- 2 and more when worker processes died
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
CREATE TABLE faults (            -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class BotRow:
    """A bot as the log keeps it: enough to load it again."""

    identity: str
    spec: str
    module: str
    class_name: str
    bundle: str


@dataclass(frozen=True)
class SecretKey:
    """The key of a log's secret dice as it is kept there."""

    key: bytes = field(repr=False)
    hash: str
    drawn: str
    disclosed: str | None

    def checked(self) -> bytes:
        """The key; raises `StoreError` when it is not the one whose hash stands beside it."""
        if len(self.key) != 32 or key_hash(self.key) != self.hash:
            raise StoreError("the log is damaged: its dice key is not the one whose hash it holds")
        return self.key


class MatchRow(NamedTuple):
    """One finished match as a worker sends it."""

    lineup: int
    ended: str
    plies: int
    timed: bool
    final: str
    course: str
    notes: list[list[Any]]
    """[[ply, text], ...]."""
    seats: list[list[Any]]
    """By seat: [rank, score, cause, fell]."""
    details: dict[str, str]
    """By seat: what was kept of a fault."""
    seconds: float
    clocks: str
    """What each call of a bot took: `seat,ply,wall,cpu` in microseconds, joined by spaces."""
    again: bool
    """Played once more, because the machine starved a bot."""


class Finished(NamedTuple):
    """A row, where it belongs, and how it came about."""

    spec: MatchSpec
    row: MatchRow
    worker: str
    attempts: int


@dataclass(frozen=True)
class StoredMatch:
    """One match read back."""

    identity: bytes
    block_id: bytes
    lineup: int
    game: str
    players: int
    round: int
    opening: int
    seed: int
    ended: str
    course: list[str]
    final: str
    timed: bool
    notes: list[tuple[int, str]]
    bots: list[str]
    ranks: list[int]
    scores: list[int | None]
    falls: dict[int, tuple[str, int]]
    details: dict[int, str]
    clocks: list[Clocking]
    again: bool
    """Played once more, because the machine starved a bot."""
    secret: SecretKey | None = None
    """What its dice were drawn with; None when that follows from the seed."""


class Store:
    """An open log. Use `Store.create` or `Store.open` as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self._blocks: dict[bytes, int] = {}
        self._boards: dict[tuple[str, int], int] = {}
        self._bots: dict[str, int] = {}

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open for writing, made if need be. Raises `StoreError` when another driver holds it or it is no log."""
        lock = _lock(path)
        try:
            return cls(path, _connect(path, "rwc", _lay_out), lock)
        except sqlite3.Error as error:
            os.close(lock)
            raise StoreError(f"{path}: cannot be used as a match log: {error}") from None
        except StoreError:
            os.close(lock)
            raise

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open for reading, also while a run writes. Raises `StoreError` when there is no log."""
        if not path.is_file():
            raise StoreError(f"{path}: no such match log; `arena run` makes one")
        try:
            db = _connect(path, "ro&immutable=1" if _is_at_rest(path) else "ro")
            db.execute("BEGIN")  # everything read from now on is the log at one moment, whatever a run adds meanwhile
            return cls(path, db, None)
        except sqlite3.Error as error:
            raise StoreError(f"{path}: is not a match log: {error}") from None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def begin_run(self, plan: str, versions: str, started: str, bots: Iterable[BotRow], bundles: dict[str, str]) -> int:
        """Note a run, its bots and their source (JSON of hexadecimal files by bundle hash); return its number."""
        with self._db:
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

    def last_plan(self) -> str:
        """The resolved plan of the latest run, JSON."""
        row = self._db.execute("SELECT plan FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        if row is None:
            raise StoreError(f"{self.path}: holds no run")
        return str(row[0])

    def last_versions(self) -> dict[str, str]:
        """Of Python and the packages, in the latest run."""
        row = self._db.execute("SELECT versions FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return json.loads(row[0]) if row else {}

    def finish_run(self, when: str, disclose: bool) -> None:
        """Note that every match of the latest run's plan is in the log and, if so, that its dice key is disclosed."""
        with self._db:
            self._db.execute(
                "UPDATE runs SET finished = ? WHERE run = (SELECT max(run) FROM runs) AND finished IS NULL", (when,)
            )
            if disclose:
                self._db.execute("UPDATE keys SET disclosed = ? WHERE disclosed IS NULL", (when,))

    def is_finished(self) -> bool:
        """Whether every match of the latest run's plan was in the log."""
        row = self._db.execute("SELECT finished FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return row is not None and row[0] is not None

    def secret_key(self) -> SecretKey | None:
        """The key of secret dice, unchecked; raises `StoreError` when there was one and it is gone."""
        row = self._db.execute("SELECT CAST(key AS BLOB), hash, drawn, disclosed FROM keys").fetchone()
        if row is None and self.has_blocks(secret=True):
            raise StoreError(f"{self.path}: the log is damaged: it holds matches with secret dice, but not their key")
        return SecretKey(*row) if row else None

    def keep_key(self, key: bytes, drawn: str) -> SecretKey:
        """Keep the key of secret dice for good; a second one is refused by the database."""
        with self._db:
            self._db.execute("INSERT INTO keys VALUES (1, ?, ?, ?, NULL)", (key, key_hash(key), drawn))
        return SecretKey(key, key_hash(key), drawn, None)

    def has_blocks(self, secret: bool) -> bool:
        """Whether any block was played with secret dice, or with public ones."""
        query = "SELECT EXISTS (SELECT 1 FROM blocks WHERE secret = ?)"
        return bool(self._db.execute(query, (int(secret),)).fetchone()[0])

    def finished(self, identities: Sequence[bytes]) -> dict[bytes, set[int]]:
        """The line-ups already played of each block that has any; in batches, for plans of any size."""
        found: dict[bytes, set[int]] = {}
        for start in range(0, len(identities), BATCH):
            part = identities[start : start + BATCH]
            query = (
                "SELECT b.identity, b.block, m.lineup FROM blocks b JOIN matches m USING (block) "
                f"WHERE b.identity IN ({','.join('?' * len(part))})"
            )
            for identity, block, lineup in self._db.execute(query, part):
                self._blocks[identity] = block
                found.setdefault(identity, set()).add(lineup)
        if len(self._blocks) > 100_000:
            self._blocks.clear()
        return found

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
        with self._db:
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
            key = self._blocks[block.identity] = self._new_block(schedule, block)
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

    def block_keys(self, game: str, players: int) -> dict[bytes, int]:
        """A board's blocks: their keys in the log by identity."""
        query = "SELECT identity, block FROM blocks JOIN boards USING (board) WHERE game = ? AND players = ?"
        return dict(self._db.execute(query, (game, players)))

    def match_rows(self, game: str, players: int) -> sqlite3.Cursor:
        """A board's matches by block and line-up: (block, lineup, timed, ended, course), the course as it is stored."""
        return self._db.execute(
            "SELECT m.block, m.lineup, m.timed, m.ended, m.course FROM boards o JOIN blocks b USING (board) "
            "JOIN matches m USING (block) WHERE o.game = ? AND o.players = ? ORDER BY m.block, m.lineup",
            (game, players),
        )

    def seat_rows(self, game: str, players: int) -> sqlite3.Cursor:
        """The seats of those matches in the same order: (block, lineup, seat, rank, score, cause)."""
        return self._db.execute(
            "SELECT s.block, s.lineup, s.seat, s.rank, s.score, s.cause FROM boards o JOIN blocks b USING (board) "
            "JOIN seats s USING (block) WHERE o.game = ? AND o.players = ? ORDER BY s.block, s.lineup, s.seat",
            (game, players),
        )

    def forfeits(self, game: str, players: int) -> dict[int, dict[bytes, list[tuple[int, int, str]]]]:
        """A board's forfeited seats by round and block: (line-up, seat, cause), in that order."""
        found: dict[int, dict[bytes, list[tuple[int, int, str]]]] = {}
        query = (
            "SELECT b.round, b.identity, s.lineup, s.seat, s.cause FROM seats s "
            "JOIN blocks b USING (block) JOIN boards o USING (board) "
            "WHERE s.cause IS NOT NULL AND o.game = ? AND o.players = ? ORDER BY s.block, s.lineup, s.seat"
        )
        for number, identity, *fall in self._db.execute(query, (game, players)):
            found.setdefault(number, {}).setdefault(identity, []).append(tuple(fall))
        return found

    def block_sizes(self, game: str, players: int) -> dict[bytes, int]:
        """How many matches of each of a board's blocks are in the log."""
        query = (
            "SELECT b.identity, count(*) FROM blocks b JOIN boards o USING (board) JOIN matches m USING (block) "
            "WHERE o.game = ? AND o.players = ? GROUP BY b.block"
        )
        return dict(self._db.execute(query, (game, players)))

    def short_id(self, identity: bytes, lineup: int) -> str:
        """The beginning of a match's id, as much of it as means no other match of the log, and its line-up."""
        shortened = (f"{identity.hex()[:digits]}-{lineup}" for digits in range(SHORT_ID, 2 * len(identity)))
        return next((short for short in shortened if len(self.find_matches(short)) < 2), match_id(identity, lineup))

    def find_matches(self, prefix: str) -> list[tuple[bytes, int]]:
        """(identity, line-up) of the matches whose id begins with `prefix`, at most two of them."""
        if not MATCH_ID.fullmatch(prefix):
            raise StoreError(
                f"'{prefix}' is no match id; an id looks like 3f9a0c...-1 and may be shortened before the dash"
            )
        stem, dash, lineup = prefix.partition("-")
        low = bytes.fromhex(stem.ljust(32, "0"))
        high = bytes.fromhex(stem.ljust(32, "f"))
        query = "SELECT identity, lineup FROM blocks JOIN matches USING (block) WHERE identity BETWEEN ? AND ?"
        parameters: list[object] = [low, high]
        if dash:
            query += " AND lineup = ?"
            parameters.append(int(lineup))
        return list(self._db.execute(query + " ORDER BY identity, lineup LIMIT 2", parameters))

    def match(self, identity: bytes, lineup: int) -> StoredMatch:
        """One match, whole; raises `StoreError` when it is not there or cannot be read."""
        row = self._db.execute(
            "SELECT block, id, game, players, round, opening, seed, secret, ended, course, final, timed, notes "
            "FROM blocks JOIN boards USING (board) JOIN matches USING (block) WHERE identity = ? AND lineup = ?",
            (identity, lineup),
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: has no match {identity.hex()}-{lineup}")
        block, id, game, players, number, opening, seed, secret, ended, course, final, timed, notes = row
        seats = self._db.execute(
            "SELECT b.spec, s.rank, s.score, s.cause, s.fell FROM seats s JOIN bots b USING (bot) "
            "WHERE block = ? AND lineup = ? ORDER BY seat",
            (block, lineup),
        ).fetchall()
        details = self._db.execute("SELECT seat, detail FROM faults WHERE block = ? AND lineup = ?", (block, lineup))
        timing = self._db.execute("SELECT clocks, again FROM timings WHERE block = ? AND lineup = ?", (block, lineup))
        clocks, again = timing.fetchone() or ("", 0)
        return StoredMatch(
            identity=identity,
            block_id=id,
            lineup=lineup,
            game=game,
            players=players,
            round=number,
            opening=opening,
            seed=seed,
            ended=ended,
            course=read_course(course).split(),
            final=final.hex(),
            timed=bool(timed),
            notes=[(int(ply), str(text)) for ply, text in json.loads(notes or "[]")],
            bots=[seat[0] for seat in seats],
            ranks=[seat[1] for seat in seats],
            scores=[seat[2] for seat in seats],
            falls={place: (seat[3], seat[4]) for place, seat in enumerate(seats) if seat[3] is not None},
            details=dict(details),
            clocks=read_clocks(clocks),
            again=bool(again),
            secret=self.secret_key() if secret else None,
        )

    def totals(self) -> tuple[int, int]:
        """Matches and forfeited seats in the whole log."""
        matches = self._db.execute("SELECT count(*) FROM matches").fetchone()[0]
        return matches, self._db.execute("SELECT count(*) FROM seats WHERE cause IS NOT NULL").fetchone()[0]


def set_aside(log: Path) -> Path | None:
    """Rename a log that is there, sound or not, to matches.1.db (or .2, .3 ...); its new path.

    Raises `StoreError` while a run writes to it.
    """
    if not log.exists():
        return None
    lock = _lock(log)
    try:
        kept = next(path for n in itertools.count(1) if not (path := log.with_suffix(f".{n}.db")).exists())
        for suffix in ("-wal", "-shm", ""):  # SQLite's own files first: they are found by the name of the log
            part = Path(f"{log}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
    finally:
        os.close(lock)
    return kept


def _lock(log: Path) -> int:
    """The descriptor that keeps other drivers off a log until it is closed."""
    log.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(log.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StoreError(f"{log}: another run is writing to this log; wait for it or choose another name") from None
    return lock


def read_clocks(text: str) -> list[Clocking]:
    """What each call of a bot took, as `MatchRow.clocks` has it."""
    try:
        calls = [[int(part) for part in call.split(",")] for call in text.split()]
        return [Clocking(seat, ply, wall / 1e6, cpu / 1e6) for seat, ply, wall, cpu in calls]
    except ValueError:
        raise StoreError("the log is damaged: a match's clocks cannot be read") from None


def read_course(value: str | bytes) -> str:
    """A course as text, compressed or not."""
    if isinstance(value, str):
        return value
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(value, MAX_COURSE).decode()
    except (TypeError, zlib.error, UnicodeDecodeError):
        raise StoreError("the log is damaged: a match's course cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise StoreError(f"the log is damaged: a match's course has more than {MAX_COURSE >> 20} MiB")
    return text


def _connect(
    path: Path, mode: str, prepare: Callable[[sqlite3.Connection], None] = lambda db: None
) -> sqlite3.Connection:
    with contextlib.ExitStack() as undo:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        db = undo.enter_context(contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)))
        prepare(db)
        _check_version(db, path)
        undo.pop_all()
    return db


def _lay_out(db: sqlite3.Connection) -> None:
    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        db.execute("PRAGMA journal_mode = WAL")
        with db:
            db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    db.execute("PRAGMA synchronous = FULL")


def _is_at_rest(path: Path) -> bool:
    """In a folder that we cannot write to, SQLite reads a log only when told that nobody writes to it."""
    return not os.access(path.parent, os.W_OK) and not os.path.exists(f"{path}-wal")


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise StoreError(f"{path}: has log version {version}; this arena reads version {SCHEMA_VERSION}")
    db.execute("SELECT count(*) FROM runs")
