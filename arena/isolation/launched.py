"""A bot as it is given to its level of isolation."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.isolation import Isolation
from arena.registry.bundles import Bundle, imported_names, with_api
from arena.registry.loader import has_installed_bots
from engine.specs import Value

LIBRARIES = (
    "numpy numpy.fft numpy.linalg numpy.ma numpy.polynomial numpy.random numba numba.experimental numba.typed pandas "
    "scipy scipy.constants scipy.fft scipy.integrate scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize "
    "scipy.signal scipy.sparse scipy.spatial scipy.special scipy.stats"
)
"""Installed packages that are loaded before the fork when a bot imports them, or a part of them.

No other parts, though bots may import them: some do what they like when they are loaded (`numpy.f2py.__main__`).
"""


OF_NO_PLAN = -1
"""Key of a bot that is only asked what it declares."""


@dataclass(frozen=True)
class LaunchedBot:
    """A bot with its code, and the level that runs it."""

    name: str
    bundle: Bundle
    class_name: str
    params: Mapping[str, Value]
    isolation: Isolation
    key: int = 0
    """Distinguishes the bots of one plan."""
    options: str | None = None
    """Those of its spec; what it declares in a match must give the same ones. None: anything will do."""
    names_refusals: bool = False
    """Whether its faults name the system calls that it was refused."""

    @functools.cached_property
    def modules(self) -> list[str]:
        """Modules that it uses and that can be loaded beforehand; see `trusted_modules`."""
        return trusted_modules(self.bundle)


def trusted_modules(bundle: Bundle) -> list[str]:
    """Return modules that a bundle uses and that are not the bot author's: a few installed packages, our own bots."""
    own = {name.partition("/")[0].removesuffix(".py") for name in bundle.files}
    found = {name for name in imported_names(bundle) if name.partition(".")[0] not in own}
    trusted = sorted({".".join(name.split(".")[:depth]) for name in found for depth in (1, 2)} & {*LIBRARIES.split()})
    if "numba" in trusted:
        trusted.append("scipy.linalg")  # Numba loads it where a kernel multiplies matrices
    if has_installed_bots(bundle.files):
        ours = (name for name in with_api(bundle.files) if name.startswith("bots/") and name.endswith(".py"))
        names = [Path(name).with_suffix("") for name in ours]
        trusted += sorted(".".join(name.parts).removesuffix(".__init__") for name in names)
    return trusted
