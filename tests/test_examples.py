"""The examples run as they stand, and the API has what they show."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena import api

EXAMPLES = Path(__file__).parents[1] / "examples"
MY_BOT = f"{EXAMPLES / 'my_bot.py'}:MyBot"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the notebook prints when it is run as a script, from another folder than its own."""
    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "notebook.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name[:15] for path in folder.iterdir()] == ["arena-notebook-"]
    return done.stdout


def test_the_notebook_shows_a_plan_a_run_boards_matches_and_a_replay(printed):
    assert "notebook: 90 matches on 2 boards" in printed
    assert "90 matches played" in printed
    assert "epicycle_3p.parquet" in printed
    assert "another random" in printed
    assert "ended normal, ranks" in printed
    assert "over after" in printed
    assert "random plies, all as the keys say: True" in printed


def test_the_bot_beats_random_with_two_players(tmp_path):
    plan = {
        "name": "example",
        "blocks": 40,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{"bot": MY_BOT}, {"bot": "random"}],
    }
    board = api.run(plan, tmp_path, workers=1, backend="local").leaderboards["epicycle", 2].set_index("bot")
    assert board["forfeits"].sum() == 0
    assert board.loc["MyBot", "mean_return_ci_low"] > 0.5


@pytest.mark.parametrize("players", [3, 5])
def test_the_bot_plays_with_any_number_of_players(players):
    match = api.play_match("epicycle(setup=random)", [MY_BOT] * players, seed=players)
    assert (match.forfeits, len(match.ranks), min(match.ranks)) == ({}, players, 0)
    assert match.ended != "forfeit"


def test_the_bot_is_ten_lines_of_code_and_comments_that_tell_a_newcomer_what_is_what():
    text = (EXAMPLES / "my_bot.py").read_text()
    body = text[text.index("from bots") :]
    code = [line for line in body.splitlines() if line.strip() and not line.strip().startswith('"""')]
    assert len(code) == 10
    assert sum("#" in line for line in code) >= 4


@pytest.mark.parametrize("name", arena.__all__)
def test_no_module_hides_a_function_of_the_api(name):
    assert importlib.util.find_spec(f"arena.{name}") is None
    assert callable(getattr(arena, name))


def test_every_example_has_its_line_in_the_readme():
    text = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.iterdir():
        if path.name not in ("README.md", "__pycache__"):
            assert f"| [`{path.name}{'/' if path.is_dir() else ''}`](" in text, f"{path.name} has no line"


@pytest.mark.system
def test_training_writes_the_same_model_again_and_it_plays(tmp_path):
    for name in ("one", "two"):
        command = ["policy/train.py", "--updates", "2", "--hidden", "8", "--out", tmp_path / f"{name}.onnx"]
        done = subprocess.run([sys.executable, "-W", "error", *command], cwd=EXAMPLES, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert "matches won" in done.stdout
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "two.onnx").read_bytes()
    match = api.play_match("connect_four", [f"onnx:file={tmp_path / 'one.onnx'}", "random"])
    assert not match.forfeits
