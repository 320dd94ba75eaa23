"""Findings of `arena doctor`."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    status: Status
    what: str
    text: str


def size(count: int) -> str:
    """Return a number of bytes as text."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"
