"""Configurations of contests: ten lines are enough, and whatever is wrong is one line."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

import engine
from arena.contest.config import contest_from, read_contest
from arena.contest.entrants import boards_of
from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError
from arena.core.paths import ROOT

TEN_LINES = """
name = "spring"
title = "Spring cup"
time_zone = "Europe/Berlin"
deadline = 2026-06-30T23:59:00
[[boards]]
game = "epicycle"
players = [2, 3]
"""
BASE = {"name": "spring", "boards": [{"game": "epicycle", "players": 2}]}


def test_ten_lines_make_a_contest(tmp_path):
    path = tmp_path / "contest.toml"
    path.write_text(TEN_LINES)
    config = read_contest(path)
    assert config.deadline == datetime(2026, 6, 30, 21, 59, tzinfo=UTC)
    assert config.local(config.deadline) == "30 June 2026, 23:59 (Europe/Berlin)"
    assert (config.entry, config.schedule, config.house) == ("invited", "ladder", ("random",))


def test_a_configuration_reads_the_same_from_its_own_data():
    config = contest_from({**BASE, "deadline": "2026-05-01T18:00:00+02:00", "house": ["random", "greedy"]})
    assert contest_from(config.as_data()) == config
    assert config.deadline == datetime(2026, 5, 1, 16, tzinfo=UTC)


def test_boards_have_their_own_adjudication_or_that_of_the_contest():
    own = {"game": "epicycle", "players": [2, 3], "adjudication": {"certainty": 50}}
    boards = [{"game": "magic_mids", "players": 2}, own, {"game": "midgard", "players": 2, "adjudication": {}}]
    config = contest_from({**BASE, "boards": boards, "adjudication": {"agreement": 3}})
    found = [board.adjudication for board in boards_of(config)]
    certain = AdjudicationRules(certainty=50)
    assert found == [AdjudicationRules(agreement=3), certain, certain, None]
    assert [board.adjudication for board in boards_of(contest_from(BASE))] == [None]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "a/b"}, "name = 'a/b'"),
        ({"boards": []}, "boards"),
        ({"boards": [{"game": "chess"}]}, "chess"),
        ({"boards": [{"game": "epicycle", "players": 9}]}, "9"),
        ({"time_zone": "Mars"}, "must be a time zone"),
        ({"time_zone": "../../etc/passwd"}, "must be a time zone"),
        ({"deadline": "soon"}, "must be a time such as"),
        ({"opens": "2026-05-02T00:00:00", "deadline": "2026-05-01T00:00:00"}, "must be after opens"),
        ({"freeze": "2026-05-02T00:00:00", "deadline": "2026-05-01T00:00:00"}, "must not be after the deadline"),
        ({"deadlines": "2026-05-02"}, "did you mean 'deadline'"),
        ({"entry": "code"}, "not a choice"),
        ({"house": ["uct:"]}, "house"),
        ({"bots_per_author": 0}, "must be 1 or more"),
        ({"nightly_at": "25:00"}, "must be of the form"),
        ({"limits": {"memory": 1}}, "must be 64 or more"),
        ({"adjudication": {"threshold": 0.1}}, "must be 0.5 or more"),
    ],
)
def test_says_in_one_line_what_is_wrong(changes, words):
    with pytest.raises(ConfigError) as caught:
        contest_from({**BASE, **changes}, "contest.toml")
    assert str(caught.value).startswith("contest.toml: ")
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_game_with_utilities_of_its_own_is_not_adjudicated(monkeypatch):
    game = engine.load_game("epicycle", 2)
    own = SimpleNamespace(spec=game.spec, type=dataclasses.replace(game.type, own_utilities=True))
    monkeypatch.setattr("arena.contest.config.engine.load_game", lambda spec, players: own)
    with pytest.raises(ConfigError, match=r"^contest: boards\[0\]: adjudication: not with epicycle") as caught:
        contest_from({**BASE, "adjudication": {"agreement": 3}})
    assert "\n" not in str(caught.value)
    assert contest_from(BASE).name == "spring"


def test_bots_can_be_handed_in_between_opening_and_deadline():
    config = contest_from({**BASE, "opens": "2026-05-01T00:00:00", "deadline": "2026-05-02T00:00:00"})
    first, last, late = (datetime(2026, 5, day, tzinfo=UTC) for day in (1, 2, 3))
    assert [config.is_open(now) for now in (first, last, late)] == [True, True, False]
    assert config.is_open(late, own_deadline=late)
    assert not config.is_open(datetime(2026, 4, 30, tzinfo=UTC))


def test_shipped_configurations_of_contests_are_read() -> None:
    for path in sorted((ROOT / "configs" / "contests").glob("*.toml")):
        assert read_contest(path).name
