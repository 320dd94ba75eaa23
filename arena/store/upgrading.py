"""Read logs of older versions as if they were upgraded, and upgrade them before they are written to.

Version 3 has one key, and blocks with or without it; version 4 has other names of columns; version 5 lacks the table
of estimates. Damaged rows stay damaged: a new digest is computed only for a row that fitted its old one.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from arena.core.errors import StoreError
from arena.store.digests import PARTS, TABLES, block_keys, whole_matches
from arena.store.schema import SCHEMA_VERSION, address, connect, lay_out, parts_of, version_of
from arena.store.shape import check_shape, harden

SMALL = 64 * 2**20
"""Largest size in bytes of an older log that is read through an upgraded copy in memory."""
FORMER = {
    "created": "drawn",
    "moves": "course",
    "forfeit_ply": "fell",
    "retried": "again",
    "dice": "secret",
    "key": "CASE secret WHEN 1 THEN 1 END",
}
"""Columns that older versions lack, as SQL over theirs: the last two in version 3, the others in both."""
WITHOUT_KEY = 8
"""Number of values of a block's row in the digests of version 3."""


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a log, or to an upgraded copy in memory of an older one."""
    with contextlib.ExitStack() as undo:
        db = undo.enter_context(contextlib.closing(connect(path, "ro", older=True)))
        version = version_of(db)
        if version == SCHEMA_VERSION:
            undo.pop_all()
            return db
    if path.stat().st_size > SMALL:
        raise StoreError(
            f"{path}: has log version {version}, of an older arena; `arena upgrade {path}` brings it to version "
            f"{SCHEMA_VERSION}, and keeps a backup"
        )
    with contextlib.ExitStack() as undo:
        copy = undo.enter_context(contextlib.closing(sqlite3.connect(":memory:", uri=True)))
        _copy(path, copy)
        undo.pop_all()
    return copy


def upgrade(path: Path) -> tuple[str, ...]:
    """Upgrade an older log atomically and keep a backup; return messages for the user. The caller holds the lock."""
    for left_over in path.parent.glob(f"{glob.escape(_prefix(path))}*"):  # by a killed upgrade
        shutil.rmtree(left_over)
    with contextlib.closing(connect(path, "rw", lay_out, older=True)) as db:
        version = version_of(db)
        if version == SCHEMA_VERSION:
            return ()
        kept = _back_up(db, path, version)
        with _room(path) as copy:
            _copy(path, copy)
            copy.backup(db)  # one transaction: SQLite's backup writes as any other writer does
    return (f"{path} had log version {version} and has {SCHEMA_VERSION} now; the old one is kept as {kept.name}",)


def _prefix(path: Path) -> str:
    """Return the beginning of the names of temporary folders beside a log."""
    return f".{path.stem}-upgrade-"


def _back_up(db: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy a log to matches.v3.db, or matches.v3.1.db, ... if that exists; return the path."""
    names = (f".v{version}.db", *(f".v{version}.{n}.db" for n in range(1, 1000)))
    kept = next(free for name in names if not (free := path.with_suffix(name)).exists())
    with tempfile.TemporaryDirectory(prefix=_prefix(path), dir=path.parent) as folder:
        made = Path(folder) / "backup.db"
        with contextlib.closing(sqlite3.connect(made)) as backup:
            db.backup(backup)
        os.rename(made, kept)
    return kept


@contextlib.contextmanager
def _room(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a temporary database: in memory for a small log, else in a file beside it."""
    with contextlib.ExitStack() as stack:
        place = ":memory:"
        if path.stat().st_size > SMALL:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=_prefix(path), dir=path.parent))
            place = f"{Path(folder).absolute().as_uri()}/new.db"
        yield stack.enter_context(contextlib.closing(sqlite3.connect(place, uri=True)))


def _copy(path: Path, new: sqlite3.Connection) -> None:
    """Fill an empty database with the upgraded rows of an older log."""
    harden(new)
    lay_out(new)
    new.execute("PRAGMA synchronous = OFF")  # it is temporary
    new.execute("ATTACH ? AS old", (address(path, "ro"),))
    version = int(new.execute("PRAGMA old.user_version").fetchone()[0])
    check_shape(new, parts_of(version), path, "old")
    with new:
        new.execute("BEGIN")
        for table in (*TABLES, "boards", "blocks", *PARTS):
            _copy_table(new, table)
        if version == 3:
            _name_keys(new)
    new.execute("DETACH old")


def _columns(db: sqlite3.Connection, schema: str, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA {schema}.table_info({table})")]


def _copy_table(db: sqlite3.Connection, table: str) -> None:
    former = _columns(db, "old", table)
    if former:
        values = (name if name in former else FORMER[name] for name in _columns(db, "main", table))
        db.execute(f"INSERT INTO main.{table} SELECT {', '.join(values)} FROM old.{table}")


def _name_keys(db: sqlite3.Connection) -> None:
    """Add the key of secret dice to the digests of matches that fitted theirs before."""
    for whole in itertools.chain.from_iterable(whole_matches(db, keys) for keys in block_keys(db)):
        if whole.block is not None and len(whole.block) > WITHOUT_KEY:
            before = whole._replace(block=whole.block[:WITHOUT_KEY])
            for table, digest in zip(("matches", "timings"), whole.digests() * before.is_sound, strict=False):
                query = f"UPDATE main.{table} SET digest = ? WHERE block = ? AND lineup = ?"
                db.execute(query, (digest, whole.key, whole.lineup))
