"""Where Numba looks for compiled code in a bot's process: in the machine's cache, which it cannot write to.

Named to Numba by `NUMBA_CACHE_LOCATOR_CLASSES`, so nothing else imports this module.
"""

import contextlib
import os
import sys
import tempfile
from typing import Any

from numba.core.caching import Cache, UserProvidedCacheLocator


class Locator(UserProvidedCacheLocator):
    """The machine's cache for what it has; a folder under the temporary folder for what a bot compiles of its own."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        stem = os.path.splitext(os.path.basename(py_file))[0]
        name = f"{stem}.{py_func.__qualname__}-{self._lineno}".replace("<", "").replace(">", "")
        index = f"{name}.py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}.nbi"
        self.known = os.path.exists(os.path.join(self._cache_path, index))
        if not self.known:
            self._cache_path = os.path.join(tempfile.gettempdir(), "numba", os.path.basename(self._cache_path))

    def ensure_cache_path(self) -> None:
        """Nothing is written to the machine's cache."""
        if not self.known:
            os.makedirs(self._cache_path, exist_ok=True)


def _forgiving(save: Any) -> Any:
    """The machine's cache may know a function, but not for these types: what cannot be kept is used all the same."""

    def save_overload(self: Any, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            save(self, sig, data)

    return save_overload


Cache.save_overload = _forgiving(Cache.save_overload)  # type: ignore[method-assign]
