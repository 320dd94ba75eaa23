"""Versions of the code and of what it runs on, which drivers and workers compare before they play together."""

import functools
import hashlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from arena.core.machine import processor
from arena.core.paths import ROOT

REPORTED_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "pandas", "ray", "trueskill", "pyramid-arena")
RESULT_DECIDING = ("python", "numpy", "numba", "llvmlite")
"""What may change results: rules and searches are compiled by Numba, bots draw from Python and NumPy."""
BOT_DECIDING = ("scipy", "pandas", "machine")
"""What may change the results of some bots, but of none that come with the arena."""


@functools.cache
def code_hash() -> str:
    """Return a hash of the sources of engine and arena; bots and what they use of `bots` are in bundles."""
    files = [*ROOT.glob("engine/**/*.py"), *ROOT.glob("arena/**/*.py")]
    hasher = hashlib.blake2b(digest_size=16)
    for path in sorted(files):
        hasher.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return hasher.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python, the machine and the packages that matter."""
    found = {"python": platform.python_version(), "platform": platform.platform(), "machine": platform.machine()}
    found |= {"processor": processor(), "cores": str(os.cpu_count() or 1)}
    for package in REPORTED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return how two installations differ: what may change results, and what may change those of some bots."""
    decisive, noted = (
        [
            f"{name} is {here[name]}, not {there[name]}"
            for name in names
            if _compared_version(name, here) != _compared_version(name, there)
        ]
        for names in (RESULT_DECIDING, BOT_DECIDING)
    )
    return decisive, noted


def _compared_version(name: str, found: Mapping[str, str]) -> str:
    """Return a version; of Python's the first two numbers, as the rest are corrections."""
    return ".".join(found[name].split(".")[:2]) if name == "python" else found[name]
