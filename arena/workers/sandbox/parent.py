"""A parent of Python bots' processes (`arena.workers.sandbox.forkserver`), from outside."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.core.errors import WorkerError, has_no_room
from arena.core.files import own_folder
from arena.core.limits import Limits
from arena.core.process_trees import wait_for
from arena.registry.bundles import Bundle, packed
from arena.workers.process import ALIKE
from arena.workers.sandbox.channel import Channel
from arena.workers.sandbox.forkserver import BURY, FORK, SWEEP
from arena.workers.sandbox.host import Provision, RemoteBot, bound_threads, must_be_able, open_pipes, processor_seconds
from arena.workers.sandbox.levels import Spawn, import_paths, python, python_paths, trusted_sources
from arena.workers.sandbox.rehearsal import load, rehearse
from arena.workers.sandbox.seccomp import bpf
from engine import Game
from engine.cache import cache_root
from engine.kernel import numba_cache, numba_folder

if TYPE_CHECKING:
    from arena.core.limits import Isolation

FORKSERVER = Path(__file__).with_name("forkserver.py")
KERNELS = "/kernels"
"""Where a sandbox finds compiled code."""
PREPARE_LIMIT = 600.0
"""Seconds that a fork server may take to start, or to load a game."""


class ForkServer:
    """A parent of Python bots' processes (`arena.workers.sandbox.forkserver`), from outside."""

    def __init__(self, isolation: Isolation, provision: Provision) -> None:
        must_be_able(isolation)
        self.isolation, self.provision = isolation, provision
        self.busy = False
        self.compiled = Bundle("", {})
        """What the next child's bot has compiled before."""
        self._stack = contextlib.ExitStack()
        folder = "/tmp"
        if isolation == "process":
            folder = str(self._stack.enter_context(own_folder(os.getcwd(), "bots-")))
        try:
            self._load()
            self._start(folder)
        except BaseException:
            self._stack.close()
            raise

    def _load(self) -> None:
        """Load the provision here first: only this process can fill the machine's cache of compiled code."""
        load(self.provision.modules)
        for game, players in self.provision.boards:
            with contextlib.suppress(Exception):  # a game at fault is found where it is played
                rehearse(self.provision.modules, game, players)

    def _start(self, folder: str) -> None:
        self._complaints = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed with the stack
        ours, theirs = socket.socketpair()
        self._socket = self._stack.enter_context(ours)
        self._connection = self._stack.enter_context(Connection(os.dup(ours.fileno())))
        with theirs:
            spawn = Spawn(
                [python(), "-s", "-S", "-P", str(FORKSERVER), self.isolation, *import_paths()],
                self.isolation,
                environment=_environment(folder, self.isolation),
                readable=python_paths(),
                bound=_kernels() if self.isolation == "sandbox" else (),
                folder=folder,
                divides=True,
            )
            try:
                started = spawn.start(theirs.fileno(), subprocess.DEVNULL, self._complaints.fileno())
                _, self._number = self._stack.enter_context(started)
            except OSError as error:
                if has_no_room(error):
                    raise
                raise WorkerError(f"the parent of bots' processes did not start: {error}") from None
        self._call({"do": "hello", "filter": bpf().hex() if self.isolation == "sandbox" else ""})
        self._call({"do": "load", "modules": self.provision.modules})
        for game, players in self.provision.boards:
            self._call({"do": "warm", "modules": self.provision.modules, "game": game, "players": players})
        self._call({"do": "settle"})
        for _ in range(2):
            self._try_out()

    @property
    def is_alive(self) -> bool:
        """Whether its process is there: a bot at level `process` may have ended it."""
        return not self._connection.poll()

    def begin(self, block: bytes, game: Game) -> None:
        """Every match has a process of its own."""

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        seconds = processor_seconds(limits)
        message = {"memory": limits.memory, "seconds": seconds}
        named = bot.class_name.encode() + b"\n" + packed(bot.bundle)
        with (
            open_pipes() as (pipes, theirs),
            _in_memory(named) as source,
            _in_memory(packed(self.compiled)) as compiled,
        ):
            self._order(json.dumps(message).encode(), [*theirs, source, compiled])
            process = self._told(1)[1][0]
        number = _number_of(process)
        if self.isolation == "sandbox":
            bound_threads(number)
        return Channel(pipes, number, process, limits.memory, seconds=seconds)

    def _order(self, message: bytes, descriptors: list[int]) -> None:
        """Order a child, and leave a message that it alone reads."""
        ours, theirs = socket.socketpair()
        with ours, theirs, contextlib.suppress(OSError):  # there will be no answer either
            socket.send_fds(ours, [message], descriptors)
            socket.send_fds(self._socket, [FORK], [theirs.fileno()])

    def _try_out(self) -> None:
        """Have it start a child that ends at once: what it does for the first time it has then done."""
        self._order(b"{}", [])
        os.close(self._told(1)[1][0])
        self.code()
        self._sweep()

    def code(self) -> int | None:
        """How its last child ended: its parent has waited for it.

        With the parent itself the kernel kills every child; in the sandbox no bot can do that.
        """
        try:
            with contextlib.suppress(OSError):  # there will be no reply either
                self._socket.send(BURY)
            return int(self._told(4)[0])
        except WorkerError:
            return -signal.SIGKILL if self.isolation == "sandbox" else None

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        self.busy = False
        if channel is not None:
            channel.close()
        self._sweep()

    def _sweep(self) -> None:
        with contextlib.suppress(OSError):  # the next call tells that it is gone
            self._socket.send(SWEEP)

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # there will be no reply either
            self._connection.send_bytes(json.dumps(message).encode())
        return self._reply()

    def _reply(self) -> dict[str, Any]:
        """The answer to the last message; raises `WorkerError` when there is none."""
        with contextlib.suppress(EOFError, OSError):
            if self._wait():
                answer: dict[str, Any] = json.loads(self._connection.recv_bytes())
                return answer
        raise self._ended()

    def _told(self, size: int) -> tuple[bytes, list[int]]:
        """What an order is answered with, bytes and a descriptor; raises `WorkerError` when there is no answer."""
        with contextlib.suppress(OSError):
            if self._wait():
                told, descriptors, _, _ = socket.recv_fds(self._socket, size, 1)
                if told:
                    return told, descriptors
        raise self._ended()

    def _ended(self) -> WorkerError:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return WorkerError(f"the parent of bots' processes ended: {lines[-1] if lines else 'no word from it'}")

    def _wait(self) -> bool:
        """Whether it says something before its time is up."""
        return wait_for(self._connection.fileno(), self._number, PREPARE_LIMIT)

    def close(self) -> None:
        self._stack.close()


@functools.cache
def _flags() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[int]:
    """A descriptor of a nameless file, for children alone: the parent of all bots never sees what is in it."""
    descriptor = os.memfd_create("bundle")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield descriptor
    finally:
        os.close(descriptor)


def _environment(folder: str, isolation: Isolation) -> dict[str, str]:
    """One thread, hashes as in a worker; in the sandbox a cache that is only read."""
    common = {
        **_flags(),
        **ALIKE,
        "ARENA_CACHE": str(cache_root()),
        "TMPDIR": folder,
        "HOME": folder,
    }
    if isolation == "sandbox":
        common["NUMBA_CACHE_LOCATOR_CLASSES"] = "arena.workers.sandbox.compiled.Locator"
        common["ARENA_CACHE"] = "/tmp/arena"
        common["NUMBA_CACHE_DIR"] = KERNELS
    return common


def _kernels() -> list[tuple[str, str]]:
    """The machine's compiled code of the engine, our bots and games, and where a sandbox shows it: nobody else's."""
    names = sorted({numba_folder(source) for source in trusted_sources()})
    for name in names:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.join(numba_cache(), name), exist_ok=True)
    folders = [(os.path.join(numba_cache(), name), f"{KERNELS}/{name}") for name in names]
    return [(outside, inside) for outside, inside in folders if os.path.isdir(outside)]


def _number_of(process: int) -> int:
    """The number, as seen from here, of the process that a descriptor stands for."""
    told = Path(f"/proc/self/fdinfo/{process}").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pid:"))
