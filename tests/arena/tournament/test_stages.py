"""The adaptive schedule: an equal minimum, then blocks where ranks are least certain; the same however it is played."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
import signal
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena import api
from arena.match.result import SeatRow
from arena.results.leaderboards import faults
from arena.results.match_files import match_lines
from arena.results.matches import board_matches
from arena.runner import play_order, retries
from arena.runner import run as runner
from arena.schedule.kinds.adaptive import Adaptive, shares, weights
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.scheduler import Stage
from arena.schedule.seatings import seat_places
from arena.stats.ranks import order_doubt
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.workers import process
from tests.arena.results.test_disqualified import BOTS
from tests.arena.tournament.test_disqualification import Workers, counted_in, ids_in, play
from tests.support import tournaments
from tests.support.faulty import CAUSES, rule
from tests.support.samples import all_matches, begin, board, finished, resolved, row, schedule
from tests.support.tournaments import home_of, results, rows, write

NAMES = ("alice", "bob", "carol", "dave", "erin")


def adaptive_plan(names=NAMES, players=(2,), blocks=8, first=2, **changes):
    boards = tuple(board(count, range(len(names)), blocks) for count in players)
    return schedule(names, boards=boards, scheduler=Adaptive(first_blocks=first), **changes)


def uniform(plan, blocks=None):
    """The round robin of a plan."""
    return dataclasses.replace(
        plan,
        boards=tuple(dataclasses.replace(each, blocks=blocks or each.blocks) for each in plan.boards),
        scheduler=RoundRobin(),
    )


# What is given out


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40).filter(any), st.integers(0, 10**10))
def test_shares_are_whole_exact_and_within_one_of_proportional(given_weights, number):
    parts = shares(given_weights, number)
    assert sum(parts) == number
    for part, weight in zip(parts, given_weights, strict=True):
        assert abs(part - Fraction(number * weight, sum(given_weights))) < 1


def test_of_equal_remainders_the_first_tables_get_more():
    assert shares([5, 5, 5, 0], 5) == [2, 2, 1, 0]
    assert shares([1, 2, 1], 2) == [1, 1, 0]


def test_a_table_weighs_the_doubts_of_its_pairs_and_nothing_with_a_disqualified_bot():
    who, doubt = np.array([3, 5, 6]), np.array([[0.5, 0.2, 0.0004], [0.2, 0.5, 0.0312], [0.0004, 0.0312, 0.5]])
    assert weights([(3, 5), (3, 6), (5, 6)], who, doubt, {}) == [200, 0, 31]
    assert weights([(3, 5, 6)], who, doubt, {}) == [231]
    assert weights([(3, 5), (3, 6), (5, 6)], who, doubt, {5: 1}) == [0, 1, 0]
    assert weights([(3, 5), (5, 6), (3, 6)], who, doubt * 0.0001, {6: 1}) == [1, 0, 0]


class World:
    """Bots of known strength, whose results come in as a stage gives them out."""

    def __init__(self, strength, players, seed):
        self.strength, self.rng = np.array(strength, float), np.random.default_rng(seed)
        self.tables = list(itertools.combinations(range(len(strength)), players))
        self.places = np.array(seat_places(players, False))
        self.parts, self.number = [], 0

    def play(self, given):
        for table, count in zip(self.tables, given, strict=True):
            for _ in range(count):
                dice = self.rng.normal(0, 0.5, len(table))
                skill = self.strength[list(table)] + dice
                shown = skill[self.places] + self.rng.normal(0, 1, self.places.shape)
                ranks = (shown[:, None, :] > shown[:, :, None]).sum(axis=2)
                self.parts.append((np.array(table)[self.places], ranks, np.full(len(ranks), self.number)))
                self.number += 1
        entries, ranks, blocks = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return SimpleNamespace(entries=entries, ranks=ranks, blocks=blocks, out={})

    def adaptive(self, blocks, first):
        """Play a whole budget; blocks by table."""
        kind, shape = Adaptive(first_blocks=first), board(len(self.tables[0]), range(len(self.strength)), blocks)
        done: tuple[int, ...] = (0,) * len(self.tables)
        counts = tuple(kind.start(shape, self.tables))
        while counts != done:
            found = self.play([count - before for count, before in zip(counts, done, strict=True)])
            found.counts = done = counts
            counts = tuple(kind.next(shape, self.tables, found))
        return counts

    def separated(self):
        """How many neighbours in strength are in the right order beyond reasonable doubt."""
        found = self.play([0] * len(self.tables))
        _, doubt = order_doubt(found.entries, found.ranks, found.blocks)
        order = np.argsort(self.strength)
        return sum(doubt[a, b] < 0.025 for a, b in itertools.pairwise(order))


@pytest.mark.parametrize("players", [2, 3])
def test_most_blocks_go_to_the_two_bots_whose_order_is_least_certain(players):
    world = World([3.0, 0.0, 0.15, -3.0], players, seed=1)
    counts = dict(zip(world.tables, world.adaptive(20, 5), strict=True))
    assert sum(counts.values()) == 20 * len(counts)
    assert min(counts.values()) >= 5
    with_both = [count for table, count in counts.items() if {1, 2} <= set(table)]
    assert sum(with_both) > 0.6 * sum(counts.values())


def test_with_one_budget_more_neighbours_are_told_apart_than_in_a_round_robin():
    told_apart = Counter()
    for seed in range(12):
        strength = np.random.default_rng([seed, 7]).normal(0, 1, 7)
        adaptive, round_robin = (World(strength, 2, seed) for _ in range(2))
        adaptive.adaptive(40, 10)
        round_robin.play([40] * len(round_robin.tables))
        told_apart["adaptive"] += adaptive.separated()
        told_apart["round robin"] += round_robin.separated()
    assert told_apart["adaptive"] > told_apart["round robin"] > 12 * 2


# The schedule


@st.composite
def staged_plans(draw):
    plan = adaptive_plan(players=draw(st.sampled_from([(2,), (3,), (2, 3)])))
    counts = [draw(st.lists(st.integers(0, 6), min_size=len(t), max_size=len(t))) for t in plan.tables]
    done = [[draw(st.integers(0, count)) for count in each] for each in counts]
    stages = tuple(Stage(tuple(each), tuple(past), ()) for each, past in zip(counts, done, strict=True))
    return dataclasses.replace(plan, stages=stages)


@settings(max_examples=40)
@given(staged_plans())
def test_a_schedule_has_the_counted_blocks_in_fold_order_with_the_ids_of_the_round_robin(plan):
    blocks = list(plan.blocks())
    place = {(index, frozenset(t)): n for index, tables in enumerate(plan.tables) for n, t in enumerate(tables)}
    at = [(block.round, block.board, place[block.board, frozenset(block.table)]) for block in blocks]
    assert at == sorted(set(at))
    found = Counter((index, table) for _, index, table in at)
    for index, tables in enumerate(plan.tables):
        assert [found[index, table] for table in range(len(tables))] == list(plan.counts(index))
        assert list(plan.blocks_of(index)) == [block for block in blocks if block.board == index]
        stage = plan.stage(index)
        if stage is not None:
            new = [
                block
                for block, (number, _, table) in zip(blocks, at, strict=True)
                if block.board == index and number >= stage.done[table]
            ]
            assert list(plan.blocks_of(index, stage)) == new
    assert plan.total_matches == len(all_matches(plan))
    assert set(blocks) <= set(uniform(plan, 6).blocks())
    again = resolved(plan).schedule()
    assert list(again.blocks()) == blocks


def test_an_adaptive_schedule_without_its_stages_has_a_budget_and_refuses_to_name_its_blocks():
    plan = adaptive_plan(blocks=9)
    assert plan.total_matches == 9 * 10 * 2
    with pytest.raises(ValueError, match="with_stages"):
        next(plan.blocks())


# Runs with made-up results


class Played:
    """What comes of every match that a plan may have: strong bots win more, and some forfeit now and then."""

    def __init__(self, plan, seed):
        rng = random.Random(seed)
        strength = [rng.choice([0.0, 0.1, 1.0, 3.0]) for _ in plan.entries]
        weak = [rng.choice([0.0, 0.0, 0.05, 0.4]) for _ in plan.entries]
        most = max(plan.budget(index) // plan.lineups(board) for index, board in enumerate(plan.boards))
        self.rows, self.forfeits = {}, {}
        for spec in all_matches(uniform(plan, most)):
            forfeits = {seat: rng.choice(CAUSES) for seat, who in enumerate(spec.seats) if rng.random() < weak[who]}
            shown = [(seat not in forfeits, strength[who] + rng.gauss(0, 1)) for seat, who in enumerate(spec.seats)]
            ranks = [sum(other > mine for other in shown) for mine in shown]
            seats = [
                SeatRow(rank, None, forfeits.get(seat), 2 if seat in forfeits else None)
                for seat, rank in enumerate(ranks)
            ]
            self.forfeits[spec.id] = forfeits
            self.rows[spec.id] = row(spec.lineup, [], seats=seats, details={seat: "broken" for seat in forfeits})


def by_the_rules_words(plan, index, played):
    """(An adaptive board's matches, disqualified bots with rounds), with nothing of the arena but `order_doubt`."""
    shape, tables = plan.boards[index], plan.tables[index]
    alone = dataclasses.replace(plan, boards=(shape,))
    specs, (out,) = rule(uniform(alone, plan.scheduler.first_blocks), played.forfeits)
    budget = shape.blocks * len(tables)
    counts = Counter(frozenset(spec.seats) for spec in specs if spec.lineup == 0)
    every = {}
    for spec in all_matches(uniform(alone, budget)):
        every.setdefault((frozenset(spec.seats), spec.block.round), []).append(spec)
    while (left := budget - sum(counts.values())) > 0:
        open_tables = [table for table in map(frozenset, tables) if not table & set(out)]
        if not open_tables:
            break
        number = min(left, max(1, sum(counts.values()) // 4))
        blocks = {identity: n for n, identity in enumerate(dict.fromkeys(spec.block.identity for spec in specs))}
        ranks = [[seat.rank for seat in played.rows[spec.id].seats] for spec in specs]
        who, doubt = order_doubt(
            np.array([spec.seats for spec in specs]),
            np.array(ranks),
            np.array([blocks[s.block.identity] for s in specs]),
        )
        place = {entry: n for n, entry in enumerate(who)}
        weight = {
            table: sum(round(1000 * doubt[place[a], place[b]]) for a, b in itertools.combinations(sorted(table), 2))
            for table in open_tables
        }
        if not any(weight.values()):
            weight = dict.fromkeys(open_tables, 1)
        quota = {table: Fraction(number * weight[table], sum(weight.values())) for table in open_tables}
        more = {table: int(quota[table]) for table in open_tables}
        for table in sorted(open_tables, key=lambda table: int(quota[table]) - quota[table])[
            : number - sum(more.values())
        ]:
            more[table] += 1
        given_out = [(n, table) for table in open_tables for n in range(counts[table], counts[table] + more[table])]
        for n, table in sorted(given_out, key=lambda each: each[0]):  # in plan order
            specs += every[table, n]
        counts.update(more)
        for bot in set(shape.entries) - set(out):
            mine = [spec for spec in specs if bot in spec.seats]
            lost = sum(spec.seats.index(bot) in played.forfeits[spec.id] for spec in mine)
            if plan.forfeit_limit and lost >= plan.forfeit_limit and 10 * lost >= len(mine):
                out[bot] = max(counts[table] for table in map(frozenset, tables) if bot in table) - 1
    return specs, out


class Players(Workers):
    def result(self, spec):
        return self.forfeits.rows[spec.id]


@pytest.mark.system
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
@example(217655)  # stopped by the last result of the last stage
def test_however_results_come_in_and_wherever_a_run_is_stopped_what_counts_is_what_the_rules_say(seed):
    rng = random.Random(seed)
    blocks = rng.randint(2, 7)
    plan = adaptive_plan(
        NAMES[: rng.randint(3, 4)],
        rng.choice([(2,), (3,), (2, 3)]),
        blocks,
        max(2, rng.randint(1, min(3, blocks))),
        forfeit_limit=rng.choice([0, 2, 3, 5]),
    )
    played = Played(plan, seed)
    expected = [by_the_rules_words(plan, index, played) for index in range(len(plan.boards))]
    ids = sorted(spec.id for specs, _ in expected for spec in specs)
    totals = set()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
        monkeypatch.setattr(retries, "MAX_TRIES", 10**6)
        log, before = Path(folder) / "matches.db", set()
        for stop_after in [*(rng.randint(1, 12) for _ in range(rng.randrange(4))), 10**9]:
            pool = Players(rng, played, rng.randint(1, 4), stop_after)
            outcome = play(plan, log, pool, monkeypatch)
            progress, there = outcome.progress, set(ids_in(log))
            assert not before & set(pool.returned)
            counted = counted_in(log, plan)
            assert (progress.found, progress.played) == (len(counted & before), len(counted - before))
            assert outcome.interrupted == (not counted >= set(ids))
            totals |= {progress.total} if outcome.interrupted else set()
            before = there
        assert (sorted(counted), progress.total, progress.left, outcome.not_played) == (
            ids,
            len(ids),
            0,
            [],
        )
        assert all(len(ids) <= total <= plan.total_matches for total in totals)
        with Store.open(log) as store:
            tournament = Tournament(store, plan)
            assert [tournament.disqualified(index) for index in range(len(expected))] == [out for _, out in expected]
            assert sorted(json.loads(line)["match"] for line in match_lines(tournament)) == ids
            seats = [len(board_matches(tournament, index)) for index in range(len(expected))]
            assert seats == [
                len(specs) * shape.players for (specs, _), shape in zip(expected, plan.boards, strict=True)
            ]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_what_other_plans_have_played_neither_changes_the_plan_nor_counts(seed):
    """The log has every match that any schedule of these bots could have played."""
    plan = adaptive_plan(NAMES[:3], (2,), 6, 2, forfeit_limit=random.Random(seed).choice([0, 3, 5]))
    played = Played(plan, seed)
    specs, out = by_the_rules_words(plan, 0, played)
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "matches.db") as store:
        made = [finished(spec, played.rows[spec.id]) for spec in all_matches(uniform(plan, 18))]
        store.add(plan, made, begin(store, plan))
        tournament = Tournament(store, plan)
        ids = {json.loads(line)["match"] for line in match_lines(tournament)}
        assert (ids, tournament.disqualified(0)) == ({spec.id for spec in specs}, out)
        assert len(board_matches(tournament, 0)) == 2 * len(specs)
        assert faults(tournament)["count"].sum() == sum(len(played.forfeits[spec.id]) for spec in specs)


def test_without_benching_the_budget_is_used_exactly_and_every_table_has_the_minimum(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan = adaptive_plan(NAMES, (2,), blocks=7, first=3)
    outcome = play(plan, tmp_path / "m.db", Players(random.Random(1), Played(plan, 4)), monkeypatch)
    assert outcome.complete
    with Store.open(tmp_path / "m.db") as store:
        counts = Tournament(store, plan).schedule.counts(0)
    assert (sum(counts), min(counts) >= 3, len(set(counts)) > 1) == (7 * 10, True, True)


def test_a_match_that_cannot_be_played_stops_its_own_board_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan = adaptive_plan(NAMES[:4], (2, 3), blocks=6, first=2)
    played = Played(plan, 3)
    deadly = all_matches(uniform(plan, 2))[0]
    outcome = play(plan, tmp_path / "m.db", Players(random.Random(1), played, deadly=[deadly.id]), monkeypatch)
    assert [line.partition(":")[0] for line in outcome.not_played] == [deadly.id, "48 more on epicycle, 2 players"]
    assert (outcome.complete, outcome.progress.left, outcome.progress.failed) == (False, 48, 1)
    assert len(ids_in(tmp_path / "m.db")) == 23 + 4 * 6 * 3
    again = play(plan, tmp_path / "m.db", Players(random.Random(2), played), monkeypatch)
    assert (again.complete, again.progress.played) == (True, 49)


@pytest.mark.parametrize("first", [2, 4])
def test_a_longer_plan_plays_nothing_twice_and_with_the_same_minimum_uses_nearly_all_of_the_shorter_one(
    tmp_path, monkeypatch, first
):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    short, long = (adaptive_plan(NAMES, (2,), blocks, minimum) for blocks, minimum in ((8, 2), (16, first)))
    played = Played(long, 5)
    play(short, tmp_path / "m.db", Players(random.Random(1), played), monkeypatch)
    before = ids_in(tmp_path / "m.db")
    outcome = play(long, tmp_path / "m.db", Players(random.Random(2), played), monkeypatch)
    assert outcome.complete
    assert outcome.progress.found + outcome.progress.played == long.total_matches
    assert outcome.progress.found >= (len(before) - 2 * 2 if first == 2 else len(before) // 2)
    assert set(before) <= set(ids_in(tmp_path / "m.db"))


# Real runs

CONFIG = """
name = "small"
seed = 11
blocks = 12
schedule = "adaptive"
first_blocks = 3
forfeit_limit = 6
games = [{ game = "epicycle", players = [2, 3] }]
bots = [{ bot = "random" }, { bot = "b.py:Low" }, { bot = "b.py:Fragile" }, { bot = "random", label = "other" }]
"""
BUDGET = 12 * (6 * 2 + 4 * 3)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament played by one worker."""
    config = write(tmp_path_factory.mktemp("played"), CONFIG, BOTS)
    started = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        start = process.WorkerProcess.start
        monkeypatch.setattr(process.WorkerProcess, "start", lambda worker: (started.append(worker), start(worker)))
        shown = set()
        outcome = api.run(
            config, home_of(config), workers=1, backend="local", show=lambda progress: shown.add(progress.total)
        ).outcome
    assert (outcome.complete, outcome.progress.played, shown) == (True, BUDGET, {BUDGET})
    assert len(started) == 1  # it lives on from stage to stage
    return config


@pytest.mark.chaos
def test_two_workers_interrupted_time_and_again_leave_the_same_log_and_boards(played, tmp_path, monkeypatch):
    config = write(tmp_path, CONFIG, BOTS)
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 3)
    monkeypatch.setattr(runner, "WRITE_SECONDS", 0.0)
    interrupted, stops = True, [20, 90, 60]
    while interrupted:
        stop = stops.pop() if stops else 10**9

        def show(progress, stop=stop):
            assert progress.total == BUDGET
            if progress.played >= stop and not progress.stopping:
                os.kill(os.getpid(), signal.SIGINT)

        interrupted = api.run(config, home_of(config), workers=2, backend="local", show=show).outcome.interrupted
    assert not stops
    assert results(config) == results(played)


def test_all_that_reads_the_log_finds_the_same_blocks(played):
    plan = json.loads((home_of(played) / "small" / "plan.json").read_text())
    exported = results(played)
    assert json.loads(exported["plan.json"]) == plan
    lines = [json.loads(line) for line in exported["matches.jsonl"].splitlines()]
    assert len(lines) == len({line["match"] for line in lines}) == BUDGET <= tournaments.count(played)
    for listed, (game, players) in zip(plan["boards"], (("epicycle", 2), ("epicycle", 3)), strict=True):
        assert sum(listed["counts"]) * players * players == len(api.matches(played, game, players, home_of(played)))
        assert "Fragile" in listed["disqualified"]
    assert api.faults(played, home_of(played))["count"].sum() == sum(len(line["forfeits"]) for line in lines)


def test_a_round_robin_of_the_same_file_and_another_bot_use_what_is_in_the_log(played, tmp_path):
    config = write(tmp_path, CONFIG, BOTS)
    (home_of(config) / "small").mkdir(parents=True)
    (home_of(config) / "small" / api.LOG_FILE).write_bytes(tournaments.log_of(played).read_bytes())
    more = CONFIG.replace('{ bot = "random" },', '{ bot = "random" }, { bot = "greedy" },').replace(
        "limit = 6", "limit = 0"
    )
    config.write_text(more)
    with_another = api.run(config, home_of(config), workers=2, backend="local").outcome.progress
    assert with_another.found >= 3 * (3 * 2 + 1 * 3)
    config.write_text(CONFIG.replace('"adaptive"\nfirst_blocks = 3', '"round_robin"').replace("limit = 6", "limit = 0"))
    progress = api.run(config, home_of(config), workers=2, backend="local").outcome.progress
    assert progress.found >= 3 * (6 * 2 + 4 * 3) - 60
    assert progress.found + progress.played == BUDGET
    ids = rows(config, "SELECT identity, lineup FROM matches JOIN blocks USING (block)")
    assert len(ids) >= BUDGET + with_another.played + progress.played  # some were played, and did not count
