"""A contest drives itself: what is handed in is checked, plays, leaves; the deadline brings the final."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.accounts import DATABASE_FILE, OPERATOR, Accounts, BotVersion
from arena.accounts.contests import Contests
from arena.contest import checking, erasing, handing_in, rounds, season_driver, standings
from arena.contest.checking import CheckError, check_next
from arena.contest.driver import only_driver
from arena.contest.erasing import erase_author
from arena.contest.final import commit_to_key, is_final_over
from arena.contest.handing_in import hand_in
from arena.contest.layout import final_log, season_folder, season_log
from arena.contest.season_driver import SeasonDriver
from arena.contest.standings import Standings, read_rounds, read_standings
from arena.core.errors import ConfigError, UnwritableError, WorkerError
from arena.core.paths import ROOT
from arena.registry.submissions import source_path, store_bundle
from arena.runner.run import Run
from arena.schedule.blocks import Schedule
from arena.schedule.ladder_rounds import has_news
from arena.store import Store
from arena.tournament.seasons import Season
from arena.tournament.tournament import Tournament
from tests.arena.contest.homes import BROKEN, CRASHING, HANGING, START, Home, config_of, good
from tests.arena.verify.logs import checked

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


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(season_driver, "MAX_RATING_SHARE", math.inf)  # every round, however slow the machine is
    made = Home(tmp_path / "home")
    yield made
    made.close()


def playing(home: Home, season: int = 1) -> list[str]:
    """Labels of the bots in the latest round."""
    with Tournament.open(season_log(home.path, "cup", season)) as tournament:
        return [entry.label for entry in tournament.plan.schedule().entries]


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
    assert playing(home) == ["b1.1", "house:random"]
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


def test_new_versions_replace_old_ones_and_who_withdraws_leaves(home: Home) -> None:
    one, other = home.author("one"), home.author("other")
    home.hand_in(one, "a", good(0))
    mine = home.hand_in(other, "b", good(1))
    home.check()
    home.rounds()
    assert playing(home) == ["b1.1", "b2.1", "house:random"]
    home.hand_in(one, "a", good(2))
    home.accounts.submissions.withdraw(mine.bot, other)
    home.check()
    home.rounds()
    assert playing(home) == ["b1.2", "house:random"]
    home.accounts.submissions.bring_back("b1", 1, home.config.allowance, one)
    home.rounds()
    assert playing(home) == ["b1.3", "house:random"]
    assert checked(season_log(home.path, "cup", 1)).sound


def test_a_ban_keeps_matches_or_drops_them(home: Home) -> None:
    authors = [home.author(name) for name in ("one", "two", "three")]
    for author, name, place in zip(authors, "abc", range(3), strict=True):
        home.hand_in(author, name, good(place))
    home.check()
    home.rounds(2)
    home.accounts.contests.ban("cup", authors[0], "keep", OPERATOR)
    home.accounts.contests.ban("cup", authors[1], "drop", OPERATOR)
    home.rounds(2)
    found = read_standings(season_folder(home.path, "cup", 1))
    assert found is not None
    assert {row.bot for row in found.overall} == {"b1.1", "b3.1", "house:random"}
    assert len(home.driver._drivers["cup"].rounds.season.tallies[0].matches) == 3
    home.accounts.contests.unban("cup", authors[0], OPERATOR)
    home.rounds(2)
    assert "b1.1" in playing(home)
    assert checked(season_log(home.path, "cup", 1)).sound


def test_the_deadline_brings_the_final_with_the_key_of_the_beginning(home: Home) -> None:
    for number in range(3):
        home.hand_in(home.author(f"author {number}"), f"bot {number}", good(number))
    home.check()
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
    home.check()
    while not home.over:
        home.rounds()
    assert home.over == [("cup", 1)]
    assert home.accounts.contests.get("cup").state == "closed"
    assert is_final_over(home.path, "cup", 1)
    with Tournament.open(final_log(home.path, "cup", 1)) as tournament:
        (key,) = tournament.store.keys.all()
        assert (key.hash, key.disclosed is not None) == (before, True)
        assert {entry.label for entry in tournament.plan.schedule().entries} == {*playing(home)}
        assert "b4.1" in tournament.labels
    found = read_standings(season_folder(home.path, "cup", 1) / "final")
    assert found is not None
    assert found.bots == 5
    for log in (season_log(home.path, "cup", 1), final_log(home.path, "cup", 1)):
        report = checked(log)
        assert report.sound
        assert report.finished


def test_a_new_driver_goes_on_and_makes_lost_standings_again(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
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
    home.check()
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
    home.check()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    kill(home, monkeypatch, owner, at, steps=20)
    assert is_final_over(home.path, "cup", 1)
    assert home.accounts.contests.get("cup").state == "open"
    drive_to_the_end(home)
    assert published(home, "final") == [{"season": 1}]
    found = read_standings(season_folder(home.path, "cup", 1) / "final")
    assert found is not None
    assert found.bots == 2


def test_a_driver_that_rests_reads_its_standings_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
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


def test_a_season_ends_and_the_next_begins_with_the_same_bots(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds(2)
    assert home.accounts.contests.begin_season("cup", OPERATOR) == 2
    home.rounds(4)
    assert checked(season_log(home.path, "cup", 1)).finished
    assert playing(home, season=2) == ["b1.1", "house:random"]


def test_a_failing_contest_is_tried_again_and_stops_no_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.accounts.contests.add("other", {**home.config.as_data(), "name": "other"}, OPERATOR)

    def full(*_: object) -> None:
        raise UnwritableError("the disk is full", "Make room")

    home.rounds()
    assert not any("trying again" in line for line in home.said), "a bot alone has a round without matches"
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    with monkeypatch.context() as patch:
        patch.setattr(home.driver._drivers["cup"].rounds, "play", full)
        home.rounds()
    assert any("the disk is full" in line and "trying again" in line for line in home.said)
    home.rounds()
    assert season_log(home.path, "other", 1).is_file()
    home.driver._retries.clear()
    home.rounds(2)
    assert checked(season_log(home.path, "cup", 1)).sound


def test_the_source_of_an_erased_author_leaves_the_log(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", good(0))
    home.check()
    home.rounds()
    home.accounts.authors.erase(one, OPERATOR)
    home.rounds(3)
    assert playing(home) == ["house:random"]
    log = season_log(home.path, "cup", 1)
    with Store.open(log) as store:
        assert len(store.bundles()) == 1, "that of the house"
    report = checked(log)
    assert report.sound
    assert any(remark.startswith("source erased") for remark in report.remarks)


def test_the_same_source_again_is_not_checked_again(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", CRASHING)
    home.check()
    home.hand_in(one, "a", CRASHING)
    home.check()
    report = home.accounts.submissions.version("b1", 2).report
    assert report == [{"text": "The same source was checked as b1.1: refused."}]


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
        check_next(home.accounts, home.path)
    assert caught.value.label == first.label
    assert check_next(home.accounts, home.path, failed={first.label})
    assert (home.state(first), home.state(second)) == ("waiting", "valid")
    monkeypatch.setattr(checking, "check_version", check)
    assert check_next(home.accounts, home.path, failed={first.label})
    assert home.state(first) == "valid"


def test_no_source_is_removed_while_it_is_handed_in_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[bool] = []

    def spied(done: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            with contextlib.closing(sqlite3.connect(home.path / DATABASE_FILE, timeout=0.0)) as other:
                try:
                    other.execute("BEGIN IMMEDIATE")
                    alone.append(False)
                except sqlite3.OperationalError:
                    alone.append(True)
            return done(*given)

        return call

    monkeypatch.setattr(handing_in, "store_bundle", spied(store_bundle))
    monkeypatch.setattr(erasing, "source_path", spied(source_path))
    one = home.accounts.authors.get(home.author("one"))
    hand_in(home.accounts, home.path, home.config, one, "a", {"bot.py": good(0).encode()})
    assert alone == [True]
    assert erase_author(home.accounts, home.path, one.id, OPERATOR).sources == 1
    assert alone == [True, True]


def test_one_process_drives_a_home(tmp_path: Path) -> None:
    with only_driver(tmp_path), pytest.raises(ConfigError, match="another process drives"), only_driver(tmp_path):
        pass
    with only_driver(tmp_path):
        pass


def test_results_of_a_season_follow_from_its_log(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds(2)
    with Tournament.open(season_log(home.path, "cup", 1)) as tournament:
        kept = Season.read(tournament.store, tournament.plan)
    now = home.driver._drivers["cup"].rounds.season
    assert kept.schedule == now.schedule
    assert [vars(tally) for tally in kept.tallies] == [vars(tally) for tally in now.tallies]


def drive_to_the_end(home: Home, steps: int = 20) -> None:
    for _ in range(steps):
        home.rounds()
        if home.over:
            return
    raise AssertionError("the contest has not ended")


def test_a_running_driver_follows_a_deadline_that_is_moved(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    later = config_of(deadline=(START + timedelta(days=7)).isoformat())
    home.accounts.contests.configure("cup", later.as_data(), OPERATOR)
    home.now += timedelta(days=2)
    home.rounds(2)
    assert home.accounts.contests.get("cup").state == "open"
    home.now += timedelta(days=6)
    drive_to_the_end(home)
    assert home.accounts.contests.get("cup").state == "closed"


def test_a_season_that_is_changed_while_no_driver_runs_ends_before_the_next_begins(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    home.driver.close()
    home.accounts.contests.begin_season("cup", OPERATOR)
    home.driver = home.new_driver()
    home.rounds(4)
    report = checked(season_log(home.path, "cup", 1))
    assert (report.sound, report.finished) == (True, True)
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert all(key.disclosed for key in store.keys.all())
    assert playing(home, season=2) == ["b1.1", "house:random"]


def test_a_season_whose_limits_were_changed_is_ended_by_its_own(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    home.driver.close()
    changed = config_of(limits={"seconds_per_move": 0.7})
    home.accounts.contests.configure("cup", changed.as_data(), OPERATOR)
    home.driver = home.new_driver()
    home.rounds()
    assert any("begin another season" in line for line in home.said)
    home.accounts.contests.close("cup", OPERATOR)
    home.driver._retries.clear()
    drive_to_the_end(home)
    assert checked(season_log(home.path, "cup", 1)).finished


def test_an_author_who_is_erased_before_the_final_stops_nothing_and_leaves_no_source(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", good(0))
    home.hand_in(home.author("two"), "b", good(1))
    home.check()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    while not Tournament.open(season_log(home.path, "cup", 1)).store.runs.is_finished():
        home.rounds()
    home.driver.close()
    erase_author(home.accounts, home.path, one, OPERATOR)
    home.driver = home.new_driver()
    drive_to_the_end(home)
    assert is_final_over(home.path, "cup", 1)
    for log in (season_log(home.path, "cup", 1), final_log(home.path, "cup", 1)):
        report = checked(log)
        assert report.sound
        assert any(remark.startswith("source erased") for remark in report.remarks)


def test_the_source_of_an_erased_author_leaves_a_season_that_ends_right_after(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", good(0))
    home.check()
    home.rounds()
    erase_author(home.accounts, home.path, one, OPERATOR)
    home.accounts.contests.close("cup", OPERATOR)
    drive_to_the_end(home)
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert len(store.bundles()) == 1, "that of the house"


def test_a_damaged_log_of_one_contest_stops_no_other(home: Home) -> None:
    home.accounts.contests.add("aaa", {**home.config.as_data(), "name": "aaa"}, OPERATOR)
    home.accounts.contests.close("aaa", OPERATOR)
    log = season_log(home.path, "aaa", 1)
    log.parent.mkdir(parents=True)
    log.write_bytes(b"no database")
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    assert playing(home) == ["b1.1", "house:random"]
    assert any(line.startswith("aaa: ") and "trying again" in line for line in home.said)


def test_what_cannot_be_played_is_tried_again_after_a_wait(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    with monkeypatch.context() as patch:
        patch.setattr(Run, "_play_missing", lambda self: None)
        home.rounds(5)
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert store.runs.latest_run()[0] == 1
    home.driver._retries.clear()
    home.rounds()
    assert checked(season_log(home.path, "cup", 1)).sound


def test_the_key_of_a_final_is_disclosed_also_where_too_few_are_left_for_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", boards=[{"game": "epicycle", "players": [3]}])
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    drive_to_the_end(home)
    with Store.open(final_log(home.path, "cup", 1)) as store:
        assert all(key.disclosed for key in store.keys.all())
    home.close()


def test_the_deadline_closes_a_contest_to_which_nobody_came(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", house=[])
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    drive_to_the_end(home)
    assert home.accounts.contests.get("cup").state == "closed"
    home.close()


def test_a_ladder_at_rest_decides_nothing_until_an_event_comes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*of: Schedule) -> bool:
        asked.append(of)
        return has_news(*of)

    home.rounds()
    monkeypatch.setattr(rounds, "has_news", counted)
    home.rounds(5)
    assert len(asked) == 1
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    home.rounds()
    assert playing(home) == ["b1.1", "house:random"]


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
