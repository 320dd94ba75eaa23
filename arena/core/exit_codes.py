"""Exit codes: how a process ended, in words, and whether somebody else may have ended it."""

from __future__ import annotations

import re
import signal

EXTERNAL_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM)
"""Signals by which terminals, operators, service managers and the kernel end processes; nothing tells who sent one."""
SIGNALS = frozenset(signal.valid_signals())
_EXTERNAL_KILL_DETAIL = re.compile(
    rf"process ended.*killed by ({'|'.join(number.name for number in EXTERNAL_SIGNALS)})\b.*\Z"
)


def may_be_external_kill(code: int | None) -> bool:
    """Return whether anybody may have ended a process with this exit code, which is negative for a signal."""
    return code is not None and -code in EXTERNAL_SIGNALS


def unwrapped_exit_code(code: int) -> int:
    """Return the exit code of a process that a shell or bubblewrap ran: they report a signal as 128 more than it."""
    return 128 - code if code - 128 in SIGNALS else code


def exit_description(code: int) -> str:
    """Say how a process ended, from its exit code, which is negative for a signal."""
    if code >= 0:
        return f"it ended with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"killed by {name}{', perhaps for want of memory' if -code == signal.SIGKILL else ''}"


def mentions_external_kill(detail: str) -> bool:
    """Return whether a fault's detail ends with the words for a process that anybody may have ended."""
    return _EXTERNAL_KILL_DETAIL.search(detail) is not None
