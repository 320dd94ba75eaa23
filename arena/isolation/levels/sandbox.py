"""Isolation against strangers: a bot is a process in a sandbox (`arena.isolation.bubblewrap`)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import resource
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.core.findings import NOTE, OK, WARNING, Finding, check_tool
from arena.core.process_trees import wait_readable
from arena.isolation import bubblewrap, building, outside_users, refusals
from arena.isolation.bot_process import MAX_THREADS, opened
from arena.isolation.own_process import ProcessLauncher, ServerPlace
from arena.isolation.refusals import Refusals
from arena.isolation.seccomp import bpf, library
from arena.isolation.spawn import Spawn, trusted_sources
from arena.registry.manifest import Program

PROGRAM_FOLDER = "/bot"
"""Where a sandbox has a program's files."""
KERNEL_FOLDER = "/kernels"
"""Where a sandbox finds compiled code."""
NETWORK_WORDS = re.compile(
    r"\bsocket\b|getaddrinfo|gaierror|EAI_AGAIN|ENETUNREACH|network is unreachable|name resolution|name or service",
    re.IGNORECASE,
)
"""Words of programs that find no network, or are refused a socket."""
NETWORK_HINT = "The sandbox has no network."
WAIT_COMMAND = 'echo && read -r _ && exec "$@" </dev/null >&2'
"""A shell's command line: say that the sandbox is there, and begin when its files are."""


class Setting(NamedTuple):
    """Setting of the kernel that can forbid user namespaces."""

    path: str
    forbids: str
    """Value that forbids them."""
    root_too: bool
    remedy: str


SETTINGS = (
    Setting("/proc/sys/user/max_user_namespaces", "0", True, "sysctl user.max_user_namespaces=10000"),
    Setting("/proc/sys/kernel/unprivileged_userns_clone", "0", False, "sysctl kernel.unprivileged_userns_clone=1"),
    Setting(
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        False,
        "an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


class Level(ProcessLauncher):
    """In a sandbox."""

    for_strangers = True

    def missing_requirements(self) -> str:
        return bubblewrap.missing_requirements()

    def findings(self) -> Iterator[Finding]:
        if why := self.missing_requirements():
            yield Finding(
                WARNING,
                "sandbox",
                f"{why}. Until then submitted bots are refused, and all with isolation sandbox; written "
                'out, isolation = "process" (in a command: --isolation process) runs them all the same, with your '
                "rights",
            )
        else:
            yield Finding(OK, "sandbox", "works: tried with a command in it")
            yield _outside_users()
        yield check_tool("bubblewrap", bubblewrap.BWRAP, "bubblewrap", "the sandbox needs it", WARNING)
        yield _libseccomp()
        yield user_namespaces()

    def run(
        self, spawn: Spawn, stdin: int, stdout: int, stderr: int
    ) -> contextlib.AbstractContextManager[tuple[subprocess.Popen[bytes], int]]:
        return bubblewrap.run(spawn, stdin, stdout, stderr)

    def server_place(self, stack: contextlib.ExitStack) -> ServerPlace:
        """Return a place whose cache of compiled code is the machine's, and only read."""
        environment = {
            "NUMBA_CACHE_LOCATOR_CLASSES": "arena.isolation.numba_locator.Locator",
            "ARENA_CACHE": "/tmp/arena",
            "NUMBA_CACHE_DIR": KERNEL_FOLDER,
        }
        return ServerPlace("/tmp", environment, _kernels(), bpf())

    def program(self, command: Sequence[str], folder: Path, limits: Mapping[str, float]) -> Spawn:
        return Spawn(
            command,
            bubblewrap.program_environment(command[0]),
            readable=bubblewrap.program_paths(command[0]),
            bound=[(str(folder), PROGRAM_FOLDER)],
            folder=PROGRAM_FOLDER,
            limits=limits,
        )

    def build(self, program: Program, files: Mapping[str, bytes], folder: Path, until: float) -> None:
        """Build in a file system in memory that holds no more than is allowed; what is good in it goes to the folder.

        It is copied when no process of the build is left.
        """
        spawn = Spawn(
            ["/bin/sh", "-c", WAIT_COMMAND, "sh", *program.build],
            bubblewrap.program_environment(program.build[0]),
            readable=bubblewrap.program_paths(program.build[0]),
            room=(PROGRAM_FOLDER, building.BUILD_BYTES),
            folder=PROGRAM_FOLDER,
            limits=building.limits(),
            processes=True,
        )
        with contextlib.ExitStack() as stack, tempfile.TemporaryFile() as said:
            (stdin, begin), (ready, stdout) = os.pipe(), os.pipe()
            ends = [stack.enter_context(os.fdopen(end, "rb")) for end in (stdin, stdout, ready)]
            begins = stack.enter_context(os.fdopen(begin, "wb", buffering=0))
            with building.explained(program), self.run(spawn, stdin, stdout, said.fileno()) as (process, number):
                for end in ends[:2]:
                    end.close()
                self.bound_threads(number, building.MAX_BUILD_THREADS)
                there = wait_readable(ends[2].fileno(), number, building.BUILD_SECONDS) and ends[2].read(1)
                place = None
                if there:
                    with contextlib.suppress(OSError):  # it has just ended, and how is seen below
                        held = stack.enter_context(opened(f"/proc/{number}/root{PROGRAM_FOLDER}", os.O_DIRECTORY))
                        place = Path(f"/proc/self/fd/{held}")  # also when the sandbox is gone
                if place is not None:
                    building.write(files, place)
                    with contextlib.suppress(BrokenPipeError):
                        begins.write(b"\n")
                code = building.watched(process, number, until)
            building.check_end(code, said)
            if place is not None:
                with building.explained(program):
                    _copy(place, folder)

    def bound_threads(self, number: int, most: int = MAX_THREADS) -> None:
        """Have the kernel refuse it threads before there are many more than the `most` the watch allows.

        The kernel counts a sandbox by itself from Linux 5.14 on, and does not bound root.
        """
        release = [int(part) for part in re.findall(r"\d+", platform.release())[:2]]
        if release >= [5, 14]:
            with contextlib.suppress(OSError, ValueError):  # it may have ended, or be bounded already
                resource.prlimit(number, resource.RLIMIT_NPROC, (2 * most, 2 * most))

    def private_files(self, number: int) -> str:
        return f"/proc/{number}/root/tmp"

    def watch(self, number: int) -> Refusals | None:
        if platform.machine() == refusals.MACHINE:
            with contextlib.suppress(OSError):
                return Refusals(number)
        return None

    def explained(self, detail: str) -> str:
        return f"{detail.rstrip()}\n{NETWORK_HINT}" if NETWORK_WORDS.search(detail) else detail


def _kernels() -> list[tuple[str, str]]:
    """Return folders of the machine's compiled code of engine, our bots and games, and where a sandbox shows them."""
    from engine.cache import kernel_cache
    from engine.kernel import numba_folder

    names = sorted({numba_folder(source) for source in trusted_sources()})
    for name in names:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.join(kernel_cache(), name), exist_ok=True)
    folders = [(os.path.join(kernel_cache(), name), f"{KERNEL_FOLDER}/{name}") for name in names]
    return [(outside, inside) for outside, inside in folders if os.path.isdir(outside)]


def _copy(source: Path, target: Path) -> None:
    """Copy folders, links and files, as ordinary ones which lend nobody rights; what else there may be is left out."""

    def visit(entry: os.DirEntry[str]) -> None:
        place = target / os.path.relpath(entry.path, source)
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            place.symlink_to(os.readlink(entry.path))
        elif stat.S_ISDIR(mode):
            os.chmod(entry.path, 0o755)
            place.mkdir()
        elif stat.S_ISREG(mode):
            os.chmod(entry.path, 0o755)
            shutil.copyfile(entry.path, place)
            place.chmod(0o755)

    os.chmod(source, 0o755)
    building.look_at(source, visit)


def _outside_users() -> Finding:
    """Check whether sandboxes have users of their own outside."""
    what = "outside users"
    if why := outside_users.missing():
        return Finding(
            NOTE,
            what,
            f"{why}. Until then all sandboxes share one user outside, and with it the limits that Linux keeps by user: "
            "on bytes in pipes, pending signals and watched files",
        )
    return Finding(OK, what, "each sandbox has one of its own")


def _libseccomp() -> Finding:
    """Check the library that filters system calls for the sandbox."""

    class Version(ctypes.Structure):
        _fields_ = (("major", ctypes.c_uint), ("minor", ctypes.c_uint), ("micro", ctypes.c_uint))

    try:
        ask = library().seccomp_version
    except OSError:
        return Finding(WARNING, "libseccomp", "not there; the sandbox needs it: apt-get install libseccomp2")
    ask.restype = ctypes.POINTER(Version)
    text = ask().contents
    return Finding(OK, "libseccomp", f"{text.major}.{text.minor}.{text.micro}")


def user_namespaces(settings: Sequence[Setting] = SETTINGS, root: bool | None = None) -> Finding:
    """Check that the kernel has user namespaces, and lets users make them."""
    what = "user namespaces"
    if not Path("/proc/self/ns/user").exists():
        return Finding(WARNING, what, "this kernel has none; the sandbox needs them")
    root = os.getuid() == 0 if root is None else root
    for each in settings:
        if _read(each.path) == each.forbids and (each.root_too or not root):
            return Finding(WARNING, what, f"{each.path} is {each.forbids}; the sandbox needs: {each.remedy}")
    return Finding(OK, what, "allowed")


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
