"""Several versions are checked at once, authors take turns, and what the machine fails is tried again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.accounts import Accounts, BotVersion
from arena.contest import check_pool, checking
from arena.contest.check_pool import CheckPool
from arena.contest.checking import next_version
from arena.workers import declarations
from arena.workers.reserve import WorkerReserve
from tests.arena.contest.homes import Home, good
from tests.support.tournaments import PATIENCE, wait_until


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(check_pool, "POLL_SECONDS", 0.01)
    made = Home(tmp_path / "home", bots_per_author=10)
    yield made
    made.close()


class Checks:
    """Stands for checks, which go on until a test ends them."""

    def __init__(self, home: Home, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
        self.begun: list[str] = []
        self.ends: dict[str, threading.Event] = {}
        self.fail: set[str] = set()
        self.stopping = threading.Event()
        self.said: list[str] = []
        monkeypatch.setattr(checking, "check_version", self._check)
        self.pool = CheckPool(home.accounts, home.path, size, self.stopping, self.said.append, WorkerReserve())

    def __enter__(self) -> Checks:
        self.pool.start()
        return self

    def __exit__(self, *of_error: object) -> None:
        self.stopping.set()
        for end in [*self.ends.values()]:
            end.set()
        self.pool.stop()

    def _check(self, accounts: Accounts, version: BotVersion, *_: Any) -> bool:
        end = self.ends.setdefault(version.label, threading.Event())
        self.begun.append(version.label)
        assert end.wait(PATIENCE)
        if version.label in self.fail:
            self.fail.discard(version.label)
            raise OSError("no process can be started")
        return True

    def end(self, label: str) -> None:
        """Let the check of a version end."""
        self.ends[label].set()

    def has_begun(self, *labels: str) -> Callable[[], bool]:
        return lambda: self.begun == [*labels]


def test_as_many_are_checked_at_once_as_may_be(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        home.hand_in(home.author(f"author {number}"), f"bot {number}", good(number))
    with Checks(home, monkeypatch, 2) as checks:
        wait_until(checks.has_begun("b1.1", "b2.1"), "two are being checked")
        assert [version.label for version in home.accounts.submissions.waiting()] == ["b3.1"]
        checks.end("b2.1")
        wait_until(checks.has_begun("b1.1", "b2.1", "b3.1"), "the third one is")


def test_versions_of_one_bot_are_checked_one_after_the_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = home.author("one"), home.author("other")
    for place in range(2):
        home.hand_in(one, "a", good(place))
    home.hand_in(other, "b", good(2))
    with Checks(home, monkeypatch, 3) as checks:
        wait_until(checks.has_begun("b1.1", "b2.1"), "one version of each is being checked")
        assert next_version(home.accounts) is None
        checks.end("b1.1")
        wait_until(checks.has_begun("b1.1", "b2.1", "b1.2"), "then the other version is")


def test_authors_take_turns(home: Home) -> None:
    one, other, third = (home.author(name) for name in ("one", "other", "third"))
    for number in range(4):
        home.hand_in(one, f"bot {number}", good(number))
    home.hand_in(other, "b", good(0))
    home.hand_in(other, "c", good(1))
    home.hand_in(third, "d", good(0))
    order = ["b1.1", "b5.1", "b7.1", "b2.1", "b6.1", "b3.1", "b4.1"]
    submissions = home.accounts.submissions
    assert [version.label for version in submissions.waiting()] == order
    submissions.begin_check(submissions.waiting()[0])
    assert [version.label for version in submissions.waiting()] == order[1:], "what is being checked counts"
    begun = submissions.waiting(1)[0]
    submissions.begin_check(begun)
    submissions.end_check(begun, True)
    assert [version.label for version in submissions.waiting(2)] == ["b6.1", "b7.1"]


def test_a_bot_that_is_withdrawn_while_it_is_checked_has_no_second_check_beside_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = home.author("one")
    version = home.hand_in(author, "a", good(0))
    with Checks(home, monkeypatch, 2) as checks:
        wait_until(checks.has_begun("b1.1"), "it is being checked")
        home.accounts.submissions.withdraw(version.bot, author)
        home.hand_in(author, "a", good(1))
        other = home.hand_in(home.author("other"), "b", good(2))
        wait_until(checks.has_begun("b1.1", other.label), "another bot is being checked")
        checks.end("b1.1")
        wait_until(checks.has_begun("b1.1", other.label, "b1.2"), "its second version is being checked")
        assert home.state(version) == "refused"


def test_what_the_machine_fails_is_tried_again_and_others_are_not_begun_anew(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (home.hand_in(home.author(name), name, good(0)) for name in ("one", "two"))
    with Checks(home, monkeypatch, 2) as checks:
        checks.fail.add(first.label)
        wait_until(checks.has_begun("b1.1", "b2.1"), "both are being checked")
        checks.end(first.label)
        wait_until(lambda: home.state(first) == "valid", "the first one is checked again")
        assert home.state(second) == "checking"
        assert checks.begun == ["b1.1", "b2.1", "b1.1"]
        assert checks.said == [
            "b1.1 could not be checked: no process can be started; it is tried again in 0.01 s, others first"
        ]


def test_what_a_checker_that_died_left_is_checked_anew(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    version = home.hand_in(home.author("one"), "a", good(0))
    home.accounts.submissions.begin_check(version)
    home.accounts.submissions.report(version, {"text": "left over"})
    with Checks(home, monkeypatch, 2) as checks:
        wait_until(checks.has_begun("b1.1"), "it is being checked")
        checks.end(version.label)
        wait_until(lambda: home.state(version) == "valid", "it is checked")
        assert home.accounts.submissions.version("b1", 1).report == []


def test_a_bot_that_hangs_while_it_is_checked_is_left_when_checks_are_stopped(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declarations, "LOAD_SECONDS", 2 * PATIENCE)
    version = home.hand_in(home.author("one"), "a", f"{good(0)}\n\nwhile True:\n    pass\n")
    stopping, said, submissions = threading.Event(), list[str](), home.accounts.submissions
    pool = CheckPool(home.accounts, home.path, 1, stopping, said.append, WorkerReserve())
    pool.start()
    wait_until(lambda: submissions.version(version.bot, 1).report, "it is about to be loaded")
    stopping.set()
    ending = threading.Thread(target=pool.stop, daemon=True)
    ending.start()
    ending.join(PATIENCE)
    assert not ending.is_alive(), "it waits for the bot to be loaded, which may take twice as long"
    assert home.state(version) == "waiting"
    assert submissions.version(version.bot, 1).report == []
    assert said == []
