"""What is handed in to a contest is checked in the sandbox, once, and then plays or is refused with a report."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.accounts import OPERATOR, Accounts, BotVersion
from arena.contest import checking
from arena.contest.checking import CheckError
from arena.contest.layout import season_folder
from arena.contest.standings import read_rounds, read_standings
from arena.core.errors import UnwritableError, WorkerError
from arena.core.paths import ROOT
from arena.runner.check import check_found
from tests.arena.contest.homes import BROKEN, CRASHING, HANGING, START, Home, config_of, good

FAILS_AFTER_AN_OPENING = """
from bots import Bot


class Late(Bot):
    first = None

    def choose(self, state):
        if self.first is None:
            self.first = sum(map(state.position.count, "ox"))
        if self.first >= 6:
            raise RuntimeError("begun too late")
        return state.legal_actions()[0]
"""


def test_good_bots_play_and_others_are_refused_with_a_report(home: Home) -> None:
    authors = [home.author(f"author {number}") for number in range(4)]
    sources = [good(0), HANGING, CRASHING, BROKEN]
    versions = [home.hand_in(*each) for each in zip(authors, "abcd", sources, strict=True)]
    home.check()
    assert [home.state(version) for version in versions] == ["valid", "refused", "refused", "refused"]
    reports = [home.accounts.submissions.version(version.bot, 1).report for version in versions]
    assert "passed" in reports[0][-1]["result"]
    assert [reports[at][-1]["problems"][0]["cause"] for at in (1, 2)] == ["timeout", "crash"]
    assert reports[2][-1]["problems"][0]["command"].startswith("arena match epicycle")
    assert "no_such_module" in reports[3][-1]["text"]
    assert "broken on purpose" in reports[2][-1]["problems"][0]["detail"]
    assert not any(folder in json.dumps(reports) for folder in (str(ROOT), str(home.path)))  # of the server's machine
    home.rounds(2)
    assert home.playing() == ["b1.1", "house:random"]
    found = read_standings(season_folder(home.path, "cup", 1))
    assert found is not None
    assert found.round == 2
    assert {row.bot for row in found.overall} == {"b1.1", "house:random"}
    assert len(read_rounds(season_folder(home.path, "cup", 1))) == 2


def test_a_check_begins_its_matches_as_the_contest_does(tmp_path: Path) -> None:
    boards = [{"game": "connect_four", "players": 2, "opening": opening} for opening in ("none", "random:6")]
    home = Home(tmp_path / "home", boards=boards)
    version = home.hand_in(home.author("one"), "a", FAILS_AFTER_AN_OPENING)
    home.check()
    report = home.accounts.submissions.version(version.bot, 1).report
    assert home.state(version) == "refused"
    assert [line["problems"] for line in report[-2:-1]] == [[]]
    (problem,) = report[-1]["problems"]
    assert "begun too late" in problem["detail"]
    assert " --opening random:6 " in problem["command"]
    home.close()


def test_a_source_that_was_refused_is_checked_anew_by_the_rules_of_the_day(home: Home) -> None:
    one, slow = home.author("one"), good(0).replace("actions =", "__import__('time').sleep(0.6)\n        actions =")
    limits = home.config.limits.model_dump()
    for seconds, state in ((0.2, "refused"), (5.0, "valid")):
        home.config = config_of(limits={**limits, "seconds_per_move": seconds})
        home.accounts.contests.configure("cup", home.config.as_data(), OPERATOR)
        version = home.hand_in(one, "a", slow)
        home.check()
        assert home.state(version) == state


def test_what_is_left_out_after_a_match_that_ran_out_of_time_is_told_as_such(tmp_path: Path) -> None:
    boards = [{"game": "epicycle", "players": [2, 3]}]
    limits = {"seconds_per_move": 0.3, "seconds_to_start": 60.0, "seconds_to_prepare": 60.0}
    home = Home(tmp_path / "home", boards=boards, limits=limits)
    version = home.hand_in(home.author("one"), "a", HANGING)
    home.check()
    report = home.accounts.submissions.version(version.bot, 1).report
    assert report[-1]["text"] == "Not played, since it ran out of time before: Epicycle, 3 players."
    home.close()


def test_a_version_whose_check_fails_by_the_machine_keeps_no_other_out(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (home.hand_in(home.author(name), name, good(0)) for name in ("one", "two"))
    check = checking.check_version

    def fails(accounts: Accounts, version: BotVersion, *rest: Any) -> bool | None:
        if version.label == first.label:
            raise WorkerError("no process can be started")
        return check(accounts, version, *rest)

    monkeypatch.setattr(checking, "check_version", fails)
    with pytest.raises(CheckError) as caught:
        home.check_next()
    assert caught.value.label == first.label
    assert home.check_next({first.label})
    assert (home.state(first), home.state(second)) == ("waiting", "valid")
    monkeypatch.setattr(checking, "check_version", check)
    assert home.check_next({first.label})
    assert home.state(first) == "valid"


def test_a_driver_that_begins_while_the_disk_is_full_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home", opens=(START + timedelta(hours=1)).isoformat())
    version = home.hand_in(home.author("one"), "a", BROKEN)
    home.accounts.submissions.begin_check(version)  # by a driver that was killed then
    restart, tries = home.accounts.submissions.restart_checks, []

    def restarted(*but: frozenset[str]) -> int:
        tries.append(1)
        if len(tries) < 3:
            raise UnwritableError("the disk is full", "Make room")
        return restart(*but)

    monkeypatch.setattr(home.accounts.submissions, "restart_checks", restarted)
    monkeypatch.setattr("arena.contest.driver.POLL_SECONDS", 0.01)
    monkeypatch.setattr("arena.contest.check_pool.POLL_SECONDS", 0.01)
    home.driver.run(until=lambda: home.state(version) == "refused")
    assert len(tries) >= 3
    assert [line for line in home.said if "the disk is full" in line and "trying again" in line]
    home.close()


def test_a_check_begins_no_board_once_the_bot_is_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home", boards=[{"game": "epicycle", "players": [2, 3]}])
    author = home.author("one")
    version = home.hand_in(author, "a", good(0))
    report, left_out = home.accounts.submissions.report, list[str]()

    def withdraw_after_a_board(of: BotVersion, line: dict[str, Any]) -> None:
        report(of, line)
        if "board" in line:
            home.accounts.submissions.withdraw(version.bot, author)

    def noted(*arguments: Any) -> Any:
        found = check_found(*arguments)
        left_out.extend(found.not_played)
        return found

    monkeypatch.setattr(home.accounts.submissions, "report", withdraw_after_a_board)
    monkeypatch.setattr(checking, "check_found", noted)
    home.check()
    assert home.state(version) == "refused"
    assert left_out == ["epicycle, 3 players"]
    home.close()
