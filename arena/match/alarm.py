"""The clock that bots are measured with, and the alarm that interrupts them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import ClassVar

from arena.match.game_faults import TimeUp

GAME_CPU_SECONDS = 30.0
"""Processor time, in seconds, that a game may take between two calls of bots."""
MIN_ALARM_SECONDS = 1e-6
"""Seconds; an alarm set to none would never ring."""


@dataclass
class Clock:
    """Where time is read; tests put their own in its place."""

    wall: Callable[[], float] = time.perf_counter
    cpu: Callable[[], float] = time.process_time


class Alarm:
    """Interrupts a bot's Python code once with `TimeUp` when its seconds are over; works in the main thread only.

    Code that never comes back to the interpreter, or swallows everything, is left to the watchdog outside.
    """

    ready: ClassVar[Alarm | None] = None
    """The one that is in use."""

    def __init__(self) -> None:
        self.armed = self.rang = False
        self.guards_rules = False
        """Whether a game's rules may be interrupted while no bot is at work; kernels cannot be."""
        self.bot_at_work = False
        self.works = threading.current_thread() is threading.main_thread()
        self.thread = threading.get_ident()

    def __enter__(self) -> Alarm:
        return self

    def __exit__(self, *_: object) -> None:
        if Alarm.ready is self:
            Alarm.ready = None
            self.disarm()
            signal.signal(signal.SIGALRM, self.previous)

    def get_ready(self) -> None:
        """Take the signal; matches of bots that are asked directly never need it."""
        if self.works and Alarm.ready is not self:
            self.previous = signal.signal(signal.SIGALRM, self._ring)
            Alarm.ready = self

    def arm(self, seconds: float) -> None:
        """Ring after so many seconds."""
        self.rang = False
        self.get_ready()
        if self.works:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, max(seconds, MIN_ALARM_SECONDS))

    def disarm(self) -> None:
        """Cancel the alarm."""
        if self.works:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            self.armed, self.rang = False, True
            raise TimeUp
        if self.guards_rules and not self.bot_at_work:
            raise TimeUp(f"the rules did not come back in {GAME_CPU_SECONDS:g} s")

    @classmethod
    def interrupt_game(cls) -> None:
        """Raise `TimeUp` in the rules that are at work in the main thread, if any are; called by another thread."""
        ready = cls.ready
        if ready is not None and ready.guards_rules and not ready.bot_at_work:
            signal.pthread_kill(ready.thread, signal.SIGALRM)
