"""Interruption of a run: what is in play may end soon, then the run ends."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

GRACE_SECONDS = 0.7
"""Time that matches in play have to end when the run is interrupted, before they are dropped."""


class Interruption:
    """Request to end a run, and the time from which nothing is awaited."""

    def __init__(self) -> None:
        self.requested = False
        self._deadline = math.inf

    def request(self) -> None:
        """Give matches in play a moment to end; when called again, drop them: a resumed run plays them."""
        self._deadline = time.monotonic() + (0.0 if self.requested else GRACE_SECONDS)
        self.requested = True

    def is_due(self) -> bool:
        """Return whether the run is to end at once."""
        return self.requested and time.monotonic() >= self._deadline

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Request it on SIGINT, SIGTERM and SIGHUP, so that no exception comes in the middle of a transaction.

        The handler before, if it is not Python's own, is called as well: a contest's driver learns of the signal
        whatever becomes of the run.
        """
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # `nohup` ignores it
            numbers.append(signal.SIGHUP)
        if threading.current_thread() is not threading.main_thread():  # only that can set handlers
            numbers = []
        previous = {number: signal.getsignal(number) for number in numbers}

        def on_signal(number: int, frame: FrameType | None) -> None:
            self.request()
            before = previous[signal.Signals(number)]
            if callable(before) and before is not signal.default_int_handler:
                before(number, frame)

        for number in numbers:
            signal.signal(number, on_signal)
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
