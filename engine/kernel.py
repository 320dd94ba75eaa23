"""Compiling: the `kernel` decorator, and `bind`, which joins generic kernels to one game's rules.

Importing this module imports Numba and sets it up; modules that only name or list games do not import it.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import Cache, IndexDataCacheFile, UserProvidedCacheLocator
from numba.np import linalg

from engine.cache import cache_root


def _numba_cache_folder() -> Path:
    """Return a folder named by what Numba's own index does not watch: versions, flags, kernels of other files."""
    flags = sorted(
        f"{key}={value}"
        for key, value in os.environ.items()
        if key.startswith("NUMBA_") and key not in ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
    )
    shared = b"".join(path.read_bytes() for path in _shared_sources())
    key = hashlib.blake2b(
        repr((version("numba"), version("numpy"), sys.version, flags)).encode() + shared, digest_size=8
    )
    return cache_root() / "numba" / key.hexdigest()


def _shared_sources() -> list[Path]:
    """Return the files whose kernels are called from other files: our own, and the rules of every installed game."""
    here = Path(__file__).parent
    found = {here / "kernel.py", here / "chance.py", here / "no_chance.py", *here.glob("*/rules.py")}
    for entry in entry_points(group="arena.games"):
        top, *rest = entry.value.partition(":")[0].split(".")
        spec = importlib.util.find_spec(top)
        if spec is not None and spec.origin is not None:
            found.update(Path(spec.origin).parent.joinpath(*rest).glob("rules.py"))
    return sorted(found)


def numba_cache() -> str:
    """Return the folder that compiled kernels are kept in."""
    return os.environ["NUMBA_CACHE_DIR"]


def numba_folder(source: str) -> str:
    """Return the folder below `numba_cache` for the kernels of a source file and of all files beside it."""
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(source))


def _set_up_numba() -> None:
    """Prepare Numba and this process's environment, once, when this module is imported.

    - Compiled kernels are kept in a folder of our own, which `NUMBA_CACHE_DIR` tells to child processes; a folder that
      somebody has chosen by it stays. Numba reads the variable when it is imported, which may have happened before.
    - Where a compiled kernel cannot be kept, on a full disk or in a read-only folder, it is used all the same.
    - An index of compiled kernels that cannot be read counts as empty: it is damaged, or names a `NamedTuple` of
      parameters that has another name by now.
    - Numba's array functions are loaded without SciPy's linear algebra, a third of what a process pays to start.
      Numba loads that only to see that it is there, and looks again where a kernel calls it.
    """
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(_numba_cache_folder())
    numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]  # type: ignore[attr-defined]  # made by Numba at run time
    Cache.save_overload = _tolerant(Cache.save_overload, OSError, lambda: None)  # type: ignore[method-assign]  # on purpose: see above
    IndexDataCacheFile._load_index = _tolerant(IndexDataCacheFile._load_index, Exception, dict)  # type: ignore[method-assign]  # likewise
    if COMPILED and importlib.util.find_spec("scipy") is not None:
        ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = ensure_blas


def _tolerant(function: Callable[..., Any], errors: type[Exception], instead: Callable[[], Any]) -> Callable[..., Any]:
    """Return the function, made to return what `instead` does in place of raising one of these errors."""

    def tolerant(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except errors:
            return instead()

    return tolerant


COMPILED: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # made by Numba at run time
_set_up_numba()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a plain function over records and arrays; interpreted as it stands under `NUMBA_DISABLE_JIT=1`.

    Kernels are merged into their callers (`forceinline`): left to itself the compiler calls a rule of more than a few
    lines, and counts references to every array on the way (random playouts: 18 % slower in Epicycle).
    """
    if COMPILED:
        return numba.njit(cache=True, error_model="numpy", nogil=True, forceinline=True)(function)
    return np.errstate(over="ignore")(function)


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a long function as `kernel` does, but call it instead of merging it into its callers."""
    if COMPILED:
        return numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    return np.errstate(over="ignore")(function)


def bind(template: types.ModuleType, rules: types.ModuleType, dtype: np.dtype, **also: Any) -> types.SimpleNamespace:
    """Return copies of the template's functions that call the rules' kernels, compiled and cached.

    `template.RULES` names the kernels it takes from `rules`; those in `template.OPTIONAL` replace the template's
    own default of that name when the rules have one. `also` adds names to the copies' globals (a string there
    is part of the copies' identity). Raises `AttributeError` when the rules lack a kernel.
    """
    names = {name: getattr(rules, name) for name in template.RULES}
    names |= {name: getattr(rules, name) for name in template.OPTIONAL if hasattr(rules, name)}
    given = {**names, **also}
    scope = {**vars(template), **given, "STATE": dtype}
    key = _digest(template, rules, {**also, "STATE": dtype.descr})
    for name, function in vars(template).items():
        if not isinstance(function, types.FunctionType) or function.__module__ != template.__name__ or name in given:
            continue
        copy = types.FunctionType(function.__code__, scope, name, function.__defaults__)
        copy.__qualname__ = f"{name}.{rules.__name__.replace('.', '_')}_{dtype.itemsize}_{key}"
        copy.__module__ = template.__name__
        copy.__doc__ = function.__doc__
        scope[name] = kernel(copy)
    return types.SimpleNamespace(**scope)


def _digest(template: types.ModuleType, rules: types.ModuleType, also: dict[str, Any]) -> str:
    modules = [template, rules, *(value for value in also.values() if isinstance(value, types.ModuleType))]
    hasher = hashlib.blake2b(digest_size=6)
    for module in modules:
        hasher.update(Path(inspect.getfile(module)).read_bytes())
    for name, value in sorted(also.items()):
        hasher.update(f"{name}=".encode())
        if callable(value):
            function = getattr(value, "py_func", value)
            hasher.update(f"{function.__module__}.{function.__qualname__}".encode())
            hasher.update(Path(inspect.getfile(function)).read_bytes())
        else:
            hasher.update(str(value).encode())
    return hasher.hexdigest()
