"""Check several of the versions that were handed in at once, whose authors take turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from arena.accounts import Accounts, BotVersion
from arena.contest.checking import CheckError, check_begun, next_version
from arena.workers.process import WorkerProcess
from arena.workers.reserve import WorkerReserve

POLL_SECONDS, STOP_POLL_SECONDS = 1.0, 0.1
"""Seconds between two looks where nothing waits, and where a check is to end."""
IDLE_SECONDS = 60.0
"""Time after which a worker for which there is nothing to do is stopped: it may have 200 MB."""
MAX_RETRY_SECONDS = 60.0
"""Longest wait after a failure of the machine."""


class Retry(NamedTuple):
    """When a version whose check the machine failed is checked again."""

    at: float
    """By the monotonic clock."""
    waited: float


class CheckPool:
    """Threads that check what is handed in until they are stopped."""

    def __init__(
        self,
        accounts: Accounts,
        home: Path,
        size: int,
        stopping: threading.Event,
        say: Callable[[str], None],
        reserve: WorkerReserve,
    ) -> None:
        """`size` is the most versions that are checked at once; `say` is called with a line on each failure.

        Each check takes a worker from the `reserve`, and gives it back.
        """
        self.accounts, self.home, self.stopping, self.say, self.reserve = accounts, home, stopping, say, reserve
        self._taking = threading.Lock()
        """Held by the one thread that looks for the next version."""
        self._begun: set[str] = set()
        """Labels of what is being checked here."""
        self._has_orphans = True
        """Whether versions may be marked as being checked that nobody checks: by a driver that was killed, at first."""
        self._failed: dict[str, Retry] = {}
        """By label: versions whose check the machine failed."""
        self._workers: dict[int, WorkerProcess] = {}
        """By the number of its thread: those that check just now."""
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name=f"check {number}", daemon=True)
            for number in range(size)
        ]

    def start(self) -> None:
        """Begin to check."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all checks, after `stopping` has been set; they are begun anew by the next driver."""
        for number, thread in enumerate(self._threads):
            while thread.is_alive():
                if (worker := self._workers.get(number)) is not None:
                    worker.stop()
                thread.join(STOP_POLL_SECONDS)

    def _work(self, number: int) -> None:
        while (version := self._take()) is not None:
            try:
                with self.reserve.worker() as worker:
                    self._workers[number] = worker
                    try:
                        check_begun(self.accounts, version, self.home, worker, self.stopping.is_set)
                    finally:
                        del self._workers[number]
            except Exception as error:  # whatever comes of a bot or a machine, checks go on
                self._on_failure(version, error)
                self._begun.discard(version.label)
                self._has_orphans = True  # unless the version waits again already
            else:
                self._failed.pop(version.label, None)
                self._begun.discard(version.label)

    def _take(self) -> BotVersion | None:
        """Return the next version, which is marked as being checked; None when this is stopped."""
        wait = POLL_SECONDS
        with self._taking:
            while not self.stopping.is_set():
                try:
                    if self._has_orphans:  # here, where a disk that is full is waited for
                        self._restart_orphans()
                    version = next_version(self.accounts, self._failed, self._resting(), self._busy())
                    if version is not None:
                        self.accounts.submissions.begin_check(version)
                        self._begun.add(version.label)
                        return version
                    self.reserve.stop_idle(IDLE_SECONDS)
                    wait = POLL_SECONDS
                except Exception as error:
                    wait = min(2 * wait, MAX_RETRY_SECONDS)
                    self.say(f"nothing can be checked: {error or type(error).__name__}; trying again in {wait:g} s")
                self.stopping.wait(wait)
        return None

    def _restart_orphans(self) -> None:
        self._has_orphans = False
        try:
            self.accounts.submissions.restart_checks(frozenset(self._begun))
        except BaseException:
            self._has_orphans = True
            raise

    def _on_failure(self, version: BotVersion, error: Exception) -> None:
        """Note when a version is tried again, after all others."""
        before = self._failed.get(version.label)
        wait = POLL_SECONDS if before is None else min(2 * before.waited, MAX_RETRY_SECONDS)
        self._failed[version.label] = Retry(time.monotonic() + wait, wait)
        reason = error if isinstance(error, CheckError) else CheckError(version.label, str(error) or repr(error))
        self.say(f"{reason}; it is tried again in {wait:g} s, others first")

    def _busy(self) -> set[str]:
        """Return the bots of which a version is being checked here, though it may have been withdrawn."""
        return {label.rpartition(".")[0] for label in [*self._begun]}

    def _resting(self) -> set[str]:
        """Return what is being checked here, and what has failed and is not tried again yet."""
        now = time.monotonic()
        return self._begun | {label for label, retry in [*self._failed.items()] if now < retry.at}
