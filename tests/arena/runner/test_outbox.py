"""Results that wait for an earlier round lie in the log, count for nothing until they pass, and stay played."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace

import pytest

from arena.core.errors import StoreError
from arena.runner.outbox import Outbox
from arena.store import Store
from arena.verify.archive import copy_log
from tests.support.samples import all_matches, begin, finished, random_row, schedule

PLAN = schedule(["alice", "bob", "carol"])
RNG = random.Random(1)
RESULTS = [finished(spec, random_row(spec, RNG)) for spec in all_matches(PLAN)][:6]
BLOCKS = [result.spec.block for result in RESULTS]


@pytest.fixture
def log(tmp_path):
    """A log in which three results wait."""
    path = tmp_path / "matches.db"
    with Store.create(path) as store:
        outbox = Outbox(store, PLAN)
        for result in RESULTS[:3]:
            outbox.wait(result)
        outbox.write(begin(store, PLAN))
    return path


def names(results):
    return sorted(result.spec.id for result in results)


def rows(log, query="SELECT count(*) FROM waiting"):
    with sqlite3.connect(log) as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def test_what_waits_is_found_as_it_was_with_the_run_that_played_it_and_counts_for_nothing(log):
    with Store.open(log) as store:
        found = Outbox(store, PLAN).find(BLOCKS)
        assert store.totals() == (0, 0)
        assert store.finished([block.identity for block in BLOCKS]) == {}
        assert list(store.damaged()) == []
    assert sorted(found.values(), key=lambda each: each.spec.id) == sorted(
        (result._replace(run=1) for result in RESULTS[:3]), key=lambda each: each.spec.id
    )


def test_what_passes_is_moved_in_one_transaction_and_keeps_its_run_and_what_is_dropped_goes(log):
    with Store.create(log) as store:
        outbox = Outbox(store, PLAN)
        found = outbox.find(BLOCKS)
        for result in found.values():
            outbox.wait(result)
        outbox.release([RESULTS[0].spec])
        outbox.drop(RESULTS[1].spec)
        outbox.released.append(RESULTS[3])
        outbox.write(begin(store, PLAN))
    with Store.open(log) as store:
        assert names(Outbox(store, PLAN).find(BLOCKS).values()) == [RESULTS[2].spec.id]
    assert rows(log, "SELECT run FROM timings ORDER BY run") == [(1,), (2,)]


def test_a_result_that_fails_to_be_written_still_waits(log, monkeypatch):
    with Store.create(log) as store:
        outbox = Outbox(store, PLAN)
        outbox.find(BLOCKS)
        outbox.release([RESULTS[0].spec])
        monkeypatch.setattr(store, "keep_apart", lambda *_: (_ for _ in ()).throw(StoreError("full")))
        with pytest.raises(StoreError):
            outbox.write(1)
    assert rows(log) == [(3,)]
    assert rows(log, "SELECT count(*) FROM matches") == [(0,)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE waiting SET result = 'no JSON'",
        "UPDATE waiting SET result = replace(result, ',1]', ',2]')",
        "UPDATE waiting SET digest = x'00'",
        "UPDATE waiting SET block = block || ' '",
    ],
)
def test_what_is_damaged_is_named_and_played_again(log, damage):
    with sqlite3.connect(log) as db:
        db.execute(damage)
    db.close()
    with Store.open(log) as store:
        assert Outbox(store, PLAN).find(BLOCKS) == {}
        assert all(name.startswith("waiting ") for name in store.damaged())
        assert len(list(store.damaged())) == 3


def test_results_with_other_dice_are_not_taken(log):
    with Store.open(log) as store:
        assert Outbox(store, replace(PLAN, seed=PLAN.seed + 1)).find(BLOCKS) == {}


def test_nothing_waits_any_more_when_a_plan_is_complete_and_nothing_is_bundled(log, tmp_path):
    copy_log(log, tmp_path / "copy.db")
    assert rows(tmp_path / "copy.db") == [(0,)]
    with Store.create(log) as store:
        store.finish_run("2027", disclose=False)
    assert rows(log) == [(0,)]
