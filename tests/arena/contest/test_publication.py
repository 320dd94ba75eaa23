"""What a contest publishes: rounds and finals once each, standings and keys, whatever a driver was killed at."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.accounts import OPERATOR
from arena.accounts.contests import Contests
from arena.contest import rounds, season_driver, standings
from arena.contest.final import commit_to_key, is_final_over
from arena.contest.layout import final_log, season_folder, season_log
from arena.contest.season_driver import SeasonDriver
from arena.contest.standings import Standings, read_rounds, read_standings
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.arena.contest.homes import Home, good
from tests.arena.verify.logs import checked


class Killed(BaseException):
    """Ends a driver at once."""


def raise_killed(*_: object) -> None:
    """Stand for what a driver is killed at."""
    raise Killed


def kill(home: Home, monkeypatch: pytest.MonkeyPatch, owner: object, at: str, steps: int = 1) -> None:
    """End a driver where it would call a function, and begin another one."""
    with monkeypatch.context() as patch:
        patch.setattr(owner, at, raise_killed)
        with pytest.raises(Killed):
            home.rounds(steps)
    home.driver.close()
    home.driver = home.new_driver()


def published(home: Home, kind: str) -> list[dict[str, Any]]:
    """What everybody was told, of a kind."""
    return [event.data for event in home.accounts.database.events("cup") if event.kind == kind]


@pytest.mark.parametrize(("owner", "at"), [(SeasonDriver, "_rate_if_due"), (standings, "add_to_rounds")])
def test_a_round_is_published_once_though_the_driver_is_killed_before_it_is(
    home: Home, monkeypatch: pytest.MonkeyPatch, owner: object, at: str
) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    kill(home, monkeypatch, owner, at)
    assert len(published(home, "round")) == 1
    monkeypatch.setattr(rounds.Rounds, "next", lambda self, events: None)
    home.rounds(2)
    home.driver.close()
    home.driver = home.new_driver()
    home.rounds()
    assert published(home, "round") == [{"season": 1, "round": 1}, {"season": 1, "round": 2}]
    assert [each.round for each in read_rounds(season_folder(home.path, "cup", 1))] == [1, 2]


@pytest.mark.parametrize(("owner", "at"), [(SeasonDriver, "_rate_final"), (Contests, "close")])
def test_a_final_is_published_once_though_the_driver_is_killed_before_it_is_or_right_after(
    home: Home, monkeypatch: pytest.MonkeyPatch, owner: object, at: str
) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    kill(home, monkeypatch, owner, at, steps=20)
    assert is_final_over(home.path, "cup", 1)
    assert home.accounts.contests.get("cup").state == "open"
    home.drive_to_the_end()
    assert published(home, "final") == [{"season": 1}]
    found = read_standings(season_folder(home.path, "cup", 1) / "final")
    assert found is not None
    assert found.bots == 2


def test_a_driver_that_rests_reads_its_standings_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds(1)
    made: list[Path] = []

    def read(folder: Path) -> Standings | None:
        made.append(folder)
        return read_standings(folder)

    monkeypatch.setattr(season_driver, "read_standings", read)
    monkeypatch.setattr(rounds.Rounds, "next", lambda self, events: None)
    for _ in range(3):
        home.driver.step()
    folder = season_folder(home.path, "cup", 1)
    assert made == [folder]
    (folder / "standings.json").unlink()
    home.driver.step()
    assert read_standings(folder) is not None


def test_a_new_driver_goes_on_and_makes_lost_standings_again(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds(2)
    home.driver.close()
    folder = season_folder(home.path, "cup", 1)
    before = json.loads((folder / "standings.json").read_text())
    (folder / "standings.json").unlink()
    home.driver = home.new_driver()
    driver = home.driver
    driver.step()
    assert before["round"] == 2
    found = read_standings(folder)
    assert found is not None
    assert found.round == 3
    assert checked(season_log(home.path, "cup", 1)).sound


def test_the_deadline_brings_the_final_with_the_key_of_the_beginning(home: Home) -> None:
    for number in range(3):
        home.hand_in(home.author(f"author {number}"), f"bot {number}", good(number))
    home.pass_checks()
    home.rounds(2)
    before = commit_to_key(home.path, "cup", 1)
    late = home.author("late")
    home.accounts.contests.extend("cup", late, home.now + timedelta(days=2), OPERATOR)
    home.now += timedelta(days=1, seconds=1)
    home.rounds()
    assert home.accounts.contests.get("cup").state == "open", "one author has longer"
    home.hand_in(late, "latest", good(3))
    home.now += timedelta(days=1)
    home.rounds()
    assert not is_final_over(home.path, "cup", 1), "what was handed in in time is checked first"
    home.pass_checks()
    home.drive_to_the_end()
    assert home.over == [("cup", 1)]
    assert home.accounts.contests.get("cup").state == "closed"
    assert is_final_over(home.path, "cup", 1)
    with Tournament.open(final_log(home.path, "cup", 1)) as tournament:
        (key,) = tournament.store.keys.all()
        assert (key.hash, key.disclosed is not None) == (before, True)
        assert {entry.label for entry in tournament.plan.schedule().entries} == {*home.playing()}
        assert "b4.1" in tournament.labels
    found = read_standings(season_folder(home.path, "cup", 1) / "final")
    assert found is not None
    assert found.bots == 5
    for log in (season_log(home.path, "cup", 1), final_log(home.path, "cup", 1)):
        report = checked(log)
        assert report.sound
        assert report.finished


def test_the_key_of_a_final_is_disclosed_also_where_too_few_are_left_for_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", boards=[{"game": "epicycle", "players": [3]}])
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    home.drive_to_the_end()
    with Store.open(final_log(home.path, "cup", 1)) as store:
        assert all(key.disclosed for key in store.keys.all())
    home.close()


def test_the_key_of_a_final_is_disclosed_also_where_only_bots_of_the_house_are_left(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", house=["random", "greedy"])
    author = home.author("one")
    version = home.hand_in(author, "a", good(0))
    home.pass_checks()
    home.rounds()
    home.accounts.submissions.withdraw(version.bot, author)
    home.now += timedelta(days=1, seconds=1)
    home.drive_to_the_end()
    with Store.open(final_log(home.path, "cup", 1)) as store:
        assert store.runs.is_finished()
        assert all(key.disclosed for key in store.keys.all())
    home.close()


@pytest.mark.parametrize("gone", ["banned", "erased"])
def test_who_may_hand_in_nothing_more_holds_up_no_final(home: Home, gone: str) -> None:
    author = home.author("one")
    home.hand_in(home.author("two"), "b", good(1))
    home.pass_checks()
    home.rounds()
    home.accounts.contests.extend("cup", author, home.now + timedelta(days=400), OPERATOR)
    if gone == "banned":
        home.accounts.contests.ban("cup", author, "keep", OPERATOR)
    else:
        home.accounts.authors.erase(author, OPERATOR)
    home.now += timedelta(days=1, seconds=1)
    home.drive_to_the_end()
    assert home.accounts.contests.get("cup").state == "closed"
