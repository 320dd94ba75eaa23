"""Sources of bots' processes: their interface, and what all of them share."""

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
from typing import TYPE_CHECKING, Any, Protocol

from arena.core.errors import WorkerError
from arena.core.exit_codes import in_words, may_be_from_outside
from arena.core.limits import Limits
from arena.match.faults import Fault, Killed
from arena.registry.bundles import Bundle, imported_names, with_api
from arena.registry.loader import has_installed_bots
from arena.workers.sandbox.bot_process import MOST_THREADS, BotProcess, Pipes
from arena.workers.sandbox.levels import missing_requirements
from engine import Game
from engine.specs import Value

if TYPE_CHECKING:
    from arena.core.limits import Isolation

LONGEST = 86_400.0
NETWORK_WORDS = re.compile(
    r"\bsocket\b|getaddrinfo|gaierror|EAI_AGAIN|ENETUNREACH|network is unreachable|name resolution|name or service",
    re.IGNORECASE,
)
"""Words of programs that find no network, or are refused a socket."""
NETWORK_HINT = "The sandbox has no network."
LIBRARIES = (
    "numpy numpy.fft numpy.linalg numpy.ma numpy.polynomial numpy.random numba numba.experimental numba.typed pandas "
    "scipy scipy.constants scipy.fft scipy.integrate scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize "
    "scipy.signal scipy.sparse scipy.spatial scipy.special scipy.stats"
)
"""Installed packages that are loaded before the fork when a bot imports them, or a part of them.

No other parts, though bots may import them: some do what they like when they are loaded (`numpy.f2py.__main__`).
"""


@dataclass(frozen=True)
class RemoteBot:
    """A bot that plays in a process of its own."""

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
    """Whether its faults in the sandbox tell which system calls were refused."""

    @functools.cached_property
    def modules(self) -> list[str]:
        """Modules that it uses and that can be loaded beforehand; see `trusted_modules`."""
        return trusted_modules(self.bundle)


class ProcessSource(Protocol):
    """Gives a bot a process for a match."""

    def begin(self, block: bytes, game: Game) -> None:
        """Get ready for a match in that block."""

    def open(self, bot: RemoteBot, limits: Limits) -> BotProcess:
        """Return a process to talk to; raises `Fault`."""

    def code(self) -> int | None:
        """Return how its last process ended, negative for a signal; None when nobody knows."""

    def release(self, bot_process: BotProcess | None, over: dict[str, Any] | None) -> None:
        """End the match for the bot; `over` is the message that says so to it, None after a fault."""

    def close(self) -> None:
        """End what is left."""


def ended(bot_process: BotProcess, code: int | None) -> Fault:
    """Return the fault of a bot's process that has ended: `Killed` when anybody may have done that.

    It is its own doing when it may have used up its processor time, for which the kernel sends SIGKILL.
    """
    how = f"its process ended{'' if code is None else f' ({in_words(code)})'}"
    spent = code == -signal.SIGKILL and bot_process.may_have_spent
    return Killed(how) if may_be_from_outside(code) and not spent else Fault("crash", how)


@contextlib.contextmanager
def open_pipes() -> Iterator[tuple[Pipes, list[int]]]:
    """Give our ends of three new pipes, and a bot's (stdin, stdout, stderr), which are closed when it has them.

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
    """Return a bound on a process's processor time in one match, all threads together, far above its clocks."""
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


def check_requirements(isolation: Isolation) -> None:
    """Raise `WorkerError` when this machine cannot isolate bots so."""
    if isolation == "sandbox" and missing_requirements():
        raise WorkerError(f"{platform.node()} cannot sandbox bots: {missing_requirements()}")


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


def with_hint(detail: str, isolation: str) -> str:
    """Return a fault's detail, with a hint if it is about the network that the sandbox lacks."""
    return f"{detail.rstrip()}\n{NETWORK_HINT}" if isolation == "sandbox" and NETWORK_WORDS.search(detail) else detail
