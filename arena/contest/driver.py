"""The driver of a home: checks what is handed in, and plays the rounds of all open contests, until it is told to stop.

It is one process beside the server. Killed at any moment, it loses nothing: the next one goes on where the logs and
`arena.db` are.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.accounts import Accounts
from arena.accounts.contests import CLOSED
from arena.contest.check_pool import CheckPool
from arena.contest.erasing import remove_sources
from arena.contest.season_driver import SeasonDriver, is_season_over, season_to_drive
from arena.core.errors import ConfigError
from arena.core.garbage import collect_often
from arena.core.machine import cores
from arena.core.names import CONTESTS_FOLDER
from arena.core.paths import home_folder
from arena.runner.options import RunOptions
from arena.workers.reserve import WorkerReserve

POLL_SECONDS = 1.0
"""Seconds between two looks where there is nothing to do."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 60.0
"""Waits after failures of a contest: a full disk, a damaged log."""
LOCK_FILE = "driver.lock"


class Driver:
    """Drives all contests of a home."""

    def __init__(
        self,
        accounts: Accounts,
        home: Path,
        options: RunOptions,
        say: Callable[[str], None] = lambda line: None,
        on_over: Callable[[str, int], None] = lambda contest, season: None,
        checks: int | None = None,
    ) -> None:
        """`say` is called with lines on what happens, `on_over` with a contest and season whose end has come.

        `checks` is the number of versions that are checked at once, by default one for every two cores.
        """
        self.accounts, self.home, self.options, self.say, self.on_over = accounts, home, options, say, on_over
        self.checks = max(1, cores() // 2) if checks is None else checks
        self.stopping = threading.Event()
        self.reserve = WorkerReserve(options.workers + self.checks)
        """Workers of the last round and the last checks, for the next ones."""
        self._drivers: dict[str, SeasonDriver] = {}
        self._over: set[tuple[str, int]] = set()
        self._retries: dict[str, tuple[float, float]] = {}
        """By contest that has failed: when it is tried again, and how long it has waited."""

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Drive until a signal comes, or `until` when there is nothing to do."""
        checks = CheckPool(self.accounts, self.home, self.checks, self.stopping, self.say, self.reserve)
        collect_often()
        with self.on_signals():
            checks.start()
            try:
                while not self.stopping.is_set():
                    if not self.step():
                        if until():
                            return
                        self.stopping.wait(POLL_SECONDS)
            finally:
                self.stopping.set()
                checks.stop()
                self.close()

    def close(self) -> None:
        """Close the logs, and stop workers that wait."""
        try:
            for driver in self._drivers.values():
                driver.__exit__(None, None, None)
            self._drivers.clear()
        finally:
            self.reserve.stop_idle()

    def step(self) -> bool:
        """Do what is next in each contest; return whether there was anything."""
        worked = False
        for contest in self.accounts.contests.all():
            if self.stopping.is_set():
                return worked
            retry, waited = self._retries.get(contest.id, (0.0, 0.0))
            if (contest.id, contest.season) in self._over or time.monotonic() < retry:
                continue
            worked |= self.step_contest(contest.id, waited)
        return worked

    def step_contest(self, contest: str, waited: float = 0.0) -> bool:
        """Do what is next in a contest; return whether there was anything. `waited` is for its last failure."""
        try:
            worked = self._step(contest)
            self._retries.pop(contest, None)
            return worked
        except Exception as error:  # whatever comes of one contest, the others go on
            self._drop(contest)
            waited = min(max(2 * waited, FIRST_RETRY_SECONDS), MAX_RETRY_SECONDS)
            self._retries[contest] = time.monotonic() + waited, waited
            self.say(f"{contest}: {error or type(error).__name__}; trying again in {waited:g} s")
            return False

    def _step(self, contest: str) -> bool:
        driver, found = self._drivers.get(contest), self.accounts.contests.get(contest)
        if driver is not None and driver.data != found.config:
            self._drop(contest)
            driver = None
        if driver is None:
            number = season_to_drive(self.home, found)
            if found.state == CLOSED and is_season_over(self.home, contest, number):
                self._on_over(contest, number)
                return False
            say = functools.partial(self._say_of, contest)
            driver = SeasonDriver(self.accounts, contest, self.home, self.options, say, self.reserve)
            self._drivers[contest] = driver.__enter__()
        step = driver.step(self.accounts.database.clock())
        if step.over:
            self._drop(contest)
            self._on_over(contest, driver.season)
        return step.worked or step.over

    def _on_over(self, contest: str, season: int) -> None:
        remove_sources(self.accounts, self.home)  # of authors who were erased while the season was played
        self._over.add((contest, season))
        self.on_over(contest, season)

    def _say_of(self, contest: str, line: str) -> None:
        self.say(f"{contest}: {line}")

    def _drop(self, contest: str) -> None:
        if (driver := self._drivers.pop(contest, None)) is not None:
            with contextlib.suppress(Exception):  # it has failed already, and is begun anew from its log
                driver.__exit__(None, None, None)

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; a run in play handles them too, and lets matches end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        previous = {number: signal.signal(number, lambda *_: self.stopping.set()) for number in numbers}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def only_driver(home: str | Path | None) -> Iterator[None]:
    """Hold the lock of a home's driver; raises `ConfigError` while another process has it."""
    folder = home_folder(home) / CONTESTS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"{folder}: another process drives the contests of this home") from None
        yield
    finally:
        os.close(descriptor)


def drive(
    home: str | Path | None,
    options: RunOptions,
    say: Callable[[str], None] = lambda line: None,
    on_over: Callable[[str, int], None] = lambda contest, season: None,
    checks: int | None = None,
) -> None:
    """Drive the contests of a home until a signal comes; raises `ConfigError` while another process does."""
    with only_driver(home), Accounts.open(home) as accounts:
        Driver(accounts, home_folder(home), options, say, on_over, checks).run()
