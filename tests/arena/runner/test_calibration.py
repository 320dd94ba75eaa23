"""A time a move is calibrated once for a log; from there on results follow from the plan."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ConfigError
from arena.runner import calibration
from arena.verify.verification import verify
from engine import ParameterError
from engine.specs import canonical_time, seconds_of
from tests.support.tournaments import home_of, log_of, rows

CONFIG = """
name = "small"
seed = 5
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "flat_mc:time=0.1ms" }, { bot = "greedy" }]
output = { report = false }
"""
LABEL = "flat_mc:time=0.1ms"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(calibration, "PLAYED_SECONDS", 0.0)
    monkeypatch.setattr(calibration, "MIN_MATCHES", 1)


def play(config, **options):
    """(found, played, lines of calibrations) of one run."""
    lines = []
    result = api.run(config, home_of(config), workers=1, backend="local", calibrated=lines.append, **options)
    return result.outcome.progress.found, result.outcome.progress.played, lines


def plan_file(config):
    return home_of(config) / "small" / "plan.json"


def number_in(path):
    (board,) = json.loads(path.read_text())["boards"]
    return board["budgets"][LABEL]["playouts"]


def another_plan(config, tmp_path, number):
    """The plan.json of a tournament with another number."""
    data = json.loads(plan_file(config).read_text())
    data["boards"][0]["budgets"][LABEL]["playouts"] = number
    path = tmp_path / "other" / "plan.json"
    path.parent.mkdir()
    path.write_text(json.dumps(data))
    return path


def matches(config):
    """All matches, as they are exported."""
    (file,) = api.export(config, home_of(config), config.parent / "exported", ["matches"])[:1]
    return file.name, file.read_bytes()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament that has been played, with what its first run told."""
    config = tmp_path_factory.mktemp("calibrated") / "small.toml"
    config.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "PLAYED_SECONDS", 0.0)
        patch.setattr(calibration, "MIN_MATCHES", 1)
        found, count, lines = play(config)
    assert (found, count, len(lines)) == (0, 4, 1)
    return config, lines


@pytest.fixture
def config(played, tmp_path):
    """A copy of it."""
    shutil.copytree(played[0].parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "small.toml"


def test_the_number_stands_in_the_plan_and_is_told_once(played, config):
    assert played[1] == [f"{LABEL} on epicycle, 2 players: calibrated to playouts = {number_in(plan_file(config)):,}"]
    assert play(config) == (4, 0, [])


def test_a_run_that_resumes_takes_the_number_from_the_log_even_for_more_matches(config):
    before = number_in(plan_file(config))
    config.write_text(CONFIG.replace("blocks = 2", "blocks = 3"))
    assert play(config) == (4, 2, [])
    assert number_in(plan_file(config)) == before


def test_what_is_killed_while_it_calibrates_leaves_nothing_that_counts(tmp_path, monkeypatch):
    config = tmp_path / "small.toml"
    config.write_text(CONFIG)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(calibration, "play_specs", interrupted)
        with pytest.raises(KeyboardInterrupt):
            play(config)
    assert rows(config, "SELECT * FROM runs") == []
    assert not plan_file(config).exists()
    found, count, lines = play(config)
    assert (found, count, len(lines)) == (0, 4, 1)


def test_elsewhere_a_resolved_plan_gives_the_same_plan_and_the_same_files(config, tmp_path):
    there = tmp_path / "elsewhere" / "small.toml"
    there.parent.mkdir()
    there.write_text(CONFIG)
    assert play(there, calibration=plan_file(config)) == (0, 4, [])
    assert plan_file(there).read_bytes() == plan_file(config).read_bytes()
    assert matches(there) == matches(config)


def test_with_another_number_other_matches_count_and_with_the_old_one_the_old_ones(config, tmp_path):
    before, kept = number_in(plan_file(config)), plan_file(config).read_bytes()
    old = tmp_path / "old.json"
    old.write_bytes(kept)
    assert play(config, calibration=another_plan(config, tmp_path, before + 1)) == (0, 4, [])
    assert rows(config, "SELECT count(*) FROM matches") == [(8,)]
    assert play(config) == (4, 0, [])
    assert number_in(plan_file(config)) == before + 1
    assert play(config, calibration=old) == (4, 0, [])
    assert plan_file(config).read_bytes() == kept


def test_recalibrating_plays_the_trial_matches_again(config):
    _, _, lines = play(config, recalibrate=True)
    assert len(lines) == 1


def test_verification_follows_the_numbers_and_finds_a_changed_one(config):
    log = log_of(config)
    assert verify(log, rerun=2, workers=1).sound
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        data = json.loads(db.execute("SELECT plan FROM runs").fetchone()[0])
        data["boards"][0]["budgets"][LABEL]["playouts"] += 1
        db.execute("UPDATE runs SET plan = ?", (json.dumps(data, sort_keys=True),))
    assert not verify(log).sound


def test_tables_have_the_number_of_their_board_as_a_parameter(config):
    (frame,) = api.leaderboard(config, home_of(config)).values()
    found = frame.set_index("bot")["param_playouts"]
    assert found[LABEL] == number_in(plan_file(config))


def test_status_and_the_paper_tell_the_numbers(config, tmp_path):
    told = f"{number_in(plan_file(config)):,} playouts on epicycle, 2 players"
    assert api.status(config, home_of(config)).budgets == {LABEL: told}
    files = api.export(config, home_of(config), tmp_path / "paper", ["paper"], ["md"])
    methods = next(path for path in files if path.name == "paper_methods.md")
    assert told in methods.read_text().replace("\\", "")


def test_a_number_beyond_the_bounds_of_its_parameter_is_refused(config, tmp_path):
    with pytest.raises(ConfigError, match=r"playouts = 2,000,000 .* must be from 1 to 1,000,000"):
        play(config, calibration=another_plan(config, tmp_path, 2_000_000))


@pytest.mark.parametrize("text", ["20", "20us", "0ms", "0.01ms", "2h", "3601s", "-1ms", "1e3ms", "ms", "20 ms"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ParameterError, match=r"must be a time from 0\.1ms to 3600s, such as 20ms or 1\.5s"):
        canonical_time(text)


@pytest.mark.parametrize(
    ("text", "canonical", "seconds"),
    [("20ms", "20ms", 0.02), ("0.02s", "20ms", 0.02), ("1500ms", "1.5s", 1.5), ("0.10ms", "0.1ms", 0.0001)],
)
def test_a_time_has_one_spelling(text, canonical, seconds):
    assert canonical_time(text) == canonical
    assert seconds_of(canonical) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("time=20", "time=20: must be a time from 0.1ms to 3600s, such as 20ms or 1.5s"),
        ("time=20ms,simulations=100", "time=20ms stands for simulations, which is given too; give one"),
        ("time=20ms,seconds=1", "time=20ms stands for seconds, which is given too; give one"),
    ],
)
def test_a_configuration_with_a_wrong_time_is_refused_in_a_line(options, line, tmp_path, capsys):
    config = tmp_path / "small.toml"
    config.write_text(CONFIG.replace("flat_mc:time=0.1ms", f"uct:{options}"))
    assert run_command(["run", str(config), "--home", str(tmp_path / "home")]) != 0
    assert capsys.readouterr().err.strip() == f"error: {config}: bots[0]: uct: {line}"


def test_a_time_beyond_the_limit_of_a_move_is_refused(tmp_path):
    config = tmp_path / "small.toml"
    config.write_text(CONFIG.replace("0.1ms", "61s"))
    with pytest.raises(ConfigError, match=r"61s a move is more than seconds_per_move = 60"):
        play(config)


def test_a_single_match_refuses_a_time():
    with pytest.raises(ConfigError, match="tournaments and comparisons alone calibrate it; here give simulations"):
        api.play_match("epicycle", ["uct:time=20ms", "greedy"], seed=1)


def test_a_comparison_is_calibrated_once_and_says_so_as_a_run_does(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(calibration._Ladder, "count", remarked)
    asked = ["compare", "flat_mc:time=0.1ms", "greedy", "--game", "epicycle", "--home", str(tmp_path)]
    said = []
    for blocks in ("1", "2"):
        assert run_command([*asked, "--fixed", blocks, "--workers", "1"]) == 0
        said += [line for line in capsys.readouterr().err.splitlines() if "calibrated" in line]
    assert said == [f"{LABEL} on epicycle, 2 players: calibrated to playouts = 7, of which a move takes 3 ms"]
    (log,) = tmp_path.rglob("plan.json")
    (board,) = json.loads(log.read_text())["boards"]
    assert board["budgets"][LABEL]["playouts"] == 7


def remarked(ladder):
    """Calibrate to 7, of which a move takes longer than asked."""
    ladder.remark = ", of which a move takes 3 ms"
    return 7
