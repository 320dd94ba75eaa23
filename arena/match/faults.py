"""Faults of players: for these a seat forfeits its match."""

from __future__ import annotations

import traceback
from typing import NamedTuple

from arena.core.errors import WorkerError

RESIGNED = "resigned"
"""Cause of a person's forfeit who gave up."""
FORFEIT_CAUSES = ("illegal_action", "timeout", "crash", "memory", "protocol", "init", RESIGNED)
"""Why a seat may forfeit."""
CLOCK_CAUSES = ("timeout", "memory")
"""Causes that depend on the machine, so that the match cannot be repeated."""
MAX_TRACEBACK_CHARS = 4000
"""Characters that are kept of a traceback, and of what a bot wrote to stderr: the last ones."""
MAX_DETAIL_CHARS = 2 * MAX_TRACEBACK_CHARS


class Fault(Exception):
    """A player's fault with a known cause."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class ProcessKilled(Fault):
    """A bot's process ended by a signal that anybody may have sent, the bot included."""

    def __init__(self, how: str) -> None:
        super().__init__("crash", how)


class PauseOverrun(Fault):
    """A bot went on while others were to move, which a starved machine may have had a part in."""

    def __init__(self, detail: str) -> None:
        super().__init__("timeout", detail)


class KnownFault(NamedTuple):
    """A fault that is known before the match: a worker ended while this seat was to move."""

    seat: int
    ply: int
    cause: str
    how: str = ""
    """How the worker ended, in words."""
    known: str | None = None
    """What is kept of a fault that is no such end, and was found when the match was played before."""

    @property
    def detail(self) -> str:
        """What is kept of the fault."""
        if self.known is not None:
            return self.known
        return f"the worker process ended while this bot was at work{f': {self.how}' if self.how else ''}"


def fault_of_player(error: BaseException, guarded: bool) -> Fault:
    """Return the fault in what a player raised, who may raise anything; `guarded` ones are bots, and know no causes.

    Raises `WorkerError` when it comes from an unguarded player: that is the machine's.
    """
    if isinstance(error, WorkerError) and not guarded:
        raise error
    if isinstance(error, MemoryError):
        return Fault("memory", "MemoryError")
    if isinstance(error, Fault) and not guarded:
        return error
    return Fault("crash", "".join(traceback.format_exception(error))[-MAX_TRACEBACK_CHARS:])
