"""The phase and version of a session, and the lock that guards all of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from arena.sessions.view import Phase


class SessionStatus:
    """What a session does now. Its condition `lock` guards the whole session; every change wakes who waits for one."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.phase = Phase.PREPARING
        self.line = "the match is being set up"
        self.version = 0
        """Grows with every change."""
        self.on_change: Callable[[], None] = lambda: None
        """Called after every change, in whatever thread made it, with the lock held."""

    def change(self, line: str = "", phase: Phase | None = None) -> None:
        """Show another line, and enter a phase if one is given; with the lock held."""
        self.phase = phase or self.phase
        self.line = line
        self.version += 1
        self.lock.notify_all()
        self.on_change()

    def wait_past(self, version: int, seconds: float) -> bool:
        """Wait until there is a later version; return whether there is."""
        with self.lock:
            return self.lock.wait_for(lambda: self.version > version, seconds)
