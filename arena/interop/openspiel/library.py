"""The package itself, imported when it is needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from arena.interop import versions
from engine.errors import UnsupportedError

ARENA_PREFIX = "arena_"
"""What the names of the arena's games begin with in OpenSpiel."""


@cache
def pyspiel() -> Any:
    """Return the module `pyspiel`; raises `UnsupportedError` with what to install when it is missing."""
    try:
        return import_module("pyspiel")
    except ImportError:
        raise UnsupportedError("OpenSpiel's games need OpenSpiel: pip install 'pyramid-arena[openspiel]'") from None


def library_version() -> str:
    """Return OpenSpiel's version, such as `2.0.2`; `pyspiel` has imported it before."""
    return version("open_spiel")


def version_number(revision: int) -> int:
    """Return OpenSpiel's version and a revision (0 to 9) of what is built on it as one number: 200021 of 2.0.2."""
    return versions.version_number(library_version(), revision)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what OpenSpiel's C++ code writes to standard error, beside the exceptions that it raises, from the user."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
