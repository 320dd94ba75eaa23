"""`arena doctor`: what the arena needs of this machine. What may be missing is imported inside functions."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.cli.exit_codes import FAILED, FINE
from arena.cli.findings import MISSING, NOTE, OK, WARNING, Finding, Status, size
from arena.core.machine import cores
from arena.core.paths import ROOT, home_path

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ROOM = 2**30
"""Bytes that the arena's home should have free."""
FILES = 256
"""Open files that a process should be allowed: each bot's process takes four."""
NAME_WIDTH = 17
WIDEST = 100
PATIENCE = 10.0


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


def findings(home: str | Path | None = None, address: str | None = None) -> Iterator[Finding]:
    """Yield all findings in the order of the report; with an address also those of that Ray cluster."""
    from arena.cli import surroundings

    yield Finding(OK, "Python", f"{platform.python_version()} on {platform.platform()}")
    yield packages()
    yield Finding(OK, "SQLite", sqlite3.sqlite_version)
    yield Finding(OK, "cores", f"{cores()} of {os.cpu_count()} for this process")
    yield from isolation()
    yield user()
    yield tool("C compiler", "cc", "gcc", "bots written in C need it")
    yield tool("Node", "node", "nodejs", "bots written in JavaScript need it")
    yield cache()
    yield home_of(home)
    yield from surroundings.compiled()
    yield from surroundings.disks(home)
    yield open_files()
    yield surroundings.ray()
    yield surroundings.clock()
    if address is not None:
        yield from surroundings.cluster(address)


def packages(name: str = "pyramid-arena") -> Finding:
    """Return the installed packages that the arena requires, each with its version."""
    pip = f"{sys.executable} -m pip install"
    try:
        from packaging.requirements import Requirement  # may be what is missing

        every = map(Requirement, requires(name) or ())
    except PackageNotFoundError:
        return Finding(MISSING, "packages", f"{name} is not installed; {pip} --editable {ROOT}")
    except ImportError:
        return Finding(MISSING, "packages", f"packaging; {pip} packaging")
    wanted = [each for each in every if each.marker is None or each.marker.evaluate({"extra": ""})]
    found = {each: _satisfied(each) for each in wanted}
    missing = [str(each) for each in wanted if not found[each]]
    if missing:
        return Finding(MISSING, "packages", f"{', '.join(missing)}; {pip} {' '.join(map(repr, missing))}")
    return Finding(OK, "packages", ", ".join(found.values()))


def _satisfied(requirement: Requirement) -> str:
    """Return name and version of the package installed for a requirement; empty when it does not satisfy it."""
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return ""
    fits = requirement.specifier.contains(installed, prereleases=True)
    return f"{requirement.name} {installed}" if fits else ""


def isolation() -> Iterator[Finding]:
    """Yield what the sandbox and bots in separate processes need."""
    from arena.workers.sandbox.levels import BWRAP, missing_requirements

    why = missing_requirements()
    if why:
        yield Finding(
            WARNING,
            "sandbox",
            f"{why}. Until then submitted bots are refused, and all with isolation sandbox; written "
            'out, isolation = "process" (in a command: --isolation process) runs them all the same, with your rights',
        )
    else:
        yield Finding(OK, "sandbox", "works: tried with a command in it")
        yield outside_users()
    yield tool("bubblewrap", BWRAP, "bubblewrap", "the sandbox needs it", WARNING)
    yield libseccomp()
    yield user_namespaces()
    yield pidfd()


def outside_users() -> Finding:
    """Check whether sandboxes have users of their own outside."""
    from arena.workers.sandbox.outside_users import missing

    what = "outside users"
    if why := missing():
        return Finding(
            NOTE,
            what,
            f"{why}. Until then all sandboxes share one user outside, and with it the limits that Linux keeps by user: "
            "on bytes in pipes, pending signals and watched files",
        )
    return Finding(OK, what, "each sandbox has one of its own")


def libseccomp() -> Finding:
    """Check the library that filters system calls for the sandbox."""
    from arena.workers.sandbox.seccomp import library

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


def user(number: int | None = None) -> Finding:
    """Check whose rights bots have outside of the sandbox."""
    number = os.getuid() if number is None else number
    if number:
        return Finding(OK, "user", f"number {number}, not root")
    return Finding(
        WARNING,
        "user",
        "root: a bot that gets out of the sandbox owns this machine, bots outside of it do anyway, and the kernel does "
        "not bound the number of their threads; run the arena as an ordinary user",
    )


def pidfd() -> Finding:
    """Check that processes can be held by descriptors."""
    try:
        descriptor = os.pidfd_open(os.getpid())
        signal.pidfd_send_signal(descriptor, 0)  # 0 only asks whether the process is there
        os.close(descriptor)
    except (AttributeError, OSError) as error:
        text = f"{error}; bots with isolation process or sandbox need Linux 5.3 or newer"
        return Finding(WARNING, "pidfd", text)
    return Finding(OK, "pidfd", f"there, Linux {platform.release()}")


def tool(what: str, command: str, package: str, use: str, otherwise: Status = NOTE) -> Finding:
    """Check for a program on the search path, and its version."""
    path = shutil.which(command)
    if path is None:
        return Finding(otherwise, what, f"no {command} on the PATH; {use}: apt-get install {package}")
    return Finding(OK, what, f"{path}: {_version_of(path)}")


def _version_of(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"version unknown ({error})"
    return done.stdout.partition("\n")[0].strip() or "version unknown"


def cache() -> Finding:
    """Check the folder for compiled code and built bots."""
    try:
        importlib.import_module("engine.kernel")
        folder = importlib.import_module("engine.cache").cache_root()
    except ImportError as error:
        return Finding(MISSING, "cache", f"cannot be looked at: {error}")
    except OSError as error:
        return Finding(MISSING, "cache", f"{error}; set ARENA_CACHE to a folder that you may write to")
    held = size(sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()))
    chosen = os.environ.get("ARENA_CACHE")
    if chosen and Path(chosen) != folder:
        return Finding(WARNING, "cache", f"ARENA_CACHE = {chosen} cannot be written; {folder} is used instead: {held}")
    return Finding(OK, "cache", f"{folder}: writable, {held} (ARENA_CACHE chooses another)")


def home_of(home: str | Path | None) -> Finding:
    """Check the folder of tournaments and submitted bots, without creating it."""
    folder = home_path(home).absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        return Finding(MISSING, "home", f"{there} is no folder that you may write to; choose one: --home or ARENA_HOME")
    free = shutil.disk_usage(there).free
    where = f"{folder}: {'' if folder == there else 'will be made, '}writable, {size(free)} free"
    if free < ROOM:
        return Finding(WARNING, "home", f"{where}; a million matches take about 300 MB, submitted bots more")
    return Finding(OK, "home", where)


def open_files() -> Finding:
    """Check how many files a process may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FILES:
        return Finding(WARNING, "open files", f"{soft:,} for a process; the arena may need {FILES}: ulimit -n {FILES}")
    texts = ["no limit" if limit == resource.RLIM_INFINITY else f"{limit:,}" for limit in (soft, hard)]
    return Finding(OK, "open files", f"{texts[0]} for a process, {texts[1]} at most")


def print_findings(
    home: str | Path | None = None,
    address: str | None = None,
    as_json: bool = False,
    show: Callable[[str], object] = print,
) -> int:
    """Run `arena doctor` and return the exit code."""
    width = min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
    reported = []
    for finding in findings(home, address):
        reported.append(finding)
        if not as_json:
            show(line_of(finding, width))
    found = [finding.status for finding in reported]
    if as_json:
        show(json.dumps([asdict(finding) for finding in reported], indent=1))
    elif MISSING in found:
        show("\nThe arena cannot run here until what is missing is there.")
    elif WARNING in found:
        show("\nThe arena can run here; see the warnings.")
    else:
        show("\nThe arena can run here, submitted bots too.")
    return FAILED if MISSING in found else FINE


def line_of(finding: Finding, width: int) -> str:
    """Return a finding as text, wrapped and indented."""
    start = f"{finding.status:9}{finding.what:{NAME_WIDTH}}"
    return textwrap.fill(
        finding.text,
        max(width, 2 * len(start)),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
