"""Recorded tournaments: the same configurations give the same matches and boards, whatever the code has become.

They were recorded by the commit before the files of the arena moved into rooms. Identities of bots are left out: they
follow the bots' sources.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena import api

FOLDER = Path(__file__).parents[1] / "data" / "transcripts"
LONG_ONES = ("adaptive", "all_games", "searches")
LONG = pytest.mark.system
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
RENAMED_SETTINGS = {"bench_after": "forfeit_limit"}
"""Names of settings in the recorded configurations that have another one now."""


def played_again(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The exports of a recorded configuration that is played now, with the key that it was recorded with."""
    monkeypatch.setattr("arena.plan.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
    shutil.copy(FOLDER / "b.py", folder)
    config = folder / f"{name}.toml"
    text = (FOLDER / config.name).read_text()
    for old, new in RENAMED_SETTINGS.items():
        text = text.replace(f"{old} =", f"{new} =")
    config.write_text(text)
    assert api.run(config, folder, workers=2, backend="local").outcome.complete
    api.export(config, folder, folder / "out", ("leaderboards", "matches"), ("csv", "jsonl"))
    return folder / "out"


def recorded(name: str) -> dict[str, Any]:
    """What was recorded: `matches` by the keys of their lines, `leaderboards` by their files."""
    found: dict[str, Any] = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    return found


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG if name in LONG_ONES else ()) for name in NAMES])
def test_a_recorded_tournament_is_played_move_for_move_again(name, tmp_path, monkeypatch):
    out, expected = played_again(name, tmp_path, monkeypatch), recorded(name)
    lines = [json.loads(line) for line in (out / "matches.jsonl").read_text().splitlines()]
    assert len(lines) == len(expected["matches"]) > 0
    for line, match in zip(lines, expected["matches"], strict=True):
        assert {key: line[key] for key in match} == match
    for stem, rows in expected["leaderboards"].items():
        with open(out / f"{stem}.csv", newline="") as file:
            now = list(csv.DictReader(file))
        assert len(now) == len(rows) > 0
        for row, before in zip(now, rows, strict=True):
            assert {name: row[name] for name in before} == before
