"""Tournaments whose logs are verified."""

import shutil
from pathlib import Path

import pytest

from arena import api
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from tests.arena.verify.logs import ADAPTIVE, SECRET, played


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """Tournaments: in rounds with secret dice, the same each time; adaptive with public ones; a comparison in duels."""
    folder = tmp_path_factory.mktemp("logs")
    duel = compare(Matchup("random", "greedy", "epicycle", 3), StopRule.fixed(4), workers=1, home=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
        rounds = played(folder / "rounds", SECRET)
    return {
        "rounds": rounds,
        "adaptive": played(folder / "adaptive", ADAPTIVE),
        "duel": duel.folder / api.LOG_FILE,
    }


@pytest.fixture
def copy(logs, tmp_path):
    """A copy of one of them, without what was exported."""

    def made(name: str) -> Path:
        return shutil.copy(logs[name], tmp_path / "copy.db")

    return made
