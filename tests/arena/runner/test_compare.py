"""Comparisons: a log that is a pure function of the plan, resumed, read again, exhausted, told."""

import itertools
import random
import shutil
import signal
import sqlite3
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from arena import api
from arena.core.errors import ConfigError
from arena.results.match_files import match_lines
from arena.results.matches import board_matches
from arena.results.power import PowerOptions, paired_differences, power
from arena.runner.compare import compare, comparison_plan
from arena.runner.folds import SequentialFold
from arena.runner.options import Matchup, StopRule
from arena.schedule.comparisons import ComparisonPlan
from arena.schedule.kinds.duel import Duel
from arena.stats.sprt import Sprt
from arena.store import Store
from arena.tournament.lookup import lineups_in_log
from arena.tournament.sequential import tally_of
from arena.tournament.tally import MAX_REPEATED_BLOCKS, SeatResult, Tally
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from tests.support import samples
from tests.support.tournaments import signal_group, start_arena, wait_until

THREE = Matchup("greedy", "random", "epicycle", 3)
BOTS = """
import os
import time

from bots import Bot


class Low(Bot):
    '''Take the lowest action.'''

    def choose(self, state):
        return state.legal_actions()[0]


class High(Bot):
    '''Take the highest action.'''

    def choose(self, state):
        return state.legal_actions()[-1]


class Nap(Bot):
    '''Take any action after a nap.'''

    def choose(self, state):
        time.sleep(float(os.environ.get("TEST_NAP", 0)))
        return self.rng.choice(state.legal_actions())


class Fragile(Bot):
    '''Raise now and then.'''

    def choose(self, state):
        if self.seed % 3 == 0:
            raise RuntimeError("broken on purpose")
        return state.legal_actions()[-1]
"""


@pytest.fixture(scope="module")
def bots(tmp_path_factory):
    """The file of the bots above; `bots:Low` becomes a spec."""
    path = tmp_path_factory.mktemp("bots") / "b.py"
    path.write_text(BOTS)
    return path


def lines(folder):
    """The log of a comparison as JSON Lines."""
    with Store.open(folder / api.LOG_FILE) as store:
        return "".join(match_lines(Tournament(store, Tournament(store).plan.schedule())))


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A duel with three players that has been decided, played by one worker."""
    return compare(THREE, StopRule(Sprt(0, 60)), workers=1, home=tmp_path_factory.mktemp("one"))


@pytest.mark.system
def test_the_log_is_the_same_with_more_workers(three, tmp_path):
    other = compare(THREE, StopRule(Sprt(0, 60)), workers=2, home=tmp_path)
    assert three.end == "decided"
    assert lines(other.folder) == lines(three.folder)
    for name in ("comparison.json", "plan.json"):
        assert (other.folder / name).read_bytes() == (three.folder / name).read_bytes()
    assert lines(three.folder).count("\n") == 2 * len(three.tally.blocks) == three.as_dict()["matches"]


def test_who_looks_on_while_it_runs_is_told_the_test_that_is_asked(tmp_path):
    asked, folders, seen = Sprt(5, 65, alpha=0.01), [], []

    def look(progress, tally):
        seen.append(api.comparison_so_far(folders[0]))

    planned = lambda plan: folders.append(tmp_path / plan.name)  # noqa: E731
    found = compare(THREE, StopRule(asked, blocks=4), workers=1, home=tmp_path, show=look, planned=planned)
    assert seen
    assert all((each.test, each.a, each.b) == (asked, found.a, found.b) for each in seen)


def test_the_same_question_again_plays_nothing_and_a_stricter_one_goes_on(three, tmp_path):
    shutil.copytree(three.folder, tmp_path / three.plan.name)
    before = lines(three.folder)
    again = compare(THREE, StopRule(Sprt(0, 60)), workers=1, home=tmp_path)
    progress = again.outcome.progress
    assert (progress.played, progress.found, progress.total) == (0, *[2 * len(three.tally.blocks)] * 2)
    assert again.outcome.complete
    assert again.as_dict() == three.as_dict()
    with Tournament.open(three.folder / api.LOG_FILE) as tournament:
        there = sum(len(lineups) for _, lineups in lineups_in_log(tournament.store, tournament.planned.blocks()))
    stricter = compare(THREE, StopRule(Sprt(0, 60, alpha=0.001)), workers=1, home=tmp_path)
    counted = 2 * len(stricter.tally.blocks)
    assert 2 * len(three.tally.blocks) <= stricter.outcome.progress.found <= min(there, counted)
    assert stricter.outcome.progress.found + stricter.outcome.progress.played == counted
    assert len(stricter.tally.blocks) > len(three.tally.blocks)
    assert lines(stricter.folder).startswith(before)
    back = compare(THREE, StopRule(Sprt(0, 60)), workers=1, home=tmp_path)
    assert back.as_dict() == three.as_dict()


def test_the_other_way_round_the_same_log_is_read_and_everything_is_mirrored(three, tmp_path):
    shutil.copytree(three.folder, tmp_path / three.plan.name)
    blocks = len(three.tally.blocks)
    there = compare(THREE, StopRule.fixed(blocks), workers=1, home=tmp_path)
    back = compare(replace(THREE, a="random", b="greedy"), StopRule.fixed(blocks), workers=1, home=tmp_path)
    assert (there.folder, back.outcome.progress.played) == (back.folder, 0)
    assert back.tally.counts.tolist() == there.tally.counts.tolist()[::-1]
    assert back.elo.score == pytest.approx(-there.elo.score)
    assert back.saving.factor == pytest.approx(there.saving.factor)


def test_scores_are_those_of_the_log(three):
    with Store.open(three.folder / api.LOG_FILE) as store:
        schedule = Tournament(store).schedule
        matches = board_matches(Tournament(store), 0)
    a, b = (
        three.plan.schedule.entries.index(e) for e in three.plan.schedule.entries if e.label in ("greedy", "random")
    )
    differences = paired_differences(matches, schedule, 0, (a, b))
    values = np.arange(9) / 2 - 2
    assert differences.mean() == pytest.approx(values @ three.tally.counts / three.tally.counts.sum())
    told = power(three.folder, "greedy", "random", options=PowerOptions(difference=0.1))[0]
    assert told.pilot.mean == pytest.approx(differences.mean())
    assert told.blocks > told.pilot.blocks and told.seconds > 0


def test_faults_count_as_losses_and_are_told(bots, tmp_path):
    found = compare(Matchup(f"{bots}:Fragile", "random", "epicycle"), StopRule.fixed(12), workers=1, home=tmp_path)
    with sqlite3.connect(found.folder / api.LOG_FILE) as log:
        forfeits = log.execute("SELECT count(*) FROM seats WHERE cause IS NOT NULL").fetchone()[0]
    assert found.tally.forfeits == [forfeits, 0] and forfeits > 0


@pytest.mark.system
def test_deterministic_bots_that_repeat_themselves_pile_up_no_evidence(bots, tmp_path):
    pair = (f"{bots}:Low", f"{bots}:High")
    found = compare(Matchup(*pair, "epicycle", opening="none"), workers=1, home=tmp_path)
    assert (found.end, found.tally.repeats, found.tally.counts.sum()) == ("openings", MAX_REPEATED_BLOCKS, 1)
    more = compare(Matchup(*pair, "epicycle", opening="random:1"), workers=1, home=tmp_path)
    assert more.end == "openings"
    assert 1 < more.tally.counts.sum() < 30 < more.tally.repeats
    fixed = compare(Matchup(*pair, "epicycle", opening="none"), StopRule.fixed(60), workers=1, home=tmp_path)
    assert (fixed.end, len(fixed.tally.blocks), fixed.tally.counts.sum()) == ("fixed", 60, 1)


@pytest.mark.chaos
def test_an_interrupted_comparison_goes_on_and_its_log_is_no_other(bots, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_NAP", "0.05")
    options = (f"{bots}:Nap", "random", "--game", "epicycle", "--fixed", "24", "--workers", "1")
    process = start_arena("compare", *options, "--home", tmp_path / "a", folder=tmp_path)

    def some():
        return any(count(log) >= 8 for log in (tmp_path / "a").glob("compare/*/matches.db"))

    wait_until(some, "a few matches were played")
    signal_group(process, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    monkeypatch.delenv("TEST_NAP")
    assert process.returncode == 130
    assert "To go on:\n  arena compare" in said and "--fixed 24" in said
    (log,) = (tmp_path / "a").glob("compare/*/matches.db")
    assert 8 <= count(log) < 48
    done, whole = (
        compare(Matchup(f"{bots}:Nap", "random", "epicycle"), StopRule.fixed(24), workers=1, home=tmp_path / home)
        for home in "ab"
    )
    assert done.folder == log.parent
    assert done.outcome.progress.found > 0
    assert lines(done.folder) == lines(whole.folder)
    assert done.as_dict() == whole.as_dict()


def count(log):
    try:
        with sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM matches").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("seed", range(8))
def test_whatever_finishes_first_and_whatever_is_in_the_log_the_same_blocks_count(seed, tmp_path):
    """The fold of a run, which takes results as they come, and that of the log afterwards, with more in it, agree."""
    rng = random.Random(seed)
    test = Sprt(0, 120, 0.2, 0.2, "logistic")
    plan = samples.schedule(
        "abc",
        boards=(samples.board(3, range(3), 120),),
        scheduler=Duel(bots=("a", "b"), fillers=("c",)),
        comparison=ComparisonPlan(0, 1, test, 2),
    )
    rows = {spec: samples.random_row(spec, random.Random(spec.id)) for spec in samples.all_matches(plan)}
    order = sorted(rows, key=lambda spec: spec.block.round + rng.uniform(0, 4))
    with Store.create(tmp_path / "log.db") as store:
        run = samples.begin(store, plan)
        before = [spec for spec in samples.all_matches(plan) if spec.block.round < 3][1:]
        store.add(plan, [samples.finished(spec, rows[spec]) for spec in before], run)
        fold, ahead = SequentialFold(store, plan), 0
        for block, found in itertools.groupby(before, lambda spec: spec.block):
            fold.find(block, [spec.lineup for spec in found], [])
        for spec in order:
            if spec not in before:
                fold.take(spec, rows[spec])
                store.add(plan, [samples.finished(spec, rows[spec])], run)
                ahead += not fold.counts(spec.block)
        tally = tally_of(store, plan)
        decided = len(tally.blocks)
        assert tally.done and 1 < decided < 120 and ahead > 0
        assert (tally.blocks, tally.llrs) == (fold.tally.blocks, fold.tally.llrs)
        assert tally.forfeits == fold.tally.forfeits != [0, 0]
        assert (fold.found, fold.ahead) == (sum(spec.block.round < decided for spec in before), 0)
        assert fold.total == fold.found + fold.played == 2 * decided
        assert [*Tournament(store, plan).schedule.blocks()] == [*plan.blocks()][:decided]
        assert [read.seat for read in tally.blocks] == [number % 3 for number in range(decided)]


def turn(units, *moves):
    return SeatResult(units, moves, (0, 0))


def test_repeated_blocks_count_after_all_once_one_opening_leads_to_two_matches():
    tally = Tally(None, 2, 1)
    for last in "xxx":
        tally.add((0,), 0, turn(2, "o", last), turn(0, "o", "y"))
    tally.add((0,), 0, turn(2, "p", "x"), turn(2, "p", "y"))
    assert (tally.counts.tolist(), tally.repeats) == ([0, 0, 1, 0, 1], 2)
    assert [block.units_b for block in tally.evidence] == [0, 2]
    tally.add((1,), 0, turn(2, "o", "z"), turn(2, "o", "y"))
    assert tally.repeats == 2
    tally.add((0,), 0, turn(0, "o", "z"), turn(2, "o", "y"))
    assert (tally.counts.tolist(), tally.repeats) == ([1, 0, 2, 0, 3], 0)
    assert Counter(tally.evidence) == Counter(tally.blocks)


def test_the_two_may_fill_seats_themselves_and_their_order_and_that_of_fillers_change_nothing():
    worker = WorkerProcess()
    plans = [
        comparison_plan(Matchup(*pair, "epicycle", 4, fillers), StopRule(blocks=10), worker)
        for pair in (("greedy", "random"), ("random", "greedy"))
        for fillers in (["random", "cautious", "greedy"], ["greedy", "random", "cautious"])
    ]
    worker.stop()
    assert len({plan.name for plan in plans}) == 1
    assert len({tuple(plan.schedule.blocks()) for plan in plans}) == 1
    assert plans[0].name.startswith("compare/epicycle_4p-greedy-random-")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (dict(a="greedy", b="greedy"), "A and B are the same bot"),
        (dict(b="gredy"), "B: .*did you mean 'greedy'"),
        (dict(fillers=["catcher"], players=3), "filler 1: catcher"),
        (dict(opening="some"), "opening = 'some'"),
    ],
)
def test_a_comparison_that_cannot_be_made_says_why(options, told, tmp_path):
    with pytest.raises(ConfigError, match=told):
        compare(replace(Matchup("greedy", "random", "epicycle"), **options), workers=1, home=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("blocks", [0, 10_000_001])
def test_a_number_of_blocks_that_makes_no_sense_is_refused_by_its_option_name(blocks):
    with pytest.raises(ConfigError, match=f"fixed = {blocks}: must be from 1 to 10,000,000"):
        StopRule.fixed(blocks)
    with pytest.raises(ConfigError, match=f"max_blocks = {blocks}: must be"):
        StopRule(blocks=blocks)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_log_can_hold_is_refused_before_anything_is_played(seed):
    with pytest.raises(ConfigError, match=f"seed = {seed}: must be a whole number from 0 to"):
        Matchup("greedy", "random", "epicycle", seed=seed)
