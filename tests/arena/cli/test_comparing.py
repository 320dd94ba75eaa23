"""What `arena compare` prints."""

import json
import math
import re
import shutil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arena.cli.app import run_command
from arena.cli.comparing import conclusion_in_words, progress_line, stronger_in_words
from arena.cli.comparing_logs import decision
from arena.runner.run import Progress
from arena.stats.estimates import Lead, ScoreEstimate
from arena.stats.sprt import Sprt
from arena.tournament.tally import SeatResult, Tally


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
    assert words.startswith("random (A) and greedy (B) on epicycle, 2 players: pairs of matches with seats swapped. ")
    assert re.search(
        r"greedy \(B\) is stronger than random \(A\), by \d+ Elo \(95 %: \+\d+ to \+\d+; sure at 95 %\)", words
    )
    assert "forfeits: none" in words
    assert compare(home, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["decision"], told["end"], told["a"], told["b"]) == ("H0", "decided", "random", "greedy")
    assert (told["stronger"], told["confidence"], told["more_matches"]) == ("b", 0.95, None)
    assert told["test"]["llr"] <= told["test"]["lower"] == pytest.approx(math.log(0.05 / 0.95))
    assert told["elo"]["low"] < told["elo"]["value"] < told["elo"]["high"] < 30
    assert told["return_difference"]["value"] == pytest.approx(4 * told["score"]["value"] - 2)
    assert told["blocks"] * 2 == told["matches"] == 2 * sum(told["score_counts"])


def test_where_the_interval_holds_equal_strength_the_one_sided_test_is_named_as_what_is_sure():
    found: Any = SimpleNamespace(a="new", b="old", lead=Lead(1, 0.95, None), elo=ScoreEstimate(31.0, -2.0, 63.0))
    words = "by 31 Elo (95 %: -2 to +63; sure at 95 % by the test, which is one-sided)."
    assert stronger_in_words(found) == f"new (A) is stronger than old (B), {words}"
    found.lead, found.elo = Lead(-1, 0.99, None), ScoreEstimate(-31.0, -63.0, -2.0)
    assert stronger_in_words(found) == "old (B) is stronger than new (A), by 31 Elo (95 %: +2 to +63; sure at 99 %)."


def test_who_is_stronger_is_said_once_and_a_test_without_a_decision_does_not_take_it_back():
    tally = SimpleNamespace(test=Sprt(), llr=2.54, verdict=None)
    played: Any = SimpleNamespace(tally=tally, end="max_blocks", lead=Lead(1, 0.95, None))
    logged: Any = SimpleNamespace(
        test=Sprt(), decision=None, decided_after=None, blocks=14, llr=2.54, lead=Lead(1, 0.999, None)
    )
    for said in (conclusion_in_words(played), decision(logged)[0]):
        assert said.endswith("; which bot is stronger is known from the interval above, whatever the test would say.")
        assert "ndecided" not in said
    played.lead = logged.lead = Lead(0, None, 100)
    for said in (conclusion_in_words(played), decision(logged)[0]):
        assert said.endswith("LLR +2.54, bounds -2.94 and 2.94.") or said.endswith("all +2.54, bounds -2.94 and 2.94.")


def test_a_test_that_gives_up_says_so(home, capsys):
    assert compare(home, "--max-blocks", "14", "--elo0", "-10", "--elo1", "10", "--model", "normalized") == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "The test has not decided: --max-blocks is reached" in words
    assert "normalised Elo" in words


def test_what_a_fixed_number_of_blocks_leaves_no_use_for_is_refused(home, capsys):
    for option in ("--elo0", "--elo1", "--alpha", "--beta", "--max-blocks"):
        assert compare(home, "--fixed", "2", option, "5") == 2
        assert capsys.readouterr().err.strip().endswith(f"--fixed: runs no test, so {option} has no effect")
    assert compare(home, "--fixed", "2", "--model", "logistic") == 2


def test_what_is_not_known_is_said_with_the_matches_that_would_tell(home, capsys):
    assert compare(home, "--fixed", "2", "--seed", "1") == 0
    words = " ".join(capsys.readouterr().out.split())
    assert re.search(r"Not known which is stronger: greedy \(B\) is ahead by .* Elo .*, about \d+ more matches", words)


@pytest.fixture
def versions(tmp_path, monkeypatch):
    """Two versions of one file, in a folder with a space, which is the working folder."""
    folder = tmp_path / "my bots"
    for name, last in (("v1", "[0]"), ("v2", "[-1]")):
        (folder / name).mkdir(parents=True)
        text = "from bots import Bot\n\nclass Mine(Bot):\n    def choose(self, state):\n        "
        (folder / name / "my_bot.py").write_text(f"{text}return state.legal_actions(){last}\n")
    monkeypatch.chdir(folder)
    return folder


def two_versions(*options, a="v1/my_bot.py", b="v2/my_bot.py"):
    return run_command(["compare", a, b, "--game", "epicycle", "--workers", "1", "--fixed", "2", *options])


def test_versions_of_one_file_are_told_apart_by_the_ends_of_their_paths_or_as_the_user_says(versions, capsys):
    assert two_versions() == 0
    assert capsys.readouterr().out.startswith("v1/my_bot (A) and v2/my_bot (B) on epicycle")
    (versions / "v1" / "v2").mkdir()
    shutil.copy("v1/my_bot.py", "v1/v2/my_bot.py")
    assert two_versions(a="v1/v2/my_bot.py") == 0
    assert capsys.readouterr().out.startswith("v1/v2/my_bot (A) and my bots/v2/my_bot (B) on epicycle")
    assert two_versions(a="old=v1/my_bot.py", b="new=v2/my_bot.py") == 0
    assert capsys.readouterr().out.startswith("old (A) and new (B) on epicycle")
    assert two_versions(a="it=v1/my_bot.py", b="it=v2/my_bot.py") == 2
    assert "two bots have the label 'it'" in capsys.readouterr().err
    assert two_versions(a="a|b=v1/my_bot.py") == 2
    assert "the label 'a|b' must be" in capsys.readouterr().err


def test_a_comparison_has_the_name_it_is_given_which_other_commands_take_and_status_lists(versions, capsys):
    assert two_versions("--name", "tweak", a="old=v1/my_bot.py") == 0
    assert "Its name for other commands: tweak\n" in capsys.readouterr().out
    assert two_versions("--name", "tweak", a="old=v1/my_bot.py") == 0  # goes on
    capsys.readouterr()
    assert run_command(["status"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"comparison bots board state .* compare/tweak (Mine and old|old and Mine) epicycle 2 complete 4\b", listed
    )
    assert run_command(["status", "tweak"]) == 0
    assert capsys.readouterr().out.startswith("compare/tweak: complete, 4 of 4 matches")
    assert two_versions("--name", "tweak", a="random") == 2
    assert "name = 'tweak': is that of another comparison, " in capsys.readouterr().err
    assert two_versions("--name", "a/b") == 2
    assert "name = 'a/b': must be" in capsys.readouterr().err


@pytest.mark.parametrize("game", ["epicycle", "midgard"])
def test_no_dice_are_spoken_of_where_a_game_has_none(game, tmp_path, capsys):
    asked = ["compare", "random", "greedy", "--game", game, "--fixed", "4", "--workers", "1", "--home", str(tmp_path)]
    assert run_command(asked) == 0
    assert "dice" not in capsys.readouterr().out.partition("Log and")[0]


@pytest.mark.parametrize(
    ("players", "others", "remark"),
    [
        (2, [], None),
        (2, ["--with", "cautious"], "The two have not met: Elo is that of the score by convention"),
        (3, ["--with", "cautious"], "With 3 players Elo is that of the score by convention"),
    ],
)
def test_elo_that_is_a_convention_is_called_one(players, others, remark, home, capsys):
    assert compare(home, "--players", str(players), *others, "--fixed", "3") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "by convention" not in told if remark is None else remark in told


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
