"""Bots in what a browser or a program hands in: a file, the files of a folder, or a ZIP archive. Reading runs no bot.

An upload may have been made by anybody: what is read of it is bounded before it is unpacked, parsed or written.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from arena.core.errors import ArenaError, BotError
from arena.core.files import is_plain_path, temporary_folder
from arena.registry.bundles import (
    IGNORED_FOLDERS,
    MANIFEST_FILE,
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_FOLDER_DEPTH,
    Bundle,
)
from arena.registry.discovery import has_bot, own_bot
from arena.registry.models import BUNDLE_CLASS, bundle_model
from engine.errors import EngineError

ZIP_SUFFIX, MODEL_SUFFIX, PYTHON_SUFFIX = ".zip", ".onnx", ".py"
RESOURCE_FOLDER = "__MACOSX"
"""Folder that macOS adds to the archives it makes."""
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compressions: with others, one read may unpack any amount."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OverflowError)
"""Errors of reading damaged or forged archives."""
MAX_UPLOADED_SOURCE_BYTES = 2**18
"""Most bytes of all Python files of an upload: to parse them takes some 500 times as much memory, in the server."""
MAX_PATH_BYTES = 1_000


def uploaded_bot(files: Mapping[str, bytes], main: str = "") -> tuple[Bundle, str]:
    """Return the bundle of the bot in uploaded files, by their names, and its class, which is empty for a program.

    `main`, `my_bot.py:MyBot`, chooses one where there are several.

    Files are one Python file, one ONNX model, one ZIP archive, or those of a folder: a program with its `bot.toml`, or
    Python files of which one holds a bot. Raises `BotError` of one line for anything else.
    """
    if len(files) == 1:
        (name, content) = next(iter(files.items()))
        if PurePosixPath(name).suffix.lower() == ZIP_SUFFIX:
            files = unzipped(content)
        elif PurePosixPath(name).suffix.lower() == MODEL_SUFFIX:
            return bundle_model(content), BUNDLE_CLASS
    _check(files)
    files = without_top_folder({name: content for name, content in files.items() if not _is_ignored(name)})
    if not files:
        raise BotError("the upload holds no file")
    with temporary_folder(None, "arena-upload-") as folder:
        for name, content in files.items():
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                raise BotError(f"{name}: is a file as well as a folder") from None
            except OSError as error:
                raise BotError(f"{name[:200]}: cannot be kept: {error.strerror}") from None
        try:
            source = own_bot(str(_main_file(folder, files, main)))
            return source.bundle(), source.class_name
        except (ArenaError, EngineError) as error:
            words = str(error).replace(f"{folder}/", "").replace(f"{folder.name}/", "").replace(str(folder), "the bot")
            raise BotError(words) from None
        except RecursionError:
            raise BotError("the bot's source is nested too deep") from None


def _main_file(folder: Path, files: Mapping[str, bytes], main: str) -> Path | str:
    """Return what names the bot of a folder: its manifest's folder, the file named, or the one that holds a bot."""
    file, _, class_name = main.partition(":")
    if file:
        if file not in files or not file.endswith(PYTHON_SUFFIX):
            raise BotError(f"the upload holds no file '{file[:80]}'")
        return f"{folder / file}{f':{class_name}' if class_name else ''}"
    if MANIFEST_FILE in files:
        return folder
    top = [name for name in sorted(files) if "/" not in name and name.endswith(PYTHON_SUFFIX)]
    if not top:
        raise BotError(f"the upload holds neither a {MANIFEST_FILE} nor a Python file outside of folders")
    found = top if len(top) == 1 else [name for name in top if has_bot(folder / name)]
    if len(found) != 1:
        what = f"{len(found)} of its files hold bots, {', '.join(found)}" if found else "none of its files holds a bot"
        raise BotError(f"the upload must hold one bot: {what}")
    return f"{folder / found[0]}{f':{class_name}' if class_name else ''}"


def unzipped(content: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP archive; raises `BotError` for a damaged, forged or too large one."""
    files: dict[str, bytes] = {}
    left = MAX_BUNDLE_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check_members(members)
            for member in members:
                if _is_ignored(member.filename):
                    continue
                with archive.open(member) as file:
                    files[member.filename] = file.read(left + 1)
                left -= len(files[member.filename])
                if left < 0:
                    raise BotError(f"the archive unpacks to more than {MAX_BUNDLE_BYTES >> 20} MiB")
    except BotError:
        raise
    except ZIP_ERRORS as error:
        raise BotError(f"the archive cannot be read: {str(error)[:200] or type(error).__name__}") from None
    return files


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_BUNDLE_FILES:
        raise BotError(f"the archive holds more than {MAX_BUNDLE_FILES:,} files")
    if len({member.filename for member in members}) < len(members):
        raise BotError("the archive holds a file twice")
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.flag_bits & 1 or member.header_offset < 0:
            raise BotError(f"{member.filename[:200]!a}: is no plain file in the archive")
        if member.compress_type not in COMPRESSIONS:
            raise BotError(f"{member.filename[:200]!a}: is packed otherwise than by DEFLATE")


def without_top_folder(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files by name below the folder that all of them are in, if there is one."""
    parts = [name.split("/", 1) for name in files]
    if files and all(len(each) == 2 and each[0] == parts[0][0] for each in parts):
        return without_top_folder({name.split("/", 1)[1]: content for name, content in files.items()})
    return dict(files)


def _is_ignored(name: str) -> bool:
    """Return whether a file is no part of a bot: it is hidden, or in a folder that bundles leave out."""
    parts = name.split("/")
    return any(part.startswith(".") and part not in (".", "..") for part in parts) or any(
        part in (*IGNORED_FOLDERS, RESOURCE_FOLDER) for part in parts
    )


def _check(files: Mapping[str, bytes]) -> None:
    """Raise `BotError` for too many or too large files, and for names that could lead elsewhere."""
    if len(files) > MAX_BUNDLE_FILES:
        raise BotError(f"a bot's source and data are limited to {MAX_BUNDLE_FILES:,} files")
    if sum(map(len, files.values())) > MAX_BUNDLE_BYTES:
        raise BotError(f"a bot's source and data are limited to {MAX_BUNDLE_BYTES >> 20} MiB")
    if sum(len(content) for name, content in files.items() if name.endswith(PYTHON_SUFFIX)) > MAX_UPLOADED_SOURCE_BYTES:
        most = f"{MAX_UPLOADED_SOURCE_BYTES >> 10} KiB"
        raise BotError(f"the Python files of an upload are limited to {most}; keep data in other files")
    for name in files:
        is_far = name.count("/") > MAX_FOLDER_DEPTH or len(name.encode("utf-8", "replace")) > MAX_PATH_BYTES
        if is_far or not is_plain_path(name) or not name.isprintable():
            raise BotError(f"{name[:200]!a}: is no plain path of a file in a bot's folder")
