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
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field

from arena.core.errors import ArenaError, LogVersionError, RecordError, StoreError, UnknownTargetError
from arena.core.files import atomic_file, check_output_file, is_plain_path, read_regular, temporary_folder
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
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of all files in an archive: the earliest one of ZIP."""
CHUNK_BYTES = 2**20
MAX_EXPORT_BYTES = 2**28
"""Largest size in bytes of a leaderboard's file."""
MAX_MANIFEST_BYTES = 2**26
MAX_FILES = 100_000
MAX_UNPACK_RATIO = 200
"""Largest unpacked size of an archive in multiples of its own size; of logs it is ten or twenty."""
SPARE_BYTES = 2**20
"""Bytes that every archive may have beyond that."""
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compressions: with others, one read may unpack any amount."""
ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, ValueError, ArenaError, RuntimeError, FileExistsError),
)
"""Errors of reading damaged or forged archives."""
UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9_.@+-]")


class ArchivedFile(Model):
    """A file of an archive."""

    size: Annotated[int, Field(ge=0)]
    blake2b: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


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
        check_output_file(out, "--out")
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
        _check_name(name)
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
            _check_members(archive)
            manifest, digest = _manifest(archive)
            _check_sizes(archive, manifest, path)
            folder = undo.enter_context(temporary_folder(None, "arena-verify-"))
            for name, packed in sorted(manifest.files.items()):
                _unpack(archive, name, packed, folder / name)
            if not (folder / LOG_FILE).is_file():
                raise StoreError(f"has no {LOG_FILE}")
        except ARCHIVE_ERRORS as error:
            folder = None
            findings.add(f"is not a sound archive: {error}", file=path.name)
        yield folder, digest


def _manifest(archive: zipfile.ZipFile) -> tuple[Manifest, str]:
    if MANIFEST_NAME not in archive.NameToInfo:
        raise RecordError(f"has no {MANIFEST_NAME}, so that it is none of `arena archive`")
    with archive.open(MANIFEST_NAME) as file:
        content = file.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise RecordError(f"its {MANIFEST_NAME} has more than {MAX_MANIFEST_BYTES >> 20} MiB")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise RecordError(f"its {MANIFEST_NAME} cannot be read") from None
    return validated(Manifest, data, f"its {MANIFEST_NAME}", {}), hashlib.blake2b(content, digest_size=32).hexdigest()


def _check_members(archive: zipfile.ZipFile) -> None:
    """Check that an archive has only plain files within it, none twice, whose compression can be read in pieces."""
    names = [member.filename for member in archive.infolist()]
    if len(names) > MAX_FILES:
        raise RecordError(f"has more than {MAX_FILES:,} files")
    for member in archive.infolist():
        _check_name(member.filename)
        if member.header_offset < 0:  # `zipfile` would seek there
            raise RecordError(f"{member.filename} begins before the archive does")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.flag_bits & 1:
            raise RecordError(f"{member.filename} is no plain file")
        if member.compress_type not in COMPRESSIONS:
            raise RecordError(f"{member.filename} is packed otherwise than by DEFLATE")
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    for name, count in Counter(names).items():
        if count > 1 or name in folders:
            raise RecordError(f"{name} is in it twice, or a file as well as a folder")


def _check_sizes(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    """Check that an archive has exactly the files of its manifest, and is not too large."""
    names = archive.namelist()
    for name in sorted(set(names) ^ {MANIFEST_NAME, *manifest.files}):
        raise RecordError(f"{name} is in only one of manifest and archive")
    size = sum(packed.size for packed in manifest.files.values())
    if size > MAX_UNPACK_RATIO * path.stat().st_size + SPARE_BYTES:
        raise RecordError(f"would be {size:,} bytes unpacked, more than {MAX_UNPACK_RATIO} times its own size")
    if size > shutil.disk_usage(tempfile.gettempdir()).free:
        raise RecordError(f"would be {size:,} bytes unpacked: more than {tempfile.gettempdir()} has room for")


def _check_name(name: str) -> None:
    """Raise `RecordError` if a name could lead out of the folder that it is used in."""
    if not is_plain_path(name):
        raise RecordError(f"'{name}' is no plain path of a file")


def _unpack(archive: zipfile.ZipFile, name: str, packed: ArchivedFile, path: Path) -> None:
    """Unpack a file, checking its size and hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hasher = hashlib.blake2b(digest_size=32)
    size = 0
    with archive.open(name) as source, path.open("xb") as target:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            if size > packed.size:
                raise RecordError(f"{name} is larger than the manifest says")
            hasher.update(chunk)
            target.write(chunk)
    if size != packed.size or hasher.hexdigest() != packed.blake2b:
        raise RecordError(f"{name} is not the file that the manifest says")
