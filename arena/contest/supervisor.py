"""Keep the driver of a home running beside a server: one child process, started anew when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from arena.core.process_trees import signal_at_parents_end

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 30.0
"""Before a driver that has ended is started again; longer when it ends at once."""
STEADY_SECONDS = 60.0
"""Time after which a driver that ends is not taken to end at once."""
GRACE_SECONDS = 20.0
"""Time that a driver has to end its matches in play before it is killed."""
SUPERVISOR_VARIABLE = "ARENA_SUPERVISOR"
"""Environment variable that tells a driver the number of its supervisor's process."""


class Supervisor:
    """Runs a command again and again; a context manager that ends it."""

    def __init__(self, command: Sequence[str], say: Callable[[str], None] = lambda line: None) -> None:
        self.command, self.say = [*command], say
        self.starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="driver", daemon=True)

    @classmethod
    def of_driver(cls, options: Sequence[str], say: Callable[[str], None] = lambda line: None) -> Supervisor:
        """Return the supervisor of `arena contest drive` with options."""
        return cls([sys.executable, "-m", "arena", "contest", "drive", *options], say)

    def __enter__(self) -> Supervisor:
        self._thread.start()
        return self

    def __exit__(self, *of_error: object) -> None:
        """End the process: it lets matches in play end, and is killed when it does not come back."""
        self._stopping.set()
        if self._process is not None:
            _end(self._process)
        self._thread.join()

    @property
    def pid(self) -> int | None:
        """The process that runs, if one does."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _run(self) -> None:
        wait = FIRST_WAIT_SECONDS
        while not self._stopping.is_set():
            started = time.monotonic()
            environment = {**os.environ, SUPERVISOR_VARIABLE: str(os.getpid())}
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, start_new_session=True, env=environment
            )
            self.starts += 1
            if self._stopping.is_set():  # perhaps too late for whoever stops this to see the process
                _end(self._process)
            code = self._process.wait()
            if self._stopping.is_set():
                return
            wait = FIRST_WAIT_SECONDS if time.monotonic() - started > STEADY_SECONDS else wait
            self.say(f"the driver ended with {code}; starting it again in {wait:g} s")
            self._stopping.wait(wait)
            wait = min(2 * wait, MAX_WAIT_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process by SIGTERM, and kill it when it does not come back."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def end_with_supervisor() -> bool:
    """Have this process end, as by SIGTERM, when its supervisor does; return whether that is gone already.

    The kernel tells of an end alone that comes after it has been asked to. A process without a supervisor ends with
    the process that has started it.
    """
    signal_at_parents_end(signal.SIGTERM)
    supervisor = os.environ.pop(SUPERVISOR_VARIABLE, None)
    return supervisor is not None and supervisor != str(os.getppid())
