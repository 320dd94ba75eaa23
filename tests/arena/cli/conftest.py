"""A tournament that commands are tried on."""

from __future__ import annotations

import shutil

import pytest

from arena import api
from tests.arena.cli.samples import BOTS, CONFIG
from tests.support.tournaments import home_of, write


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A small tournament that has been played."""
    config = write(tmp_path_factory.mktemp("played"), CONFIG, BOTS)
    api.run(config, home_of(config), workers=1, backend="local")
    return config


@pytest.fixture
def here(played, monkeypatch):
    """Its folder as the working folder; the configuration is `t.toml`."""
    monkeypatch.chdir(played.parent)
    monkeypatch.setenv("ARENA_HOME", "reports")
    return played.parent


@pytest.fixture
def copy(played, tmp_path, monkeypatch):
    """A copy of it that a test may spoil, as the working folder."""
    shutil.copytree(played.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "reports")
    return tmp_path / "t.toml"
