"""What pages do while a log is locked, damaged, or not what it was."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.web import keeping
from arena.web.keeping import Budget, Kept


def test_what_failed_is_tried_again_after_a_while_and_not_before(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("arena.web.keeping.time.monotonic", lambda: now[0])
    calls = []

    def locked_at_first():
        calls.append(now[0])
        if len(calls) == 1:
            raise sqlite3.OperationalError("database is locked")
        return "read"

    with ThreadPoolExecutor(1) as executor:
        kept = Kept(Budget())
        for _ in range(3):
            with pytest.raises(sqlite3.OperationalError):
                kept.get("same log", locked_at_first, executor, None)
        assert len(calls) == 1
        now[0] += keeping.AGAIN
        assert kept.get("same log", locked_at_first, executor, None).value == "read"
