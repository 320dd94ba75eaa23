"""Disqualification: who is disqualified follows from plan and results alone, and so does what is in the log."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.core.match_ids import match_id
from arena.match.result import SeatRow
from arena.runner import play_order, retries
from arena.runner import run as runner
from arena.runner.compiling import CompileStage
from arena.runner.folds import DisqualificationFold
from arena.runner.options import RunOptions
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.pyramid import Pyramid
from arena.schedule.kinds.swiss import Swiss
from arena.store import BotRow, Store
from arena.tournament.disqualification import Disqualifications
from arena.tournament.lookup import lineups_in_log
from arena.tournament.tournament import Tournament
from arena.workers.messages import Played, WorkerDeath, WorkerLost, encode
from tests.support.faulty import fill_with, random_falls, random_plan, result_of, rule, sample
from tests.support.rows import rows_of
from tests.support.samples import all_matches, begin, finished, resolved, row, schedule


class MadeUpPlan:
    """What a run needs of a plan."""

    def __init__(self, plan: Schedule) -> None:
        self.schedule = plan
        rows = [BotRow(each.identity, each.spec, "module", "Class", "bundle") for each in plan.entries]
        self.bots = [SimpleNamespace(row=row, bundle=SimpleNamespace(hash="bundle", files={})) for row in rows]
        self.rules: dict[str, object] = {}

    def message(self):
        return b""

    def resolved(self):
        return resolved(self.schedule)


class Workers:
    """A pool that makes results up and returns chunks in any order; now and then it loses one or a worker dies."""

    run: runner.Run

    def __init__(self, rng, forfeits, count=2, stop_after=10**9, deadly=()):
        self.rng, self.forfeits, self.count = rng, forfeits, count
        self.stop_after, self.deadly = stop_after, deadly
        self.flight = []
        self.returned = []

    def __call__(self, count, message, replies, first, reserve):
        self.replies = replies
        return self

    def submit(self, worker, chunk):
        self.flight.append((worker, chunk))

    @property
    def size(self):
        return self.count

    def idle(self, ahead=2):
        busy = Counter(worker for worker, _ in self.flight)
        free = [worker for worker in range(self.count) if busy[worker] < ahead]
        if self.flight and (not free or self.rng.random() < 0.5):
            self.finish_one()
        while self.run.interruption.requested and self.flight:
            self.finish_one()
        return [] if self.run.interruption.requested else free

    def finish_one(self):
        self.finish(*self.flight.pop(self.rng.randrange(len(self.flight))))

    def finish(self, worker, chunk):
        self.stop_after -= 1
        if self.stop_after in (0, -3):  # after three more chunks again: the rest is dropped
            self.run.interruption.request()
        ids = [spec.id for spec, _ in chunk.matches]
        fatal = [number for number, id in enumerate(ids) if id in self.deadly]
        luck = self.rng.random()
        answer: WorkerDeath | WorkerLost | bytes
        if fatal:
            answer = WorkerDeath(fatal[0], -1, 0, "crash")
        elif luck < 0.1:
            answer = WorkerLost()
        elif luck < 0.15:
            answer = WorkerDeath(self.rng.randrange(len(ids)), 0, 0, "crash")
        else:
            self.returned += ids
            answer = encode(Played([self.result(spec) for spec, _ in chunk.matches], {}, {}))
        self.replies.put((worker, chunk, answer))

    def result(self, spec):
        return result_of(spec, self.forfeits, self.rng)

    def in_play(self):
        return []

    def retire(self):
        pass

    def close(self):
        pass


def play(plan, log, pool, monkeypatch, on_complete=lambda board: None):
    """One run of a made-up plan with made-up workers; its outcome."""
    first = SimpleNamespace(name="host:1", versions={}, stop=lambda: None)
    monkeypatch.setattr(runner, "LocalPool", pool)
    monkeypatch.setattr(runner, "CompileStage", lambda *_, **__: CompileStage())
    with Store.create(log) as store:
        pool.run = runner.Run(
            MadeUpPlan(plan), Tournament(store, plan), RunOptions(pool.size, "local"), first, on_complete=on_complete
        )
        return pool.run.play()


def ids_in(log, table="matches JOIN blocks USING (block)"):
    found = rows_of(log, f"SELECT identity, lineup FROM {table}")
    return sorted(f"{identity.hex()}-{lineup}" for identity, lineup in found)


@given(st.randoms(use_true_random=False))
def test_the_rule_told_round_by_round_is_the_rule_applied_to_everything(rng):
    plan = random_plan(rng)
    forfeits = random_falls(plan, rng)
    stay, boards = rule(plan, forfeits)
    for index, shape in enumerate(plan.boards):
        found = Disqualifications(
            dict.fromkeys(plan.tables[index], shape.blocks), plan.lineups(shape), plan.forfeit_limit
        )
        kept = set()
        for number in range(shape.blocks):
            specs = [spec for table in found.tables for spec in plan.matches(plan.block(index, number, table))]
            assert found.per_round == len(specs)
            kept.update(spec.id for spec in specs)
            found.close_round(Counter(spec.seats[seat] for spec in specs for seat in forfeits[spec.id]))
        assert found.disqualified == boards[index]
        assert kept == {spec.id for spec in stay if spec.block.board == index}


def counted_in(log, plan, board=None):
    """The ids of the matches in the log, or of a board, that count, as far as that is decided there."""
    with Store.open(log) as store:
        tournament = Tournament(store, plan)
        there = lineups_in_log(tournament.store, tournament.blocks(board))
        return {match_id(block.identity, lineup) for block, lineups in there for lineup in lineups}


@pytest.mark.system
@settings(max_examples=60)
@given(st.integers(0, 10**9))
@example(1197162)  # stopped while a decision is open, more of which is found in the log when the rest is counted
def test_however_results_come_in_and_wherever_a_run_is_stopped_what_counts_is_what_the_rule_says(seed):
    """Also when the log holds matches already that another plan with the same bots had, and this one has not.

    What has been played is never played again, whether it counts or not.
    """
    rng = random.Random(seed)
    plan = random_plan(rng)
    forfeits = random_falls(plan, rng)
    stay, boards = rule(plan, forfeits)
    expected = {spec.id for spec in stay}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
        monkeypatch.setattr(retries, "MAX_TRIES", 10**6)
        monkeypatch.setattr(DisqualificationFold, "max_ahead", rng.choice([0, 3, 20_000]))
        log = Path(folder) / "matches.db"
        old = [spec for spec in all_matches(plan) if rng.random() < 0.5] if rng.random() < 0.4 else []
        fill_with(log, plan, forfeits, old)
        before = {spec.id for spec in old}
        for stop_after in [*(rng.randint(1, 12) for _ in range(rng.randrange(4))), 10**9]:
            pool = Workers(rng, forfeits, rng.randint(1, 4), stop_after)
            outcome = play(plan, log, pool, monkeypatch)
            progress, there = outcome.progress, set(ids_in(log))
            assert not before & set(pool.returned)
            counted = counted_in(log, plan)
            assert there >= counted >= there & expected
            assert (progress.found, progress.played) == (len(counted & before), len(counted - before))
            assert outcome.interrupted == (not counted >= expected)
            assert stop_after < 10**9 or not outcome.interrupted
            before = there
        assert counted == expected
        assert (progress.total, progress.left, outcome.not_played) == (len(expected), 0, [])
        with Store.open(log) as store:
            assert [Tournament(store, plan).disqualified(index) for index in range(len(boards))] == boards


@pytest.mark.parametrize(("number", "out"), [(3, {0: 3}), (4, {0: 4}), (5, {})])
def test_one_match_in_ten_is_enough_and_one_in_twelve_is_not(number, out):
    found = Disqualifications({(0, 1): 9}, 2, 1)
    for _ in range(number):
        found.close_round({})
    found.close_round({0: 1})
    assert (found.matches(0, found.rounds), found.disqualified) == (2 * number + 2, out)


def test_a_match_that_cannot_be_played_is_all_that_is_missing_and_what_it_decides_is_decided_when_it_is_there(
    tmp_path, monkeypatch
):
    """In the first round a match ends its workers, so that it is open whether `winner` is disqualified."""
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan, forfeits = sample(after=4)
    stay, out = rule(plan, forfeits)
    assert out == [{2: 0}]
    first = [spec for spec in all_matches(plan) if spec.block.round == 0]
    (deadly,) = [spec.id for spec in first if spec.seats == (2, 0)]
    outcome = play(plan, tmp_path / "m.db", Workers(random.Random(1), forfeits, deadly=[deadly]), monkeypatch)
    assert ids_in(tmp_path / "m.db") == sorted(spec.id for spec in all_matches(plan) if spec.id != deadly)
    assert [line.partition(":")[0] for line in outcome.not_played] == [deadly]
    assert (outcome.progress.left, outcome.progress.failed) == (0, 1)
    again = play(plan, tmp_path / "m.db", Workers(random.Random(2), forfeits), monkeypatch)
    assert (again.not_played, again.progress.left, again.progress.played) == ([], 0, 1)
    assert counted_in(tmp_path / "m.db", plan) == {spec.id for spec in stay}


def test_what_was_in_play_when_a_bot_was_disqualified_is_in_the_log_and_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan, forfeits = sample(after=4, blocks=40)
    stay, _ = rule(plan, forfeits)
    pool = Workers(random.Random(5), forfeits, count=4)
    outcome = play(plan, tmp_path / "m.db", pool, monkeypatch)
    assert outcome.progress.total == outcome.progress.played == len(stay) < len(pool.returned)
    assert ids_in(tmp_path / "m.db") == sorted(pool.returned)
    assert counted_in(tmp_path / "m.db", plan) == {spec.id for spec in stay}


@pytest.mark.parametrize(("suspect", "at_all"), [(False, 10**6), (False, 400), (True, 10**6)])
def test_no_more_is_handed_out_while_too_many_results_may_turn_out_not_to_count(tmp_path, monkeypatch, suspect, at_all):
    """The first match is lost again and again, and what comes after it depends on it if a bot forfeits often."""
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(DisqualificationFold, "max_ahead", 10)
    monkeypatch.setattr(DisqualificationFold, "max_ahead_without_suspects", at_all)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 5)
    plan, forfeits = sample(after=1, blocks=200)
    specs = all_matches(plan)
    forfeits = {spec.id: {0: "crash"} if suspect and spec.seats[0] == 2 else {} for spec in specs}
    pool = Workers(random.Random(1), forfeits, deadly=[specs[0].id])
    outcome = play(plan, tmp_path / "m.db", pool, monkeypatch)
    if suspect:
        assert len(pool.returned) < 50  # what was ahead, and the chunks in flight
        assert "whether they count, matches before them decide" in outcome.not_played[-1]
    else:
        assert (len(pool.returned) == len(specs) - 1) is (at_all > len(specs))
        assert len(pool.returned) > 400


@pytest.mark.parametrize("kind", [Swiss(rounds=3), Pyramid()], ids=lambda kind: kind.kind)
def test_standings_of_a_schedule_mark_bots_that_are_disqualified(tmp_path, kind):
    plan = schedule(["alice", "bob", "carol", "mallory"], blocks=4, scheduler=kind, forfeit_limit=1)
    mallory = [entry.label for entry in plan.entries].index("mallory")
    with Store.create(tmp_path / "matches.db") as store:
        run = begin(store, plan)
        while missing := [*Tournament(store, plan).missing()]:  # stage after stage
            specs = [spec for block, lineups in missing for spec in plan.matches(block) if spec.lineup in lineups]
            store.add(plan, [finished(spec, _forfeited_by(mallory, spec)) for spec in specs], run)
        tournament = Tournament(store, plan)
        assert tournament.disqualified(0)
        shown = str([table.rows for table in tournament.standings(0)])
    assert shown.count("mallory") == shown.count("mallory (disqualified)") > 0
    assert shown.count("(disqualified)") == shown.count("mallory")


def _forfeited_by(entry, spec):
    """A match that an entry forfeits if it sits in it, and else the first seat wins."""
    seats = [SeatRow(int(place == entry), None, *(("crash", 0) if place == entry else ())) for place in spec.seats]
    if entry not in spec.seats:
        seats = [SeatRow(seat, None) for seat in range(len(spec.seats))]
    return row(spec.lineup, [], seats=seats)
