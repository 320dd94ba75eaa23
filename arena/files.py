"""Writing files whole or not at all, and reading JSON that anybody may have written."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

MAX_JSON = 2**26
"""Bytes of a JSON file."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place when all is written; nothing is left of it when something fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_file(path: Path, content: Iterable[bytes]) -> Path:
    """Write the pieces of a file, whole or not at all; its path."""
    with whole_file(path) as file:
        file.writelines(content)
    return path


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
