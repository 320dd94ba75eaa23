"""Tuning runs: one log whatever kills them, an honest claim at the end, and verification of every iteration."""

import contextlib
import json
import shutil
import sqlite3

import pytest

from arena import api
from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError
from arena.results.tuning import claim_of
from arena.store import Store
from arena.tournament.logs import LOG_FILE
from arena.tournament.seasons import plans_in_order
from arena.tournament.tournament import Tournament
from arena.tuning.driver import tune
from arena.tuning.request import TuneRequest
from tests.arena.verify.logs import changing, checked, texts

BOTS = '''
from typing import Annotated

from bots import Between, Bot, OneOf


class Skilled(Bot):
    """Take the highest action as often as `skill` says, else any."""

    skill: Annotated[float, Between(0.0, 1.0)] = 0.2
    depth: Annotated[int, Between(1, 9)] = 3
    mode: Annotated[str, OneOf(("a", "b"))] = "a"

    def choose(self, state):
        actions = state.legal_actions()
        return max(actions) if self.rng.random() < self.skill else self.pick(actions)
'''
ITERATIONS = 3


class Killed(Exception):
    """A run is killed."""


@pytest.fixture(scope="module")
def bot(tmp_path_factory):
    path = tmp_path_factory.mktemp("bots") / "b.py"
    path.write_text(BOTS)
    return path


@pytest.fixture
def request_of(bot):
    """A short run on boards of two and three players, with changes."""

    def made(**changes):
        usual = {"games": ["epicycle"], "players": [2, 3], "iterations": ITERATIONS, "blocks": 2, "final_blocks": 6}
        return TuneRequest(str(bot), ["skill=0:1", "depth=1:9"], **usual | {"name": "run"} | changes)

    return made


@pytest.fixture(scope="module")
def reference(bot, tmp_path_factory):
    """A run that nothing has interrupted, and its home."""
    home = tmp_path_factory.mktemp("home")
    request = TuneRequest(
        str(bot),
        ["skill=0:1", "depth=1:9"],
        ["epicycle"],
        players=[2, 3],
        iterations=ITERATIONS,
        blocks=2,
        final_blocks=6,
        name="run",
    )
    return tune(request, workers=1, home=home, report=False)


def plans(folder):
    with contextlib.closing(Store.open(folder / LOG_FILE)) as store:
        return [text for _, text, _ in plans_in_order(store)]


def played(folder):
    """Every match in a log, with its moves."""
    with contextlib.closing(sqlite3.connect(folder / LOG_FILE)) as db:
        query = "SELECT hex(identity), lineup, hex(moves) FROM blocks JOIN matches USING (block)"
        return sorted(db.execute(query).fetchall())


def test_a_run_killed_in_every_iteration_ends_with_the_same_log(request_of, reference, tmp_path):
    for number in range(ITERATIONS + 1):

        def kill(step, number=number):
            if len(step.tuning.trials) == number:
                raise Killed

        with pytest.raises(Killed):
            tune(request_of(), workers=1, home=tmp_path, show=kill, report=False)
    found = tune(request_of(), workers=2, home=tmp_path, report=False)
    assert found.schedule.scheduler == reference.schedule.scheduler
    assert plans(found.folder) == plans(reference.folder)
    assert played(found.folder) == played(reference.folder)
    assert found.claim.difference == reference.claim.difference
    assert not checked(found.folder / LOG_FILE).findings


def test_matches_of_all_iterations_are_adjudicated_where_that_is_asked_for_and_verified(request_of, tmp_path):
    rules = AdjudicationRules(certainty=100)
    found = tune(request_of(adjudication=rules, players=[2]), workers=1, home=tmp_path, report=False)
    with contextlib.closing(sqlite3.connect(found.folder / LOG_FILE)) as db:
        ended = dict(db.execute("SELECT ended, count(DISTINCT run) FROM matches JOIN timings USING (block) GROUP BY 1"))
    assert ended["adjudicated by certainty"] > 1
    assert not checked(found.folder / LOG_FILE).findings
    with changing(found.folder / LOG_FILE) as db:
        db.execute("UPDATE matches SET ended = 'normal' WHERE ended LIKE 'adjudicated%'")
    assert "goes on" in texts(checked(found.folder / LOG_FILE)) or checked(found.folder / LOG_FILE).findings


def test_a_finished_run_plays_nothing_more_and_says_the_same(request_of, reference):
    again = tune(request_of(), workers=1, home=reference.folder.parent, report=False)
    assert again.played == 0 and again.matches == reference.matches
    assert again.claim.as_dict() == reference.claim.as_dict()
    assert again.spec == reference.spec


def test_the_log_counts_the_start_against_the_result_alone(reference):
    with Tournament.open(reference.folder) as tournament:
        schedule = tournament.schedule
        assert [entry.label for entry in schedule.entries] == ["start", "tuned"]
        assert [tournament.progress(index).blocks for index in range(2)] == [6, 6]
        assert [len(tournament.counted(index).rows) for index in range(2)] == [12, 12]
        assert tournament.store.totals()[0] == reference.matches == 24 + ITERATIONS * 8
    claim = claim_of(reference.folder)
    assert claim.matches == 24 and [board.blocks for board in claim.boards] == [6, 6]
    means = [board.difference.score for board in claim.boards]
    assert claim.difference.score == pytest.approx(sum(means) / 2)


def test_a_sound_run_is_verified_with_all_its_iterations(reference):
    report = checked(reference.folder / LOG_FILE)
    assert not report.findings
    assert report.totals.matches == reference.matches
    assert report.totals.planned == report.totals.present == 24


@pytest.mark.parametrize("what", ["trials", "bots", "blocks"])
def test_a_falsified_iteration_is_found(reference, tmp_path, what):
    log = shutil.copytree(reference.folder, tmp_path / "run") / LOG_FILE
    texts_of = plans(log.parent)
    plan = json.loads(texts_of[2])
    if what == "trials":
        plan["scheduler"]["fields"]["trials"][0]["differences"][0] += 0.5
    elif what == "bots":
        plan["scheduler"]["fields"]["start_values"][0] = 0.25
    else:
        plan["boards"][0]["blocks"] = 1
    with changing(log) as db:
        for number, text in enumerate(texts_of, 1):
            db.execute("UPDATE runs SET plan = ? WHERE run = ?", (text, number))
        db.execute("UPDATE runs SET plan = ? WHERE run = 3", (json.dumps(plan, sort_keys=True),))
    assert "the plan of run 3 does not follow from the one before" in texts(checked(log))


def test_an_iteration_begun_too_early_is_found(reference, tmp_path):
    log = shutil.copytree(reference.folder, tmp_path / "run") / LOG_FILE
    with changing(log) as db:
        block = db.execute("SELECT min(block) FROM blocks").fetchone()[0]
        for table in ("seats", "matches", "timings"):
            db.execute(f"DELETE FROM {table} WHERE block = ? AND lineup = 0", (block,))
    assert "before it was complete" in texts(checked(log))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"seed": 9}, "another seed"),
        ({"iterations": 4}, "other iterations"),
        ({"blocks": 3}, "other blocks"),
        ({"games": ["epicycle(setup=random)"]}, "other games"),
        ({"against": ["random"]}, "other fillers"),
        ({"adjudication": AdjudicationRules(certainty=50)}, "other games, openings or adjudication"),
    ],
)
def test_other_settings_under_the_same_name_are_refused(request_of, reference, changes, text):
    with pytest.raises(ConfigError, match=f"name = 'run': is that of a run with .*{text}"):
        tune(request_of(**changes), workers=1, home=reference.folder.parent)


@pytest.mark.parametrize(
    ("param", "text"),
    [
        ("skil=0:1", "no option 'skil'; did you mean 'skill'"),
        ("skill", "cannot be read; write name=low:high"),
        ("skill=0:1:cube", "cannot be read; write name=low:high"),
        ("skill=1:0", "must be below the second"),
        ("skill=0:2", "above the largest value allowed, 1"),
        ("skill=0:1:log", "must be above 0"),
        ("skill=0.5:1", "begins with skill=0.2, which is not in that range; name the bot with a value that is"),
        ("depth=1.5:3", "must be a whole number"),
        ("mode=0:1", "is no number in a range"),
    ],
)
def test_parameters_that_cannot_be_tuned_are_refused_in_one_line(bot, tmp_path, param, text):
    with pytest.raises(ConfigError) as refused:
        tune(TuneRequest(str(bot), [param], ["epicycle"]), workers=1, home=tmp_path)
    assert text in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"games": []}, "game: is missing"),
        ({"games": ["epicicle"]}, "did you mean 'epicycle'"),
        ({"games": ["epicycle", "epicycle"]}, "is listed twice"),
        ({"players": [2], "against": ["random"]}, "boards with more than two players"),
        ({"players": [7]}, "players"),
        ({"iterations": 0}, "iterations = 0: must be from 1"),
        ({"final_blocks": 0}, "final_blocks = 0: must be from 1"),
        ({"reach": 0.9}, "reach = 0.9: must be above 0 and at most 0.5"),
        ({"name": "../up"}, "name = '../up'"),
        ({"opening": "odd"}, "opening = 'odd'"),
        ({"method": "luck"}, "must be spsa or optuna"),
    ],
)
def test_other_mistakes_are_refused_in_one_line(request_of, tmp_path, changes, text):
    with pytest.raises(ConfigError) as refused:
        tune(request_of(**changes), workers=1, home=tmp_path)
    assert text in str(refused.value) and "\n" not in str(refused.value)


def test_a_log_of_anything_else_is_left_alone(request_of, tmp_path):
    bots = [{"bot": "random"}, {"bot": "greedy"}]
    config = {"name": "run", "games": [{"game": "epicycle", "players": 2}], "bots": bots, "blocks": 1}
    api.run(config, tmp_path, workers=1, backend="local", report=False)
    with pytest.raises(ConfigError, match="is that of a tournament"):
        tune(request_of(), workers=1, home=tmp_path)
