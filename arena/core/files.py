"""Write files whole or not at all, make temporary folders, and read files that anybody may have written."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from arena.core.errors import ConfigError

MAX_JSON_BYTES = 2**26
"""Most bytes of a JSON file."""
TEMPFILE_SUFFIX_PATTERN = "?" * 8
"""Pattern of what `tempfile` appends to a prefix."""
SQLITE_HEADER = b"SQLite format 3\0"
"""The first bytes of every SQLite database."""
FILE_HEADERS = {".html": b"<!doctype html", ".png": b"\x89png", ".gif": b"gif8", ".zip": b"pk"}
"""The first bytes of outputs by their usual ending, in lower case."""
UNSAFE_PATH_CHARS = re.compile(r"[\x00-\x1f\x7f\\:]")
MAX_FILE_NAME_BYTES = 255
"""Most bytes of the name of a file or folder."""


@contextlib.contextmanager
def atomic_file(path: Path, rights: int = 0o644) -> Iterator[IO[bytes]]:
    """Open a file to write, which takes its place when all is written; nothing is left of it when something fails.

    What a killed process has left of the same file is removed. An `OSError` names the file. Devices, pipes and sockets
    are refused: a file would take their place.
    """
    prefix = f".{path.name}."
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.EINVAL, "is a device, a pipe or a socket; name a file", str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path.parent, prefix)
        with _locked_while_open(lambda: _new_file(path.parent, prefix)) as (temporary, handle):
            try:
                with os.fdopen(handle, "wb", closefd=False) as file:
                    yield file
                os.fsync(handle)
                os.chmod(temporary, rights)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
    except OSError as error:
        if error.errno is None or prefix not in (error.filename or prefix):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def write_file(path: Path, content: Iterable[bytes]) -> Path:
    """Write the pieces of a file, whole or not at all; return its path."""
    with atomic_file(path) as file:
        file.writelines(content)
    return path


@contextlib.contextmanager
def temporary_folder(parent: str | Path | None, prefix: str) -> Iterator[Path]:
    """Make a folder in `parent` (by default the system's for temporary files), removed at the end.

    Folders of the same prefix that killed processes have left are removed first.
    """
    where = Path(parent or tempfile.gettempdir())
    _remove_leftovers(where, prefix)
    with _locked_while_open(lambda: _new_folder(where, prefix)) as (folder, _):
        try:
            yield Path(folder)
        finally:
            remove(folder)


def remove(path: str) -> None:
    """Remove a file, or a folder, whatever a program has made of its rights and depth."""
    with contextlib.suppress(OSError):
        os.unlink(path)
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # these two mind neither depth nor long paths
            subprocess.run([*command, "--", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _new_file(parent: Path, prefix: str) -> tuple[str, int]:
    handle, path = tempfile.mkstemp(dir=parent, prefix=prefix)
    return path, handle


def _new_folder(parent: Path, prefix: str) -> tuple[str, int]:
    while True:
        path = tempfile.mkdtemp(dir=parent, prefix=prefix)
        with contextlib.suppress(FileNotFoundError):  # swept away already
            return path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def _locked_while_open(make: Callable[[], tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Lock something new for as long as this process has it open; yield its path and descriptor."""
    while True:
        path, handle = make()
        with contextlib.suppress(OSError):  # a file system without locks: what is left there stays
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.lexists(path):  # else somebody swept it away before it was locked
            break
        os.close(handle)
    try:
        yield path, handle
    finally:
        os.close(handle)


def _remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove what was made with this prefix and is not locked any more."""
    for path in parent.glob(f"{glob.escape(prefix)}{TEMPFILE_SUFFIX_PATTERN}"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if os.fstat(handle).st_uid == os.getuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(str(path))
            finally:
                os.close(handle)


def is_plain_path(name: str) -> bool:
    """Return whether a name leads to a file below the folder that it is taken in."""
    path = PurePosixPath(name)
    if UNSAFE_PATH_CHARS.search(name) or path.is_absolute() or ".." in path.parts or str(path) != name or name == ".":
        return False
    return all(len(part.encode(errors="replace")) <= MAX_FILE_NAME_BYTES for part in path.parts)


def blocking_file(folder: Path) -> Path | None:
    """Return what stands where a folder, or one above it, is to be; None where nothing does."""
    return next((path for path in (folder, *folder.parents) if os.path.lexists(path) and not os.path.isdir(path)), None)


def check_output_file(path: Path, option: str, ending: str = "") -> None:
    """Raise `ConfigError` when an option names what no output may take the place of.

    That is a folder, a device, a database (a log, or `arena.db`), a file in a folder that is not there, and a file that
    does not begin as those of this `ending` do, such as a bot.
    """
    if path.is_dir():
        raise ConfigError(f"{option} {path}: is a folder; name a file")
    if path.exists() and not path.is_file():
        raise ConfigError(f"{option} {path}: is a device, a pipe or a socket; name a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{option} {path}: no folder {path.parent}")
    begin = b""
    with contextlib.suppress(OSError), path.open("rb") as file:
        begin = file.read(len(SQLITE_HEADER))
    if begin == SQLITE_HEADER:
        raise ConfigError(f"{option} {path}: is a database, which would be lost; name another file")
    if begin and not begin.lower().startswith(FILE_HEADERS.get(ending, b"")):
        raise ConfigError(f"{option} {path}: exists and is not a {ending} file; it would be lost, so name another file")


@contextlib.contextmanager
def created_folder(folder: Path) -> Iterator[None]:
    """Make a folder, with those above it; remove what was made when something fails."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in new:
            with contextlib.suppress(OSError):  # something has been put there
                path.rmdir()
        raise


def check_writable(folder: Path) -> None:
    """Raise `OSError` when nothing can be written to a folder, or where it would be made; leave nothing there."""
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(there)) from None


def read_regular(path: str | Path, limit: int, below: Path | None = None) -> bytes:
    """Read a file that anybody may have made, without waiting for it and not beyond `limit` bytes.

    Raises `OSError` as `open_regular` does, and `ValueError` for a file of more than `limit` bytes.
    """
    with open_regular(path, below) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(limit + 1) if size <= limit else None
    if content is None and size <= limit:  # one of the kernel's, which has nothing to say for now
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path))
    if content is None or len(content) > limit:
        raise ValueError(f"more than {limit >> 20} MiB" if limit >= 2**20 else f"more than {limit:,} bytes")
    return content


def open_regular(path: str | Path, below: Path | None = None) -> IO[bytes]:
    """Open a file that anybody may have made, once and without waiting for it.

    With `below`, `path` is relative to that folder, and no part of it may be a link. Raises `OSError`, with the path
    and the reason, for what is no regular file, a link where none may be, or cannot be opened.
    """
    whole = os.path.join(below or "", path)
    try:
        descriptor = _descriptor(Path(path), below)
    except OSError as error:
        is_link = below is not None and error.errno in (errno.ELOOP, errno.ENOTDIR)
        raise OSError(error.errno, "Is a link, or below one" if is_link else error.strerror, whole) from None
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Is a directory" if kind == stat.S_IFDIR else "Not a regular file", whole)
    return open(descriptor, "rb")


def _descriptor(path: Path, below: Path | None) -> int:
    """Open a file of whatever kind; return its descriptor."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    if below is None:
        return os.open(path, flags)
    with contextlib.ExitStack() as folders:
        folder = os.open(below, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        folders.callback(os.close, folder)
        for part in path.parts[:-1]:
            folder = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            folders.callback(os.close, folder)
        return os.open(path.name, flags | os.O_NOFOLLOW, dir_fd=folder)


def read_json(path: Path) -> Any:
    """Return the data of a JSON file; raises as `read_regular`, and `ValueError` for other text or deep nesting."""
    content = read_regular(path, MAX_JSON_BYTES)
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deep") from None
