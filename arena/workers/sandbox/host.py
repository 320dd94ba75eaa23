"""What gives bots processes, and what all that do so share."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import resource
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from arena.core.errors import WorkerError
from arena.core.limits import Limits
from arena.match.faults import Fault, Killed
from arena.registry.bundles import Bundle, imported_names, with_api
from arena.registry.loader import has_installed_bots
from arena.workers.process import in_words
from arena.workers.sandbox.channel import MOST_THREADS, Channel, Pipes
from arena.workers.sandbox.levels import lacking
from engine import Game
from engine.specs import Value

if TYPE_CHECKING:
    from arena.core.limits import Isolation

LONGEST = 86_400.0
LIBRARIES = {
    *("numpy", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random"),
    *("numba", "numba.experimental", "numba.typed", "pandas"),
    *("scipy", "scipy.constants", "scipy.fft", "scipy.integrate", "scipy.interpolate", "scipy.linalg"),
    *(
        "scipy.ndimage",
        "scipy.optimize",
        "scipy.signal",
        "scipy.sparse",
        "scipy.spatial",
        "scipy.special",
        "scipy.stats",
    ),
}
"""Installed packages that are loaded before the fork when a bot imports them, or a part of them.

No other parts, though bots may import them: some do what they like when they are loaded (`numpy.f2py.__main__`).
"""


class Provision(NamedTuple):
    """What the parent of Python bots' processes loads before its first fork: a child could tell what came later."""

    modules: tuple[str, ...] = ()
    boards: tuple[tuple[str, int], ...] = ()
    """(game, players)"""


@dataclass(frozen=True)
class RemoteBot:
    """A contestant that plays in a process of its own."""

    name: str
    bundle: Bundle
    class_name: str
    params: Mapping[str, Value]
    isolation: Isolation
    key: int = 0
    """Tells contestants of one plan apart."""
    options: str | None = None
    """Those of its spec, which what it declares in a match has to give again; None: anything will do."""

    @functools.cached_property
    def modules(self) -> list[str]:
        """What it uses that can be loaded before it is: see `trusted_modules`."""
        return trusted_modules(self.bundle)


class Host(Protocol):
    """What can give a bot a process for a match."""

    def begin(self, block: bytes, game: Game) -> None:
        """A match in that block is next."""

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        """A process to talk to; raises `Fault`."""

    def code(self) -> int | None:
        """How its last process ended, negative for a signal; None when nobody knows."""

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        """The match is over for the bot; `over` is the message that tells it so, None after a fault."""

    def close(self) -> None:
        """End what is left."""


def ended(channel: Channel, code: int | None, isolation: Isolation) -> Fault:
    """What to call it that a bot's process has ended: `Killed` on evidence that it did not do it.

    In the sandbox it cannot send SIGKILL, to itself neither (`arena.workers.sandbox.seccomp`). Outside it can, so that
    only the kernel's count of kills for want of memory tells.
    """
    killed = code == -signal.SIGKILL and not channel.may_have_spent
    if killed and (isolation == "sandbox" or channel.out_of_memory):
        return Killed("its process was killed from outside (SIGKILL), perhaps for want of memory")
    return Fault("crash", f"its process ended{'' if code is None else f' ({in_words(code)})'}")


@contextlib.contextmanager
def open_pipes() -> Iterator[tuple[Pipes, list[int]]]:
    """Our ends of three new pipes, and a bot's: stdin, stdout, stderr; the bot's are closed when it has them.

    When it does not get them, ours are closed too.
    """
    (bot_in, to_bot), (from_bot, bot_out), (stderr, bot_err) = os.pipe(), os.pipe(), os.pipe()
    ours = Pipes(to_bot, from_bot, stderr)
    try:
        yield ours, [bot_in, bot_out, bot_err]
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in (bot_in, bot_out, bot_err):
            os.close(descriptor)


def processor_seconds(limits: Limits) -> float:
    """A bound on a process's processor time in one match, all threads together: far above what its clocks allow."""
    if not limits.seconds_per_match:
        return LONGEST
    clocks = limits.seconds_to_start + limits.seconds_to_prepare + limits.seconds_per_match + 1000 * limits.increment
    return min(LONGEST, clocks * (os.cpu_count() or 1))


def bound_threads(process: int, most: int = MOST_THREADS) -> None:
    """Have the kernel refuse a sandboxed process threads before there are many more than the `most` the watch allows.

    The kernel counts a sandbox by itself from Linux 5.14 on, and does not bound root.
    """
    release = [int(part) for part in re.findall(r"\d+", platform.release())[:2]]
    if release >= [5, 14]:
        with contextlib.suppress(OSError, ValueError):  # it may have ended, or be bounded already
            resource.prlimit(process, resource.RLIMIT_NPROC, (2 * most, 2 * most))


def must_be_able(isolation: Isolation) -> None:
    if isolation == "sandbox" and lacking():
        raise WorkerError(f"{platform.node()} cannot sandbox bots: {lacking()}")


def trusted_modules(bundle: Bundle) -> list[str]:
    """Modules that a bundle uses and that are not the bot author's: a few installed packages, our own bots."""
    own = {name.partition("/")[0].removesuffix(".py") for name in bundle.files}
    found = {name for name in imported_names(bundle) if name.partition(".")[0] not in own}
    trusted = sorted({".".join(name.split(".")[:depth]) for name in found for depth in (1, 2)} & LIBRARIES)
    if "numba" in trusted:
        trusted.append("scipy.linalg")  # Numba loads it where a kernel multiplies matrices
    if has_installed_bots(bundle.files):
        ours = (name for name in with_api(bundle.files) if name.startswith("bots/") and name.endswith(".py"))
        names = [Path(name).with_suffix("") for name in ours]
        trusted += sorted(".".join(name.parts).removesuffix(".__init__") for name in names)
    return trusted
