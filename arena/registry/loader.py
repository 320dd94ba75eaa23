"""Load bundles' modules in a worker, under names of their own, whatever else is installed.

Two bundles may each have a `helper.py`: every module of a bundle gets an `__import__` of its own that looks into the
bundle first. (`importlib.import_module` does not: bundles use import statements or `__import__`.) What a bundle took
from our `bots` is shared by all, as long as it is what is installed here; the base API is always the installed one.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import importlib
import os
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.core.files import temporary_folder
from arena.core.paths import ROOT
from arena.registry.bundles import API_FILE, API_MODULES, Bundle, with_api
from bots.base import made as made
from engine.cache import cache_root

ORIGINAL_BUILTINS = dict(vars(builtins))
"""The built-in names before any bot was loaded."""
loaded_bundles: dict[str, LoadedBundle] = {}


def load_class(bundle: Bundle, class_name: str) -> Any:
    """Return a class of a bundle's main module.

    Raises `BotError` for another API version, whatever running that module raises, or `AttributeError`.
    """
    bundle.check_api(class_name)
    loaded, before = write_bundle(bundle), sys.getrecursionlimit()
    found = getattr(loaded.module(bundle.module), class_name)
    if sys.getrecursionlimit() != before:
        loaded.recursion_limit = sys.getrecursionlimit()
    return found


def write_bundle(bundle: Bundle) -> LoadedBundle:
    """Put a bundle's files in place without running any; raises `OSError` where that fails."""
    key = bundle.hash
    if key not in loaded_bundles:
        loaded_bundles[key] = LoadedBundle(bundle, key)
    return loaded_bundles[key]


def has_installed_bots(bundle_files: Mapping[str, bytes]) -> bool:
    """Return whether a bundle's files of our `bots` are the installed ones, byte for byte."""
    ours = ((name, content) for name, content in bundle_files.items() if name.startswith("bots/") and name != API_FILE)
    return all(_has_content(ROOT / name, content) for name, content in ours)


def is_built_in(bundle_files: Mapping[str, bytes]) -> bool:
    """Return whether a bundle holds a built-in bot and nothing else."""
    return all(name.startswith("bots/") for name in bundle_files) and has_installed_bots(bundle_files)


def in_a_bundle(file: str) -> bool:
    """Return whether a file of a traceback belongs to a bot."""
    return file.startswith(f"{_folder()}{os.sep}")


class LoadedBundle:
    """The modules of one bundle in this process."""

    def __init__(self, bundle: Bundle, key: str) -> None:
        self.prefix = f"_bundle_{key[:16]}"
        self.folder = materialize(bundle.files, _folder() / key)
        self.files = with_api(bundle.files)
        self.shared = has_installed_bots(bundle.files)
        self.modules: dict[str, types.ModuleType] = {}
        self.builtins = {**ORIGINAL_BUILTINS, "__import__": self._import}
        self.recursion_limit = 0
        """Limit that its modules set when they are loaded, for the matches of its bots; 0 for none."""

    def module(self, name: str) -> types.ModuleType:
        """Return the module of that name in the bundle, which is run on first use."""
        if name in self.modules:
            return self.modules[name]
        place = self._locate(name)
        if place is None:
            raise ModuleNotFoundError(f"no module '{name}' in the bot's bundle; list it in BUNDLE_FILES", name=name)
        if self.shared and name.partition(".")[0] == "bots":
            return importlib.import_module(name)
        path, is_package = place
        if "." in name:
            self.module(name.rpartition(".")[0])
        module = types.ModuleType(f"{self.prefix}.{name}")
        vars(module)["__builtins__"] = self.builtins
        module.__package__ = module.__name__ if is_package else module.__name__.rpartition(".")[0]
        self.modules[name] = sys.modules[module.__name__] = module
        if path is not None:
            installed = API_FILE in self.files and path in API_MODULES.values()
            module.__file__ = str((ROOT if installed else self.folder) / path)
            try:
                exec(compile(self.files[path], module.__file__, "exec"), vars(module))
            except BaseException:
                del self.modules[name], sys.modules[module.__name__]
                raise
        if "." in name:
            setattr(self.modules[name.rpartition(".")[0]], name.rpartition(".")[2], module)
        return module

    def _locate(self, name: str) -> tuple[str | None, bool] | None:
        """Return the file of a module, if it has one, and whether it is a package; None where there is none."""
        base = name.replace(".", "/")
        for path, is_package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if path in self.files:
                return path, is_package
        return (None, True) if any(file.startswith(f"{base}/") for file in self.files) else None

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        if level:
            package = str((globals or {}).get("__package__", "")).removeprefix(self.prefix).lstrip(".").split(".")
            name = ".".join([*package[: len(package) - level + 1], *([name] if name else [])]).strip(".")
        top = name.partition(".")[0]
        if not top or not self._locate(top):
            if level and name == "":  # `from . import helper` at the top of a folder that is no package
                holder = types.ModuleType(self.prefix)
                for item in fromlist or ():
                    setattr(holder, item, self.module(item))
                return holder
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        module = self.module(name)
        if not fromlist:
            return self.module(top)
        for item in fromlist:
            if not hasattr(module, item) and self._locate(f"{name}.{item}"):
                self.module(f"{name}.{item}")
        return module


def _folder() -> Path:
    return cache_root() / "bundles"


def materialize(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write files once into a folder that is named by their content, for data, tracebacks and Numba's cache."""
    for _ in range(3):
        if _folder_holds(folder, files):
            return folder
        _replace_folder(folder, files)
    raise OSError(errno.EIO, "files cannot be kept here", str(folder))


def _replace_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files beside a folder and put them in its place, unless another process was first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder.parent, "new-") as desk:
        fresh = desk / "fresh"
        for name, content in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
        with contextlib.suppress(OSError):
            os.rename(fresh, folder)
        if not _folder_holds(folder, files):
            with contextlib.suppress(OSError):
                os.rename(folder, desk / "damaged")
                os.rename(fresh, folder)


def _folder_holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    return all(_has_content(folder / name, content) for name, content in files.items())


def _has_content(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
