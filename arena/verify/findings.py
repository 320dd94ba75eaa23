"""Findings of a verification: the first ones are listed, the rest is counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.core.errors import WorkerError
from engine.errors import one_line

MAX_LISTED = 20
"""Number of findings that are listed."""


@dataclass(frozen=True)
class Finding:
    """A fault and its place."""

    text: str
    match: str | None = None
    """Match id, as `arena replay` takes it."""
    table: str | None = None
    """Table of the log."""
    file: str | None = None

    def __str__(self) -> str:
        where = f"match {self.match}" if self.match else f"table {self.table}" if self.table else self.file
        return one_line(f"{where}: {self.text}" if where else self.text)


@dataclass
class Findings:
    """Findings in the order in which they were made."""

    shown: list[Finding] = field(default_factory=list)
    count: int = 0

    def add(self, text: object, match: str | None = None, table: str | None = None, file: str | None = None) -> None:
        """Add a finding."""
        self.take([Finding(one_line(str(text)), match, table, file)])

    def take(self, found: list[Finding], count: int | None = None) -> None:
        """Add findings of another process, of which there are `count` in all."""
        self.shown += found[: MAX_LISTED - len(self.shown)]
        self.count += len(found) if count is None else count

    @contextlib.contextmanager
    def guard(self, what: str, table: str | None = None, file: str | None = None) -> Iterator[None]:
        """Turn errors within into a finding: a damaged log may hold anything, and the rest is still to be checked."""
        try:
            yield
        except WorkerError:  # of this machine, not of the log
            raise
        except Exception as error:
            self.add(f"{what}: {error or type(error).__name__}", table=table, file=file)
