"""End in time after Ctrl-C, whatever a command is doing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from selectors import EVENT_READ, DefaultSelector

from arena.cli.exit_codes import INTERRUPTED
from arena.core.command import resume_command

FIRST_SECONDS, SECOND_SECONDS = 1.7, 0.3
"""Time from the first and the second signal to the end of a process that does not end by itself."""
WRITE_SECONDS = 0.1
"""Time that a terminal has to take the last words."""
SHOW_CURSOR = "\033[?25h\n"


def how_to_resume(saved: str, line: str) -> str:
    """Return in words what is saved and the command that goes on, given the one that was interrupted."""
    return f"Interrupted: {saved} saved. To go on:\n  {resume_command(line)}"


def end_in_time(last_words: Sequence[str]) -> None:
    """End this process, with its last words, when it has not ended by itself soon after a first or second signal.

    Python calls no handler of signals while its main thread is in compiled code or waits for a disk. A run may be
    killed at any moment: its log is whole, and its workers end with it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading, last_words), daemon=True, name="interrupts").start()


def _watch(signals: int, last_words: Sequence[str]) -> None:
    until: list[float] = []
    with DefaultSelector() as selector:
        selector.register(signals, EVENT_READ)
        while not until or time.monotonic() < min(until):
            left = max(0.0, min(until) - time.monotonic()) if until else None
            if selector.select(left) and os.read(signals, 1)[0] in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                until.append(time.monotonic() + (SECOND_SECONDS if until else FIRST_SECONDS))
    words = threading.Thread(target=_write, args=(last_words,), daemon=True)
    words.start()
    words.join(WRITE_SECONDS)
    os._exit(INTERRUPTED)


def _write(lines: Sequence[str]) -> None:
    """Write lines on standard error past Python's buffer, which the main thread may hold; show the cursor again."""
    text = "".join(f"{line}\n" for line in lines)
    os.write(sys.stderr.fileno(), f"{SHOW_CURSOR if sys.stderr.isatty() else ''}{text}".encode(errors="replace"))
