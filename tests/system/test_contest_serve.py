"""`arena contest serve`: a server with a driver beside it, which is started again when it dies, and ends with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.accounts import Accounts
from arena.contest.layout import season_folder
from arena.contest.standings import read_standings
from tests.support.standing import DRIVER, SERVER, StandingArena, Visitor, is_running
from tests.support.tournaments import arena, wait_until

CONFIG = """
name = "cup"
house = ["random", "greedy"]
round_blocks = 2
placement_blocks = 1
boards = [{ game = "epicycle", players = 2 }]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a contest between bots of the house."""
    (tmp_path / "cup.toml").write_text(CONFIG)
    home = tmp_path / "home"
    assert arena("contest", "init", "cup.toml", "--home", home, folder=tmp_path).returncode == 0
    return home


@pytest.fixture
def standing(home: Path, tmp_path: Path) -> Iterator[StandingArena]:
    with StandingArena(home, tmp_path, workers=1) as started:
        yield started


def round_of(home: Path) -> int:
    """The latest round that is complete."""
    found = read_standings(season_folder(home, "cup", 1))
    return found.round if found else 0


def goes_on(home: Path) -> None:
    before = round_of(home)
    wait_until(lambda: round_of(home) > before, "another round is played")


def driver_of(standing: StandingArena) -> int:
    found: list[int] = []
    wait_until(lambda: found.extend(standing.processes()[DRIVER]) or found, "there is a driver")
    return found[0]


def test_a_driver_that_is_killed_is_started_again_and_pages_are_shown_meanwhile(
    standing: StandingArena, home: Path
) -> None:
    goes_on(home)
    first = driver_of(standing)
    os.kill(first, signal.SIGKILL)
    reader = Visitor(standing)
    assert reader.get("/contests/cup").status == 200
    reader.close()
    wait_until(lambda: driver_of(standing) != first, "there is another driver")
    goes_on(home)
    assert "the driver ended with -9; starting it again in 0.5 s" in standing.said()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_server_and_driver_and_all_below_them(
    standing: StandingArena, home: Path, number: signal.Signals
) -> None:
    goes_on(home)
    assert standing.end(number) == 0
    before = round_of(home)
    standing.start()
    wait_until(lambda: round_of(home) > before, "it goes on where it was")


def test_a_driver_ends_when_its_server_is_killed_and_the_next_server_goes_on(
    standing: StandingArena, home: Path
) -> None:
    goes_on(home)
    driver = driver_of(standing)
    standing.kill(SERVER)
    wait_until(lambda: not is_running(driver), "the driver has ended")
    goes_on(home)


def test_a_second_server_takes_over_when_the_first_ends(standing: StandingArena, home: Path, tmp_path: Path) -> None:
    goes_on(home)
    (tmp_path / "second").mkdir()
    with StandingArena(home, tmp_path / "second", workers=1) as second:
        wait_until(lambda: "another process drives the contests of this home" in second.said(), "its driver is told")
        assert standing.end() == 0
        goes_on(home)
        assert second.end() == 0


def test_a_port_in_use_is_named_and_no_driver_is_left(standing: StandingArena, home: Path, tmp_path: Path) -> None:
    port = standing.address.rpartition(":")[2]
    ended = arena("contest", "serve", "--port", port, "--home", tmp_path / "other", folder=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == f"error: --port {port}: is in use by another program; choose another, or 0 for any\n"
    with Accounts.open(home) as accounts:
        assert accounts.contests.get("cup").state == "open"
    goes_on(home)
