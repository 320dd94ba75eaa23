"""Start and talk to a fork server, the parent of Python bots' processes (`arena.isolation.forkserver`)."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from arena.core import records
from arena.core.errors import WorkerError, is_disk_full
from arena.core.limits import Limits
from arena.core.machine import REPRODUCIBLE_ENVIRONMENT
from arena.core.process_trees import wait_readable
from arena.isolation import Isolation
from arena.isolation.bot_process import BotProcess
from arena.isolation.forkserver import FORK, REAP, SANDBOXED, SWEEP, Child, Setup
from arena.isolation.launched import LaunchedBot
from arena.isolation.own_process import process_launcher
from arena.isolation.preload import Preload, load
from arena.isolation.process_source import open_pipes, processor_seconds
from arena.isolation.spawn import Spawn, import_paths, python, python_paths
from arena.registry.bundles import Bundle, pack_bundle
from engine import Game
from engine.cache import cache_root

FORKSERVER = Path(__file__).with_name("forkserver.py")
MAX_STARTS = 3
"""Tries to start one that ends before it is ready, or when it is asked for a process."""
PREPARE_SECONDS = 600.0
"""Seconds that a fork server may take to start and load, or to answer."""


class ForkClient:
    """A fork server of our own."""

    def __init__(self, isolation: Isolation, preload: Preload) -> None:
        self.launcher = process_launcher(isolation)
        self.launcher.check()
        self.isolation, self.preload = isolation, preload
        self.busy = False
        self.kernels = Bundle("", {})
        """Code that the next child's bot has compiled before."""
        self._stack = contextlib.ExitStack()
        try:
            load(preload)  # here first: only this process can fill the machine's cache of compiled code
            self._start()
        except BaseException:
            self._stack.close()
            raise

    def _start(self) -> None:
        place = self.launcher.server_place(self._stack)
        self._stderr = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed with the stack
        ours, theirs = socket.socketpair()
        self._socket = self._stack.enter_context(ours)
        self._connection = self._stack.enter_context(Connection(os.dup(ours.fileno())))
        with theirs:
            spawn = Spawn(
                [python(), "-s", "-S", "-P", str(FORKSERVER), SANDBOXED if place.filter else "", *import_paths()],
                {**_environment(place.folder), **place.environment},
                readable=python_paths(),
                bound=place.bound,
                folder=place.folder,
                divides=True,
            )
            try:
                started = self.launcher.run(spawn, theirs.fileno(), subprocess.DEVNULL, self._stderr.fileno())
                _, self.number = self._stack.enter_context(started)
            except OSError as error:
                if is_disk_full(error):
                    raise
                raise WorkerError(f"the parent of bots' processes did not start: {error}") from None
        self._set_up(Setup(place.filter, self.preload))
        for _ in range(2):
            self._try_out()

    @property
    def is_alive(self) -> bool:
        """Return whether its process is there: a bot at level `process` may have ended it."""
        return not self._connection.poll()

    def begin(self, block: bytes, game: Game) -> None:
        """Do nothing: every match has a process of its own."""

    def open(self, bot: LaunchedBot, limits: Limits) -> BotProcess:
        """Return a new process for a bot; a server that has ended is started again, a few times.

        Raises `WorkerError` after that.
        """
        for _ in range(MAX_STARTS - 1):
            with contextlib.suppress(WorkerError):
                return self._open(bot, limits)
            self._stack.close()
            self._start()
        return self._open(bot, limits)

    def _open(self, bot: LaunchedBot, limits: Limits) -> BotProcess:
        seconds = processor_seconds(limits)
        named = bot.class_name.encode() + b"\n" + pack_bundle(bot.bundle)
        with (
            open_pipes() as (pipes, theirs),
            _in_memory(named) as source,
            _in_memory(pack_bundle(self.kernels)) as kernels,
        ):
            self._order(records.encode(Child(limits.memory, seconds)), [*theirs, source, kernels])
            process = self._answer(1)[1][0]
        if (number := _number_of(process)) < 0:  # nobody but the parent waits for it before it is told to
            os.close(process)
            raise self._ended()
        self.launcher.bound_threads(number)
        return BotProcess(pipes, number, process, limits.memory, seconds=seconds)

    def _order(self, message: bytes, descriptors: list[int]) -> None:
        """Order a child, and leave a message that only the child reads."""
        ours, theirs = socket.socketpair()
        with ours, theirs, contextlib.suppress(OSError):  # there will be no answer either
            socket.send_fds(ours, [message], descriptors)
            socket.send_fds(self._socket, [FORK], [theirs.fileno()])

    def _try_out(self) -> None:
        """Have it start a child that ends at once, so that nothing is done for the first time in a match."""
        self._order(b"[]", [])
        os.close(self._answer(1)[1][0])
        self.code()
        self._sweep()

    def code(self) -> int | None:
        """Return how its last child ended.

        With the parent itself the kernel kills every child.
        """
        try:
            with contextlib.suppress(OSError):  # there will be no reply either
                self._socket.send(REAP)
            return int(self._answer(4)[0])
        except WorkerError:
            return -signal.SIGKILL

    def release(self, bot_process: BotProcess | None, over: dict[str, Any] | None) -> None:
        self.busy = False
        if bot_process is not None:
            bot_process.close()
        self._sweep()

    def _sweep(self) -> None:
        with contextlib.suppress(OSError):  # the next call tells that it is gone
            self._socket.send(SWEEP)

    def _set_up(self, setup: Setup) -> None:
        """Wait until the server has loaded all; raises `WorkerError` when it has ended."""
        with contextlib.suppress(EOFError, OSError):
            self._connection.send_bytes(records.encode(setup))
            if self.wait():
                self._connection.recv_bytes()
                return
        raise self._ended()

    def _answer(self, size: int) -> tuple[bytes, list[int]]:
        """Return the answer to an order, bytes and a descriptor; raises `WorkerError` when there is none."""
        with contextlib.suppress(OSError):
            if self.wait():
                content, descriptors, _, _ = socket.recv_fds(self._socket, size, 1)
                if content:
                    return content, descriptors
        raise self._ended()

    def _ended(self) -> WorkerError:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return WorkerError(f"the parent of bots' processes ended: {lines[-1] if lines else 'no word from it'}")

    def wait(self) -> bool:
        """Return whether it answers before its time is up."""
        return wait_readable(self._connection.fileno(), self.number, PREPARE_SECONDS)

    def close(self) -> None:
        self._stack.close()


@functools.cache
def _flags() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[int]:
    """Give a descriptor of a nameless file, for children alone: the parent of all bots never sees what is in it."""
    descriptor = os.memfd_create("bundle")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield descriptor
    finally:
        os.close(descriptor)


def _environment(folder: str) -> dict[str, str]:
    """Return the environment: one thread, hashes as in a worker."""
    return {**_flags(), **REPRODUCIBLE_ENVIRONMENT, "ARENA_CACHE": str(cache_root()), "TMPDIR": folder, "HOME": folder}


def _number_of(process: int) -> int:
    """Return the number, as seen from here, of the process that a descriptor stands for."""
    lines = Path(f"/proc/self/fdinfo/{process}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
