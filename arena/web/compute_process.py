"""A process that computes what takes long, so that the server's process never holds Python's global lock for it.

The child is `python -m arena.web.compute_process DESCRIPTOR`. It computes one function after the other, each given as a
pickle, and ends with its parent.

`concurrent.futures.ProcessPoolExecutor` runs the caller's main module in its child too, keeps one more process (12 MB),
takes 480 µs of processor time a call against 40, and before Python 3.14 cannot end a call that is under way.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import TypeVar

from arena.core.errors import ArenaError
from arena.core.process_trees import signal_at_parents_end
from engine.errors import summarise_error

T = TypeVar("T")


class ComputingError(ArenaError):
    """The process that computes has ended before it was done."""


class ComputeProcess:
    """One such process, started when it is first needed, and again after it has died; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starter = ThreadPoolExecutor(1, "compute")
        """Its thread starts the process, which ends with the thread that has started it."""
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._is_closed = False

    def run(self, compute: Callable[[], T], limit: float | None = None) -> tuple[T, float]:
        """Return what a function returns, and the processor seconds that it took; who comes later waits.

        The function, what it returns and what it raises are pickled. Raises what it raises, and `ComputingError`, also
        where it takes longer than `limit`, in seconds; then the process ends.
        """
        with self._lock:
            try:
                connection = self._started()
                connection.send(compute)
                if not connection.poll(limit):
                    raise EOFError
                value, error, seconds = connection.recv()
            except (EOFError, OSError):
                self._end()
                raise ComputingError("the process that computes this has ended; it is tried again soon") from None
        if error is not None:
            raise error
        return value, seconds

    def _started(self) -> Connection:
        if self._process is not None and self._process.poll() is not None:
            self._end()  # somebody has ended it
        if self._connection is None:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                number = theirs.fileno()
                command = [sys.executable, "-P", "-m", "arena.web.compute_process", str(number)]
                if self._is_closed:
                    raise EOFError
                self._process = self._starter.submit(_start, command, number).result()
                self._connection = Connection(ours.detach())
        return self._connection

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._is_closed = True
        while not self._lock.acquire(timeout=0.1):
            if process := self._process:
                process.kill()  # then who waits for its answer lets the lock go
        try:
            self._end()
        finally:
            self._lock.release()
            self._starter.shutdown()


def _start(command: list[str], descriptor: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[descriptor], start_new_session=True)


def main(connection: Connection) -> None:
    """Compute until the parent closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    signal_at_parents_end(signal.SIGKILL)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))


def _answer(asked: bytes) -> bytes:
    """Return a pickle of what a pickled function returns or else raises, and the processor seconds that it took."""
    begun, value, error = time.process_time(), None, None
    try:
        value = pickle.loads(asked)()
    except Exception as problem:
        error = _plain(problem)
    seconds = time.process_time() - begun
    try:
        return pickle.dumps((value, error, seconds))
    except Exception as problem:  # it cannot be pickled
        return pickle.dumps((None, _plain(problem), seconds))


def _plain(error: Exception) -> Exception:
    """Return an error that can be pickled and read again."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(summarise_error(error))


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
    os._exit(0)
