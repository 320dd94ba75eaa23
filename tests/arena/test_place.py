"""A log, or its lock, that is taken away from under a writer: it stops in a line, and what it had is saved."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from arena.errors import StoreError
from arena.store import Store
from tests.arena.samples import all_matches, begin, fill, finished, random_row, schedule

PLAN = schedule(["alice", "bob", "carol"])
RNG = random.Random(1)
RESULTS = [finished(spec, random_row(spec, RNG)) for spec in all_matches(PLAN)]


def remove(log: Path) -> None:
    log.unlink()


def remove_all(log: Path) -> None:
    for path in log.parent.glob("matches.db*"):
        path.unlink()


def remove_folder(log: Path) -> None:
    shutil.rmtree(log.parent)


def replace_by_a_log(log: Path) -> None:
    other = log.with_name("other.db")
    fill(other, PLAN, seed=2, leave_out=range(3))
    other.rename(log)


def replace_by_text(log: Path) -> None:
    log.unlink()
    log.write_text("mine")


def content(log: Path) -> tuple[str, int]:
    """What SQLite thinks of a database, and its matches."""
    db = sqlite3.connect(log)
    found = db.execute("PRAGMA integrity_check").fetchone()[0], db.execute("SELECT count(*) FROM matches").fetchone()[0]
    db.close()
    return found


def write(log: Path, deed, again: bool = True) -> None:
    """Write three matches, let something be done to the log and, `again`, write two more."""
    with Store.create(log) as store:
        run = begin(store, PLAN)
        store.add(PLAN, RESULTS[:3], run)
        deed(log)
        if again:
            store.add(PLAN, RESULTS[3:5], run)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "played" / "matches.db"


@pytest.mark.parametrize("again", [True, False], ids=["found with the next write", "found at the end"])
@pytest.mark.parametrize("deed", [remove, remove_all, remove_folder, replace_by_a_log, replace_by_text])
def test_all_that_was_written_is_copied_out_of_a_log_that_is_gone_and_what_is_there_now_stays(log, deed, again):
    there: list[bytes] = []

    def look(log):
        deed(log)
        there.extend([log.read_bytes()] if log.exists() else [])

    with pytest.raises(StoreError) as told:
        write(log, look, again)
    now = there[0] if there else None
    what = "removed" if now is None else "replaced by another file"
    saved = log.with_suffix(".saved.1.db")
    assert str(told.value) == (
        f"{log}: has been {what} while it was written to; what it held is in {saved}: rename that to go on"
    )
    assert content(saved) == ("ok", 3)
    assert (log.read_bytes() if log.exists() else None) == now
    if deed is replace_by_a_log:
        assert content(log) == ("ok", len(RESULTS) - 3)
    saved.rename(log)
    with Store.create(log) as store:
        store.add(PLAN, RESULTS[3:], begin(store, PLAN))
        assert store.totals()[0] == len(RESULTS)


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_all_that_was_written_is_in_a_log_whose_files_of_sqlite_were_removed(log, suffix):
    with pytest.raises(StoreError, match="has been taken away; all that was written is in it"):
        write(log, lambda log: Path(f"{log}{suffix}").unlink())
    assert content(log) == ("ok", 3)


def test_a_log_that_cannot_be_copied_out_is_named_all_the_same(log, monkeypatch):
    monkeypatch.setattr("arena.store.place.own_folder", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(
        StoreError, match=r"has been removed while it was written to, and cannot be copied out \(full\)"
    ):
        write(log, remove)
    assert not os.path.exists(f"{log}-wal")


def test_a_lock_file_that_is_removed_is_made_again_and_keeps_others_off(log):
    with Store.create(log) as store:
        log.with_suffix(".lock").unlink()
        store.add(PLAN, RESULTS[:3], begin(store, PLAN))
        with pytest.raises(StoreError, match="another run is writing to this log"):
            Store.create(log)


def test_who_loses_the_lock_to_another_run_stops_at_the_next_write(log):
    with Store.create(log) as first:
        run = begin(first, PLAN)
        log.with_suffix(".lock").unlink()
        with Store.create(log) as second:
            with pytest.raises(StoreError, match="another run is writing to this log"):
                first.add(PLAN, RESULTS[:3], run)
            second.add(PLAN, RESULTS[:3], begin(second, PLAN))
        with pytest.raises(StoreError, match="another program has written to it"):
            first.add(PLAN, RESULTS[:3], run)
