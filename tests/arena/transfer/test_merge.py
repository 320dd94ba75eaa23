"""Merging logs: each match once, the same whatever the order, and nothing when something does not fit."""

import contextlib
import itertools
import random
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.cli.app import run_command
from arena.cli.logs import merged_in_words
from arena.core.errors import ArenaError, ConfigError, StoreError
from arena.match.dice import key_hash
from arena.match.estimates import pack_estimates
from arena.store import Store
from arena.tournament.lookup import lineups_in_log
from arena.tournament.tournament import Tournament
from arena.transfer.merging import merge
from tests.support.rows import rows_of
from tests.support.samples import all_matches, begin, entry, finished, random_row, resolved, schedule
from tests.support.tournaments import home_of, log_of, write

PLAN = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=4)
MATCHES = all_matches(PLAN)
RNG = random.Random(3)
RESULTS = [finished(spec, random_row(spec, RNG)) for spec in MATCHES]
CONTENT = (
    "SELECT plan, versions FROM runs ORDER BY run DESC LIMIT 1",
    "SELECT identity, spec, module, class, bundle FROM bots ORDER BY 1",
    "SELECT bundle, files FROM bundles ORDER BY 1",
    "SELECT identity, id, game, players, round, opening, seed, dice FROM blocks JOIN boards USING (board) ORDER BY 1",
    "SELECT identity, lineup, ended, plies, timed, final, moves, notes, digest FROM matches JOIN blocks USING (block) "
    "ORDER BY 1, 2",
    "SELECT k.identity, lineup, seat, b.identity, rank, score, cause, forfeit_ply FROM seats "
    "JOIN blocks k USING (block) JOIN bots b USING (bot) ORDER BY 1, 2, 3",
    "SELECT identity, lineup, worker, seconds, attempts FROM timings JOIN blocks USING (block) ORDER BY 1, 2",
    "SELECT key, hash FROM keys",
)


def content(log):
    with contextlib.closing(sqlite3.connect(log)) as connection:
        return [connection.execute(query).fetchall() for query in CONTENT]


def whole(log):
    with contextlib.closing(sqlite3.connect(log)) as connection:
        return list(connection.iterdump())


def make(log, numbers, started="2026-01-01", plan=PLAN, key=None, made=RESULTS):
    with Store.create(log) as store:
        if key:
            store.keep_key(key, "2026")
        run = begin(store, plan, "{}", started)
        store.add(plan, [made[number] for number in numbers], run)
    return log


@settings(max_examples=6, deadline=None)
@given(st.lists(st.sets(st.integers(0, len(MATCHES) - 1)), min_size=1, max_size=3), st.data())
def test_parts_make_the_whole_in_any_order_and_in_any_groups(tmp_path_factory, parts, data):
    folder = tmp_path_factory.mktemp("logs")
    logs = [make(folder / f"{n}.db", sorted(part), f"2026-01-0{n + 1}") for n, part in enumerate(parts)]
    order = data.draw(st.permutations(logs))
    merge(logs, folder / "a.db")
    merged = merge(order, folder / "b.db")
    assert merged.added == merged.done == len(set.union(*parts)) and merged.planned == len(MATCHES)
    assert merged.known == sum(map(len, parts)) - merged.added
    assert whole(folder / "a.db") == whole(folder / "b.db") or merged.done == merged.planned
    for log in order:
        merge([log], folder / "c.db")
    again = merge([folder / "c.db", folder / "a.db"], folder / "d.db")
    assert again.added == merged.added
    wanted = content(make(folder / "w.db", sorted(set.union(*parts)), f"2026-01-0{len(parts)}"))
    for name in "abcd":
        assert content(folder / f"{name}.db") == wanted
        with Store.open(folder / f"{name}.db") as store:
            assert list(store.damaged()) == []


def test_merging_a_log_with_itself_or_what_it_has_changes_nothing(tmp_path):
    one, two = make(tmp_path / "1.db", range(9)), make(tmp_path / "2.db", range(5, 20), "2026-01-02")
    merge([one, two], tmp_path / "m.db")
    before = whole(tmp_path / "m.db")
    for logs in ([tmp_path / "m.db"], [one], [two, one], [tmp_path / "m.db", two]):
        assert merge(logs, tmp_path / "m.db").added == 0
        assert whole(tmp_path / "m.db") == before


MORE = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=5)
"""The plan with a block more, which has all its matches."""


def plan_in(log):
    with Store.open(log) as store:
        assert list(store.damaged()) == []
        return Tournament(store).plan


@pytest.mark.parametrize("clock", ["1970-01-01", "2026-01-01", "2099-01-01"])
def test_whatever_a_clock_said_the_plan_of_the_log_that_is_merged_into_counts(tmp_path, clock):
    ours = make(tmp_path / "ours.db", range(9), "2026-01-01", plan=MORE)
    theirs = make(tmp_path / "theirs.db", range(5), clock)
    before = whole(ours)
    for _ in range(2):
        merged = merge([theirs], ours)
        assert (merged.added, merged.plan_changed, whole(ours)) == (0, False, before)
    with Store.create(theirs) as store:
        store.add(PLAN, RESULTS[9:12], 1)
    merged = merge([theirs], ours)
    assert (merged.plans, merged.added, merged.plan_changed) == (2, 3, False)
    assert (merged.done, merged.planned) == (12, len(all_matches(MORE)))
    assert plan_in(ours) == resolved(MORE)
    before = whole(ours)
    assert merge([theirs], ours).added == 0 and whole(ours) == before


@pytest.mark.parametrize("starts", [("1970", "2026"), ("2099", "2026")])
def test_of_logs_with_different_plans_a_new_one_is_made_only_when_it_is_named_which_plan_counts(tmp_path, starts):
    one, two = make(tmp_path / "1.db", range(9), starts[0]), make(tmp_path / "2.db", [0, 20], starts[1], plan=MORE)
    for order in ([one, two], [two, one]):
        with pytest.raises(ConfigError, match=r"different plans \(boards\), .*--plan-of"):
            merge(order, tmp_path / "m.db")
        assert not (tmp_path / "m.db").exists()
        for log, plan in ((one, PLAN), (two, MORE)):
            merged = merge(order, tmp_path / "m.db", plan_of=log)
            assert (merged.added, merged.known, merged.plan_changed) == (10, 1, False)
            assert plan_in(tmp_path / "m.db") == resolved(plan)
            (tmp_path / "m.db").unlink()
    with pytest.raises(ConfigError, match="is none of the logs"):
        merge([one], tmp_path / "m.db", plan_of=two)


def test_a_plan_that_is_asked_for_counts_in_an_existing_log_too_which_is_said_with_what_is_stale(tmp_path, capsys):
    home = tmp_path / "cup"
    home.mkdir()
    ours, theirs = make(home / "matches.db", range(9)), make(tmp_path / "theirs.db", range(5), "1970", plan=MORE)
    stale = ["epicycle_2p.csv", "epicycle_3p_crosstable.md", "index.html", "plan.json", "versions.json"]
    for name in (*stale, "notes.txt"):
        (home / name).write_text("")
    command = ["merge", str(theirs), "--into", "cup", "--home", str(tmp_path)]
    assert run_command(command) == 0
    assert "Out of date" not in capsys.readouterr().out
    assert run_command([*command, "--plan-of", str(theirs)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "0 matches merged" in told and "Another plan counts in the log than before" in told
    assert "Out of date beside it: " in told and told.count("epicycle") == 2
    assert [name for name in (*stale, "notes.txt") if name in told] == stale
    assert told.endswith(f"arena export {ours} --what leaderboards,crosstable,report")
    assert plan_in(ours) == resolved(MORE)
    before = whole(ours)
    for named in (theirs, ours):
        assert merge([theirs], ours, plan_of=named).plan_changed is False and whole(ours) == before


def changed(number, **changes):
    spec, row, *_ = RESULTS[number]
    return [*RESULTS[:number], finished(spec, row._replace(**changes)), *RESULTS[number + 1 :]]


OTHER = {
    "moves": {"moves": "L- L-"},
    "ending": {"ended": "other"},
    "mark of a clock": {"timed": True},
    "rank of seat 1": {"seats": [RESULTS[4].row.seats[0], RESULTS[4].row.seats[1]._replace(rank=5)]},
}


@pytest.mark.parametrize("what", OTHER)
def test_one_match_with_another_content_is_named_and_nothing_is_changed(tmp_path, what):
    one = make(tmp_path / "1.db", range(9))
    other = make(tmp_path / "2.db", range(3, 30), made=changed(4, **OTHER[what]))
    for into in (tmp_path / "new.db", one):
        before = whole(one)
        with pytest.raises(StoreError, match=rf"match {MATCHES[4].id} is in the logs twice, with another {what}"):
            merge([one, other], into)
        assert whole(one) == before
    assert not list(tmp_path.glob("*new*")) and not list(tmp_path.glob(".*"))


def test_other_times_texts_of_faults_and_packing_are_no_conflict_and_those_of_the_first_run_stay(tmp_path):
    slow = changed(4, seconds=9.0, details={0: "another traceback"})
    one, two = make(tmp_path / "1.db", range(9), "2026-02"), make(tmp_path / "2.db", range(9), "2026-01", made=slow)
    for order in itertools.permutations([one, two]):
        merge(order, tmp_path / "m.db")
        with Store.open(tmp_path / "m.db") as store:
            assert store.match(MATCHES[4].block.identity, MATCHES[4].lineup).details == {0: "another traceback"}
        (tmp_path / "m.db").unlink()


def test_other_estimates_are_no_conflict_and_those_of_the_first_run_stay(tmp_path):
    estimates = {"estimates": pack_estimates([(0, [500, -500], [1], [])]), "dropped": {1: 2}}
    first, second = changed(4, **estimates), changed(4, estimates=pack_estimates([(0, [499, -499], [2], [])]))
    one, two = make(tmp_path / "1.db", range(9), made=second), make(tmp_path / "2.db", range(9), "2026", made=first)
    plain = make(tmp_path / "3.db", range(9), "2027")
    for order in itertools.permutations([one, two, plain]):
        merge(order, tmp_path / "m.db")
        with Store.open(tmp_path / "m.db") as store:
            match = store.match(MATCHES[4].block.identity, MATCHES[4].lineup)
            assert (match.packed_estimates, match.dropped) == (estimates["estimates"], {1: 2})
            assert match.estimates[0].evaluation == (0.5, -0.5) and list(store.damaged()) == []
        (tmp_path / "m.db").unlink()


def test_a_damaged_match_is_not_merged(tmp_path):
    one, two = make(tmp_path / "1.db", range(5)), make(tmp_path / "2.db", range(5, 9))
    with contextlib.closing(sqlite3.connect(two)) as connection, connection:
        connection.execute("UPDATE seats SET rank = 7 WHERE block = 2 AND lineup = 0 AND seat = 0")
    with pytest.raises(StoreError, match=r"2\.db: match [0-9a-f]{32}-0 is damaged"):
        merge([one, two], tmp_path / "m.db")
    assert not (tmp_path / "m.db").exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE bots SET spec = 'another' WHERE bot = 2",
        "UPDATE runs SET versions = '[]'",
        "UPDATE runs SET plan = '[]'",
        "UPDATE runs SET started = x'ff'",
        "UPDATE timings SET worker = CAST(x'ff80' AS TEXT)",
        "UPDATE bots SET identity = CAST(x'ff80' AS TEXT) WHERE bot = 1",
        "UPDATE blocks SET identity = 'text' WHERE block = 1",
    ],
)
def test_a_log_with_anything_damaged_is_named_and_nothing_is_left_of_the_merge(tmp_path, change):
    log = make(tmp_path / "1.db", range(5))
    with contextlib.closing(sqlite3.connect(log)) as connection, connection:
        connection.execute(change)
    with pytest.raises(StoreError, match=r"1\.db: .*damaged"):
        merge([log], tmp_path / "m.db")
    assert {path.name for path in tmp_path.iterdir()} <= {"1.db", "1.lock", "1.db-wal", "1.db-shm"}


def test_what_a_killed_merge_has_left_goes_with_the_next_one(tmp_path):
    log = make(tmp_path / "1.db", range(5))
    (tmp_path / ".merge-abcd1234").mkdir()
    merge([log], tmp_path / "m.db")
    assert not list(tmp_path.glob(".merge-*"))
    with pytest.raises(StoreError, match=r"no\.db: no such match log"):
        merge([tmp_path / "no.db"], tmp_path / "no.db")


def test_keys_of_secret_dice_are_taken_along_each_once(tmp_path):
    first, second = bytes(32), bytes(range(32))
    one, two = make(tmp_path / "1.db", range(5), key=first), make(tmp_path / "2.db", range(8, 13), key=second)
    same = make(tmp_path / "3.db", range(5, 9), key=first)
    none = make(tmp_path / "4.db", range(9, 12))
    merge([none, same, one, two], tmp_path / "m.db")
    with Store.open(tmp_path / "m.db") as store:
        assert [key.checked() for key in store.keys.all()] == [first, second]
        assert store.totals()[0] == 13


def test_a_merge_that_completes_a_plan_discloses_its_keys_also_where_some_blocks_have_public_dice(tmp_path):
    key = bytes(range(32))
    plan = schedule(["alice", "bob", entry("carol", trusted=False)], keys=(key_hash(key),))
    made = [finished(spec, random_row(spec, RNG)) for spec in all_matches(plan)]
    halves = range(0, len(made), 2), range(1, len(made), 2)
    logs = [make(tmp_path / f"{n}.db", half, plan=plan, key=key, made=made) for n, half in enumerate(halves)]
    assert resolved(plan).dice == "mixed"
    merge(logs[:1], tmp_path / "m.db")
    with Store.open(tmp_path / "m.db") as store:
        assert [each.disclosed for each in store.keys.all()] == [None]
    merge(logs, tmp_path / "m.db")
    with Store.open(tmp_path / "m.db") as store:
        assert store.runs.is_finished() and None not in [each.disclosed for each in store.keys.all()]


def test_a_log_that_is_written_to_is_no_target_but_may_be_a_source(tmp_path):
    one, two = make(tmp_path / "1.db", range(5)), make(tmp_path / "2.db", range(5, 9))
    with Store.create(one):
        with pytest.raises(StoreError, match="another run is writing"):
            merge([two], one)
        assert merge([one, two], tmp_path / "m.db").added == 9


def test_what_is_no_log_or_no_name_is_refused(tmp_path):
    one = make(tmp_path / "1.db", range(5))
    for targets, into in (([tmp_path / "no.db"], "x.db"), (["nothing"], "x.db"), ([one], "compare"), ([one], "../x")):
        with pytest.raises(ArenaError):
            merge(targets, tmp_path / into if into.endswith(".db") else into, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"1.db", "1.lock"}


TOURNAMENT = """
name = "small"
seed = 11
blocks = 6
forfeit_limit = 3
{more}
games = [{{ game = "epicycle", players = 2 }}]
bots = [{{ bot = "random" }}, {{ bot = "random", label = "another" }}, {{ bot = "b.py:Broken" }}]
"""
BOTS = """
from bots import Bot


class Broken(Bot):
    def choose(self, state):
        return 999
"""


IDS = "SELECT identity, lineup FROM matches JOIN blocks USING (block)"


@pytest.mark.parametrize("more", ["", 'schedule = "adaptive"\nfirst_blocks = 2'], ids=["disqualified", "adaptive"])
def test_halves_of_a_run_are_completed_by_a_run_to_the_same_tournament(tmp_path, more):
    def matches():
        path, *_ = api.export(config, home_of(config), tmp_path / "out", ["matches"])
        return path.read_bytes()

    config = write(tmp_path, TOURNAMENT.format(more=more), BOTS)
    api.run(config, home_of(config), workers=1, backend="local")
    wanted, log = matches(), log_of(config)
    parts = []
    for half in range(2):
        parts.append(Path(shutil.copy(log, tmp_path / f"{half}.db")))
        with contextlib.closing(sqlite3.connect(parts[-1])) as connection, connection:
            for table in ("matches", "seats", "timings", "faults"):  # of every third block neither has anything
                connection.execute(f"DELETE FROM {table} WHERE block % 3 IN (2, {half})")
            connection.execute("DELETE FROM blocks WHERE block NOT IN (SELECT block FROM matches)")
    log.unlink()
    merged = merge(parts, "small", home_of(config))
    assert merged.log == log and 0 < merged.done <= merged.added < merged.planned
    before = {*rows_of(log, IDS)}
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    with Tournament.open(log) as tournament:
        counted = {
            (at.identity, lineup)
            for at, found in lineups_in_log(tournament.store, tournament.blocks())
            for lineup in found
        }
    assert len(before) == merged.added
    assert outcome.progress.found == len(before & counted) > 0 and outcome.complete
    assert matches() == wanted


def test_the_command_tells_what_it_did_and_what_is_left(tmp_path, capsys):
    one, two = make(tmp_path / "1.db", range(5)), make(tmp_path / "2.db", range(3, 9), "2026-01-02")
    command = ["merge", str(one), str(two), "--into", "cup", "--home", str(tmp_path / "home")]
    assert run_command(command) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "9 matches merged into" in told and "2 were in more than one log" in told
    assert "9 of the 36 matches of the plan are in the log; `arena run CONFIG` plays the other 27." in told
    assert "beside it" not in told
    (tmp_path / "home" / "cup" / "plan.json").write_text("{}")
    for log, stale in ((one, False), (make(tmp_path / "3.db", [20], "2026-01-03"), True)):
        command = ["merge", str(log), "--into", "cup", "--home", str(tmp_path / "home")]
        assert run_command(command) == 0
        told = capsys.readouterr().out
        assert (f"  arena export {tmp_path / 'home' / 'cup' / 'matches.db'}\n" in told) is stale


def test_of_a_comparison_it_says_where_its_log_has_to_lie_to_go_on(tmp_path):
    done = replace(merge([make(tmp_path / "1.db", range(5))], tmp_path / "2.db"), name="compare/epicycle_2p-a-b-1234")
    told = " ".join(merged_in_words(done, tmp_path))
    assert f"goes on when its log is {tmp_path}/compare/epicycle_2p-a-b-1234/matches.db." in told
    assert "arena run" not in told
