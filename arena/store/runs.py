"""Read the runs of a log: their plans, versions and times."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from arena.core.errors import NoRunError
from arena.store.rows import RunRow


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
        return str(self._latest("plan")[0])

    def plans(self) -> list[str]:
        """Return the different plans of all runs, as JSON."""
        return [plan for (plan,) in self._db.execute("SELECT DISTINCT plan FROM runs ORDER BY run")]

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

    def has_one_plan(self) -> bool:
        """Whether all runs had the same plan."""
        return bool(self._db.execute("SELECT count(DISTINCT plan) < 2 FROM runs").fetchone()[0])
