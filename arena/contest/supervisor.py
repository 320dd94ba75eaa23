"""Keep the driver of a home running beside a server: one child process, started anew when it ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 30.0
"""Before a driver that has ended is started again; longer when it ends at once."""
STEADY_SECONDS = 60.0
"""Time after which a driver that ends is not taken to end at once."""
GRACE_SECONDS = 20.0
"""Time that a driver has to end its matches in play before it is killed."""


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
        if (process := self._process) is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
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
            self._process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, start_new_session=True)
            self.starts += 1
            if self._stopping.is_set():
                self._process.terminate()
            code = self._process.wait()
            if self._stopping.is_set():
                return
            wait = FIRST_WAIT_SECONDS if time.monotonic() - started > STEADY_SECONDS else wait
            self.say(f"the driver ended with {code}; starting it again in {wait:g} s")
            self._stopping.wait(wait)
            wait = min(2 * wait, MAX_WAIT_SECONDS)
