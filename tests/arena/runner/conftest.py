"""A folder with bots that are checked."""

from __future__ import annotations

import pytest

from tests.arena.registry.test_bundle import lay
from tests.arena.runner.desk import BOTS


@pytest.fixture
def desk(tmp_path, monkeypatch):
    lay(tmp_path, {"b.py": BOTS})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "home")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path
