"""A season in fast motion: its driver is killed again and again, and the log is that of an undisturbed season."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from arena.accounts import OPERATOR
from arena.accounts.database import utc_now
from arena.contest.layout import final_log, season_log
from arena.contest.logged_bots import logged_bots
from arena.contest.rounds import Rounds
from arena.contest.season_driver import ladder_of
from arena.contest.standings import read_standings
from arena.core.errors import AccountError, BotError
from arena.plan.bots import ResolvedBot
from arena.plan.model import ResolvedPlan
from arena.store import Store
from arena.tournament.seasons import read_event
from tests.arena.contest.homes import BROKEN, CRASHING, HANGING, OPTIONS, Home, good
from tests.arena.contest.test_seasons import content
from tests.arena.verify.logs import checked

AUTHORS, KILLS = 6, 8
MAX_SECONDS = 240.0
"""From the last kill to the end of the final."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home", deadline=(utc_now() + timedelta(seconds=60)).isoformat())
    yield made
    made.close()


def start(home: Home) -> subprocess.Popen[bytes]:
    """Start a driver."""
    command = [sys.executable, "-m", "arena", "contest", "drive", "--workers", "2", "--home", str(home.path)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def test_a_season_with_kills_equals_one_without(home: Home, tmp_path: Path) -> None:
    chance = random.Random(1)
    home.now = utc_now()
    authors = [home.author(f"author {number}") for number in range(AUTHORS)]
    sources = [good(0), HANGING, good(1), CRASHING, good(2), BROKEN]
    driver = start(home)
    for kill in range(KILLS):
        author = chance.randrange(AUTHORS)
        try:
            home.hand_in(authors[author], f"bot {author}", chance.choice([sources[author], good(kill)]))
        except (AccountError, BotError) as error:
            assert "may have" in str(error) or "banned" in str(error)
        if kill == KILLS // 2:
            home.accounts.contests.ban("cup", authors[0], "drop", OPERATOR)
        time.sleep(chance.uniform(1.0, 5.0))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        driver = start(home)
    ends = time.monotonic() + MAX_SECONDS
    while home.accounts.contests.get("cup").state != "closed":
        assert time.monotonic() < ends, "the contest does not come to its end"
        time.sleep(0.5)
    driver.terminate()
    assert driver.wait(30) == 0
    log = season_log(home.path, "cup", 1)
    for each in (log, final_log(home.path, "cup", 1)):
        report = checked(each)
        assert report.sound
        assert report.finished
    assert read_standings(log.parent) is not None
    assert content(log) == content(replayed(home, log, tmp_path / "undisturbed.db"))


def replayed(home: Home, log: Path, target: Path) -> Path:
    """Play the season again without a disturbance, with the same events before the same rounds."""
    with Store.open(log) as store:
        key, rows = store.keys.all()[0], store.runs.events()
        bots: dict[str, ResolvedBot] = {}
        for plan in dict.fromkeys(plan for _, plan in store.runs.by_number()):
            bots |= bots_of_plan(store, plan)
    with Store.create(target) as store:
        store.keep_key(key.key, key.created)
        rounds = Rounds("contests/cup/season-1", store, ladder_of(home.config))
        with Store.open(log) as original:
            last = max(number for number, _ in enumerate(dict.fromkeys(p for _, p in original.runs.by_number()), 1))
        for number in range(1, last + 1):
            events = [read_event(row) for row in rows if row.round == number]
            schedule = rounds.next(events)
            assert schedule is not None
            assert rounds.play(schedule, events, bots, OPTIONS).complete
    return target


def bots_of_plan(store: Store, plan: str) -> dict[str, ResolvedBot]:
    """Return the bots of a plan by label."""
    return dict(logged_bots(store, ResolvedPlan.read(json.loads(plan), "plan").schedule()))
