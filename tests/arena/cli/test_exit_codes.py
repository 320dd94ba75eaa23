"""Exit codes say how a command ended, in one way for all commands."""

import pytest

from arena.cli import exit_codes
from arena.cli.app import run_command
from tests.support.tournaments import write

BOTS = """
from bots import Bot


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class Crashes(Bot):
    def choose(self, state):
        raise ValueError
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    write(tmp_path, "", BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "reports")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("match epicycle random random", 0),
        ("check b.py:Low --isolation none --game epicycle --players 2", 0),
        ("check b.py:Crashes --isolation none --game epicycle --players 2", 1),
        ("submit b.py:Crashes --name x --author Ann --isolation none --game epicycle", 1),
        ("match epicycle random", 2),
        ("match epicycle randon random", 2),
        ("match epicycle uct: random", 2),
        ("match epicycle random random --html nowhere/x.html", 2),
        ("check-game epicycle --players 2 --out nowhere/x.html", 2),
        ("leaderboard nothing", 2),
        ("run nothing.toml", 2),
        ("games --nothing", 2),
        ("nothing", 2),
    ],
)
def test_a_command_that_is_wrong_is_told_from_one_that_finds_something_wrong(desk, line, code):
    assert run_command(line.split()) == code
    assert not (desk / "nowhere").exists()


@pytest.mark.parametrize(("a", "b", "code"), [("greedy", "random", 10), ("random", "greedy", 11)])
def test_a_comparison_says_who_is_stronger_by_its_exit_code_when_that_is_asked(desk, a, b, code):
    compare = ["compare", a, b, "--game", "epicycle", "--fixed", "60", "--workers", "1", "--name", "ab"]
    assert run_command(compare) == 0
    assert run_command([*compare, "--exit-code"]) == code
    assert run_command(["compare", a, b, "--from", "ab", "--exit-code"]) == code


def test_a_comparison_that_nothing_decides_says_so_by_its_exit_code(desk):
    compare = ["compare", "b.py:Low", "random", "--game", "epicycle", "--fixed", "1", "--workers", "1"]
    assert run_command([*compare, "--exit-code"]) == 12


def test_the_help_lists_every_exit_code(desk, capsys):
    assert run_command(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Exit codes:")[2].split("\n")
    codes = [int(line.split()[0]) for line in listed if line[:6].strip().isdecimal()]
    named = [value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)]
    assert codes == sorted(named)
