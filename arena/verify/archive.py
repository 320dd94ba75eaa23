"""One archive of a tournament that a third party can verify elsewhere: log, plan, boards, bots' sources, a manifest.

Archives are ZIP files whose bytes are a function of their content. Reading one trusts nothing in it.
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

from arena.core.errors import ArenaError, ConfigError, OlderLogError, RecordError, StoreError
from arena.core.files import is_plain_path, own_folder, read_regular, whole_file
from arena.core.models import Model, validated
from arena.plan.config import FORMATS
from arena.plan.dice_keys import with_disclosed_keys
from arena.plan.files import write_plan_and_versions
from arena.plan.logs import LOG, find_log, open_log
from arena.store import SCHEMA_VERSION, Store
from arena.verify.archive_readme import ABOUT
from arena.verify.findings import Findings
from arena.verify.plans import Contents, read_contents
from arena.verify.tables import open_log as open_database

MANIFEST = "manifest.json"
README = "README.txt"
BOTS = "bots"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can tell: archives of the same content are the same."""
CHUNK = 2**20
MAX_EXPORTED = 2**28
"""Bytes of a leaderboard's file."""
MAX_MANIFEST = 2**26
MAX_FILES = 100_000
MOST_UNPACKED = 200
"""Times its own size that an archive may hold: logs come to ten or twenty."""
SPARE = 2**20
"""Bytes that any archive may hold."""
PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others unpack as much at a time as they like."""
OF_ARCHIVES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    ArenaError,
    RuntimeError,
    FileExistsError,
)
"""What reading one that is damaged or made up raises."""
ODD = re.compile(r"[^A-Za-z0-9_.@+-]")


class Packed(Model):
    """A file of an archive."""

    size: Annotated[int, Field(ge=0)]
    blake2b: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Manifest(Model):
    """What an archive says of itself."""

    format: Literal[1]
    name: str
    arena: str
    log_version: int
    files: dict[str, Packed]


def bundle(target: str | Path, home: str | Path | None = None, out: Path | None = None) -> Path:
    """Pack a tournament or comparison, also while a run writes to it; the archive's path.

    By default NAME.zip in the working folder. Raises `ConfigError` or `StoreError` when there is none, and while its
    secret dice are not disclosed.
    """
    if out is not None:
        _check_place(out)
    log = find_log(target, home)
    if not log.is_file():
        raise StoreError(f"{log}: no such match log; `arena run` makes one")
    with own_folder(None, "arena-bundle-") as folder:
        copy_log(log, folder / LOG)
        store, resolved = open_log(folder / LOG)
        with store:
            _check_disclosed(store, log)
            write_plan_and_versions(folder, with_disclosed_keys(resolved, store), store.last_versions())
        for board in resolved.schedule().boards:
            for exported in (log.with_name(f"{board.slug}.{kind}") for kind in FORMATS):
                with contextlib.suppress(FileNotFoundError):
                    (folder / exported.name).write_bytes(_exported(exported))
        _unpack_bots(folder)
        name = resolved.name.rpartition("/")[2]
        about = {"name": name, "arena": version("pyramid-arena"), "log_version": SCHEMA_VERSION}
        names = {"log": LOG, "bots": BOTS, "manifest": MANIFEST}
        (folder / README).write_text(ABOUT.format(**about, **names))
        out = Path(f"{name}.zip") if out is None else out
        _pack(folder, out, about)
    return out


def _exported(path: Path) -> bytes:
    """A leaderboard beside a log; no link is followed, which could lead to a file that nobody means to give away."""
    try:
        return read_regular(path.name, MAX_EXPORTED, path.parent)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot go into an archive: {getattr(error, 'strerror', None) or error}") from None


def _check_place(out: Path) -> None:
    """Refuse what cannot become an archive, before anything is done for it."""
    if out.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file")
    if not out.parent.is_dir():
        raise ConfigError(f"--out {out}: no folder {out.parent}")


def _check_disclosed(store: Store, log: Path) -> None:
    """No key leaves before everything is played: whoever had it could foresee the dice."""
    if any(key.disclosed is None for key in store.secret_keys()):
        raise StoreError(
            f"{log}: the key of its secret dice is not disclosed before everything is played, and without it nobody "
            "could check them; finish the tournament, then bundle it"
        )


def copy_log(log: Path, copy: Path) -> None:
    """A consistent copy of a log in one file, also while a run writes to it, without what was deleted or waits."""
    whole = copy.with_suffix(".whole")
    try:
        with contextlib.closing(open_database(log)) as source, contextlib.closing(sqlite3.connect(whole)) as target:
            source.backup(target)
            target.execute("DELETE FROM waiting")
            target.commit()
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("VACUUM INTO ?", (str(copy),))
    except OlderLogError:
        raise
    except (sqlite3.Error, StoreError) as error:
        raise StoreError(f"{log}: cannot be copied: {error}; `arena verify` tells what is wrong") from None
    finally:
        whole.unlink(missing_ok=True)


def _unpack_bots(folder: Path) -> None:
    """Every bot's source as files."""
    for name, content in sources(_contents(folder / LOG)).items():
        path = folder / name
        _check_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _contents(log: Path) -> Contents:
    findings = Findings()
    with contextlib.closing(open_database(log)) as db:
        contents = read_contents(db, findings)
    if findings.count:
        raise StoreError(f"{findings.told[0]}; `arena verify` tells all that is wrong with the log")
    return contents


def sources(contents: Contents) -> dict[str, bytes]:
    """The files of all bots by their paths in an archive."""
    found = {}
    for identity, row in contents.bots.items():
        bundled = contents.bundles.get(row.bundle)
        for name, content in bundled.files.items() if bundled else ():
            found[f"{BOTS}/{ODD.sub('_', identity)}/{name}"] = content
    return found


def check_sources(folder: Path, contents: Contents, findings: Findings) -> None:
    """That the sources to be read in an unpacked archive are those in its log."""
    wanted = sources(contents)
    there = {path.relative_to(folder).as_posix() for path in (folder / BOTS).rglob("*") if path.is_file()}
    for name in sorted(there | wanted.keys()):
        if name not in there:
            findings.add("is not there, though the log has it", file=name)
        elif wanted.get(name) != (folder / name).read_bytes():
            findings.add("is not what the log says has played", file=name)


def _pack(folder: Path, out: Path, about: Mapping[str, Any]) -> None:
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    files = {name: {"size": path.stat().st_size, "blake2b": _hash(path)} for name, path in sorted(paths.items())}
    manifest = json.dumps({"format": 1, **about, "files": files}, indent=1, sort_keys=True) + "\n"
    paths[MANIFEST] = folder / MANIFEST
    paths[MANIFEST].write_text(manifest)
    with whole_file(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, path in sorted(paths.items()):
            about_file = zipfile.ZipInfo(name, EPOCH)
            about_file.compress_type = zipfile.ZIP_DEFLATED
            about_file.external_attr = (stat.S_IFREG | 0o644) << 16
            about_file.create_system = 3  # Unix, wherever it is made
            about_file.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(about_file, "w") as packed:
                shutil.copyfileobj(source, packed, CHUNK)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


@contextlib.contextmanager
def unpacked(path: Path, findings: Findings) -> Iterator[tuple[Path | None, str | None]]:
    """An archive in a temporary folder, with the hash of its manifest; no folder when it is none that can be read.

    Only files that the manifest names are unpacked, under plain names, none larger than it says.
    """
    with contextlib.ExitStack() as undo:
        folder = digest = None
        try:
            archive = undo.enter_context(zipfile.ZipFile(path))
            _check_members(archive)
            manifest, digest = _manifest(archive)
            _check_sizes(archive, manifest, path)
            folder = undo.enter_context(own_folder(None, "arena-verify-"))
            for name, packed in sorted(manifest.files.items()):
                _unpack(archive, name, packed, folder / name)
            if not (folder / LOG).is_file():
                raise StoreError(f"has no {LOG}")
        except OF_ARCHIVES as error:
            folder = None
            findings.add(f"is not a sound archive: {error}", file=path.name)
        yield folder, digest


def _manifest(archive: zipfile.ZipFile) -> tuple[Manifest, str]:
    if MANIFEST not in archive.NameToInfo:
        raise RecordError(f"has no {MANIFEST}, so that it is none of `arena archive`")
    with archive.open(MANIFEST) as file:
        content = file.read(MAX_MANIFEST + 1)
    if len(content) > MAX_MANIFEST:
        raise RecordError(f"its {MANIFEST} has more than {MAX_MANIFEST >> 20} MiB")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise RecordError(f"its {MANIFEST} cannot be read") from None
    return validated(Manifest, data, f"its {MANIFEST}", {}), hashlib.blake2b(content, digest_size=32).hexdigest()


def _check_members(archive: zipfile.ZipFile) -> None:
    """That an archive has plain files alone, none of them twice, packed so that they can be read a piece at a time."""
    names = [member.filename for member in archive.infolist()]
    if len(names) > MAX_FILES:
        raise RecordError(f"has more than {MAX_FILES:,} files")
    for member in archive.infolist():
        _check_name(member.filename)
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.flag_bits & 1:
            raise RecordError(f"{member.filename} is no plain file")
        if member.compress_type not in PACKING:
            raise RecordError(f"{member.filename} is packed otherwise than by DEFLATE")
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    for name, count in Counter(names).items():
        if count > 1 or name in folders:
            raise RecordError(f"{name} is in it twice, or a file as well as a folder")


def _check_sizes(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    """That an archive has the files of its manifest, no others, and none that is too large."""
    names = archive.namelist()
    for name in sorted(set(names) ^ {MANIFEST, *manifest.files}):
        raise RecordError(f"{name} is in only one of manifest and archive")
    size = sum(packed.size for packed in manifest.files.values())
    if size > MOST_UNPACKED * path.stat().st_size + SPARE:
        raise RecordError(f"would be {size:,} bytes unpacked, more than {MOST_UNPACKED} times its own size")
    if size > shutil.disk_usage(tempfile.gettempdir()).free:
        raise RecordError(f"would be {size:,} bytes unpacked: more than {tempfile.gettempdir()} has room for")


def _check_name(name: str) -> None:
    """That a name leads to a file below the folder that it is taken in; raises `RecordError`."""
    if not is_plain_path(name):
        raise RecordError(f"'{name}' is no plain path of a file")


def _unpack(archive: zipfile.ZipFile, name: str, packed: Packed, path: Path) -> None:
    """Unpack a file of the size and hash that the manifest says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hasher = hashlib.blake2b(digest_size=32)
    size = 0
    with archive.open(name) as source, path.open("xb") as target:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > packed.size:
                raise RecordError(f"{name} is larger than the manifest says")
            hasher.update(chunk)
            target.write(chunk)
    if size != packed.size or hasher.hexdigest() != packed.blake2b:
        raise RecordError(f"{name} is not the file that the manifest says")
