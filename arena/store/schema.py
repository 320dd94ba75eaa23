"""The tables of the log, and how its database is opened.

A block has an integer key in the order of its first result; its identity is unique. Matches and seats are keyed by
(block, line-up), so that inserting stays cheap in a log of millions. What differs from run to run (times, hosts,
tracebacks) is kept in side tables.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from arena.core.database_shape import Parts, check_beside, check_shape, harden, schema_parts
from arena.core.errors import LogVersionError, NoRunError, StoreError
from arena.store.locking import read_writer

SCHEMA_VERSION = 10
"""The one version of logs that is read and written."""
LOCK_TIMEOUT_SECONDS = {"ro": 3.0, "rw": 30.0, "rwc": 30.0}
"""Seconds to wait for a log that another program keeps locked, by the mode that it is opened in."""

SCHEMA = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    plan NOT NULL,               -- the resolved plan: TEXT, JSON; or, of a contest's rounds before the latest, a BLOB:
                                 -- what differs from the plan of the following run (arena.store.plan_deltas)
    versions TEXT NOT NULL,      -- of Python and the packages that played, JSON
    started TEXT NOT NULL,       -- UTC
    finished TEXT,               -- UTC: when every match of the plan was in the log
    digest BLOB NOT NULL         -- of the row, as all columns of this name (arena.store.digests)
);
CREATE TABLE keys (              -- of secret dice, in the order in which they were created
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    hash TEXT NOT NULL UNIQUE,   -- BLAKE2b-256 of it, hexadecimal
    created TEXT NOT NULL,       -- UTC
    disclosed TEXT,              -- UTC: when it was first published
    digest BLOB NOT NULL
);
CREATE TABLE bots (
    bot INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE, -- name@hash
    spec TEXT NOT NULL,
    module TEXT NOT NULL,
    class TEXT NOT NULL,
    bundle TEXT NOT NULL,
    digest BLOB NOT NULL
);
CREATE TABLE bundles (
    bundle TEXT PRIMARY KEY,     -- hash of names and contents
    files BLOB NOT NULL,         -- zlib over JSON: {path: hexadecimal content}
    digest BLOB NOT NULL
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
    id BLOB NOT NULL,            -- seeds openings, and dice that a block's matches share
    board INTEGER NOT NULL REFERENCES boards,
    round INTEGER NOT NULL,
    opening INTEGER NOT NULL,    -- random plies
    seed INTEGER NOT NULL,
    dice INTEGER NOT NULL,       -- kind of dice: arena.core.match_ids.DiceKind
    key INTEGER REFERENCES keys  -- key of secret dice; NULL for public ones
);
CREATE TABLE matches (
    block INTEGER NOT NULL REFERENCES blocks,
    lineup INTEGER NOT NULL,
    ended TEXT NOT NULL,
    plies INTEGER NOT NULL,
    timed INTEGER NOT NULL,      -- 1 if it depended on a clock or the machine's memory
    final BLOB NOT NULL,         -- hash of the final position
    moves NOT NULL,              -- every ply: TEXT in notation, or a BLOB: zlib of it
    notes TEXT,                  -- of bots on their moves: JSON [[ply, text], ...]
    digest BLOB NOT NULL,        -- of the row, its block and its seats: all that follows from the plan
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
    forfeit_ply INTEGER,         -- at which ply, -1 before play
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
CREATE INDEX forfeits ON seats (block, lineup, seat) WHERE cause IS NOT NULL;
CREATE TABLE timings (           -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    run INTEGER NOT NULL,
    worker TEXT NOT NULL,
    seconds REAL NOT NULL,
    clocks TEXT NOT NULL,        -- by call of a bot: seat,ply,wall,cpu,between in microseconds; ply -1: preparation
    retried INTEGER NOT NULL,    -- 1 if it was played once more, as a bot overran its time on a starved machine
    attempts INTEGER NOT NULL,   -- more than 1 if workers died or bots' processes were killed from outside
    digest BLOB NOT NULL,        -- of `matches.digest`, the row, and the match's rows in `faults` and `estimates`
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
CREATE TABLE faults (            -- side table
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (block, lineup, seat)
) WITHOUT ROWID;
CREATE TABLE estimates (         -- side table: of matches in which bots gave evaluations, lines or visit counts
    block INTEGER NOT NULL,
    lineup INTEGER NOT NULL,
    moves BLOB NOT NULL,         -- zlib of what they gave, by move: ply:returns in 1/1000:line:action,visits,...
    dropped TEXT NOT NULL,       -- of seats with any: how many of theirs were wrong, and not kept: seat:count,...
    PRIMARY KEY (block, lineup)
) WITHOUT ROWID;
CREATE TABLE uncounted (         -- blocks with secret dice that did not count when their key was disclosed
    identity BLOB PRIMARY KEY,   -- of the block; they are drawn anew if they come to count
    digest BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (            -- of contests: what a round follows from beside the results of those before it
    number INTEGER PRIMARY KEY,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL,          -- joined, left or retired
    label TEXT NOT NULL,         -- of the bot
    data TEXT NOT NULL,          -- JSON: of one that joined, its record in the plan and the numbers of its boards
    digest BLOB NOT NULL
);
"""


def connect(
    path: Path, mode: str, prepare: Callable[[sqlite3.Connection], None] = lambda db: None
) -> sqlite3.Connection:
    """Open a log that has exactly the tables of this version.

    Raises `LogVersionError` for another version, `NoRunError` while a run creates it, `StoreError` or `sqlite3.Error`
    for anything else that is no log.
    """
    check_beside(path)
    with contextlib.ExitStack() as undo:
        db = undo.enter_context(
            contextlib.closing(sqlite3.connect(database_uri(path, mode), uri=True, timeout=LOCK_TIMEOUT_SECONDS[mode]))
        )
        harden(db)
        prepare(db)
        db.execute("BEGIN")  # version and tables of the same moment
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if mode == "ro" and not version and _is_without_tables(db) and read_writer(path)[0]:
            raise NoRunError(f"{path}: is being created by a run that starts just now")
        if not version and not path.stat().st_size:
            raise StoreError(f"{path}: is an empty file, no match log")
        if version in (0, SCHEMA_VERSION):  # what never was a log has 0
            check_shape(db, log_parts(), path)
        if version != SCHEMA_VERSION:
            what = f"has log version {version}, and this arena reads version {SCHEMA_VERSION} alone"
            raise LogVersionError(f"{path}: {what}; use the arena that wrote it")
        db.execute("COMMIT")
        undo.pop_all()
    return db


def _is_without_tables(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])


@functools.cache
def log_parts() -> Parts:
    """Return the tables and indexes of a log."""
    return schema_parts(SCHEMA)


def database_uri(path: Path, mode: str) -> str:
    """Return the URI of a database; it is `immutable` where SQLite could not make the files it needs for reading."""
    at_rest = mode == "ro" and is_read_only_copy(path)
    return f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * at_rest}"


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables in an empty database, and have every transaction reach the disk."""
    if _is_without_tables(db):
        db.execute("PRAGMA journal_mode = WAL")
        with db:
            db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    db.execute("PRAGMA synchronous = FULL")


def is_read_only_copy(path: Path) -> bool:
    """Whether a log is in a read-only folder, without a -wal: SQLite reads it only if told that nobody writes to it."""
    return not os.access(path.parent, os.W_OK) and not os.path.exists(f"{path}-wal")
