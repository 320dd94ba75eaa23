"""Writing files whole or not at all, folders of one's own, and reading JSON that anybody may have written."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

MAX_JSON = 2**26
"""Bytes of a JSON file."""
RANDOM = "?" * 8
"""What `tempfile` appends to a prefix."""
UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:]")
MAX_NAME = 255
"""Bytes of the name of a file or folder."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place when all is written; nothing is left of it when something fails.

    What a process that was killed has left of the same file is removed. An `OSError` names the file.
    """
    prefix = f".{path.name}."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent, prefix)
        with _held(lambda: _new_file(path.parent, prefix)) as (temporary, handle):
            try:
                with os.fdopen(handle, "wb", closefd=False) as file:
                    yield file
                os.fsync(handle)
                os.chmod(temporary, 0o644)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
    except OSError as error:
        if error.errno is None or prefix not in (error.filename or prefix):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def write_file(path: Path, content: Iterable[bytes]) -> Path:
    """Write the pieces of a file, whole or not at all; its path."""
    with whole_file(path) as file:
        file.writelines(content)
    return path


@contextlib.contextmanager
def own_folder(parent: str | Path | None, prefix: str) -> Iterator[Path]:
    """A new folder in `parent` (by default the system's for temporary files), removed at the end.

    Folders of the same prefix that processes left when they were killed are removed first.
    """
    where = Path(parent or tempfile.gettempdir())
    _sweep(where, prefix)
    with _held(lambda: _new_folder(where, prefix)) as (folder, _):
        try:
            yield Path(folder)
        finally:
            remove_folder(folder)


def remove_folder(folder: str) -> None:
    """Remove a folder, whatever a program has made of it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # these two mind neither depth nor long paths
            subprocess.run([*command, "--", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _new_file(parent: Path, prefix: str) -> tuple[str, int]:
    handle, path = tempfile.mkstemp(dir=parent, prefix=prefix)
    return path, handle


def _new_folder(parent: Path, prefix: str) -> tuple[str, int]:
    while True:
        path = tempfile.mkdtemp(dir=parent, prefix=prefix)
        with contextlib.suppress(FileNotFoundError):  # swept away already
            return path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def _held(make: Callable[[], tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Something new, locked for as long as this process has it open: its path and descriptor."""
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


def _sweep(parent: Path, prefix: str) -> None:
    """Remove what nobody has open any more of what was made with this prefix."""
    for path in parent.glob(f"{glob.escape(prefix)}{RANDOM}"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if os.fstat(handle).st_uid == os.getuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_folder(str(path)) if path.is_dir() else path.unlink()
            finally:
                os.close(handle)


def is_plain_path(name: str) -> bool:
    """Whether a name leads to a file below the folder that it is taken in."""
    path = PurePosixPath(name)
    if UNSAFE.search(name) or path.is_absolute() or ".." in path.parts or str(path) != name or name == ".":
        return False
    return all(len(part.encode(errors="replace")) <= MAX_NAME for part in path.parts)


def read_json(path: Path) -> Any:
    """The data of a JSON file; raises `ValueError` for one that is none, too large, or nested too deep."""
    with path.open("rb") as file:
        content = file.read(MAX_JSON + 1)
    if len(content) > MAX_JSON:
        raise ValueError(f"more than {MAX_JSON >> 20} MiB")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deep") from None
