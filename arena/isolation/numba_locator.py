"""Tell Numba where compiled code is in a sandbox: in the machine's cache, which it cannot write to.

Numba is told of it by `NUMBA_CACHE_LOCATOR_CLASSES`. The machine's cache may know a function, but not for some types:
what cannot be kept is used all the same (`engine.kernel`).
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numba.core.caching import UserProvidedCacheLocator

CACHE_FOLDER = "/tmp/numba"
"""The folder for what a bot compiles of its own."""


class Locator(UserProvidedCacheLocator):
    """The machine's cache for what it has; a folder below /tmp for what a bot compiles of its own."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        stem = os.path.splitext(os.path.basename(py_file))[0]
        name = f"{stem}.{py_func.__qualname__}-{self._lineno}".replace("<", "").replace(">", "")
        index = f"{name}.py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}.nbi"
        self.known = os.path.exists(os.path.join(self._cache_path, index))
        if not self.known:
            self._cache_path = os.path.join(CACHE_FOLDER, os.path.basename(self._cache_path))

    def ensure_cache_path(self) -> None:
        """Make the folder, unless it is the machine's."""
        if not self.known:
            os.makedirs(self._cache_path, exist_ok=True)


def lay_out(files: Mapping[str, bytes]) -> None:
    """Write what a bot has compiled before where Numba will look for it."""
    for name, content in files.items():
        path = Path(CACHE_FOLDER, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
