"""Sandboxed Python bots that run whatever a test asks them to, each in the process that a match would give it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.core.limits import Limits
from arena.isolation import Isolation
from arena.isolation.fork_client import ForkClient
from arena.isolation.launched import LaunchedBot
from arena.isolation.preload import Preload
from arena.registry.bundles import bundle_file

SOURCE = '''
import ctypes
import errno
import os
import signal
import socket
import struct
import threading
import time

from arena.isolation.protocol_client import ProtocolClient
from bots import Bot

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
NAMES = dict(globals())


def syscall(number, *arguments):
    """The result of a system call by its number on x86-64, or the name of its error."""
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]


def attempt(function):
    """What a function returns, or the name of the error that it raises."""
    try:
        return function()
    except OSError as error:
        return errno.errorcode[error.errno]


def do_run(self, message):
    """Run a text of Python in names that stay, and give back what it leaves in `result`."""
    NAMES.pop("result", None)
    exec(message["code"], NAMES)
    return {"type": "ran", "result": NAMES.get("result")}


NAMES.update(syscall=syscall, attempt=attempt)
ProtocolClient.do_run = do_run


class Cell(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
'''
ANSWER_SECONDS = 120.0


class Cell:
    """A bot's process; it is stopped whenever it does not run something."""

    def __init__(self, server: ForkClient, source: Path, memory: int = 512) -> None:
        bundle = bundle_file(source)
        bot = LaunchedBot("cell", bundle, "Cell", {}, server.isolation)
        self.process = server.open(bot, Limits(memory=memory))
        self.process.request({"type": "hello", "protocol": 1}, ANSWER_SECONDS)
        self.process.greeted = True
        self.process.pause()

    def run(self, code: str) -> Any:
        """Return what a text of Python leaves in `result`; raises `Fault`."""
        answer = self.process.request({"type": "run", "code": code}, ANSWER_SECONDS)
        self.process.pause()
        return answer["result"]

    @contextlib.contextmanager
    def running(self, code: str) -> Iterator[list[Any]]:
        """Run a text meanwhile; when the context is left, the list holds what it left in `result`."""
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(self.run(code)))
        thread.start()
        yield results
        thread.join()


class Cells:
    """Fork servers as two workers have them, of one tournament or of two."""

    def __init__(self, folder: Path, servers: int = 2, isolation: Isolation = "sandbox") -> None:
        self.source = folder / "cell.py"
        self.source.write_text(SOURCE)
        self.servers = [ForkClient(isolation, Preload()) for _ in range(servers)]

    @contextlib.contextmanager
    def open(self, server: int = 0, memory: int = 512) -> Iterator[Cell]:
        """Give a new process of a server, as for a match."""
        cell = Cell(self.servers[server], self.source, memory)
        try:
            yield cell
        finally:
            self.servers[server].release(cell.process, None)

    def close(self) -> None:
        for server in self.servers:
            server.close()
