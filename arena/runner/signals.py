"""Signals that interrupt a run."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts(call: Callable[[], None]) -> Iterator[None]:
    """Call a function on SIGINT, SIGTERM and SIGHUP, so that no exception comes in the middle of a transaction.

    Only the main thread can set signal handlers: in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` ignores it
        numbers.append(signal.SIGHUP)
    previous = {number: signal.signal(number, lambda *_: call()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
