"""Nothing is lost and nothing is played twice: the same command plays what is missing, and no more."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from arena import api
from arena.cli.app import run_command
from arena.store import Store
from tests.support import tournaments
from tests.support.tournaments import arena, count, home_of, log_of, rows, write

BOTS = """
from typing import Annotated
from bots import Between, Bot


class Low(Bot):
    place: Annotated[int, Between(0, 5), "which of the legal actions, from below"] = 0

    def choose(self, state):
        actions = state.legal_actions()
        return actions[min(self.place, len(actions) - 1)]


class High(Bot):
    def choose(self, state):
        return state.legal_actions()[-1]
"""
OTHER = """
from bots import Bot


class Other(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""


def config_of(blocks=3, bots=('"b.py:Low"', '"b.py:High"', '"c.py:Other"'), more=""):
    listed = ", ".join(f"{{ bot = {bot} }}" if bot.startswith('"') else bot for bot in bots)
    return f"""
name = "small"
seed = 5
blocks = {blocks}
games = [{{ game = "epicycle", players = 2 }}]
bots = [{listed}]
{more}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament of three bots that has been played: 3 blocks of 3 tables with 2 matches each."""
    path = write(tmp_path_factory.mktemp("played"), config_of(), BOTS)
    (path.parent / "c.py").write_text(OTHER)
    assert play(path) == (0, 18)
    return path


@pytest.fixture
def config(played, tmp_path):
    """A copy of it."""
    shutil.copytree(played.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / played.name


def play(config, **options):
    """(found, played) of one run."""
    progress = api.run(config, home_of(config), workers=1, backend="local", **options).outcome.progress
    return progress.found, progress.played


def kept(config):
    """Every match in the log, by its id, as it is written."""
    query = (
        "SELECT hex(identity) || '-' || lineup, ended, moves, final, group_concat(spec || ' ' || rank) "
        "FROM matches JOIN blocks USING (block) JOIN seats USING (block, lineup) JOIN bots USING (bot) "
        "GROUP BY block, lineup"
    )
    return dict((row[0], row[1:]) for row in rows(config, query))


def board(config):
    (frame,) = api.leaderboard(config, home_of(config)).values()
    return {row["bot"]: row["matches"] for row in frame.to_dict("records")}


def test_a_second_run_finds_everything(config):
    before = kept(config)
    assert play(config) == (18, 0)
    assert kept(config) == before


def test_more_blocks_play_the_new_blocks_alone(config):
    before = kept(config)
    config.write_text(config_of(blocks=5))
    assert play(config) == (18, 12)
    assert before.items() <= kept(config).items()
    assert board(config) == {"Low": 20, "High": 20, "Other": 20}


def test_fewer_blocks_play_nothing_keep_the_log_and_show_on_the_board(config):
    before = kept(config)
    config.write_text(config_of(blocks=2))
    assert play(config) == (12, 0)
    assert kept(config) == before
    assert board(config) == {"Low": 8, "High": 8, "Other": 8}


def test_a_new_bot_plays_its_own_matches_alone(config):
    before = kept(config)
    config.write_text(config_of(bots=('"random"', '"b.py:Low"', '"b.py:High"', '"c.py:Other"')))
    assert play(config) == (18, 18)
    assert before.items() <= kept(config).items()
    assert board(config) == {"random": 18, "Low": 18, "High": 18, "Other": 18}


def test_a_changed_source_plays_that_bots_matches_again(config):
    before = kept(config)
    source = config.parent / "c.py"
    source.write_text(source.read_text().replace("[0]", "[-1]"))
    assert play(config) == (6, 12)
    assert before.items() <= kept(config).items()
    assert board(config) == {"Low": 12, "High": 12, "Other": 12}
    source.write_text(OTHER)
    assert play(config) == (18, 0)


def test_a_changed_parameter_is_another_bot(config):
    before = kept(config)
    config.write_text(config_of(bots=('"b.py:Low:place=1"', '"b.py:High"', '"c.py:Other"')))
    assert play(config) == (6, 12)
    assert before.items() <= kept(config).items()
    assert board(config) == {"Low:place=1": 12, "High": 12, "Other": 12}


def test_another_label_and_other_formats_play_nothing(config):
    config.write_text(
        config_of(bots=('{ bot = "b.py:Low", label = "my bot" }', '"b.py:High"', '"c.py:Other"'))
        + '[output]\nformats = ["md"]\n'
    )
    assert play(config) == (18, 0)
    assert board(config) == {"my bot": 12, "High": 12, "Other": 12}


def test_fresh_plays_everything_anew_and_keeps_the_old_log_under_the_name_it_says(config, capsys):
    before = kept(config)
    arguments = ["run", str(config), "--home", str(home_of(config)), "--workers", "1", "--fresh"]
    for number in (1, 2):
        assert run_command(arguments) == 0
        said = capsys.readouterr()
        aside = log_of(config).with_name(f"matches.{number}.db")
        assert f"The old log is kept as {aside}." in said.err
        assert "18 matches played" in said.out
        assert kept(config) == before
        with sqlite3.connect(aside) as old:
            assert old.execute("SELECT count(*) FROM matches").fetchone() == (18,)
        old.close()
    logs = sorted(path.name for path in log_of(config).parent.glob("*.db"))
    assert logs == ["matches.1.db", "matches.2.db", "matches.db"]


@pytest.mark.system
def test_a_run_beside_another_is_refused_in_one_line_and_readers_are_welcome(tmp_path, capsys):
    hold = tmp_path / "hold"
    nap = f"{tournaments.NAP}\n        while os.path.exists({str(hold)!r}):\n            time.sleep(0.01)"
    config = write(tmp_path, bots=tournaments.BOTS.replace(tournaments.NAP, nap))
    run = tournaments.start_arena(
        "run", config, "--workers", 1, "--backend", "local", "--home", home_of(config), folder=tmp_path
    )
    tournaments.wait_until(lambda: count(config) > 20, "blocks are in the log")
    hold.touch()
    try:
        assert run_command(["leaderboard", str(config), "--home", str(home_of(config))]) == 0
        assert "Nap" in capsys.readouterr().out
        second = arena("run", config, "--fresh", "--home", home_of(config), folder=tmp_path)
        assert run.poll() is None
    finally:
        hold.unlink()
        said, complaints = run.communicate(timeout=tournaments.PATIENCE)
    assert (second.returncode, second.stderr.count("\n")) == (1, 1)
    assert f"error: {log_of(config)}: another run is writing to this log" in second.stderr
    assert (run.returncode, count(config)) == (0, tournaments.MATCHES), complaints
    assert f"{tournaments.MATCHES:,} matches played" in said


def test_a_run_that_is_refused_leaves_the_log_as_it_was(config):
    with Store.create(log_of(config)):
        assert run_command(["run", str(config), "--home", str(home_of(config)), "--fresh"]) == 1
    assert count(config) == 18
    assert not list(log_of(config).parent.glob("matches.*.db"))
