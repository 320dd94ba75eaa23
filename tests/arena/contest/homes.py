"""Homes with a contest, in which a test hands in bots and is the clock."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from arena.accounts import OPERATOR, Accounts, BotVersion
from arena.contest.checking import check_begun, next_version
from arena.contest.config import ContestConfig, contest_from
from arena.contest.driver import Driver
from arena.contest.layout import season_log
from arena.registry.submissions import store_bundle
from arena.registry.uploads import uploaded_bot
from arena.runner.options import RunOptions
from arena.tournament.tournament import Tournament

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OPTIONS = RunOptions(1, "local")
GOOD = """
from bots import Bot


class Good(Bot):
    \"\"\"Take the legal action of a place.\"\"\"

    def choose(self, state):
        actions = state.legal_actions()
        return actions[{place} % len(actions)]
"""
HANGING = """
from bots import Bot


class Hanging(Bot):
    def choose(self, state):
        while True:
            pass
"""
CRASHING = """
from bots import Bot


class Crashing(Bot):
    def choose(self, state):
        raise RuntimeError("broken on purpose")
"""
BROKEN = """
import no_such_module

from bots import Bot


class Broken(Bot):
    def choose(self, state):
        return 0
"""


def good(place: int) -> str:
    """Return the source of a bot that plays; another one for each place."""
    return GOOD.format(place=place)


def config_of(**more: Any) -> ContestConfig:
    """Return the configuration of a short contest."""
    data = {
        "name": "cup",
        "boards": [{"game": "epicycle", "players": [2]}],
        "placement_blocks": 2,
        "final_blocks": 1,
        "deadline": (START + timedelta(days=1)).isoformat(),
        "limits": {"seconds_per_move": 5.0, "seconds_to_start": 60.0, "seconds_to_prepare": 60.0},
        "submissions_per_day": 100,
    }
    return contest_from({**data, **more})


class Home:
    """A home with one contest."""

    def __init__(self, path: Path, **config: Any) -> None:
        self.path, self.now, self.config = path, START, config_of(**config)
        self.accounts = Accounts(path, lambda: self.now)
        self.accounts.contests.add("cup", self.config.as_data(), OPERATOR)
        self.said: list[str] = []
        self.over: list[tuple[str, int]] = []
        self.driver = self.new_driver()

    def new_driver(self) -> Driver:
        """Return a driver that begins with what is there, as after a kill."""
        return Driver(self.accounts, self.path, OPTIONS, self.said.append, lambda *of: self.over.append(of))

    def author(self, name: str) -> str:
        """Return the id of a new author who takes part."""
        author = self.accounts.authors.add(name, "author", OPERATOR)
        self.accounts.contests.join("cup", author.id, OPERATOR)
        return author.id

    def hand_in(self, author: str, name: str, source: str) -> BotVersion:
        """Hand in a source."""
        bundle, class_name = uploaded_bot({"bot.py": source.encode()})
        store_bundle(bundle, self.path)
        of_bot = (bundle.hash, bundle.module, class_name)
        return self.accounts.submissions.hand_in("cup", author, name, of_bot, self.config.allowance)[0]

    def check_next(self, failed: Container[str] = frozenset()) -> bool:
        """Check the version that is next; return whether there was one."""
        version = next_version(self.accounts, failed)
        if version is None:
            return False
        self.accounts.submissions.begin_check(version)
        with self.driver.reserve.worker() as worker:
            check_begun(self.accounts, version, self.path, worker)
        return True

    def check(self) -> None:
        """Check all that waits."""
        while self.check_next():
            pass

    def pass_checks(self) -> None:
        """Mark all that waits as valid without a check, where a test is about what comes after: a check takes long."""
        while (version := next_version(self.accounts)) is not None:
            self.accounts.submissions.begin_check(version)
            self.accounts.submissions.end_check(version, True)

    def state(self, version: BotVersion) -> str:
        """Return the state of a version."""
        return self.accounts.submissions.version(version.bot, version.number).state

    def rounds(self, number: int = 1) -> None:
        """Drive rounds."""
        for _ in range(number):
            self.driver.step()

    def drive_to_the_end(self, steps: int = 20) -> None:
        """Drive rounds until the contest has ended."""
        for _ in range(steps):
            self.rounds()
            if self.over:
                return
        raise AssertionError("the contest has not ended")

    def playing(self, season: int = 1) -> list[str]:
        """Return the labels of the bots in the latest round."""
        with Tournament.open(season_log(self.path, "cup", season)) as tournament:
            return [entry.label for entry in tournament.plan.schedule().entries]

    def close(self) -> None:
        """Close everything."""
        self.driver.close()
        self.accounts.close()
