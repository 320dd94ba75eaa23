"""Submitted bots enter configurations by name, all at once or by author, and leave them when they are withdrawn."""

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ConfigError
from arena.plan.config import config_from
from arena.registry.discovery import own_bot
from arena.registry.submitting import store_submission, withdraw
from tests.support.tournaments import write

BOT = """
from bots import Bot


class Mine(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class Crashes(Mine):
    def choose(self, state):
        raise ValueError
"""
CONFIG = """
name = "cup"
blocks = 1
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "bob", isolation = "none" }, { bot = "greedy" }, { bot = "greedy" }]
"""
OWN = {"name": "cup", "games": [{"game": "epicycle", "players": 2}], "bots": [{"bot": "random"}]}


@pytest.fixture
def home(tmp_path):
    """A home with bots by Ann and Bob, and their source beside it as `b.py`."""
    write(tmp_path, CONFIG.replace(', { bot = "greedy" }]', "]"), BOT)
    source = own_bot(f"{tmp_path / 'b.py'}:Mine")
    for name, author in (("bob", "Bob"), ("ann_1", "Ann"), ("ann_2", "Ann")):
        store_submission(source.module, source.class_name, source.bundle(), name, author, tmp_path / "home")
    return tmp_path / "home"


def entered(home, **more):
    plan = api.load_plan({**OWN, **more}, home=home)
    return [entry.label for entry in plan.schedule.entries]


def test_all_submissions_or_those_of_authors_enter_in_their_newest_versions(home):
    assert entered(home, submissions="all") == ["random", "ann_1", "ann_2", "bob"]
    assert entered(home, submissions=["Bob"]) == ["random", "bob"]
    withdraw("ann_1", home)
    assert entered(home, submissions="all") == ["random", "ann_2", "bob"]
    assert entered(home, submissions=["Ann"], bots=[{"bot": "ann_2"}, {"bot": "random"}]) == ["ann_2", "random"]
    with pytest.raises(ConfigError, match="submissions: nobody called 'An' has submitted a bot; did you mean 'Ann'"):
        entered(home, submissions=["An"])


@pytest.mark.parametrize("wrong", ["some", [], [1], 3])
def test_what_is_no_choice_of_submissions_is_refused(wrong):
    with pytest.raises(ConfigError, match=r'submissions = .*: must be "all", or a list of authors'):
        config_from({**OWN, "submissions": wrong})


def test_a_configuration_without_any_contestant_is_refused(home):
    with pytest.raises(ConfigError, match="bots: is missing"):
        config_from({**OWN, "bots": []})
    for name in ("bob", "ann_1", "ann_2"):
        withdraw(name, home)
    with pytest.raises(ConfigError, match="no bot is left to play"):
        api.load_plan({**OWN, "bots": [], "submissions": "all"}, home=home)


def test_a_withdrawn_entry_is_left_out_with_a_line_and_with_strict_an_error(home, capsys):
    config = home.parent / "t.toml"
    run = ["run", str(config), "--home", str(home), "--workers", "1", "--no-report"]
    assert run_command(run) == 0 and "bob" in capsys.readouterr().out
    withdraw("bob", home)
    config.write_text(CONFIG.replace('{ bot = "greedy" }]', '{ bot = "random", label = "again" }]'))
    assert run_command(run) == 0
    said = capsys.readouterr()
    assert "bob" not in said.out and "bob is left out, since it has been withdrawn" in said.err
    assert run_command([*run, "--strict"]) == 2
    assert "bots[1]: bot 'bob' has been withdrawn; tournaments that had it name it bob@" in capsys.readouterr().err
    config.write_text(CONFIG)  # entries keep their numbers where one before them is left out
    assert run_command(run) == 2
    assert "bots[3]: a second 'greedy'" in capsys.readouterr().err


def test_with_strict_a_bot_that_crashes_makes_the_run_fail(home, capsys):
    config = home.parent / "t.toml"
    config.write_text(CONFIG.replace('"bob"', '"b.py:Crashes"').replace(', { bot = "greedy" }]', "]"))
    run = ["run", str(config), "--home", str(home), "--workers", "1", "--no-report"]
    assert run_command(run) == 0
    assert run_command([*run, "--strict"]) == 1
