"""Back up a home while it is in use, and restore it elsewhere.

A backup is a ZIP file with the files of the home and a manifest. Databases are copied by SQLite itself, so that each is
as it was at one moment: first the logs, then the accounts, then all other files. So the accounts know everybody whom a
log knows, and the source of every bot that they know is there.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

from arena.accounts import DATABASE_FILE, Accounts
from arena.core.archives import (
    ARCHIVE_ERRORS,
    ArchivedFile,
    add_member,
    check_members,
    check_sizes,
    read_manifest,
    unpack_member,
)
from arena.core.database_shape import JOURNAL_SUFFIX, SQLITE_FILE_SUFFIXES, check_beside, harden
from arena.core.errors import ConfigError, LockedError, RecordError, StoreError, UnknownTargetError
from arena.core.files import (
    SQLITE_HEADER,
    atomic_file,
    check_output_file,
    created_folder,
    open_regular,
    temporary_folder,
)
from arena.core.models import Model, validated
from arena.core.names import SUBMISSIONS_FOLDER
from arena.core.paths import home_folder
from arena.registry.submissions import INDEX_FILE
from arena.store.schema import database_uri

MANIFEST_NAME = "backup.json"
DATABASE_SUFFIX, LOCK_SUFFIX = ".db", ".lock"
LEFT_OUT_SUFFIXES = (LOCK_SUFFIX, JOURNAL_SUFFIX, *SQLITE_FILE_SUFFIXES)
"""Endings of the names of files that belong to processes, not to the home."""
RIGHTS = 0o600
"""Of a backup: it has names, hashes of tokens, and keys of dice that are not disclosed yet."""
LAST = 3
"""Place in a backup of files that may be named by those before."""
MAX_FILES = 5_000_000
MAX_RATIO = 1_100
"""More than DEFLATE reaches: how much a backup unpacks to is bounded by the room on the disk alone."""
BUSY_TIMEOUT_SECONDS = 30.0
"""Time to wait for a program that lets nobody read a database."""


class BackupManifest(Model):
    """The manifest of a backup."""

    format: Literal[1]
    arena: str
    time: str
    files: dict[str, ArchivedFile]


class Backup(NamedTuple):
    """A backup that was made."""

    path: Path
    files: int
    damaged: tuple[str, ...]
    """Databases that SQLite cannot read: the backup has their bytes as they were."""


class Restored(NamedTuple):
    """A home that was restored."""

    home: Path
    files: int
    time: str
    """Of the backup."""


def make_backup(out: Path, home: str | Path | None = None) -> Backup:
    """Back up a home into a new file, while others read and write it; an interrupted backup leaves nothing.

    Raises `ConfigError` for a file that exists or lies in the home, `UnknownTargetError` without a home, `LockedError`
    while another program lets nobody read a database.
    """
    root = home_folder(home)
    if not root.is_dir():
        raise UnknownTargetError(f"{root}: no such folder; name the home to back up: --home or ARENA_HOME")
    check_output_file(out, "OUT")
    if os.path.lexists(out):
        raise ConfigError(f"{out}: is there already; name a new file")
    if out.resolve().is_relative_to(root.resolve()):
        raise ConfigError(f"{out}: is in the home, and would be part of the next backup; name a file elsewhere")
    files: dict[str, ArchivedFile] = {}
    damaged: list[str] = []
    with (
        temporary_folder(out.parent, f".{out.name}.copy-") as folder,
        atomic_file(out, RIGHTS) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for is_first in (True, False):
            for name in sorted(_files_below(root), key=_order):
                if name in files or (_order(name)[0] == LAST) is is_first:
                    continue
                copied = _copied(root / name, folder / DATABASE_FILE, damaged)
                with (
                    contextlib.suppress(FileNotFoundError),  # removed meanwhile
                    open_regular(copied) if copied else open_regular(name, root) as source,
                ):
                    files[name] = add_member(archive, name, source, RIGHTS if name == DATABASE_FILE else 0o644)
        manifest = BackupManifest(
            format=1, arena=version("pyramid-arena"), time=datetime.now(UTC).isoformat(timespec="seconds"), files=files
        )
        archive.writestr(MANIFEST_NAME, manifest.model_dump_json(indent=1), zipfile.ZIP_DEFLATED)
    return Backup(out, len(files), tuple(Path(name).relative_to(root).as_posix() for name in damaged))


def _files_below(root: Path) -> Iterator[str]:
    """Yield the names of the files that make up a home: no links, hidden or temporary files, or those of processes."""

    def raise_it(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # removed meanwhile
            raise StoreError(f"{error.filename}: cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(root, onerror=raise_it):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            if name.startswith(".") or name.endswith(LEFT_OUT_SUFFIXES):
                continue
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path.relative_to(root).as_posix()


def _order(name: str) -> tuple[int, str]:
    """Return the place of a file in a backup: logs, accounts, submitted bots, and the rest, which is listed again."""
    if name.endswith(DATABASE_SUFFIX):
        return int(name == DATABASE_FILE), name
    return (2 if name == f"{SUBMISSIONS_FOLDER}/{INDEX_FILE}" else LAST), name


def _is_database(path: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(path.name, path.parent) as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    return False


def _copied(path: Path, copy: Path, damaged: list[str]) -> Path | None:
    """Copy a database as it is at one moment; return None for another file, and for one that SQLite cannot read, which
    is added to the damaged ones.
    """
    if not (path.name.endswith(DATABASE_SUFFIX) and _is_database(path)):
        return None
    copy.unlink(missing_ok=True)
    try:
        check_beside(path)
        with (
            contextlib.closing(sqlite3.connect(database_uri(path, "ro"), uri=True, timeout=BUSY_TIMEOUT_SECONDS)) as db,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            harden(db)
            db.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        return copy
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LockedError(f"{path}: another program lets nobody read it for now; back up again later") from None
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise StoreError(f"{path}: cannot be copied to {copy.parent.parent}: {error}") from None
        damaged.append(str(path))
        return None


def restore_backup(path: Path, home: str | Path | None = None) -> Restored:
    """Unpack a backup into a home that is empty or not there; it gets all files or none.

    Raises `ConfigError` for a home with something in it, `StoreError` for what is no sound backup.
    """
    root = home_folder(home)
    if root.is_dir() and any(root.iterdir()):
        raise ConfigError(f"{root}: is not empty; name a new folder: --home")
    if not path.is_file():
        raise UnknownTargetError(f"{path}: no such file")
    target = root.resolve()
    with created_folder(target.parent), temporary_folder(target.parent, f".{target.name}.") as folder:
        made = folder / "home"
        made.mkdir()
        try:
            manifest = _unpack(path, made)
            if DATABASE_FILE in manifest.files:
                os.chmod(made / DATABASE_FILE, RIGHTS)
                Accounts(made).close()  # its tables and values are checked when it is opened
        except ARCHIVE_ERRORS as error:
            raise StoreError(f"{path}: is not a sound backup: {str(error).replace(f'{made}/', '')}") from None
        try:
            os.rename(made, target)
        except OSError as error:
            raise ConfigError(f"{root}: cannot be made: {error.strerror}") from None
    return Restored(root, len(manifest.files), manifest.time)


def _unpack(path: Path, folder: Path) -> BackupManifest:
    with zipfile.ZipFile(path) as archive:
        check_members(archive, MAX_FILES)
        data, _ = read_manifest(archive, MANIFEST_NAME, "arena backup")
        manifest = validated(BackupManifest, data, f"its {MANIFEST_NAME}", {})
        for name in manifest.files:
            if name.endswith(LEFT_OUT_SUFFIXES) or any(part.startswith(".") for part in name.split("/")):
                raise RecordError(f"{name[:200]} is no file of a backup")
        check_sizes(archive, MANIFEST_NAME, manifest.files, folder, MAX_RATIO)
        for name, packed in sorted(manifest.files.items()):
            unpack_member(archive, name, packed, folder / name)
    return manifest
