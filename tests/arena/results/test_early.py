"""A leaderboard that is made while other boards are played is the one that is made at the end."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from arena.results import early as module
from arena.results.early import EarlyLeaderboards
from arena.results.leaderboard_files import render_board
from arena.results.leaderboards import best, leaderboards
from arena.schedule.kinds.adaptive import Adaptive
from arena.schedule.kinds.round_robin import RoundRobin
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.faulty import fill_winning, sample
from tests.support.samples import board, fill, schedule

PLAIN = schedule("abcd", players=(2, 3), blocks=6)
ADAPTIVE = schedule(
    "abcd", boards=tuple(board(2, range(4), 3, opening=n) for n in range(2)), scheduler=Adaptive(first_blocks=3)
)


def early_and_late(log, plan):
    """All leaderboards by number, made early one after the other, and together at the end."""
    with Store.create(log) as store:
        early = EarlyLeaderboards(Tournament(store, plan))
        for number in range(len(plan.boards)):
            early.add(number)
            early.update()
            found = early.end()
        late = leaderboards(Tournament(store, plan))
    return found, late


def check_same(log, plan):
    found, late = early_and_late(log, plan)
    assert list(found) == list(late)
    for number, frame in late.items():
        pd.testing.assert_frame_equal(found[number], frame)
        assert found[number].attrs == frame.attrs
        for kind in ("csv", "json", "md", "parquet"):
            assert render_board(plan.boards[number], found[number], kind) == render_board(
                plan.boards[number], frame, kind
            )
    return found


def test_it_is_the_same_byte_for_byte(tmp_path):
    fill(tmp_path / "m.db", PLAIN)
    found = check_same(tmp_path / "m.db", PLAIN)
    assert [len(frame) for frame in found.values()] == [4, 4]


def test_also_on_an_adaptive_board(tmp_path):
    fill(tmp_path / "m.db", dataclasses.replace(ADAPTIVE, scheduler=RoundRobin()))
    check_same(tmp_path / "m.db", ADAPTIVE)


def test_also_where_a_bot_is_disqualified_who_is_not_among_the_best(tmp_path):
    plan, forfeits = sample(after=4)
    fill_winning(tmp_path / "m.db", plan, forfeits)
    (frame,) = check_same(tmp_path / "m.db", plan).values()
    assert frame["disqualified"].notna().sum() == 1
    assert [label for label, _ in best(frame)] == frame["bot"][:2].tolist()
    assert [rating for _, rating in best(frame)] == frame["rating"][:2].tolist()


def test_a_board_made_early_is_not_made_again(tmp_path):
    fill(tmp_path / "m.db", PLAIN)
    begun: list[int] = []
    with Store.create(tmp_path / "m.db") as store:
        early = EarlyLeaderboards(Tournament(store, PLAIN))
        early.add(1)
        early.update()
        found = early.end()
        boards = leaderboards(Tournament(store, PLAIN), begin=begun.append, early=found)
    assert begun == [0] and boards[1] is found[1] and list(boards) == [0, 1]


@pytest.mark.parametrize("where", [(Tournament, "counted"), (module, "leaderboard")])
def test_what_cannot_be_made_early_is_left_to_the_end(tmp_path, monkeypatch, capsys, where):
    def fail(*_):
        raise MemoryError

    fill(tmp_path / "m.db", PLAIN)
    with Store.create(tmp_path / "m.db") as store, monkeypatch.context() as patch:
        patch.setattr(*where, fail)
        early = EarlyLeaderboards(Tournament(store, PLAIN))
        early.add(0)
        early.update()
        assert early.end() == {}
    assert capsys.readouterr() == ("", "")


def test_of_no_matches_nobody_is_best():
    assert best(pd.DataFrame(columns=["rank", "bot", "rating", "matches"])) == []
