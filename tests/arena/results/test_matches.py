"""Matches of a board: those of the plan and no others, equal moves known as equal, all figures of the same matches."""

import sqlite3
import zlib

import numpy as np
import pytest

from arena.results.matches import board_matches
from arena.results.pages.report import board_results
from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import all_matches, begin, entry, finished, row, schedule

BOTS = ["alice", "bob", "carol"]
LONG = "S- L+ " * 99


def logged(path, plan, results):
    """Add results to a log: `results` are rows by the place of their match in the plan."""
    matches = all_matches(plan)
    with Store.create(path) as store:
        store.add(plan, [finished(matches[place], result) for place, result in results], begin(store, plan))
    return path


def results_of(plan, **changes):
    return [(place, row(spec.lineup, [0, 1], **changes)) for place, spec in enumerate(all_matches(plan))]


@pytest.mark.parametrize("key", [-(2**63), -1, 0, 2**63 - 1])
def test_a_block_of_another_plan_counts_for_none_that_is_missing_whatever_its_key(tmp_path, key):
    plan, other = schedule(BOTS[:2]), schedule(BOTS[:2], seed=6)
    log = logged(tmp_path / "matches.db", other, results_of(other)[:2])
    with sqlite3.connect(log) as db:
        for table in ("blocks", "matches", "seats", "timings"):
            db.execute(f"UPDATE {table} SET block = {key}")
    with Store.open(log) as store:
        assert len(Tournament(store, plan).counted(0).rows) == 0
        assert len(Tournament(store, other).counted(0).rows) == 2


def test_the_first_blocks_are_told_apart_as_if_there_were_no_others(tmp_path):
    plan = schedule(BOTS, blocks=6)
    per_round = len(all_matches(plan)) // 6
    rows = [
        (place, result._replace(moves="S-" if place >= 2 * per_round else f"S{place}"))
        for place, result in results_of(plan)
    ]
    log = logged(tmp_path / "matches.db", plan, rows)
    with Store.open(log) as store:
        for rounds in range(1, 7):
            part = schedule(BOTS, blocks=rounds)
            first = Tournament(store, plan).counted(0).first(rounds * per_round)
            alone = Tournament(store, part).counted(0)
            assert all(np.array_equal(*pair) for pair in zip(first, alone, strict=True) if pair[0] is not None)
            assert set(first.distinct_share) == {1.0 if rounds < 4 else 3 / rounds}


def test_moves_are_equal_however_they_were_compressed(tmp_path):
    plan = schedule(BOTS[:2], blocks=4)
    log = logged(tmp_path / "matches.db", plan, results_of(plan, moves=LONG))
    with sqlite3.connect(log) as db:
        for block, how in enumerate((zlib.compress(LONG.encode(), 0), zlib.compress(LONG.encode(), 9), LONG), 1):
            db.execute("UPDATE matches SET moves = ? WHERE block = ?", (how, block))
    with Store.open(log) as store:
        frame = board_matches(Tournament(store, plan), 0)
        assert frame["moves_hash"].nunique() == 1 and set(frame["distinct_share"]) == {0.25}
        assert set(Tournament(store, plan).counted(0).distinct_share) == {0.25}


def test_lengths_and_clocks_are_of_the_matches_that_endings_are_of(tmp_path):
    bots = [entry("alice"), entry("carol", label="Carol"), entry("bob")]
    plan, other = schedule(bots, blocks=2), schedule(bots, blocks=2, seed=6)
    log = logged(tmp_path / "matches.db", other, results_of(other, plies=99, clocks="0,0,9000000,0,0"))
    clocks = "0,-1,5000000,0,0 0,0,1000000,0,0 1,1,2000000,0,0"
    here = [(place, each._replace(plies=3 + place % 2)) for place, each in results_of(plan, clocks=clocks)]
    logged(log, plan, [*here[:-1], (here[-1][0], here[-1][1]._replace(plies=98))][1:])  # the first block is in part
    with Store.open(log) as store:
        found, matches = board_results(Tournament(store, plan), 0), board_matches(Tournament(store, plan), 0)
    count = len(here) - 2
    assert len(matches) == 2 * count and len(found.ended) == count
    assert len(found.plies) == count and np.unique(found.plies).tolist() == [3, 4, 98]
    assert len(found.calls) == 2 * count
    firsts = matches[matches["seat"] == 0]["bot"].value_counts()
    assert found.calls[found.calls["seconds"] == 1.0]["bot"].value_counts().to_dict() == firsts.to_dict()
    assert set(found.calls["bot"]) == {"alice", "Carol", "bob"} and set(found.calls["seconds"]) == {1.0, 2.0}
