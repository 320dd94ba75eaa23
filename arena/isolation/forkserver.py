"""The parent of Python bots' processes: loads the engine and the games once, then forks a child for each match.

It runs inside the sandbox, where there is one, and never sees a bot's code: the child loads the bot. So
nothing that a bot does is there in another match, and a child starts in milliseconds. One child lives at a time. The
client, `arena.isolation.fork_client`, sends orders over the socket that is this process's standard input, and
with each order to fork a socket that only the child reads.

In the sandbox each child gets a /tmp of its own and the same process number, and finds /proc empty: what the kernel
counts, or keeps of a folder or of this process, would tell one match about another.

Run as `python -I -S forkserver.py SANDBOXED PATH ...`, where the first is empty outside a sandbox, with what `sys.path`
needs.
"""

from __future__ import annotations

import contextlib
import os
import sys

if __name__ == "__main__":
    sys.path += sys.argv[2:]

import ctypes
import gc
import signal
import socket
import stat
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from arena.core import records
from arena.core.files import remove
from arena.core.process_trees import adopt_orphans, kill_descendants, protect_memory
from arena.isolation import launch
from arena.isolation.numba_locator import lay_out
from arena.isolation.preload import Preload, load
from arena.isolation.protocol_client import ProtocolClient
from arena.registry.bundles import unpack_bundle

PROTOCOL_IN, PROTOCOL_OUT = 3, 4
SECCOMP_MODE_FILTER = 2
CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_RELATIME = 1, 2, 4, 0x20, 0x1000, 0x200000
ST_RELATIME = 0x1000
KEPT = 0xC0E
"""Flags that `statvfs` gives by the numbers that `mount` takes: NOSUID, NODEV, NOEXEC, NOATIME, NODIRATIME."""
CAPABILITY_VERSION = 0x20080522
SANDBOXED = "sandboxed"
FORK, REAP, SWEEP = b"f", b"r", b"s"
"""Orders of the client: start a child, with a socket of its own; report how it ended; remove what it left."""
CHILD_MESSAGE = 4096
"""Bytes of a message to a child, at most."""
LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"


class Setup(NamedTuple):
    """First message to a fork server."""

    filter: bytes
    """The seccomp filter of children; empty outside the sandbox."""
    preload: Preload


class Child(NamedTuple):
    """Message to a child; with it come the ends of three pipes, the bot's source and what it has compiled before."""

    memory: int
    """MiB that it may use."""
    seconds: float
    """Of processor time."""


class ForkServer:
    """Serves one client."""

    def __init__(self, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.socket = socket.socket(fileno=os.dup(0))
        self.connection = Connection(os.dup(0))
        self.child = 0
        self.folder = Path.cwd()

    def serve(self) -> None:
        """Load what the first message names, freeze, and take orders of a byte until the client is gone.

        It is frozen with all loaded, so that no child can tell how many were before.
        """
        with contextlib.suppress(EOFError, OSError):
            setup = records.decode(Setup, self.connection.recv_bytes())
            self.filter = setup.filter
            load(setup.preload)
            gc.collect()
            gc.disable()
            gc.freeze()
            self.connection.send_bytes(b"done")
            self.take_orders()
        self.sweep()

    def take_orders(self) -> None:
        """Take orders. What comes with one is for the child alone: this process does the same for every match."""
        while True:
            order, sockets, _, _ = socket.recv_fds(self.socket, 1, 1)
            if order == FORK:
                self.fork(sockets[0])
            elif order == REAP:
                self.reap()
            elif order == SWEEP:
                self.sweep()
            else:
                return

    def fork(self, orders: int) -> None:
        """Start a child for one match and send a descriptor of its process back."""
        self.sweep()
        self.number_next_child()
        self.child = os.fork()
        if self.child == 0:
            self.become_child(orders)
        os.close(orders)
        descriptor = os.pidfd_open(self.child)
        socket.send_fds(self.socket, [FORK], [descriptor])
        os.close(descriptor)

    def reap(self) -> None:
        """Wait for the child, which has ended, and report how."""
        self.socket.send(b"%4d" % os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1]))

    def number_next_child(self) -> None:
        """Give every child of a sandbox the same number; numbers go on from it when the bot starts threads."""
        if self.sandboxed and os.path.exists(LAST_NUMBER):
            descriptor = os.open(LAST_NUMBER, os.O_WRONLY)
            os.write(descriptor, b"%d" % os.getpid())
            os.close(descriptor)

    def become_child(self, orders: int) -> None:
        """Give up everything but the pipes, then speak for the bot until the match is over."""
        code = 1
        try:
            gc.collect()
            gc.enable()
            os.setsid()
            with socket.socket(fileno=orders) as connection:
                content, descriptors, _, _ = socket.recv_fds(connection, CHILD_MESSAGE, 5)
            allowed = records.decode(Child, content)
            compiled = unpack_bundle(_received(descriptors.pop()))
            name, _, source = _received(descriptors.pop()).partition(b"\n")
            _lay_out_descriptors(descriptors)
            memory = allowed.memory + _megabytes_of_data()
            if self.sandboxed:
                _enter_namespaces()
                launch.control(launch.PR_SET_THP_DISABLE, 1)
                lay_out(compiled.files)
            launch.control(launch.PR_SET_PDEATHSIG, signal.SIGKILL)
            launch.control(launch.PR_SET_NO_NEW_PRIVS, 1)
            launch.limit(memory, allowed.seconds, self.sandboxed)
            if self.sandboxed:
                _bound_constants(allowed.memory)
                _install_filter(self.filter)
            ProtocolClient(unpack_bundle(source), name.decode(), PROTOCOL_IN, PROTOCOL_OUT).serve()
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
            kill_descendants(os.getpid())
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, 0):
                pass
        self.child = 0
        if not self.sandboxed:
            for path in self.folder.iterdir():
                remove(str(path))


def _received(descriptor: int) -> bytes:
    """Return the content of a file, and close it."""
    with open(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def _lay_out_descriptors(pipes: list[int]) -> None:
    """Arrange descriptors: empty standard input, stderr pipe on both standard outputs, the protocol on 3 and 4."""
    high = [os.dup2(pipe, 1000 + place, inheritable=False) for place, pipe in enumerate(pipes)]
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (high[2], 1), (high[2], 2), (high[0], PROTOCOL_IN), (high[1], PROTOCOL_OUT)):
        os.dup2(source, target, inheritable=target < PROTOCOL_IN)
    os.closerange(PROTOCOL_OUT + 1, 1100)
    sys.stdin = open(0)  # noqa: SIM115 - for the life of the process
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1)  # noqa: SIM115


def _megabytes_of_data() -> int:
    """Return the MiB of private memory that this process has already, which a child inherits."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20 + 1


def _enter_namespaces() -> None:
    """Enter a sandbox within the sandbox: /tmp and /proc empty, and no capability any more."""
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"size={launch.TMP_BYTES},nr_inodes={launch.MAX_FILES},mode=755".encode()
    _check(libc.unshare(CLONE_NEWNS | CLONE_NEWIPC), "unshare")
    shown = {path: os.open(path, os.O_PATH) for path in _mounted_in_tmp()}
    _check(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", MS_NOSUID | MS_NODEV, options), "a new /tmp")
    for path, descriptor in shown.items():
        source = Path(f"/proc/self/fd/{descriptor}")
        if source.is_dir():
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        _check(libc.mount(os.fsencode(source), os.fsencode(path), None, MS_BIND, None), str(path))
        os.close(descriptor)
    _check(libc.mount(b"tmpfs", b"/proc", b"tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, b"size=4k,mode=555"), "hiding")
    os.chdir("/tmp")
    _check(libc.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()), "capset")


def protect_devices() -> None:
    """Make the devices read-only: they can be written to all the same, but nothing of theirs can be changed.

    They are the machine's own, so that their times and attributes would be seen by everybody.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for name in os.listdir("/dev"):
        path = os.path.join("/dev", name)
        if stat.S_ISCHR(os.lstat(path).st_mode):
            held = os.statvfs(path).f_flag
            flags = held & KEPT | (MS_RELATIME if held & ST_RELATIME else 0) | MS_REMOUNT | MS_BIND | MS_RDONLY
            _check(libc.mount(None, os.fsencode(path), None, flags, None), path)


def _bound_constants(memory: int) -> None:
    """Have `os.sysconf` return a bot's own bound, in MiB, where it would ask for the machine's memory.

    The C library ignores that it may not ask, and gives what happens to be there.
    """
    real = os.sysconf
    pages = memory * 2**20 // real("SC_PAGE_SIZE")
    names = ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES")
    told: dict[str | int, int] = dict.fromkeys([*names, *(os.sysconf_names[name] for name in names)], pages)

    def sysconf(name: str | int) -> int:
        return told[name] if name in told else real(name)

    os.sysconf = sysconf


def _mounted_in_tmp() -> list[Path]:
    """Return what the sandbox shows of ours below /tmp, outer folders first."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [Path(point.encode().decode("unicode_escape")) for point in points if point.startswith("/tmp/")]


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _install_filter(rules: bytes) -> None:
    """Install a seccomp filter for good; raises `OSError`."""
    program = _Program(len(rules) // 8, rules)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    if prctl(launch.PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp filter refused")


def main() -> None:
    """Serve standard input."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    launch.control(launch.PR_SET_PDEATHSIG, signal.SIGKILL)  # also while it is stopped
    protect_memory()
    adopt_orphans()
    sandboxed = sys.argv[1] == SANDBOXED
    if sandboxed:
        protect_devices()
    ForkServer(sandboxed).serve()


if __name__ == "__main__":
    main()
