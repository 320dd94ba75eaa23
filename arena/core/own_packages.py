"""Import our packages `bots` and `engine` also where a script has folders or files of these names beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
OWN_PACKAGE_NAMES = ("bots", "engine")


class OwnPackages:
    """Finder of our packages, which comes before the search path."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a package of ours is; None for all others."""
        if name not in OWN_PACKAGE_NAMES or path is not None:
            return None
        folder = ROOT / name
        return spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])


def prefer_own_packages() -> None:
    """Have our packages imported where others of their names come first on the path, and say so in one line.

    Raises `ImportError` where one of the others is imported already.
    """
    hidden = {name: found for name in OWN_PACKAGE_NAMES if (found := _before_ours(name)) is not None}
    for name in hidden:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and Path(file).parent != ROOT / name:
            raise ImportError(f"{file} is imported already, and the arena has a package '{name}': rename yours")
    if hidden:
        sys.meta_path.insert(0, OwnPackages)
        listed = " and ".join(map(str, hidden.values()))
        print(f"arena: {listed} is hidden by a package of the arena of that name: rename yours", file=sys.stderr)


def _before_ours(name: str) -> str | None:
    """Return the package or module of a name that comes before ours on the search path."""
    for entry in sys.path:
        folder = os.path.abspath(entry)
        if folder == str(ROOT):
            return None
        for found in (os.path.join(folder, name, "__init__.py"), os.path.join(folder, f"{name}.py")):
            if os.path.isfile(found):
                return os.path.dirname(found) if found.endswith("__init__.py") else found
    return None
