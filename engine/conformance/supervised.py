"""All checks of a game in a process of their own, which is ended when a check takes too long and may crash.

    python -m engine.conformance.supervised SPEC PLAYERS SEED LIMIT DESCRIPTOR CHECK...

runs checks and writes findings, as JSON, to a descriptor.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from engine.conformance.checks import CHECKS, ENDS, FAILED, NOT_APPLICABLE, Finding, TimeUpError, run_check
from engine.conformance.probe import Check
from engine.errors import summarise_error
from engine.game import Game
from engine.loading import load_game

GRACE_SECONDS = 5.0
"""Seconds beyond its time that a check may take to notice; after that its process is killed."""
STARTUP_SECONDS = 60.0
"""Seconds beyond that for the first check of a process, which has to start."""
MAX_GAME_BYTES = 2**32
"""Bytes of memory that a game may take beyond what its process has at first."""
MAX_FINDING_BYTES = 2**24
"""Bytes of a finding."""
BROKEN_CHANNEL = "the game has closed files that are not its own, or written to them"
LOAD_CHECK = Check("loads", "the game is loaded", ENDS.group, lambda probe: None)
"""What is told before the first check."""


def check_game(
    spec: str, players: int, seed: int = 0, limit: float = 120.0, checks: Iterable[Check] = CHECKS
) -> Iterator[Finding]:
    """Yield the finding of every check of a game for a number of players, as soon as it is there; or of some checks.

    A check that takes longer than `limit` seconds, or ends its process, fails; the next one gets a new process. When
    the game cannot be loaded, or its random matches do not end, the other checks are not applicable.
    """
    waiting = [LOAD_CHECK, *checks]
    while waiting:
        with _Process(spec, players, seed, limit, waiting) as process:
            while waiting and process.alive:
                check = waiting.pop(0)
                finding = process.finding(check)
                yield finding
                if finding.status == FAILED and check in (LOAD_CHECK, ENDS):
                    why = f"not run, as {'the game is not loaded' if check is LOAD_CHECK else 'random matches fail'}"
                    for other in waiting:
                        yield _found(other, spec, players, NOT_APPLICABLE, why)
                    return


def _found(check: Check, spec: str, players: int, status: str, detail: str) -> Finding:
    return Finding(check.name, check.claim, check.group, spec, players, status, detail)


class _Process:
    """A process that runs checks one after the other."""

    def __init__(self, spec: str, players: int, seed: int, limit: float, checks: list[Check]) -> None:
        self.spec, self.players, self.limit = spec, players, limit
        self.alive = True
        self._patience = limit + GRACE_SECONDS + STARTUP_SECONDS
        self._findings, given = Pipe(duplex=False)
        arguments = [spec, str(players), str(seed), str(limit), str(given.fileno()), *(check.name for check in checks)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engine.conformance.supervised", *arguments],
            pass_fds=[given.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        given.close()

    def finding(self, check: Check) -> Finding:
        """Return the next finding, which is of this check."""
        begun = time.monotonic()
        late, self._patience = self._patience, self.limit + GRACE_SECONDS
        try:
            if self._findings.poll(late):
                return Finding(**json.loads(self._findings.recv_bytes(MAX_FINDING_BYTES)))
            why = f"it took longer than {self.limit:g} s and its process was ended"
        except (EOFError, OSError):
            why = self._how_it_ended()
        except (TypeError, ValueError):
            why = BROKEN_CHANNEL
        self.alive = False
        spent = round(time.monotonic() - begun, 3)
        return Finding(check.name, check.claim, check.group, self.spec, self.players, FAILED, why, seconds=spent)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return BROKEN_CHANNEL
        return f"the game has ended its process ({signal.Signals(-code).name if code < 0 else f'status {code}'})"

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._findings.close()


def _time_up(number: int, frame: FrameType | None) -> None:
    raise TimeUpError


def _bound_memory() -> None:
    """Raise `MemoryError` beyond `MAX_GAME_BYTES`, before the machine is full; do nothing except on Linux."""
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + MAX_GAME_BYTES, hard))


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TimeUpError` in whatever still runs after so many seconds, but for compiled code."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _loaded(spec: str, players: int, limit: float) -> Game | str:
    """Return the game, or why there is none."""
    try:
        with _limited(limit):
            game = load_game(spec, players)
            game.new_initial_state()
            return game
    except TimeUpError:
        return f"it took longer than {limit:g} s"
    except BaseException as error:  # SystemExit too
        return summarise_error(error)


def main() -> None:
    """Run the checks that the command line names."""
    spec, number, seed, seconds, descriptor, *names = sys.argv[1:]
    players, limit = int(number), float(seconds)
    signal.signal(signal.SIGALRM, _time_up)
    _bound_memory()
    checks: dict[str, Any] = {check.name: check for check in (LOAD_CHECK, *CHECKS)}
    with Connection(int(descriptor), readable=False) as pipe:
        game = _loaded(spec, players, limit)
        for name in names:
            if isinstance(game, str):
                found = _found(checks[name], spec, players, FAILED, game)
            else:
                found = run_check(checks[name], game, int(seed), limit=lambda: _limited(limit))
            pipe.send_bytes(json.dumps(found.plain()).encode())


if __name__ == "__main__":
    main()
