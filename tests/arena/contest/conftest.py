"""The home of a contest that the tests of its driver share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.contest import season_driver
from tests.arena.contest.homes import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(season_driver, "MAX_RATING_SHARE", math.inf)  # every round, however slow the machine is
    made = Home(tmp_path / "home")
    yield made
    made.close()
