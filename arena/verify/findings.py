"""What a verification finds wrong: the first findings told, the rest counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.core.errors import WorkerError
from engine.errors import one_line

MOST_TOLD = 20


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    text: str
    match: str | None = None
    """Its id, as `arena replay` takes it."""
    table: str | None = None
    """Of the log."""
    file: str | None = None

    def __str__(self) -> str:
        where = f"match {self.match}" if self.match else f"table {self.table}" if self.table else self.file
        return one_line(f"{where}: {self.text}" if where else self.text)


@dataclass
class Findings:
    """Findings in the order in which they come."""

    told: list[Finding] = field(default_factory=list)
    count: int = 0

    def add(self, text: object, match: str | None = None, table: str | None = None, file: str | None = None) -> None:
        """Note what is wrong."""
        self.take([Finding(one_line(str(text)), match, table, file)])

    def take(self, found: list[Finding], count: int | None = None) -> None:
        """Note findings that were made elsewhere, `count` of them in all."""
        self.told += found[: MOST_TOLD - len(self.told)]
        self.count += len(found) if count is None else count

    @contextlib.contextmanager
    def guard(self, what: str, table: str | None = None, file: str | None = None) -> Iterator[None]:
        """Whatever fails within is a finding: a damaged log may hold anything, and the rest is still to be told."""
        try:
            yield
        except WorkerError:  # of this machine, not of the log
            raise
        except Exception as error:
            self.add(f"{what}: {error or type(error).__name__}", table=table, file=file)
