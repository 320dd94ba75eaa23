"""A contest drives itself: bots play, are replaced and leave; seasons follow one another; failures stop no others."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.accounts import DATABASE_FILE, OPERATOR
from arena.contest import erasing, handing_in, rounds
from arena.contest.driver import only_driver
from arena.contest.erasing import erase_author
from arena.contest.final import is_final_over
from arena.contest.handing_in import hand_in
from arena.contest.layout import final_log, season_folder, season_log
from arena.contest.standings import read_standings
from arena.core.errors import ConfigError, UnwritableError
from arena.registry.submissions import source_path, store_bundle
from arena.runner.run import Run
from arena.schedule.blocks import Schedule
from arena.schedule.ladder_rounds import has_news
from arena.store import Store
from arena.tournament.seasons import Season
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from tests.arena.contest.homes import START, Home, config_of, good
from tests.arena.verify.logs import checked


def test_new_versions_replace_old_ones_and_who_withdraws_leaves(home: Home) -> None:
    one, other = home.author("one"), home.author("other")
    home.hand_in(one, "a", good(0))
    mine = home.hand_in(other, "b", good(1))
    home.pass_checks()
    home.rounds()
    assert home.playing() == ["b1.1", "b2.1", "house:random"]
    home.hand_in(one, "a", good(2))
    home.accounts.submissions.withdraw(mine.bot, other)
    home.pass_checks()
    home.rounds()
    assert home.playing() == ["b1.2", "house:random"]
    home.accounts.submissions.bring_back("b1", 1, home.config.allowance, one)
    home.rounds()
    assert home.playing() == ["b1.3", "house:random"]
    assert checked(season_log(home.path, "cup", 1)).sound


def test_a_ban_keeps_matches_or_drops_them(home: Home) -> None:
    authors = [home.author(name) for name in ("one", "two", "three")]
    for author, name, place in zip(authors, "abc", range(3), strict=True):
        home.hand_in(author, name, good(place))
    home.pass_checks()
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
    assert "b1.1" in home.playing()
    assert checked(season_log(home.path, "cup", 1)).sound


def test_a_season_ends_and_the_next_begins_with_the_same_bots(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds(2)
    assert home.accounts.contests.begin_season("cup", OPERATOR) == 2
    home.rounds(4)
    assert checked(season_log(home.path, "cup", 1)).finished
    assert home.playing(2) == ["b1.1", "house:random"]


def test_a_failing_contest_is_tried_again_and_stops_no_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.accounts.contests.add("other", {**home.config.as_data(), "name": "other"}, OPERATOR)

    def full(*_: object) -> None:
        raise UnwritableError("the disk is full", "Make room")

    home.rounds()
    assert not any("trying again" in line for line in home.said), "a bot alone has a round without matches"
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
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
    home.pass_checks()
    home.rounds()
    home.accounts.authors.erase(one, OPERATOR)
    home.rounds(3)
    assert home.playing() == ["house:random"]
    log = season_log(home.path, "cup", 1)
    with Store.open(log) as store:
        assert len(store.bots.bundles()) == 1, "that of the house"
    report = checked(log)
    assert report.sound
    assert any(remark.startswith("source erased") for remark in report.remarks)


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
    home.pass_checks()
    home.rounds(2)
    with Tournament.open(season_log(home.path, "cup", 1)) as tournament:
        kept = Season.read(tournament.store, tournament.plan)
    now = home.driver._drivers["cup"].rounds.season
    assert kept.schedule == now.schedule
    assert [vars(tally) for tally in kept.tallies] == [vars(tally) for tally in now.tallies]


def test_a_running_driver_follows_a_deadline_that_is_moved(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    later = config_of(deadline=(START + timedelta(days=7)).isoformat())
    home.accounts.contests.configure("cup", later.as_data(), OPERATOR)
    home.now += timedelta(days=2)
    home.rounds(2)
    assert home.accounts.contests.get("cup").state == "open"
    home.now += timedelta(days=6)
    home.drive_to_the_end()
    assert home.accounts.contests.get("cup").state == "closed"


def test_a_season_that_is_changed_while_no_driver_runs_ends_before_the_next_begins(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    home.driver.close()
    home.accounts.contests.begin_season("cup", OPERATOR)
    home.driver = home.new_driver()
    home.rounds(4)
    report = checked(season_log(home.path, "cup", 1))
    assert (report.sound, report.finished) == (True, True)
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert all(key.disclosed for key in store.keys.all())
    assert home.playing(2) == ["b1.1", "house:random"]


def test_a_season_whose_limits_were_changed_is_ended_by_its_own(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    home.driver.close()
    changed = config_of(limits={"seconds_per_move": 6.0})
    home.accounts.contests.configure("cup", changed.as_data(), OPERATOR)
    home.driver = home.new_driver()
    home.rounds()
    assert any("begin another season" in line for line in home.said)
    home.accounts.contests.close("cup", OPERATOR)
    home.driver._retries.clear()
    home.drive_to_the_end()
    assert checked(season_log(home.path, "cup", 1)).finished


def test_an_author_who_is_erased_before_the_final_stops_nothing_and_leaves_no_source(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", good(0))
    home.hand_in(home.author("two"), "b", good(1))
    home.pass_checks()
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    while not Tournament.open(season_log(home.path, "cup", 1)).store.runs.is_finished():
        home.rounds()
    home.driver.close()
    erase_author(home.accounts, home.path, one, OPERATOR)
    home.driver = home.new_driver()
    home.drive_to_the_end()
    assert is_final_over(home.path, "cup", 1)
    for log in (season_log(home.path, "cup", 1), final_log(home.path, "cup", 1)):
        report = checked(log)
        assert report.sound
        assert any(remark.startswith("source erased") for remark in report.remarks)


def test_the_source_of_an_erased_author_leaves_a_season_that_ends_right_after(home: Home) -> None:
    one = home.author("one")
    home.hand_in(one, "a", good(0))
    home.pass_checks()
    home.rounds()
    erase_author(home.accounts, home.path, one, OPERATOR)
    home.accounts.contests.close("cup", OPERATOR)
    home.drive_to_the_end()
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert len(store.bots.bundles()) == 1, "that of the house"


def test_a_damaged_log_of_one_contest_stops_no_other(home: Home) -> None:
    home.accounts.contests.add("aaa", {**home.config.as_data(), "name": "aaa"}, OPERATOR)
    home.accounts.contests.close("aaa", OPERATOR)
    log = season_log(home.path, "aaa", 1)
    log.parent.mkdir(parents=True)
    log.write_bytes(b"no database")
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    home.rounds()
    assert home.playing() == ["b1.1", "house:random"]
    assert any(line.startswith("aaa: ") and "trying again" in line for line in home.said)


def test_what_cannot_be_played_is_tried_again_after_a_wait(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    with monkeypatch.context() as patch:
        patch.setattr(Run, "play_missing", lambda self, worker: None)
        home.rounds(5)
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert store.runs.latest_run()[0] == 1
    home.driver._retries.clear()
    home.rounds()
    assert checked(season_log(home.path, "cup", 1)).sound


def test_the_deadline_closes_a_contest_to_which_nobody_came(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", house=[])
    home.rounds()
    home.now += timedelta(days=1, seconds=1)
    home.drive_to_the_end()
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
    home.pass_checks()
    home.rounds()
    assert home.playing() == ["b1.1", "house:random"]


def test_a_driver_that_is_told_to_stop_while_its_round_fails_stops(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.pass_checks()
    failures: list[str] = []

    def fail(run: Run, worker: WorkerProcess) -> None:
        signal.raise_signal(signal.SIGTERM)
        failures.append("once")
        raise UnwritableError("the disk is full", "Make room")

    monkeypatch.setattr(Run, "play_missing", fail)
    monkeypatch.setattr("arena.contest.driver.FIRST_RETRY_SECONDS", 0.0)
    home.driver.run(until=lambda: len(failures) > 1)
    assert failures == ["once"]


def test_a_round_is_played_by_the_workers_of_the_last_one_until_all_have_rested_long(home: Home) -> None:
    home.hand_in(home.author("one"), "a", good(0))
    home.check()
    numbers, rounds = [], []
    for _ in range(3):
        home.rounds()
        with home.driver.reserve.worker() as worker:
            numbers.append(worker.process)
        rounds.append(home.driver._drivers["cup"].rounds.number)
    assert (len({*numbers}), rounds) == (1, [1, 2, 3])
    home.driver.reserve.stop_idle(3600.0)
    assert worker.supervisor is not None
    home.driver.reserve.stop_idle()
    assert worker.supervisor is None
    home.rounds()
    assert checked(season_log(home.path, "cup", 1)).sound


def test_a_board_that_too_few_bots_play_does_not_count(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", boards=[{"game": "epicycle", "players": [2, 3]}], house=["random", "greedy"])
    home.rounds(2)
    found = read_standings(season_folder(home.path, "cup", 1))
    home.close()
    assert found is not None
    assert [len(board.rows) for board in found.boards] == [2, 0]
    assert sum(row.score or 0.0 for row in found.overall) == pytest.approx(1.0)
