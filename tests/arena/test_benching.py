"""Benching: who is benched follows from plan and results alone, and so does what is in the log."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import benching, runner
from arena.benching import Bench
from arena.leaderboards import benched
from arena.pools import Lost
from arena.process import Death
from arena.schedule import Schedule
from arena.store import BotRow, Store
from tests.arena.samples import all_matches, begin, board, finished, resolved, row, schedule

CAUSES = ("crash", "timeout", "illegal_action")


def rule(plan, falls):
    """The matches that stay in the plan, and who is benched on each board, straight from the rule's words.

    `falls` has the seats that forfeit, by match id.
    """
    stay, boards = [], []
    for index, shape in enumerate(plan.boards):
        played, out = [], {}
        for number in range(shape.blocks):
            specs = [spec for spec in all_matches(plan) if (spec.block.board, spec.block.round) == (index, number)]
            played += [spec for spec in specs if not set(spec.seats) & set(out)]
            for who in set(shape.entries) - set(out):
                mine = [spec for spec in played if who in spec.seats]
                lost = [spec for spec in mine if spec.seats.index(who) in falls[spec.id]]
                if (
                    plan.bench_after
                    and len(lost) >= plan.bench_after
                    and Fraction(len(lost), len(mine)) >= Fraction(1, 10)
                ):
                    out[who] = number
        stay += played
        boards.append(out)
    return stay, boards


def random_plan(rng):
    names = [f"bot {number}" for number in range(rng.randint(2, 5))]
    by_key = range(len(names))
    boards = tuple(
        board(players, by_key, rng.randint(1, 9), game=game, params=params)
        for players, game, params in (
            (2, "epicycle", "{}"),
            (3, "epicycle", "{}"),
            (2, "epicycle(setup=random)", '{"setup": 1}'),
        )
        if players <= len(names) and rng.random() < 0.7
    )
    return schedule(
        names,
        boards=boards or (board(2, by_key, 5),),
        bench_after=rng.choice([0, 1, 2, 3, 3, 5, 9]),
        permutations=rng.random() < 0.2,
        hero=rng.choice([None, None, 0]),
        max_tables=rng.choice([3, 100]),
    )


def random_falls(plan, rng):
    """Who forfeits in each match: some bots often, some now and then, some never."""
    weak = [rng.choice([0.0, 0.0, 0.05, 0.12, 0.5, 1.0]) for _ in plan.entries]
    return {
        spec.id: {seat: rng.choice(CAUSES) for seat, who in enumerate(spec.seats) if rng.random() < weak[who]}
        for spec in all_matches(plan)
    }


def result_of(spec, falls, rng=None):
    """The match's row: seats that fell lose, the others tie."""
    fell = falls[spec.id]
    seats = [[int(seat in fell), None, fell.get(seat), 2 if seat in fell else None] for seat in range(len(spec.seats))]
    seconds = rng.choice([0.0001, 0.001, 0.1]) if rng else 0.25
    return row(spec.lineup, [], seats=seats, details={str(seat): "broken" for seat in fell}, seconds=seconds)


def fill_with(path, plan, falls, kept):
    """A log of the kept matches, as a run of the plan would have left it."""
    with Store.create(path) as store:
        store.add(plan, [finished(spec, result_of(spec, falls)) for spec in kept], begin(store, plan))


class MadeUpPlan:
    """What a run needs of a plan."""

    def __init__(self, plan: Schedule) -> None:
        self.schedule = plan
        self.bots = [
            SimpleNamespace(row=BotRow(each.identity, each.spec, "module", "Class", "bundle")) for each in plan.entries
        ]

    def message(self):
        return b""

    def bundles(self):
        return {"bundle": {}}

    def resolved(self):
        return resolved(self.schedule)


class Workers:
    """A pool that makes results up and returns chunks in any order; now and then it loses one or a worker dies."""

    def __init__(self, rng, falls, count=2, stop_after=10**9, deadly=()):
        self.rng, self.falls, self.count = rng, falls, count
        self.stop_after, self.deadly = stop_after, deadly
        self.flight = []
        self.returned = []

    def __call__(self, count, message, replies, first):
        self.replies = replies
        return self

    def submit(self, worker, chunk):
        self.flight.append((worker, chunk))

    def idle(self):
        busy = Counter(worker for worker, _ in self.flight)
        free = [worker for worker in range(self.count) if busy[worker] < 2]
        if self.flight and (not free or self.rng.random() < 0.5):
            self.finish_one()
        while self.run.stopping and self.flight:
            self.finish_one()
        return [] if self.run.stopping else free

    def finish_one(self):
        self.finish(*self.flight.pop(self.rng.randrange(len(self.flight))))

    def finish(self, worker, chunk):
        self.stop_after -= 1
        if self.stop_after in (0, -3):  # after three more chunks again: the rest is dropped
            self.run._interrupt()
        ids = [spec.id for spec, _ in chunk.matches]
        fatal = [number for number, id in enumerate(ids) if id in self.deadly]
        luck = self.rng.random()
        if fatal:
            answer = Death(fatal[0], -1, 0, "crash")
        elif luck < 0.1:
            answer = Lost()
        elif luck < 0.15:
            answer = Death(self.rng.randrange(len(ids)), 0, 0, "crash")
        else:
            self.returned += ids
            answer = json.dumps({"rows": [result_of(spec, self.falls, self.rng) for spec, _ in chunk.matches]}).encode()
        self.replies.put((worker, chunk, answer))

    def retire(self):
        pass

    def close(self):
        pass


def play(plan, log, pool, monkeypatch):
    """One run of a made-up plan with made-up workers; its outcome."""
    first = SimpleNamespace(name="host:1", versions={}, stop=lambda: None)
    monkeypatch.setattr(runner, "LocalPool", pool)
    with Store.create(log) as store:
        pool.run = runner.Run(MadeUpPlan(plan), store, pool.count, "local", None, first)
        return pool.run.play()


def ids_in(log):
    with Store.open(log) as store:
        found = store._db.execute("SELECT identity, lineup FROM matches JOIN blocks USING (block)").fetchall()
    return sorted(f"{identity.hex()}-{lineup}" for identity, lineup in found)


@given(st.randoms(use_true_random=False))
def test_the_rule_told_round_by_round_is_the_rule_applied_to_everything(rng):
    plan = random_plan(rng)
    falls = random_falls(plan, rng)
    stay, boards = rule(plan, falls)
    for index, shape in enumerate(plan.boards):
        bench = Bench(plan.tables[index], plan.lineups(shape), plan.bench_after)
        kept = set()
        for number in range(shape.blocks):
            specs = [spec for table in bench.tables for spec in plan.matches(plan.block(index, number, table))]
            assert bench.per_round == len(specs)
            kept.update(spec.id for spec in specs)
            bench.close_round(Counter(spec.seats[seat] for spec in specs for seat in falls[spec.id]))
        assert bench.benched == boards[index]
        assert kept == {spec.id for spec in stay if spec.block.board == index}


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_however_results_come_in_and_wherever_a_run_is_stopped_the_log_is_what_the_rule_says(seed):
    rng = random.Random(seed)
    plan = random_plan(rng)
    falls = random_falls(plan, rng)
    stay, boards = rule(plan, falls)
    expected = sorted(spec.id for spec in stay)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runner, "LISTEN", 0.0)
        monkeypatch.setattr(runner, "TRIES", 10**6)
        monkeypatch.setattr(benching, "MOST_HELD", rng.choice([0, 3, 20_000]))
        log = Path(folder) / "matches.db"
        before = 0
        for stop_after in [*(rng.randint(1, 12) for _ in range(rng.randrange(4))), 10**9]:
            outcome = play(plan, log, Workers(rng, falls, rng.randint(1, 4), stop_after), monkeypatch)
            progress = outcome.progress
            assert set(ids_in(log)) <= set(expected)
            assert progress.found + progress.played == len(ids_in(log))
            assert progress.found == before
            assert outcome.interrupted == (len(ids_in(log)) < len(expected) and stop_after < 10**9)
            before = len(ids_in(log))
        assert (ids_in(log), progress.total, progress.left, outcome.not_played) == (expected, len(expected), 0, [])
        with Store.open(log) as store:
            assert [benched(store, plan, index) for index in range(len(boards))] == boards
