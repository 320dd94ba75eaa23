"""Findings of `arena doctor`."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Severity of a finding."""

    OK = "ok"
    NOTE = "note"
    """Needed by some bots only."""
    WARNING = "warning"
    """Something will be refused, or is scarce."""
    MISSING = "missing"
    """The arena cannot run."""


OK, NOTE, WARNING, MISSING = Status
VERSION_TIMEOUT_SECONDS = 10.0
"""Seconds that a program may take to tell its version."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    status: Status
    what: str
    text: str


def format_bytes(count: int) -> str:
    """Return a number of bytes as text."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"


def check_tool(what: str, command: str, package: str, use: str, otherwise: Status = NOTE) -> Finding:
    """Check for a program on the search path, and its version."""
    path = shutil.which(command)
    if path is None:
        return Finding(otherwise, what, f"no {command} on the PATH; {use}: apt-get install {package}")
    return Finding(OK, what, f"{path}: {_version_of(path)}")


def _version_of(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=VERSION_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"version unknown ({error})"
    return done.stdout.partition("\n")[0].strip() or "version unknown"
