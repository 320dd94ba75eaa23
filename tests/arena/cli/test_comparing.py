"""What `arena compare` prints."""

import json
import math

import numpy as np
import pytest

from arena.cli.app import run_command
from arena.cli.comparing import progress_line
from arena.runner.run import Progress
from arena.runner.tally import SeatResult, Tally
from arena.stats.sprt import Sprt


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


def compare(home, *options):
    asked = ["compare", "random", "greedy", "--game", "epicycle", "--workers", "1", "--home", str(home)]
    return run_command([*asked, *options])


def test_a_decision_is_told_in_words_and_in_json(home, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert compare(home) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "H0: A over B is worth less than +30 Elo" in words
    assert "with seats swapped and common dice" in words
    assert "forfeits: none" in words
    assert compare(home, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["decision"], told["end"], told["a"], told["b"]) == ("H0", "decided", "random", "greedy")
    assert told["test"]["llr"] <= told["test"]["lower"] == pytest.approx(math.log(0.05 / 0.95))
    assert told["elo"]["low"] < told["elo"]["value"] < told["elo"]["high"] < 30
    assert told["return_difference"]["value"] == pytest.approx(4 * told["score"]["value"] - 2)
    assert told["blocks"] * 2 == told["matches"] == 2 * sum(told["score_counts"])


def test_a_test_that_gives_up_says_so(home, capsys):
    assert compare(home, "--max-blocks", "14", "--elo0", "-10", "--elo1", "10", "--model", "normalized") == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Undecided: --max-blocks is reached" in words
    assert "normalised Elo" in words


def test_what_a_fixed_number_of_blocks_leaves_no_use_for_is_refused(home, capsys):
    for option in ("--elo0", "--elo1", "--alpha", "--beta", "--max-blocks"):
        assert compare(home, "--fixed", "2", option, "5") == 1
        assert capsys.readouterr().err.strip().endswith(f"--fixed: runs no test, so {option} has no effect")
    assert compare(home, "--fixed", "2", "--model", "logistic") == 1


def test_a_line_of_progress_shows_the_ratio_between_its_bounds_in_80_columns():
    tally = Tally(Sprt(), 2, 0)
    progress = Progress(20_000, played=1_234_500)
    progress.started -= 100
    lines = [progress_line(progress, tally)]
    for block in range(120):
        tally.add((block,), 0, SeatResult(2, ("x",), (0, 0)), SeatResult(0, ("y",), (0, 0)))
        lines.append(progress_line(progress, tally))
    assert all(len(line) <= 80 for line in lines)
    places = [line.index("┃") for line in lines]
    assert places == sorted(places) and places[0] < places[-1]
    assert np.isclose(tally.llr, float(lines[-1].rsplit("LLR ")[1]), atol=0.01)
