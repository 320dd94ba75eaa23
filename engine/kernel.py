"""Compiling: the `kernel` decorator, and `bind`, which joins generic kernels to one game's rules.

Importing this module imports Numba and sets it up; modules that only name or list games do not import it.
"""

import contextlib
import hashlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import Cache, IndexDataCacheFile, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import NativeLowering
from numba.core.types import unliteral

from engine.cache import kernel_cache


def numba_folder(source: str) -> str:
    """Return the folder below `kernel_cache` for the kernels of a source file and of all files beside it."""
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(source))


def _set_up_numba() -> None:
    """Prepare Numba and this process's environment, once, when this module is imported.

    - Compiled kernels are kept in a folder of our own, which `NUMBA_CACHE_DIR` tells to child processes; a folder that
      somebody has chosen by it stays. Numba reads the variable when it is imported, which may have happened before.
    - Where a compiled kernel cannot be kept, on a full disk or in a read-only folder, it is used all the same.
    - An index of compiled kernels that cannot be read counts as empty: it is damaged, or names a `NamedTuple` of
      parameters that has another name by now.
    - A kernel from the cache is loaded without what only the compiler needs, a quarter of what a process pays to start.
    - Numba's array functions are loaded without SciPy's linear algebra, as much again for a process that compiles.
      Numba loads that only to see that it is there, and looks again where a kernel calls it.
    """
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())
    numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]  # type: ignore[attr-defined]  # made by Numba at run time
    Cache.save_overload = _tolerant(Cache.save_overload, OSError, lambda: None)  # type: ignore[method-assign]  # on purpose: see above
    IndexDataCacheFile._load_index = _tolerant(IndexDataCacheFile._load_index, Exception, dict)  # type: ignore[method-assign]  # likewise
    Cache.load_overload = _load_overload  # type: ignore[method-assign]  # likewise
    CPUContext.load_additional_registries = _load_registries  # type: ignore[method-assign]  # likewise


def _load_overload(self: Cache, signature: Any, context: CPUContext) -> Any:
    """Load a kernel as Numba does, but for refreshing the compiler's registries, which compiling does by itself."""
    rtsys.initialize(context)
    found = None
    with self._guard_against_spurious_io_errors():
        found = self._load_overload(signature, context)
    if found is None and not _may_compile:
        raise LookupError(f"not compiled yet: {signature}")
    return found


_may_compile = True


@contextlib.contextmanager
def from_cache_alone() -> Iterator[None]:
    """Have kernels raise `LookupError` that would have to be compiled."""
    global _may_compile
    _may_compile = False
    try:
        yield
    finally:
        _may_compile = True


def _load_registries(self: CPUContext) -> None:
    if "numba.np.arraymath" not in sys.modules and importlib.util.find_spec("scipy") is not None:
        from numba.np import linalg  # slow to import, and of no use to who only loads kernels

        ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = ensure_blas
    _registries(self)


_registries = CPUContext.load_additional_registries


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


OPTIONS = {"nopython": True, "error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}


class _CodeForCallers(JITCodeLibrary):
    """Code that only other kernels call: it is optimised by itself, but becomes machine code as a part of theirs."""

    def finalize(self) -> None:
        """Link in what it calls, and optimise the whole; merged without that, searches are 2 to 4 % slower."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringForCallers(NativeLowering):
    """Lowering that ends before there is anything to execute."""

    _name = "lowering_for_callers"

    def run_pass(self, state: Any) -> bool:
        state.library = _CodeForCallers(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        key = object()  # callers find the code by it, as they else do by what can be executed
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class _CompilerForCallers(Compiler):
    def define_pipelines(self) -> list[Any]:
        (manager,) = super().define_pipelines()
        manager.passes = [
            (_LoweringForCallers if step is NativeLowering else step, why) for step, why in manager.passes
        ]
        manager.finalize()
        return [manager]


class _ForCallers(CPUDispatcher):
    """A kernel as other kernels call it."""

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres


class _Kernel(CPUDispatcher):
    """A kernel as Python calls it, compiled as a whole; kernels that call it are handed another one to merge in.

    Numba would also make every kernel executable by itself, together with all that it calls: about half of the time
    that a game and its searches took to compile.
    """

    @cached_property
    def merged(self) -> Any:
        """The kernel that others merge in, a `_ForCallers`."""
        options = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
        return _ForCallers(self.py_func, targetoptions=options, pipeline_class=_CompilerForCallers)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call; numbers known before are compiled as any others, where that can be."""
        try:
            known = {name: unliteral(kind) for name, kind in kws.items()}
            return self.merged.get_call_template(tuple(map(unliteral, args)), known)
        except TypingError:
            return self.merged.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.merged.get_overload(sig)

    def compile(self, sig: Any) -> Any:
        """Compile for these types, and tell the code of merged kernels where their constants are."""
        entry_point = super().compile(sig)
        for result in self.overloads.values():
            if not result.referenced_envs:  # type: ignore[attr-defined]  # made at run time
                for env in result._find_referenced_environments():
                    result.codegen.set_env(env.env_name, env)
        return entry_point


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a plain function over records and arrays; interpreted as it stands under `NUMBA_DISABLE_JIT=1`.

    Kernels are merged into their callers (`forceinline`): left to itself the compiler calls a rule of more than a few
    lines, and counts references to every array on the way (random playouts: 18 % slower in Epicycle).
    """
    if COMPILED:
        dispatcher = _Kernel(function, targetoptions=OPTIONS)
        dispatcher.enable_caching()
        return dispatcher
    return np.errstate(over="ignore")(function)


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a long function as `kernel` does, but call it instead of merging it into its callers."""
    if COMPILED:
        return numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    return np.errstate(over="ignore")(function)


def entry_point(function: Any, *arguments: Any) -> Any:
    """Return a kernel that takes arguments of these types alone, and saves Numba's look at them: 50 ns a call."""
    return function.compile(tuple(map(numba.typeof, arguments))) if COMPILED else function


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
