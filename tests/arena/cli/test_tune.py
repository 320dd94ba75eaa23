"""`arena tune`: what it prints, as text and as JSON, its report, and its mistakes."""

import json

import pytest

from arena.cli.app import run_command
from arena.results.pages.figures import FIGURES
from arena.results.pages.report import board_results
from arena.tournament.tournament import Tournament
from tests.arena.tuning.test_tune import BOTS


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    (folder / "b.py").write_text(BOTS)
    return folder


@pytest.fixture
def arguments(home):
    options = ["--game", "epicycle", "--iterations", "3", "--blocks", "2", "--final-blocks", "4", "--workers", "1"]
    named = ["--name", "run", "--home", str(home)]
    return ["tune", str(home / "b.py"), "--param", "skill=0.1:1", *options, *named]


def test_a_run_prints_its_curve_its_values_and_its_claim_and_has_figures(arguments, home, capsys):
    assert run_command(arguments) == 0
    text = capsys.readouterr().out
    for part in (
        "spsa on epicycle, 2 players: 3 of 3 iterations",
        "plus - minus",
        "start",
        "on fresh seeds",
        "Report:",
    ):
        assert part in text
    with Tournament.open(home / "run") as tournament:
        board = board_results(tournament, 0)
    drawn = {name: FIGURES[name](board) for name in ("tuning", "tuning_lead")}
    assert list(drawn["tuning"].table["iteration"]) == [1, 2, 3]
    assert set(drawn["tuning"].table["parameter"]) == {"skill"}
    assert drawn["tuning_lead"].sentence.endswith(".")
    page = (home / "run" / "index.html").read_text()
    assert "Tuned values by iteration" in page and "Differences by iteration" in page
    assert run_command(["verify", "run", "--home", str(home)]) == 0


def test_json_has_the_curve_and_the_claim(arguments, capsys):
    assert run_command([*arguments, "--no-report", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["iteration"] for each in found["curve"]] == [1, 2, 3]
    assert found["start"] == {"skill": 0.2} and found["spec"].startswith("Skilled:skill=")
    assert found["claim"]["matches"] == 8 and found["claim"]["boards"][0]["a"] == "tuned"
    assert found["matches"] == 3 * 4 + 8


def test_logs_of_tuning_runs_are_not_merged(arguments, home, tmp_path, capsys):
    assert run_command([*arguments, "--no-report"]) == 0
    assert run_command(["merge", str(home / "run"), "--into", str(tmp_path / "all.db")]) != 0
    assert "nothing is merged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--players", "two"], "players = 'two': must be numbers"),
        (["--iterations", "0"], "iterations = 0"),
        (["--param", "skill=0:1"], "a parameter is listed twice"),
    ],
)
def test_mistakes_are_one_line(arguments, capsys, more, text):
    assert run_command([*arguments, *more]) != 0
    error = capsys.readouterr().err
    assert text in error and error.count("\n") == 1
