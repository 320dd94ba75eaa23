"""Read the runs of a log: their plans, versions and times."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.core.errors import NoRunError, StoreError
from arena.store.plan_deltas import unpack_plan
from arena.store.rows import EventRow, RunRow


class RunReader:
    """The runs of a log."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._db = path, connection

    def _latest(self, columns: str) -> Any:
        """Return columns of the latest run; raises `NoRunError` if there is none."""
        if (row := self._db.execute(f"SELECT {columns} FROM runs ORDER BY run DESC LIMIT 1").fetchone()) is None:
            raise NoRunError(f"{self._path}: holds no run; the first one may be starting just now")
        return row

    def last_plan(self) -> str:
        """Return the resolved plan of the latest run, as JSON."""
        plan = self._latest("plan")[0]
        if not isinstance(plan, str):
            raise StoreError(f"{self._path}: the log is damaged: the plan of its latest run is not whole")
        return plan

    def plans(self) -> list[str]:
        """Return the different plans of all runs, as JSON."""
        return list(dict.fromkeys(plan for _, plan in self.by_number()))

    def by_number(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the plan of every run, first the first; few plans are in memory at a time."""
        whole = [run for (run,) in self._db.execute("SELECT run FROM runs WHERE typeof(plan) = 'text' ORDER BY run")]
        last = self._db.execute("SELECT max(run) FROM runs").fetchone()[0]
        if last is not None and (not whole or whole[-1] != last):
            raise StoreError(f"{self._path}: the log is damaged: the plan of its latest run is not whole")
        for before, run in itertools.pairwise([-1, *whole]):
            query = "SELECT run, plan FROM runs WHERE run > ? AND run <= ? ORDER BY run DESC"
            found: list[tuple[int, str]] = []
            for number, plan in self._db.execute(query, (before, run)).fetchall():
                found.append((number, plan if isinstance(plan, str) else unpack_plan(plan, found[-1][1])))
            yield from reversed(found)

    def events(self, rounds: Sequence[int] = ()) -> list[EventRow]:
        """Return the events of rounds, by default of all, in order."""
        marks = ",".join("?" * len(rounds))
        among = f"WHERE round IN ({marks})" if rounds else ""
        query = f"SELECT round, kind, label, data FROM events {among} ORDER BY number"
        return [EventRow(*row) for row in self._db.execute(query, [*rounds])]

    def last_versions(self) -> dict[str, str]:
        """Return the versions of Python and the packages in the latest run."""
        row = self._db.execute("SELECT versions FROM runs ORDER BY run DESC LIMIT 1").fetchone()
        return json.loads(row[0]) if row else {}

    def has_run(self) -> bool:
        """Whether there is a run."""
        return self._db.execute("SELECT 1 FROM runs LIMIT 1").fetchone() is not None

    def is_finished(self) -> bool:
        """Whether every match of the latest run's plan was in the log."""
        return self._db.execute("SELECT finished FROM runs ORDER BY run DESC LIMIT 1").fetchone() not in (None, (None,))

    def last_run(self) -> RunRow:
        """Return the latest run, and how many matches each worker played in which run."""
        query = "SELECT run, worker, count(*) FROM timings GROUP BY run, worker"
        run, started = self._latest("run, started")
        return RunRow(run, started, self._db.execute(query).fetchall())

    def latest_run(self) -> tuple[int, str]:
        """Return the number of the latest run, and when it was started."""
        number, started = self._latest("run, started")
        return int(number), str(started)

    def plan_starts(self) -> list[str]:
        """Return when each plan was first run, in their order."""
        started = dict(self._db.execute("SELECT run, started FROM runs"))
        found: list[str] = []
        before = ""
        for run, plan in self.by_number():
            if plan != before:
                found.append(started[run])
            before = plan
        return found

    def has_one_plan(self) -> bool:
        """Whether all runs had the same plan."""
        return bool(self._db.execute("SELECT count(DISTINCT plan) < 2 FROM runs").fetchone()[0])
