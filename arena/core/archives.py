"""ZIP archives with a manifest: written file by file, and read as if a stranger had made them.

The manifest has the size and hash of every file. Nothing is unpacked that it does not name.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Any

from pydantic import Field

from arena.core.errors import ArenaError, RecordError
from arena.core.files import is_plain_path
from arena.core.models import Model

ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of all files in an archive: the earliest one of ZIP."""
CHUNK_BYTES = 2**20
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


class ArchivedFile(Model):
    """A file of an archive."""

    size: Annotated[int, Field(ge=0)]
    blake2b: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def add_member(archive: zipfile.ZipFile, name: str, source: IO[bytes], rights: int = 0o644) -> ArchivedFile:
    """Add a file as it is read, of whatever size; return what the manifest says of it."""
    about = zipfile.ZipInfo(name, ZIP_EPOCH)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = (stat.S_IFREG | rights) << 16
    about.create_system = 3  # Unix, on every platform
    hasher, size = hashlib.blake2b(digest_size=32), 0
    with archive.open(about, "w", force_zip64=True) as packed:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            hasher.update(chunk)
            packed.write(chunk)
    return ArchivedFile(size=size, blake2b=hasher.hexdigest())


def check_members(archive: zipfile.ZipFile, most: int = MAX_FILES) -> None:
    """Check that an archive has only plain files within it, none twice, whose compression can be read in pieces."""
    names = [member.filename for member in archive.infolist()]
    if len(names) > most:
        raise RecordError(f"has more than {most:,} files")
    for member in archive.infolist():
        check_member_name(member.filename)
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


def check_member_name(name: str) -> None:
    """Raise `RecordError` if a name could lead out of the folder that it is used in."""
    if not is_plain_path(name):
        raise RecordError(f"'{name}' is no plain path of a file")


def read_manifest(archive: zipfile.ZipFile, name: str, command: str) -> tuple[Any, bytes]:
    """Return the data in the manifest of an archive that a command makes, and its bytes."""
    if name not in archive.NameToInfo:
        raise RecordError(f"has no {name}, so that it is none of `{command}`")
    with archive.open(name) as file:
        content = file.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise RecordError(f"its {name} has more than {MAX_MANIFEST_BYTES >> 20} MiB")
    try:
        return json.loads(content), content
    except (ValueError, RecursionError):
        raise RecordError(f"its {name} cannot be read") from None


def check_sizes(
    archive: zipfile.ZipFile,
    manifest: str,
    files: Mapping[str, ArchivedFile],
    where: str | Path,
    ratio: int = MAX_UNPACK_RATIO,
) -> None:
    """Check that an archive has exactly the files of its manifest, that they fit into the folder `where`, and that they
    are at most `ratio` times as large as the archive.
    """
    for name in sorted(set(archive.namelist()) ^ {manifest, *files}):
        raise RecordError(f"{name} is in only one of manifest and archive")
    size = sum(packed.size for packed in files.values())
    packed_size = archive.fp.seek(0, os.SEEK_END) if archive.fp else 0
    if size > ratio * packed_size + SPARE_BYTES:
        raise RecordError(f"would be {size:,} bytes unpacked, more than {ratio} times its own size")
    if size > shutil.disk_usage(where).free:
        raise RecordError(f"would be {size:,} bytes unpacked: more than {where} has room for")


def unpack_member(archive: zipfile.ZipFile, name: str, packed: ArchivedFile, path: Path) -> None:
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
