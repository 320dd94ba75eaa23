"""Archives of tournaments, for others to verify: log, plan, leaderboards, sources of the bots, and a manifest.

An archive is a ZIP file whose bytes are a function of its content. Nothing in an archive is trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import sqlite3
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from arena.core.archives import (
    ARCHIVE_ERRORS,
    CHUNK_BYTES,
    ZIP_EPOCH,
    ArchivedFile,
    check_member_name,
    check_members,
    check_sizes,
    read_manifest,
    unpack_member,
)
from arena.core.errors import LogVersionError, StoreError, UnknownTargetError
from arena.core.files import atomic_file, check_output_file, read_regular, temporary_folder
from arena.core.models import Model, validated
from arena.foreign.build import copy_and_hash
from arena.plan.config import FORMATS
from arena.plan.files import write_plan_and_versions
from arena.store import SCHEMA_VERSION
from arena.tournament.logs import LOG_FILE, find_log
from arena.tournament.tournament import Tournament
from arena.verify.database import open_log as open_database
from arena.verify.findings import Findings
from arena.verify.plans import LogContents, read_contents

MANIFEST_NAME = "manifest.json"
README_NAME = "README.txt"
README_TEMPLATE = Path(__file__).with_name("archive_readme.txt")
"""Template of the README."""
BOTS_FOLDER = "bots"
MAX_EXPORT_BYTES = 2**28
"""Largest size in bytes of a leaderboard's file."""
UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9_.@+-]")


class Manifest(Model):
    """The manifest of an archive."""

    format: Literal[1]
    name: str
    arena: str
    log_version: int
    files: dict[str, ArchivedFile]


def make_archive(target: str | Path, home: str | Path | None = None, out: Path | None = None) -> Path:
    """Pack a tournament or comparison, also while a run writes to it; return the path of the archive.

    That is NAME.zip in the working folder by default. Raises `ConfigError` or `StoreError` if there is no such log, and
    while the keys of its secret dice are not disclosed.
    """
    if out is not None:
        check_output_file(out, "--out", ".zip")
    log = find_log(target, home)
    if not log.is_file():
        raise UnknownTargetError(f"{log}: no such match log; `arena run` makes one")
    with temporary_folder(None, "arena-archive-") as folder:
        copy_log(log, folder / LOG_FILE)
        with Tournament.open(folder / LOG_FILE) as tournament:
            store, resolved = tournament.store, tournament.plan
            if any(key.disclosed is None for key in store.keys.all()):
                raise StoreError(
                    f"{log}: the key of its secret dice is not disclosed before everything is played, and without it "
                    "nobody could check them; finish the tournament, then archive it"
                )
            write_plan_and_versions(folder, tournament.published(), store.runs.last_versions())
        for board in resolved.schedule().boards:
            for exported in (log.with_name(f"{board.slug}.{kind}") for kind in FORMATS):
                with contextlib.suppress(FileNotFoundError):
                    (folder / exported.name).write_bytes(_exported(exported))
        if resolved.foreign is not None:
            source = resolved.foreign.copy_name
            if log.with_name(source).exists():
                copy_and_hash(Path(source), folder / source, log.parent)
        _unpack_bots(folder)
        name = resolved.name.rpartition("/")[2]
        about = {"name": name, "arena": version("pyramid-arena"), "log_version": SCHEMA_VERSION}
        names = {"log": LOG_FILE, "bots": BOTS_FOLDER, "manifest": MANIFEST_NAME}
        (folder / README_NAME).write_text(README_TEMPLATE.read_text().format(**about, **names))
        out = Path(f"{name}.zip") if out is None else out
        _pack(folder, out, about)
    return out


def _exported(path: Path) -> bytes:
    """Read a leaderboard beside a log, but no link, which could lead to a private file."""
    try:
        return read_regular(path.name, MAX_EXPORT_BYTES, path.parent)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot go into an archive: {getattr(error, 'strerror', None) or error}") from None


def copy_log(log: Path, copy: Path) -> None:
    """Copy a log consistently into one file, also while a run writes to it, without deleted rows."""
    whole = copy.with_suffix(".whole")
    try:
        with contextlib.closing(open_database(log)) as source, contextlib.closing(sqlite3.connect(whole)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("VACUUM INTO ?", (str(copy),))
    except LogVersionError:
        raise
    except (sqlite3.Error, StoreError) as error:
        raise StoreError(f"{log}: cannot be copied: {error}; `arena verify` has details") from None
    finally:
        whole.unlink(missing_ok=True)


def _unpack_bots(folder: Path) -> None:
    """Write the sources of all bots into a folder."""
    findings = Findings()
    with contextlib.closing(open_database(folder / LOG_FILE)) as db:
        contents = read_contents(db, findings)
    if findings.count:
        raise StoreError(f"{findings.shown[0]}; `arena verify` has details")
    for name, content in sources(contents).items():
        path = folder / name
        check_member_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def sources(contents: LogContents) -> dict[str, bytes]:
    """Return the source files of all bots by their paths in an archive."""
    found = {}
    for identity, row in contents.bots.items():
        bundled = contents.bundles.get(row.bundle)
        for name, content in bundled.files.items() if bundled else ():
            found[f"{BOTS_FOLDER}/{UNSAFE_CHARS.sub('_', identity)}/{name}"] = content
    return found


def check_sources(folder: Path, contents: LogContents, findings: Findings) -> None:
    """Check that the sources in an unpacked archive are those in its log."""
    wanted = sources(contents)
    there = {path.relative_to(folder).as_posix() for path in (folder / BOTS_FOLDER).rglob("*") if path.is_file()}
    for name in sorted(there | wanted.keys()):
        if name not in there:
            findings.add("is missing, though the log has it", file=name)
        elif wanted.get(name) != (folder / name).read_bytes():
            findings.add("is not the source in the log", file=name)


def _pack(folder: Path, out: Path, about: Mapping[str, Any]) -> None:
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    files = {name: {"size": path.stat().st_size, "blake2b": _hash(path)} for name, path in sorted(paths.items())}
    manifest = json.dumps({"format": 1, **about, "files": files}, indent=1, sort_keys=True) + "\n"
    paths[MANIFEST_NAME] = folder / MANIFEST_NAME
    paths[MANIFEST_NAME].write_text(manifest)
    with atomic_file(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, path in sorted(paths.items()):
            about_file = zipfile.ZipInfo(name, ZIP_EPOCH)
            about_file.compress_type = zipfile.ZIP_DEFLATED
            about_file.external_attr = (stat.S_IFREG | 0o644) << 16
            about_file.create_system = 3  # Unix, on every platform
            about_file.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(about_file, "w") as packed:
                shutil.copyfileobj(source, packed, CHUNK_BYTES)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


@contextlib.contextmanager
def unpacked(path: Path, findings: Findings) -> Iterator[tuple[Path | None, str | None]]:
    """Unpack an archive into a temporary folder; yield that, or None if it is not sound, and the manifest's hash.

    Only files of the manifest are unpacked, with plain names and the sizes that it says.
    """
    with contextlib.ExitStack() as undo:
        folder = digest = None
        try:
            archive = undo.enter_context(zipfile.ZipFile(path))
            check_members(archive)
            manifest, digest = _manifest(archive)
            check_sizes(archive, MANIFEST_NAME, manifest.files, tempfile.gettempdir())
            folder = undo.enter_context(temporary_folder(None, "arena-verify-"))
            for name, packed in sorted(manifest.files.items()):
                unpack_member(archive, name, packed, folder / name)
            if not (folder / LOG_FILE).is_file():
                raise StoreError(f"has no {LOG_FILE}")
        except ARCHIVE_ERRORS as error:
            folder = None
            findings.add(f"is not a sound archive: {error}", file=path.name)
        yield folder, digest


def _manifest(archive: zipfile.ZipFile) -> tuple[Manifest, str]:
    data, content = read_manifest(archive, MANIFEST_NAME, "arena archive")
    return validated(Manifest, data, f"its {MANIFEST_NAME}", {}), hashlib.blake2b(content, digest_size=32).hexdigest()
