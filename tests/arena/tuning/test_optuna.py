"""Tuning by Optuna: candidates that follow from the trials before, and one line where the library is missing."""

import sys

import pytest

from arena.core.errors import ConfigError
from arena.schedule.tuning import bayes
from arena.schedule.tuning_iterations import next_schedule, planned_values, recommended, tuning_of
from arena.tournament.logs import LOG_FILE
from arena.tournament.tunings import can_draw
from arena.tuning.driver import tune
from arena.tuning.request import TuneRequest
from tests.arena.tuning.test_tune import BOTS
from tests.arena.verify.logs import checked
from tests.support.tuning_worlds import first_schedule, height, identity, tuned


def test_a_missing_library_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    request = TuneRequest("flat_mc:playouts=10", ["playouts=5:20"], ["epicycle"], method="optuna")
    with pytest.raises(ConfigError) as refused:
        tune(request, workers=1, home=tmp_path)
    assert "pip install 'pyramid-arena[tune]'" in str(refused.value) and "\n" not in str(refused.value)


def test_the_best_candidate_is_that_with_the_best_neighbours():
    points = [(0.1,), (0.12,), (0.5,), (0.88,), (0.9,), (0.91,)]
    worth = [-0.2, 0.9, -0.5, 0.3, 0.4, 0.35]
    assert points[bayes.recommended(points, worth)] == (0.9,)
    assert bayes.recommended(points, [-each for each in range(1, 7)]) == -1


def test_candidates_follow_from_the_trials_before_and_find_a_known_summit():
    pytest.importorskip("optuna")
    schedule = first_schedule("optuna", iterations=40, sampler=bayes.version())
    after = next_schedule(schedule, [0.5], identity)
    assert after == next_schedule(schedule, [0.5], identity)
    assert planned_values(after)[0] != planned_values(schedule)[0]
    assert [entry.label for entry in after.entries] == ["candidate", "start"]
    last = tuned(schedule, noise=0.0)
    assert height(recommended(last.scheduler)) > height(tuning_of(last).start_values) / 4


def test_a_run_is_played_resumed_and_verified_with_the_version_that_drew_it(tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    bot = tmp_path / "b.py"
    bot.write_text(BOTS)
    request = TuneRequest(
        str(bot), ["skill=0:1"], ["epicycle"], method="optuna", iterations=2, blocks=2, final_blocks=2
    )
    found = tune(request, workers=1, home=tmp_path, report=False)
    assert tune(request, workers=1, home=tmp_path, report=False).schedule.scheduler == found.schedule.scheduler
    sound = checked(found.folder / LOG_FILE)
    assert not sound.findings and not sound.remarks
    monkeypatch.setattr(bayes, "version", lambda: "optuna 0")
    assert not can_draw(found.schedule.scheduler)
    other = checked(found.folder / LOG_FILE)
    assert not other.findings and "2 candidates were not drawn again" in other.remarks[0]
