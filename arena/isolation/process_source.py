"""Sources of bots' processes: their interface, and what all of them share."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any, Protocol

from arena.core.exit_codes import exit_description, may_be_external_kill
from arena.core.limits import Limits
from arena.isolation.bot_process import BotProcess, Pipes
from arena.isolation.launched import LaunchedBot
from arena.match.faults import Fault, ProcessKilled
from engine import Game

MAX_SECONDS = 86_400.0


class ProcessSource(Protocol):
    """Gives a bot a process for a match."""

    def begin(self, block: bytes, game: Game) -> None:
        """Get ready for a match in that block."""

    def open(self, bot: LaunchedBot, limits: Limits) -> BotProcess:
        """Return a process to talk to; raises `Fault`."""

    def code(self) -> int | None:
        """Return how its last process ended, negative for a signal; None when nobody knows."""

    def release(self, bot_process: BotProcess | None, over: dict[str, Any] | None) -> None:
        """End the match for the bot; `over` is the message that says so to it, None after a fault."""

    def close(self) -> None:
        """End what is left."""


def ended(bot_process: BotProcess, code: int | None) -> Fault:
    """Return the fault of a bot's process that has ended: `ProcessKilled` when anybody may have done that.

    It is its own doing when it may have used up its processor time, for which the kernel sends SIGKILL.
    """
    how = f"its process ended{'' if code is None else f' ({exit_description(code)})'}"
    spent = code == -signal.SIGKILL and bot_process.may_have_hit_limit
    return ProcessKilled(how) if may_be_external_kill(code) and not spent else Fault("crash", how)


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
        return MAX_SECONDS
    clocks = limits.seconds_to_start + limits.seconds_to_prepare + limits.seconds_per_match + 1000 * limits.increment
    return min(MAX_SECONDS, clocks * (os.cpu_count() or 1))
