"""Schedules whose tables follow from results: the same however they are played, resumed or read."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.plan.model import ResolvedPlan
from arena.results.match_files import match_lines
from arena.results.match_index import MatchIndex
from arena.results.matches import board_matches
from arena.results.run_status import run_status
from arena.runner import retries
from arena.runner import run as runner
from arena.schedule.kinds.knockout import Knockout
from arena.schedule.kinds.pyramid import Pyramid
from arena.schedule.kinds.swiss import Swiss
from arena.store import SeatRow, Store
from arena.tournament.extents import extents_of
from arena.tournament.stages import with_stages
from arena.tournament.tournament import Tournament
from tests.arena.tournament.test_disqualification import Workers, counted_in, ids_in, play
from tests.support.faulty import CAUSES
from tests.support.samples import all_matches, begin, entry, fill, finished, resolved, row, schedule

KINDS = (
    Swiss(draw=1),
    Knockout(draw=2),
    Knockout(elimination="double", draw=3, margin=0.0),
    Pyramid(draw=4, max_blocks=3),
)
NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace")


class Outcomes:
    """What comes of a match, by its id alone: strong bots win more, and weak ones forfeit now and then."""

    def __init__(self, plan, seed, forfeits=0.1):
        rng = random.Random(seed)
        self.seed = seed
        self.strength = [rng.choice([0.0, 0.3, 1.0, 3.0]) for _ in plan.entries]
        self.weak = [rng.choice([0.0, 0.0, forfeits, 4 * forfeits]) for _ in plan.entries]

    def of(self, spec):
        rng = random.Random(f"{self.seed} {spec.id}")
        lost = {seat: rng.choice(CAUSES) for seat, who in enumerate(spec.seats) if rng.random() < self.weak[who]}
        shown = [(seat not in lost, round(self.strength[who] + rng.gauss(0, 1))) for seat, who in enumerate(spec.seats)]
        seats = [
            SeatRow(sum(other > mine for other in shown), None, lost.get(seat), 2 if seat in lost else None)
            for seat, mine in enumerate(shown)
        ]
        return row(spec.lineup, [], seats=seats, details=dict.fromkeys(lost, "broken"))


class Players(Workers):
    def result(self, spec):
        return self.forfeits.of(spec)


def plan_of(kind, rng, names=NAMES, limit=0):
    count = rng.randint(3, len(names))
    return schedule(names[:count], rng.choice([(2,), (3,), (2, 3)]), 2, scheduler=kind, forfeit_limit=limit)


def played(plan, outcomes, log):
    """A log in which stage after stage was written in the order of the plan."""
    with Store.create(log) as store:
        run = begin(store, plan)
        while True:
            tournament = Tournament(store, plan)
            missing = [
                spec
                for block, lineups in tournament.missing()
                for spec in plan.matches(block)
                if spec.lineup in lineups
            ]
            if not missing:
                return sorted(spec.id for block in tournament.blocks() for spec in plan.matches(block))
            store.add(plan, [finished(spec, outcomes.of(spec)) for spec in missing], run)


@pytest.mark.system
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10**9))
def test_however_results_come_in_and_wherever_a_run_is_stopped_the_same_matches_count(kind, seed):
    rng = random.Random(seed)
    plan = plan_of(kind, rng, limit=rng.choice([0, 2, 4]))
    outcomes = Outcomes(plan, seed)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        expected = played(plan, outcomes, Path(folder) / "straight.db")
        monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
        monkeypatch.setattr(retries, "MAX_TRIES", 10**6)
        log = Path(folder) / "matches.db"
        for stop_after in [*(rng.randint(1, 12) for _ in range(rng.randrange(5))), 10**9]:
            before = set(ids_in(log)) if log.exists() else set()
            pool = Players(rng, outcomes, rng.randint(1, 4), stop_after)
            outcome = play(plan, log, pool, monkeypatch)
            assert not before & set(pool.returned)
            assert outcome.interrupted == (not counted_in(log, plan) >= set(expected))
        assert sorted(counted_in(log, plan)) == expected
        assert (outcome.progress.total, outcome.progress.left, outcome.not_played) == (len(expected), 0, [])
        with Store.open(log) as store, Store.open(Path(folder) / "straight.db") as straight:
            one, other = Tournament(store, plan), Tournament(straight, plan)
            assert [*match_lines(one)] == [*match_lines(other)]
            for index in range(len(plan.boards)):
                assert one.standings(index) == other.standings(index)
                assert one.disqualified(index) == other.disqualified(index)


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_cut_off_anywhere_goes_on_to_the_same_matches(kind, tmp_path):
    plan = schedule(NAMES[:5], (2,), 2, scheduler=kind, forfeit_limit=3)
    outcomes = Outcomes(plan, 11)
    expected = played(plan, outcomes, tmp_path / "straight.db")
    for kept in range(0, len(expected), 7):
        with Store.create(tmp_path / f"{kept}.db") as store:
            run, left = begin(store, plan), kept
            while left > 0:
                blocks = [*Tournament(store, plan).missing()]
                specs = [spec for block, lineups in blocks for spec in plan.matches(block) if spec.lineup in lineups]
                store.add(plan, [finished(spec, outcomes.of(spec)) for spec in specs[:left]], run)
                left -= len(specs)
        assert played(plan, outcomes, tmp_path / f"{kept}.db") == expected


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_reads_a_log_finds_the_same_tables(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    plan = schedule(NAMES, (2, 3), 2, scheduler=kind)
    expected = played(plan, Outcomes(plan, 5, forfeits=0.0), tmp_path / "matches.db")
    with Tournament.open(tmp_path / "matches.db") as tournament:
        assert sorted(json.loads(line)["match"] for line in match_lines(tournament)) == expected
        published = json.loads(tournament.published().as_json())
        for index, shape in enumerate(plan.boards):
            listed = published["boards"][index]
            assert len(listed["tables"]) == len(listed["counts"])
            assert sum(listed["counts"]) * shape.players**2 == len(board_matches(tournament, index))
            assert [len({*table}) for table in listed["tables"]] == [shape.players] * len(listed["tables"])
        again = ResolvedPlan.model_validate(published).schedule()
        assert [*again.blocks()] == [*tournament.schedule.blocks()]
        assert all(tournament.match(bytes.fromhex(id.partition("-")[0]), 0).labels for id in expected)
        extents, kept = extents_of(tournament, decided=True), MatchIndex(tmp_path / "matches.db")
        assert kept.planned(kept.view(), extents).all()
    status = run_status(tmp_path / "matches.db")
    assert status.matches == status.planned == len(expected)
    assert all(board.standings for board in status.boards)
    assert json.loads(json.dumps(status.as_data()["boards"]))[0]["standings"][0]["columns"]


def test_an_index_read_while_stages_come_knows_the_tables_of_all(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    plan = schedule(NAMES[:6], (2,), 2, scheduler=Swiss(draw=1))
    outcomes, index = Outcomes(plan, 5, forfeits=0.0), MatchIndex(tmp_path / "matches.db")
    with Store.create(tmp_path / "matches.db") as store:
        run, counts = begin(store, plan), []
        while blocks := [*Tournament(store, plan).missing()]:
            specs = [spec for block, lineups in blocks for spec in plan.matches(block) if spec.lineup in lineups]
            store.add(plan, [finished(spec, outcomes.of(spec)) for spec in specs], run)
            view = index.view()
            counts.append((len(view.match["table"]), int((view.match["table"] >= 0).sum())))
    assert [total for total, _ in counts] == [12, 24, 36, 48, 60]
    assert all(total == known for total, known in counts)


def test_bots_of_one_source_are_told_apart_at_tables_that_results_bring(tmp_path):
    twins = [entry(f"{name}#{label}", "twin@1", label) for name, label in zip("abcd", NAMES, strict=False)]
    plan = schedule([*twins, "erin"], (2,), 1, scheduler=Swiss(draw=1))
    expected = played(plan, Outcomes(plan, 5, forfeits=0.0), tmp_path / "matches.db")
    with Tournament.open(tmp_path / "matches.db") as tournament:
        labels = {
            tuple(sorted(tournament.match(block.identity, 0).labels)): {
                plan.entries[each].label for each in block.table
            }
            for block in tournament.blocks()
        }
        assert all({*key} == value for key, value in labels.items())
    assert len(expected) == 5 * 2 * 2


class Strange(Swiss):
    """Adds blocks to a table that cannot be."""

    kind = "strange"

    table: tuple[int, ...]

    def next(self, board, tables, results):
        return {self.table: 1}


@pytest.mark.parametrize("table", [(0, 0), (1, 0), (0, 1, 2), (0, 99)])
def test_a_plug_in_that_finds_an_impossible_table_is_named(tmp_path, table):
    fill(tmp_path / "m.db", schedule("abcd", blocks=1))
    with Store.open(tmp_path / "m.db") as store, pytest.raises(ConfigError, match="'strange': the plug-in is wrong"):
        with_stages(store, schedule("abcd", blocks=1, scheduler=Strange(draw=1, table=table)))


def test_a_plan_without_found_tables_is_written_as_before():
    assert "tables" not in json.loads(resolved(schedule(NAMES)).as_json())["boards"][0]
    assert len(all_matches(schedule(NAMES, blocks=1))) == 42
