"""What pages do while a log is locked, damaged, or not what it was."""

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from arena.web import keeping
from arena.web.app import create_app
from arena.web.keeping import Budget, Kept
from tests.arena.web.conftest import ADDRESS


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
    def fail(library):
        raise RuntimeError("\x1b[2Jgone\nerror: forged")

    monkeypatch.setattr("arena.web.library.Library.logs", fail)
    with TestClient(create_app(home), base_url=ADDRESS, raise_server_exceptions=False) as client:
        assert client.get("/").status_code == 500
    told = capsys.readouterr().err
    assert "RuntimeError" in told and "\x1b" not in told and told.count("\n") == 1
