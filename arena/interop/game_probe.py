"""Probe of games of other libraries: each is tried in a process of its own, with limits, which may crash.

    python -m arena.interop.game_probe LIBRARY SECONDS MODULE...

imports modules, reads lines of JSON, [spec, players], and answers each with one, {"error": ..., "text": ...}: the
error, by its type, that the game is refused with, "" without one. Each game is tried in a fork of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from functools import lru_cache

from arena.core.machine import WORKER_VARIABLE
from engine import errors
from engine.errors import EngineError, summarise_error
from engine.loading import load_game
from engine.registry import game_type, provider_names

MAX_MEMORY_BYTES = 2 << 30
"""Memory that starting a game may take."""
MAX_CPU_SECONDS = 20
"""Processor time that starting a game may take."""
TIMEOUT_SECONDS = 120.0
"""Time after which a start is given up, if the game waits or the machine is busy."""
MAX_ERROR_CHARS = 2000
"""Of an error's text: less than what a pipe takes at once."""
NO_ERROR = {"error": "", "text": ""}
PROBE_WORKER = "game probe"
"""Value of `WORKER_VARIABLE` in the process that games are tried in."""


def in_probe() -> bool:
    """Return whether this process is a probe, in which games may take their time."""
    return os.environ.get(WORKER_VARIABLE) == PROBE_WORKER


class GameProbe:
    """A process in which games of one library are tried in; it finds modules where this one does."""

    def __init__(self, library: str, *modules: str, seconds: int = MAX_CPU_SECONDS) -> None:
        self._command = (library, str(seconds), *modules)
        self._lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self._made_for: tuple[int, list[str]] = (0, [])

    def prepare(self) -> None:
        """Start the process, which imports the library while this one goes on."""
        if WORKER_VARIABLE not in os.environ:
            with self._lock, contextlib.suppress(OSError):
                self._started()

    def take(self, spec: str, players: int | None = None) -> None:
        """Load and start a game in the process; raise the `EngineError` that it is refused with.

        Without players only the type of the game is loaded.

        Nothing is tried in workers, which may crash: their driver has tried it.
        """
        if WORKER_VARIABLE not in os.environ:
            found = cached_answer(self, spec, players)
            if found["error"]:
                raise getattr(errors, found["error"])(found["text"])

    def ask(self, spec: str, players: int | None) -> dict[str, str]:
        """Return the answer of the process; no error if it cannot be reached."""
        with self._lock:
            for _ in range(2):  # somebody may have ended it
                with contextlib.suppress(OSError, ValueError):
                    process = self._started()
                    assert process.stdin is not None and process.stdout is not None
                    process.stdin.write(json.dumps([spec, players]) + "\n")
                    process.stdin.flush()
                    answer: dict[str, str] = json.loads(process.stdout.readline())
                    return answer
                self.close()
        return NO_ERROR

    def _started(self) -> subprocess.Popen[str]:
        here = os.getpid(), [*sys.path]
        if self.process is None or self._made_for != here:
            self.close()
            self._made_for = here
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena.interop.game_probe", *self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={
                    **os.environ,
                    WORKER_VARIABLE: PROBE_WORKER,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
                start_new_session=True,
            )
            atexit.register(self.close)
        return self.process

    def close(self) -> None:
        """End the process, unless it belongs to the process that this one was forked from."""
        process, self.process = self.process, None
        if process is not None and self._made_for[0] == os.getpid():
            process.kill()
            process.communicate()


@lru_cache(maxsize=1000)
def cached_answer(look: GameProbe, spec: str, players: int | None) -> dict[str, str]:
    """Return the answer about a game, asked once."""
    return look.ask(spec, players)


def main(library: str, seconds: int, *modules: str) -> None:
    """Try the games that standard input names until it ends."""
    with os.fdopen(os.dup(0)) as questions, os.fdopen(os.dup(1), "w") as answers:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):  # not for what games print and read
            os.dup2(nowhere, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(ImportError):
            for module in modules:
                importlib.import_module(module)
        provider_names()  # reads what is installed
        for line in questions:
            answers.write(json.dumps(_try_in_fork(library, seconds, *json.loads(line))) + "\n")
            answers.flush()


def _try_in_fork(library: str, seconds: int, spec: str, players: int | None) -> dict[str, str]:
    """Try a game in a fork, and return the error that it is refused with."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, json.dumps(_try(seconds, spec, players)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        poll, ended = select.poll(), os.pidfd_open(process)
        poll.register(ended, select.POLLIN)
        late = not poll.poll(TIMEOUT_SECONDS * 1000)
        if late:
            os.kill(process, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os.close(ended)
        os.set_blocking(reading, False)
        if said := pipe.read():
            answer: dict[str, str] = json.loads(said)
            return answer
    if late or code == -signal.SIGXCPU:
        why = f"took more than {seconds} s"
    elif code < 0:
        why = f"crashed ({signal.Signals(-code).name})"
    else:
        why = "ended its process"
    return _refused(f"{library} {why} when it started {spec}")


def _refused(text: str, error: str = "UnsupportedError") -> dict[str, str]:
    return {"error": error, "text": text[:MAX_ERROR_CHARS]}


def _try(seconds: int, spec: str, players: int | None) -> dict[str, str]:
    """Load a game, within bounds, and return the error that it is refused with."""
    with open("/proc/self/statm") as sizes:
        here = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + MAX_MEMORY_BYTES, here + MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        if players is None:
            game_type(spec)
        else:
            load_game(spec, players)
    except EngineError as error:
        return _refused(str(error), type(error).__name__)
    except BaseException as error:
        return _refused(f"{spec} cannot be set up: {summarise_error(error)}")
    return NO_ERROR


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
