"""`arena doctor`: what the arena needs of this machine. What may be missing is imported inside functions."""

from __future__ import annotations

import importlib
import json
import os
import platform
import resource
import shutil
import signal
import sqlite3
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.exit_codes import FAILED, FINE
from arena.core.findings import MISSING, OK, WARNING, Finding, check_tool, format_bytes
from arena.core.machine import cores
from arena.core.paths import ROOT, home_path
from arena.isolation import LEVELS, launcher

if TYPE_CHECKING:
    from packaging.requirements import Requirement

MIN_FREE_BYTES = 2**30
"""Bytes that the arena's home should have free."""
MIN_OPEN_FILES = 256
"""Open files that a process should be allowed: each bot's process takes four."""
NAME_COLUMNS = 17
MAX_COLUMNS = 100


def findings(home: str | Path | None = None, address: str | None = None) -> Iterator[Finding]:
    """Yield all findings in the order of the report; with an address also those of that Ray cluster."""
    from arena.cli import system_checks

    yield Finding(OK, "Python", f"{platform.python_version()} on {platform.platform()}")
    yield packages()
    yield Finding(OK, "SQLite", sqlite3.sqlite_version)
    yield Finding(OK, "cores", f"{cores()} of {os.cpu_count()} for this process")
    yield from isolation()
    yield user()
    yield check_tool("C compiler", "cc", "gcc", "bots written in C need it")
    yield check_tool("Node", "node", "nodejs", "bots written in JavaScript need it")
    yield cache()
    yield home_of(home)
    yield from system_checks.compiled()
    yield from system_checks.disks(home)
    yield open_files()
    yield system_checks.ray()
    yield system_checks.clock()
    if address is not None:
        yield from system_checks.cluster(address)


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
    """Yield what the levels of isolation need."""
    for level in LEVELS:
        yield from launcher(level).findings()
    yield pidfd()


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
        levels = " or ".join(level for level in LEVELS if not launcher(level).in_worker)
        text = f"{error}; bots with isolation {levels} need Linux 5.3 or newer"
        return Finding(WARNING, "pidfd", text)
    return Finding(OK, "pidfd", f"there, Linux {platform.release()}")


def cache() -> Finding:
    """Check the folder for compiled code and built bots."""
    try:
        importlib.import_module("engine.kernel")
        folder = importlib.import_module("engine.cache").cache_root()
    except ImportError as error:
        return Finding(MISSING, "cache", f"cannot be looked at: {error}")
    except OSError as error:
        return Finding(MISSING, "cache", f"{error}; set ARENA_CACHE to a folder that you may write to")
    held = format_bytes(sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()))
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
    where = f"{folder}: {'' if folder == there else 'will be made, '}writable, {format_bytes(free)} free"
    if free < MIN_FREE_BYTES:
        return Finding(WARNING, "home", f"{where}; a million matches take about 300 MB, submitted bots more")
    return Finding(OK, "home", where)


def open_files() -> Finding:
    """Check how many files a process may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MIN_OPEN_FILES:
        return Finding(
            WARNING,
            "open files",
            f"{soft:,} for a process; the arena may need {MIN_OPEN_FILES}: ulimit -n {MIN_OPEN_FILES}",
        )
    texts = ["no limit" if limit == resource.RLIM_INFINITY else f"{limit:,}" for limit in (soft, hard)]
    return Finding(OK, "open files", f"{texts[0]} for a process, {texts[1]} at most")


def print_findings(
    home: str | Path | None = None,
    address: str | None = None,
    as_json: bool = False,
    show: Callable[[str], object] = print,
) -> int:
    """Run `arena doctor` and return the exit code."""
    width = min(MAX_COLUMNS, shutil.get_terminal_size((MAX_COLUMNS, 24)).columns)
    reported = []
    for finding in findings(home, address):
        reported.append(finding)
        if not as_json:
            show(line_of(finding, width))
    found = [finding.status for finding in reported]
    if as_json:
        show(json.dumps([asdict(finding) for finding in reported], indent=1))
    elif MISSING in found:
        show("\nThe arena cannot run here until what is missing is installed.")
    elif WARNING in found:
        show("\nThe arena can run here; see the warnings.")
    else:
        show("\nThe arena can run here, submitted bots too.")
    return FAILED if MISSING in found else FINE


def line_of(finding: Finding, width: int) -> str:
    """Return a finding as text, wrapped and indented."""
    start = f"{finding.status:9}{finding.what:{NAME_COLUMNS}}"
    return textwrap.fill(
        finding.text,
        max(width, 2 * len(start)),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
