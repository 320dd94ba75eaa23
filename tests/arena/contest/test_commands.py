"""`arena contest init`, `close`, `season` and `status`, as an operator types them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.accounts import OPERATOR, Accounts
from arena.cli.app import run_command
from arena.contest.driver import only_driver
from arena.contest.final import final_key
from arena.contest.layout import ARCHIVE_FILE, CONFIG_FILE, contest_folder, season_log
from arena.store import Store
from tests.arena.contest.homes import Home, good
from tests.arena.verify.logs import checked

CONFIG = """
name = "cup"
house = ["random"]
boards = [{ game = "epicycle", players = 2 }]
"""
DEADLINE = f'deadline = "{(datetime.now(UTC) + timedelta(days=1)).isoformat()}"\n'
Run = Callable[..., str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "home")
    (tmp_path / "cup.toml").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def contest(here: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command that succeeds; what it prints."""

    def run(*arguments: str) -> str:
        code = run_command(["contest", *arguments])
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        return said.out

    return run


@pytest.fixture
def refused(here: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command that fails; its one line."""

    def run(*arguments: str) -> str:
        assert run_command(["contest", *arguments]) in (1, 2)
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), said.err[:7]) == ("", 1, "error: ")
        return said.err

    return run


@pytest.fixture
def played(here: Path) -> Iterator[Home]:
    """A contest with a round, whose driver has ended."""
    home = Home(here / "home", final_blocks=0, deadline=None)
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    home.driver.close()
    yield home
    home.close()


def test_init_prints_an_organisers_invitation_and_keeps_the_configuration(contest: Run) -> None:
    said = contest("init", "cup.toml")
    assert "Contest 'cup' is ready; `arena contest serve` opens it." in said
    assert "secret key" not in said, "without a deadline there is no final"
    code = re.search(r"/join/(\S+)", said)
    assert code is not None
    with Accounts.open("home") as accounts:
        found = accounts.invitations.find(code[1])
        assert found is not None
        assert (found.role, found.contest) == ("organiser", "cup")
    assert (contest_folder("home", "cup") / CONFIG_FILE).read_text() == CONFIG


def test_init_commits_to_the_key_of_the_final(contest: Run, here: Path) -> None:
    (here / "cup.toml").write_text(DEADLINE + CONFIG)
    said = contest("init", "cup.toml")
    key = final_key("home", "cup", 1)
    assert key is not None
    assert (key.hash in said, key.key) == (True, "")
    assert key.hash in contest("init", "cup.toml", "--update"), "it stays the same"


def test_init_invites_no_second_organiser(contest: Run, here: Path) -> None:
    contest("init", "cup.toml")
    with Accounts.open("home") as accounts:
        accounts.authors.add("Boss", "organiser", OPERATOR)
    (here / "cup.toml").write_text(CONFIG.replace('"cup"', '"second"'))
    assert "/join/" not in contest("init", "cup.toml")


def test_init_changes_a_contest_that_is_there_when_asked_to(contest: Run, refused: Run, here: Path) -> None:
    assert "An organiser's invitation" in contest("init", "cup.toml")
    assert "cup" in refused("init", "cup.toml")
    (here / "cup.toml").write_text(f'title = "Autumn cup"\n{CONFIG}')
    said = contest("init", "cup.toml", "--update")
    assert ("is changed" in said, "invitation" in said) == (True, False), "it gives no further rights"
    with Accounts.open("home") as accounts:
        assert accounts.contests.get("cup").config["title"] == "Autumn cup"
    (here / "cup.toml").write_text(CONFIG.replace('"cup"', '"another"'))
    assert "another" in refused("init", "cup.toml", "--update")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ('"epicycle"', "epicycl"),
        ('"random"', "randm"),
        ("boards", "bords"),
        ("players = 2", "players = 9"),
    ],
)
def test_init_says_what_is_wrong_and_makes_nothing(refused: Run, here: Path, changed: str, words: str) -> None:
    wrong = CONFIG.replace(changed, f'"{words}"' if '"' in changed else words)
    (here / "cup.toml").write_text(wrong)
    assert refused("init", "cup.toml")
    assert not (here / "home" / "contests").exists()


def test_close_ends_the_season_where_no_driver_runs(played: Home, contest: Run) -> None:
    assert contest("close", "cup") == "'cup' is closed, and its season has ended.\n"
    log = season_log(played.path, "cup", 1)
    report = checked(log)
    assert (report.sound, report.finished) == (True, True)
    with Store.open(log) as store:
        assert all(key.disclosed for key in store.keys.all())
    assert checked(log.with_name(ARCHIVE_FILE)).sound
    assert contest("close", "cup") == "'cup' is closed, and its season has ended.\n", "again changes nothing"


def test_close_leaves_the_rest_to_a_driver_that_runs(played: Home, contest: Run) -> None:
    with only_driver("home"):
        assert "its driver ends the round in play" in contest("close", "cup")
    assert played.accounts.contests.get("cup").state == "closed"
    assert not checked(season_log(played.path, "cup", 1)).finished
    assert "its season has ended" in contest("close", "cup")


def test_close_of_a_contest_without_a_round(contest: Run) -> None:
    contest("init", "cup.toml")
    assert contest("close", "cup") == "'cup' is closed, and its season has ended.\n"


def test_season_begins_the_next_one_and_not_that_of_a_closed_contest(contest: Run, refused: Run) -> None:
    contest("init", "cup.toml")
    assert contest("season", "cup") == "Season 2 of 'cup' begins when the round in play has ended.\n"
    contest("close", "cup")
    assert "is closed" in refused("season", "cup")


@pytest.mark.parametrize("command", ["close", "season"])
def test_a_contest_that_is_not_there_is_named(contest: Run, refused: Run, command: str) -> None:
    contest("init", "cup.toml")
    assert "cap" in refused(command, "cap")


def test_status_shows_how_far_contests_have_come(played: Home, contest: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = json.loads(contest("status", "--json"))
    assert row == {
        "contest": "cup",
        "state": "open",
        "season": 1,
        "round": 1,
        "bots": 1,
        "authors": 1,
        "matches": row["matches"],
        "checked": True,
        "deadline": None,
    }
    assert row["matches"] > 0
    monkeypatch.setenv("COLUMNS", "80")
    head, line = contest("status").splitlines()
    assert head.split() == [*row]
    assert line.split()[:4] == ["cup", "open", "1", "1"]
    assert len(line) <= 80


def test_status_of_a_home_without_contests(contest: Run) -> None:
    assert contest("status") == "There is no contest; `arena contest init CONFIG` makes one.\n"
    assert json.loads(contest("status", "--json")) == []


def test_the_number_of_checks_at_once_can_be_set(contest: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("arena.cli.contests.drive", lambda *of: asked.append(of[-1]))
    monkeypatch.setattr("arena.cli.contests.end_with_supervisor", lambda: False)
    contest("drive", "--checks", "3")
    contest("drive")
    assert asked == [3, None]
