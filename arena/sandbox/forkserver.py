"""The parent of Python bots' processes: loads the engine and the games once, then forks a child for each match.

It runs inside the sandbox (or, at level `process`, beside it) and never runs a bot's code: the child loads the bot. So
nothing that a bot does is there in another match, and a child starts in milliseconds. One child lives at a time. Its
master, `arena.sandbox.players`, sends JSON over the socket that is this process's standard input, and with each
order to fork the ends of three pipes.

Run as `python -I -S forkserver.py LEVEL PATH ...` with what `sys.path` needs.
"""

from __future__ import annotations

import contextlib
import os
import sys

if __name__ == "__main__":
    sys.path += sys.argv[2:]

import ctypes
import functools
import gc
import json
import shutil
import signal
import socket
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from arena.bundle import Bundle
from arena.loader import is_house
from arena.sandbox import launch
from arena.sandbox.client import Client
from arena.trees import close_to_others, end_below, keep_orphans
from engine import Game, load_game

LIBRARIES = ("numpy", "numba", "scipy", "pandas")
"""Installed packages that are loaded before the fork when a bot imports them."""
PROTOCOL_IN, PROTOCOL_OUT = 3, 4
SECCOMP_MODE_FILTER = 2


class ForkServer:
    """Answers one master."""

    def __init__(self, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.socket = socket.socket(fileno=os.dup(0))
        self.connection = Connection(os.dup(0))
        self.bundles: dict[str, Bundle] = {}
        self.child = 0
        self.filter = b""
        self.folder = Path.cwd()
        self.warm = functools.cache(self._warm)

    def serve(self) -> None:
        """Until the master is gone."""
        while True:
            try:
                message = json.loads(self.connection.recv_bytes())
            except (EOFError, OSError):
                self.sweep()
                return
            reply = getattr(self, f"do_{message['do']}")(message)
            if reply is not None:
                self.connection.send_bytes(json.dumps(reply).encode())

    def do_hello(self, message: dict[str, Any]) -> dict[str, Any]:
        """`filter`: the seccomp filter that children put on, in hexadecimal."""
        self.filter = bytes.fromhex(message["filter"])
        return {}

    def do_bundle(self, message: dict[str, Any]) -> dict[str, Any]:
        """Keep a bot's source, and load what it uses of the installed packages and of our own bots."""
        bundle = Bundle(message["module"], {name: bytes.fromhex(text) for name, text in message["files"].items()})
        self.bundles[message["hash"]] = bundle
        for name in _trusted_modules(bundle):
            with contextlib.suppress(ImportError):
                __import__(name)
        return {}

    def do_warm(self, message: dict[str, Any]) -> dict[str, Any]:
        """Load a game, and what our own bots in a bundle prepare for it."""
        self.warm(message["bundle"], message["game"], message["players"])
        return {}

    def do_fork(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Start a child for one match; the child's number goes back, and a descriptor of its process."""
        self.sweep()
        _, pipes, _, _ = socket.recv_fds(self.socket, 1, 3)
        gc.freeze()
        self.child = os.fork()
        if self.child == 0:
            self.become_child(pipes, message)
        for pipe in pipes:
            os.close(pipe)
        descriptor = os.pidfd_open(self.child)
        self.connection.send_bytes(b"{}")
        socket.send_fds(self.socket, [b"."], [descriptor])
        os.close(descriptor)
        return None

    def do_sweep(self, message: dict[str, Any]) -> None:
        """Clear away the last match, in the master's time; it waits for no answer."""
        self.sweep()

    def _warm(self, bundle: str, game: str, players: int) -> Game:
        """A game with all that a match calls compiled, and what our own bots in a bundle prepare."""
        from arena.referee import warm_up
        from bots.base import Bot, make_bot

        loaded = load_game(game, players)
        warm_up(loaded)
        names = _trusted_modules(self.bundles[bundle])
        modules = [sys.modules[name] for name in names if name.startswith("bots.") and name in sys.modules]
        for kind in [value for module in modules for value in vars(module).values()]:
            if isinstance(kind, type) and issubclass(kind, Bot) and not getattr(kind, "__abstractmethods__", True):
                with contextlib.suppress(Exception):
                    make_bot(kind, loaded, 0, 0)
        return loaded

    def become_child(self, pipes: list[int], message: dict[str, Any]) -> None:
        """Give up everything but the pipes, then speak for the bot until the match is over."""
        code = 1
        try:
            _lay_out_descriptors(pipes)
            launch.control(launch.PR_SET_PDEATHSIG, signal.SIGKILL)
            launch.control(launch.PR_SET_NO_NEW_PRIVS, 1)
            launch.limit(message["memory"] + _megabytes_of_data(), message["seconds"])
            if self.sandboxed:
                _put_on(self.filter)
            Client(self.bundles[message["bundle"]], message["class"], PROTOCOL_IN, PROTOCOL_OUT).serve()
            code = 0
        finally:
            os._exit(code)

    def sweep(self) -> None:
        """End the last match's child and whatever it left: processes, files."""
        if not self.child:
            return
        if self.sandboxed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # everything in the sandbox but this process, its first
        else:
            end_below(os.getpid())
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, 0):
                pass
        self.child = 0
        for path in self.folder.iterdir():
            _remove(path)


def _trusted_modules(bundle: Bundle) -> list[str]:
    """Modules that a bundle uses and that are not the bot author's: a few installed packages, our own bots."""
    from arena.bundle import imported_names

    found = {name for name in imported_names(bundle) if name.partition(".")[0] in LIBRARIES}
    own = {name.partition("/")[0].removesuffix(".py") for name in bundle.files}
    trusted = sorted(name for name in found if name.partition(".")[0] not in own)
    if is_house(bundle.files):
        names = [Path(name).with_suffix("") for name in bundle.files if name.startswith("bots/") and name[-3:] == ".py"]
        trusted += sorted(".".join(name.parts).removesuffix(".__init__") for name in names)
    return trusted


def _lay_out_descriptors(pipes: list[int]) -> None:
    """Nothing on standard input, the stderr pipe on both standard outputs, the protocol on 3 and 4, no other."""
    high = [os.dup2(pipe, 1000 + place, inheritable=False) for place, pipe in enumerate(pipes)]
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (high[2], 1), (high[2], 2), (high[0], PROTOCOL_IN), (high[1], PROTOCOL_OUT)):
        os.dup2(source, target, inheritable=target < PROTOCOL_IN)
    os.closerange(PROTOCOL_OUT + 1, 1100)
    sys.stdin = open(0)  # noqa: SIM115 - for the life of the process
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1)  # noqa: SIM115


def _megabytes_of_data() -> int:
    """What this process has of private memory already, which a child inherits."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20 + 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _put_on(rules: bytes) -> None:
    """Install a seccomp filter for good; raises `OSError`."""
    program = _Program(len(rules) // 8, rules)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    if prctl(launch.PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp filter refused")


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def main() -> None:
    """Serve standard input."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    close_to_others()
    keep_orphans()
    ForkServer(sys.argv[1] == "sandbox").serve()


if __name__ == "__main__":
    main()
