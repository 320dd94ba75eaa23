"""A nightly contest plays one round a night, whatever becomes of the clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from arena.contest.layout import season_log
from arena.contest.nights import is_due, night_of
from arena.store import Store
from tests.arena.contest.homes import START, Home, config_of, good

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
CONFIG = config_of(schedule="nightly", nightly_at="02:00", deadline=None)
BERLIN = config_of(schedule="nightly", nightly_at="02:30", time_zone="Europe/Berlin", deadline=None)


def ticks(start: datetime, last: timedelta) -> Iterator[datetime]:
    """Times of a clock that goes on for a while."""
    for number in range(last // (5 * MINUTE)):
        yield start + number * 5 * MINUTE


def played(times: Iterable[datetime], config=CONFIG, opened: datetime = START) -> list[datetime]:
    """When rounds were begun by a driver that looks at these times."""
    started: list[datetime] = []
    for time in times:
        if is_due(time, opened, started, config):
            started.append(time)
    return started


def nights(started: list[datetime], config=CONFIG) -> list[date]:
    """The nights of rounds, in their order; each has one."""
    found = [night_of(time, config) for time in started]
    assert set(Counter(found).values()) <= {1}
    return sorted(found)


def test_a_round_begins_each_night_at_its_hour() -> None:
    started = played(ticks(START, 3 * DAY))
    assert started == [START.replace(hour=2) + number * DAY for number in (1, 2, 3)]


def test_a_contest_that_opens_later_waits_for_the_night_after() -> None:
    opened = START + 2 * DAY
    assert played(ticks(opened, DAY), opened=opened) == [START.replace(hour=2) + 3 * DAY]


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)])
def test_the_nights_of_a_change_of_daylight_saving_have_one_round_each(day: datetime) -> None:
    started = played(ticks(day, 3 * DAY), BERLIN, day)
    assert nights(started, BERLIN) == [day.date() + number * DAY for number in (1, 2, 3)]
    local = [f"{time.astimezone(ZoneInfo('Europe/Berlin')):%H:%M}" for time in started]
    assert local == (["03:00", "02:30", "02:30"] if day.month == 3 else ["02:30"] * 3), "half past two is not, or twice"


@pytest.mark.parametrize("jump", [-3 * DAY, -DAY, -HOUR, HOUR, DAY, 3 * DAY, 400 * DAY])
@pytest.mark.parametrize("at", [13 * HOUR, 14 * HOUR, 14 * HOUR + 5 * MINUTE, 20 * HOUR], ids=str)
@pytest.mark.parametrize("returns", [True, False])
def test_a_clock_that_jumps_brings_no_second_round_and_takes_none(
    jump: timedelta, at: timedelta, returns: bool
) -> None:
    opened = START - 4 * DAY
    before = [*ticks(START, at + 5 * MINUTE)]
    wrong = [*ticks(before[-1] + jump, 30 * HOUR)]
    after = [*ticks((before[-1] if returns else wrong[-1]) + (30 * HOUR if returns else 5 * MINUTE), 3 * DAY)]
    found = nights(played([*before, *wrong, *after], opened=opened))
    seen = {night_of(time, CONFIG) for time in (*before, *wrong, *after)}
    assert found == sorted(night for night in seen if night > night_of(opened, CONFIG))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    made = Home(tmp_path / "home", schedule="nightly", nightly_at="02:00", deadline=None)
    monkeypatch.setattr("arena.runner.run.datetime", SimpleNamespace(now=lambda zone: made.now))
    made.hand_in(made.author("one"), "a", good(0))
    made.check()
    yield made
    made.close()


def test_a_driver_waits_for_its_hour_and_plays_one_round_though_it_is_started_again(home: Home) -> None:
    assert not home.driver.step()
    home.now += timedelta(hours=13)
    assert not home.driver.step(), "it is one o'clock"
    home.now += timedelta(hours=2)
    assert home.driver.step()
    assert not home.driver.step(), "one round a night"
    home.now -= timedelta(hours=2)
    assert not home.driver.step(), "the clock was set back"
    home.driver.close()
    home.driver = home.new_driver()
    home.now += timedelta(hours=1, minutes=30)
    assert not home.driver.step(), "and the hour came again"
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert len(store.runs.plan_starts()) == 1
    home.now += timedelta(days=1)
    assert home.driver.step()
    with Store.open(season_log(home.path, "cup", 1)) as store:
        assert len(store.runs.plan_starts()) == 2
    assert not any("trying again" in line for line in home.said)
