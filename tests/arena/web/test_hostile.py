"""What pages do while a log is locked, damaged, or not what it was."""

import contextlib
import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from arena import api
from arena.core.errors import LockedError
from arena.store import Store, schema
from arena.web import result_cache
from arena.web.app import create_app
from arena.web.catalog import MIN_INDEX_MATCHES, LogCatalog
from arena.web.result_cache import CacheEntry, RefreshBudget
from tests.arena.web.conftest import ADDRESS


def test_what_failed_is_tried_again_after_a_while_and_not_before(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("arena.web.result_cache.time.monotonic", lambda: now[0])
    calls = []

    def locked_at_first():
        calls.append(now[0])
        if len(calls) == 1:
            raise sqlite3.OperationalError("database is locked")
        return "read"

    with ThreadPoolExecutor(1) as executor:
        kept = CacheEntry(RefreshBudget())
        for _ in range(3):
            with pytest.raises(sqlite3.OperationalError):
                kept.get("same log", locked_at_first, executor, None)
        assert len(calls) == 1
        now[0] += result_cache.RETRY_SECONDS
        assert kept.get("same log", locked_at_first, executor, None).value == "read"


@pytest.mark.parametrize("address", ["/", "/bots", "/bot?name=random"])
def test_a_folder_whose_name_is_no_text_takes_no_page_away_and_is_told(home, tmp_path, address):
    shutil.copytree(home / "shown", tmp_path / "shown")
    other = os.fsencode(tmp_path) + b"/odd\xff"
    try:
        os.mkdir(other)
    except OSError:
        pytest.skip("this file system takes text alone")
    shutil.copy(home / "shown" / "matches.db", os.fsdecode(other))
    with TestClient(create_app(tmp_path), base_url=ADDRESS, raise_server_exceptions=False) as client:
        answer = client.get(address)
    assert answer.status_code == 200 and "is not UTF-8" in answer.text


def test_what_fails_is_told_on_the_terminal_in_one_line_without_its_controls(home, monkeypatch, capsys):
    def fail(catalog):
        raise RuntimeError("\x1b[2Jgone\nerror: forged")

    monkeypatch.setattr("arena.web.catalog.LogCatalog.logs", fail)
    with TestClient(create_app(home), base_url=ADDRESS, raise_server_exceptions=False) as client:
        assert client.get("/").status_code == 500
    told = capsys.readouterr().err
    assert "RuntimeError" in told and "\x1b" not in told and told.count("\n") == 1


@pytest.fixture
def locked(home, tmp_path):
    """Return a home whose log another program keeps to itself."""
    shutil.copytree(home / "shown", tmp_path / "shown")
    with contextlib.closing(sqlite3.connect(tmp_path / "shown" / "matches.db")) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield tmp_path


@pytest.mark.parametrize(
    "address", ["/tournaments/shown", "/tournaments/shown/matches", "/tournaments/shown/matches/0"]
)
def test_pages_of_a_log_that_is_locked_say_so_soon_and_when_to_come_again(locked, monkeypatch, address):
    monkeypatch.setitem(schema.LOCK_TIMEOUT_SECONDS, "ro", 0.1)
    with TestClient(create_app(locked), base_url=ADDRESS, raise_server_exceptions=False) as client:
        answer = client.get(address)
        assert client.get("/").status_code == 200
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "5"
    assert "another program keeps it locked" in answer.text and "damaged" not in answer.text


@pytest.mark.parametrize("address", ["/tournaments/begins", "/tournaments/begins/matches"])
def test_pages_of_a_log_whose_first_run_is_being_prepared_say_when_to_come_again(tmp_path, address):
    (tmp_path / "begins").mkdir()
    with Store.create(tmp_path / "begins" / "matches.db"):
        pass
    with TestClient(create_app(tmp_path), base_url=ADDRESS, raise_server_exceptions=False) as client:
        answer = client.get(address)
        assert client.get("/").status_code == 200
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "5"
    assert "the first one may be starting just now" in answer.text


def test_commands_say_of_a_locked_log_that_it_is_locked_and_nothing_worse(locked, monkeypatch):
    monkeypatch.setitem(schema.LOCK_TIMEOUT_SECONDS, "ro", 0.1)
    for read in (api.status, api.leaderboard):
        with pytest.raises(LockedError, match="another program keeps it locked; try again when that has ended"):
            read(locked / "shown")


def test_no_page_tells_in_which_folder_the_home_is(home, tmp_path):
    for name in ("shown", "cut"):
        shutil.copytree(home / "shown", tmp_path / name)
    (tmp_path / "cut" / "matches.db").write_bytes(b"no database, but long enough to be taken for one" * 100)
    (tmp_path / "shown" / "game-faults.json").write_text("[]")
    with TestClient(create_app(tmp_path), base_url=ADDRESS, raise_server_exceptions=False) as client:
        for address in ("/", "/bots", "/tournaments/shown", "/tournaments/cut", "/tournaments/cut/matches"):
            text = client.get(address).text
            assert str(tmp_path) not in text and ("cut" in text or address == "/tournaments/shown"), address


def test_indexes_stay_in_memory_as_long_as_their_matches_fit_and_the_last_one_used_in_any_case(
    home, tmp_path, monkeypatch
):
    for number in range(20):
        (tmp_path / f"t{number}").mkdir()
        shutil.copy(home / "shown" / "matches.db", tmp_path / f"t{number}")
    catalog = LogCatalog(tmp_path)
    try:
        logs = catalog.logs()
        first = [catalog.view(log)[0] for log in logs]
        assert [catalog.view(log)[0] for log in logs] == first
        monkeypatch.setattr("arena.web.catalog.MAX_INDEXED_MATCHES", 3 * MIN_INDEX_MATCHES)
        last = [catalog.view(log)[0] for log in logs[-3:]]
        assert last == first[-3:] and catalog.view(logs[0])[0] is not first[0]
        monkeypatch.setattr("arena.web.catalog.MAX_INDEXED_MATCHES", 0)
        assert catalog.view(logs[0])[0] is catalog.view(logs[0])[0]
    finally:
        catalog.close()
