"""A log, or its lock, that is taken away from under a writer: it stops in a line, and what it had is saved."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.store import Store
from tests.support.samples import all_matches, begin, fill, finished, random_row, schedule

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


def cut(log: Path) -> None:
    os.truncate(log, 0)


def copy_another_over_it(log: Path) -> None:
    other = log.with_name("other.db")
    fill(other, PLAN, seed=2)
    shutil.copyfile(other, log)


def copy_text_over_it(log: Path) -> None:
    log.write_text("mine")


def restore_a_backup(log: Path) -> None:
    """What it held before its last match, as a file that was copied while nobody wrote."""
    backup = log.with_name("backup.db")
    fill(backup, PLAN, seed=1, leave_out=range(2, len(RESULTS)))
    shutil.copyfile(backup, log)


def bring_in(log: Path) -> None:
    db = sqlite3.connect(log)
    assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    db.close()


def look_at(log: Path) -> None:
    content(log)
    Store.open(log).close()


def look_through(log: Path) -> None:
    db, copy = sqlite3.connect(log), sqlite3.connect(log.with_name("backup.db"))
    db.backup(copy)
    db.execute("VACUUM")
    db.close()
    copy.close()


OVERWRITTEN = [cut, copy_another_over_it, copy_text_over_it, restore_a_backup]


@pytest.mark.parametrize("again", [True, False], ids=["found with the next write", "found at the end"])
@pytest.mark.parametrize("in_log", [False, True])
@pytest.mark.parametrize("deed", OVERWRITTEN)
def test_a_log_that_is_overwritten_stops_its_writer_and_what_is_there_now_stays(log, deed, in_log, again):
    there: list[bytes] = []

    def look(log):
        if in_log:
            bring_in(log)
        deed(log)
        there.append(log.read_bytes())

    with pytest.raises(StoreError, match="has been overwritten while it was written to") as told:
        write(log, look, again)
    assert log.read_bytes() == there[0]
    assert not Path(f"{log}-wal").exists()
    saved = log.with_suffix(".saved.1.db")
    assert ("what it held is in" in str(told.value)) == saved.exists() == (not in_log)
    if saved.exists():
        assert content(saved) == ("ok", 3), "all of it was in the -wal"


def test_a_log_that_is_cut_while_others_read_it_stops_its_writer(log):
    def cut_and_read(log):
        cut(log)
        db = sqlite3.connect(log)
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,), "it removes the -wal"
        db.close()

    with pytest.raises(StoreError, match="has been overwritten while it was written to; what it held is in"):
        write(log, cut_and_read)
    assert log.read_bytes() == b""
    assert content(log.with_suffix(".saved.1.db")) == ("ok", 3)


def test_a_log_that_is_overwritten_in_the_middle_of_a_write_stops_its_writer(log):
    def write_and_copy(store, run):
        with store.transaction():
            store.add(PLAN, RESULTS[3:5], run)
            copy_another_over_it(log)

    with Store.create(log) as store:
        run = begin(store, PLAN)
        store.add(PLAN, RESULTS[:3], run)
        with pytest.raises(StoreError, match="has been overwritten while it was written to"):
            write_and_copy(store, run)
    assert content(log) == ("ok", len(RESULTS))
    assert content(log.with_suffix(".saved.1.db")) == ("ok", 3)


def test_a_write_ahead_log_that_is_cut_stops_its_writer(log):
    with pytest.raises(StoreError, match="has been overwritten while it was written to"):
        write(log, lambda log: os.truncate(f"{log}-wal", 0))


def test_a_write_ahead_log_is_brought_in_when_it_has_grown_and_is_cut_then(log):
    with Store.create(log) as store:
        store.checkpoint_bytes = 200_000
        sizes = []
        for _ in range(20):
            for _ in RESULTS:
                begin(store, PLAN)
            sizes.append(Path(f"{log}-wal").stat().st_size)
        assert max(sizes) < 400_000
        assert min(sizes) < max(sizes)
    assert content(log) == ("ok", 0)


@pytest.mark.parametrize("deed", [bring_in, look_at, look_through])
def test_who_reads_copies_or_tidies_a_log_disturbs_no_writer(log, deed):
    with Store.create(log) as store:
        run = begin(store, PLAN)
        for result in RESULTS:
            deed(log)
            store.add(PLAN, [result], run)
        deed(log)
    assert content(log) == ("ok", len(RESULTS))


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_all_that_was_written_is_in_a_log_whose_files_of_sqlite_were_removed(log, suffix):
    with pytest.raises(StoreError, match="has been taken away; all that was written is in it"):
        write(log, lambda log: Path(f"{log}{suffix}").unlink())
    assert content(log) == ("ok", 3)


def test_a_log_that_cannot_be_copied_out_is_named_all_the_same(log, monkeypatch):
    monkeypatch.setattr("arena.store.file_guard.temporary_folder", lambda *_: (_ for _ in ()).throw(OSError("full")))
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
