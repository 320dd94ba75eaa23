"""Restore what bots in a worker's process share with each other before each match, or have the worker replaced.

A bot could otherwise make others fail by what it sets for the whole process. Restored is what costs next to nothing.
What cannot be restored (threads that go on, limits lowered for good, closed streams) ends the worker after the match,
so that no other match is played with it. What one bot does to another in the match of both stays.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # has no stubs
import _thread
import builtins
import contextlib
import decimal
import gc
import locale
import operator
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np


class Shared(NamedTuple):
    """A setting of the whole process: how it is read, and how it is restored."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


HANDLED = tuple(sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}))
"""Signals but those that nobody can handle, and the referee's."""
STREAMS = ("stdin", "stdout", "stderr")
HOOKS = ("displayhook", "excepthook", "unraisablehook", "breakpointhook")
LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU)
_environment: dict[bytes, bytes] = vars(os.environ)["_data"]
_context = decimal.getcontext().copy()


def _mask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _set_handlers(handlers: list[Any]) -> None:
    for number, handler in zip(HANDLED, handlers, strict=True):
        if handler is not None and _signal.getsignal(number) is not handler:
            _signal.signal(number, handler)


def _set_environment(environment: dict[bytes, bytes]) -> None:
    """Restore only what was there: the arena itself adds to it as it loads games."""
    for name, value in environment.items():
        if _environment.get(name) != value:
            os.environb[name] = value


def _set_filters(filters: list[Any]) -> None:
    warnings.resetwarnings()
    cast("list[Any]", warnings.filters).extend(filters)


def _attributes(names: tuple[str, ...]) -> Shared:
    """Share attributes of `sys`, the very same objects."""
    held = vars(sys)
    return Shared(
        lambda: [held.get(name) for name in names], lambda values: held.update(zip(names, values, strict=True))
    )


def _set_limits(limits: list[tuple[int, int]]) -> None:
    for kind, limit in zip(LIMITS, limits, strict=True):
        resource.setrlimit(kind, limit)


def _timer(kind: int) -> Shared:
    return Shared(lambda: signal.getitimer(kind), lambda value: signal.setitimer(kind, *value))


STREAMED = _attributes(STREAMS)
LASTING = (
    Shared(lambda: [*map(resource.getrlimit, LIMITS)], _set_limits),
    Shared(lambda: os.getpriority(os.PRIO_PROCESS, 0), lambda value: os.setpriority(os.PRIO_PROCESS, 0, value)),
)
"""Settings that a process without rights may only make worse."""
SHARED = (
    Shared(sys.getrecursionlimit, sys.setrecursionlimit),
    Shared(sys.getswitchinterval, sys.setswitchinterval),
    Shared(sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    Shared(sys.gettrace, sys.settrace),
    Shared(sys.getprofile, sys.setprofile),
    Shared(threading.gettrace, cast("Callable[[Any], object]", threading.settrace)),
    Shared(threading.getprofile, cast("Callable[[Any], object]", threading.setprofile)),
    Shared(gc.isenabled, lambda on: (gc.enable if on else gc.disable)()),
    Shared(gc.get_threshold, lambda threshold: gc.set_threshold(*threshold)),
    Shared(
        lambda: _signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        lambda mask: _signal.pthread_sigmask(signal.SIG_SETMASK, mask),
    ),
    Shared(lambda: [*map(_signal.getsignal, HANDLED)], _set_handlers),
    _timer(signal.ITIMER_VIRTUAL),
    _timer(signal.ITIMER_PROF),
    Shared(os.getcwd, os.chdir),
    Shared(_mask, os.umask),
    Shared(_environment.copy, _set_environment),
    Shared(lambda: [*warnings.filters], _set_filters),
    Shared(lambda: repr(decimal.getcontext()), lambda _: decimal.setcontext(_context.copy())),
    Shared(lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)),
    Shared(np.geterr, lambda errors: np.seterr(**errors)),
    Shared(lambda: os.sched_getaffinity(0), lambda cores: os.sched_setaffinity(0, cores)),
    _attributes(HOOKS),
    STREAMED,
    *LASTING,
)


class Interpreter:
    """This process's interpreter as it is now, before any bot has been loaded."""

    def __init__(self) -> None:
        self.shared = [each.read() for each in SHARED]
        self.builtins = dict(vars(builtins))
        self.threads = 0
        self.touched = True
        """Whether a bot that is not ours may have run here since the last restoring."""
        self.lasting: list[Any] = []

    def restore(self, recursion: int = 0) -> None:
        """Restore everything that can be, and note what cannot be any more.

        `recursion` is a limit that is wanted instead of the usual one, if that is lower.
        """
        known, now = self.builtins, vars(builtins)
        if len(now) != len(known) or not all(map(operator.is_, now.values(), known.values())):
            now.clear()
            now.update(known)
        for each, value in zip(SHARED, self.shared, strict=True):
            with contextlib.suppress(OSError, ValueError):
                if each.read() != value:
                    each.write(value)
        if recursion > self.shared[0]:
            SHARED[0].write(recursion)
        self.lasting = [each.read() for each in LASTING]
        self.touched = False

    def accept_threads(self) -> None:
        """Take the threads that are there for good, as modules have started them: any worker would have them."""
        self.threads = max(self.threads, _thread._count())

    def is_spoiled(self) -> bool:
        """Return whether a match has left what cannot be restored."""
        if _thread._count() > self.threads or any(stream.closed for stream in STREAMED.read()):
            return True
        return [each.read() for each in LASTING] != self.lasting
