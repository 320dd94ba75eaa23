"""A board is told of when its last match is in the log: early, once, and not before."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.runner import retries
from arena.runner import run as runner
from arena.runner.compiling import CompileStage
from arena.runner.folds import DisqualificationFold
from arena.workers.messages import RATINGS
from tests.arena.runner.test_work import Machine
from tests.arena.tournament.test_disqualification import Workers, counted_in, play
from tests.arena.tournament.test_stages import NAMES, Played, Players, adaptive_plan, by_the_rules_words
from tests.support.faulty import random_falls, random_plan, rule
from tests.support.samples import board, schedule


def check_told(plan, log, expected, rng, workers, monkeypatch):
    """Play a plan, now and then interrupted, and hold what is told of boards against the matches expected of each."""
    for stop_after in [*(rng.randint(1, 12) for _ in range(rng.randrange(3))), 10**9]:
        told = []

        def complete(number, told=told):
            told.append(number)
            assert counted_in(log, plan, number) == expected[number]

        play(plan, log, workers(stop_after), monkeypatch, complete)
        assert len(told) == len(set(told)) < len(plan.boards)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9))
def test_a_board_that_is_told_of_has_every_match_that_the_rule_of_disqualification_leaves(seed):
    rng = random.Random(seed)
    plan = random_plan(rng)
    forfeits = random_falls(plan, rng)
    stay, _ = rule(plan, forfeits)
    expected = [{spec.id for spec in stay if spec.block.board == number} for number in range(len(plan.boards))]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
        monkeypatch.setattr(retries, "MAX_TRIES", 10**6)
        monkeypatch.setattr(DisqualificationFold, "max_ahead", rng.choice([0, 3, 20_000]))
        count = rng.randint(1, 4)
        workers = lambda stop_after: Workers(rng, forfeits, count, stop_after)  # noqa: E731
        check_told(plan, Path(folder) / "matches.db", expected, rng, workers, monkeypatch)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**9))
def test_an_adaptive_board_is_told_of_when_no_stage_is_left(seed):
    rng = random.Random(seed)
    plan = adaptive_plan(NAMES[:3], (2, 3), rng.randint(2, 5), 2, forfeit_limit=rng.choice([0, 2, 5]))
    played = Played(plan, seed)
    expected = [{spec.id for spec in by_the_rules_words(plan, number, played)[0]} for number in range(2)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
        monkeypatch.setattr(retries, "MAX_TRIES", 10**6)
        workers = lambda stop_after: Players(rng, played, 2, stop_after)  # noqa: E731
        check_told(plan, Path(folder) / "matches.db", expected, rng, workers, monkeypatch)


def test_boards_end_one_after_the_other_the_shortest_first(tmp_path, monkeypatch):
    """So that results of some are there long before the end."""
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan = schedule("abcd", boards=tuple(board(2, range(4), n, opening=k) for k, n in enumerate((200, 50, 100))))
    machine, told = Machine(2, lambda spec: 0.02), []
    play(plan, tmp_path / "m.db", machine, monkeypatch, lambda number: told.append((number, machine.now)))
    assert [number for number, _ in told] == [1, 2]  # after the last board there is nothing to be early for
    shares = [when / machine.now for _, when in told]
    assert shares[0] < 0.25 and shares[1] < 0.6


def test_a_board_with_a_match_that_cannot_be_played_is_not_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    plan = schedule("abc", boards=tuple(board(2, range(3), 4, opening=number) for number in range(2)))
    forfeits = {spec.id: {} for block in plan.blocks() for spec in plan.matches(block)}
    first = next(plan.blocks_of(0))
    pool = Workers(random.Random(1), forfeits, deadly=[plan.matches(first)[0].id])
    told: list[int] = []
    outcome = play(plan, tmp_path / "m.db", pool, monkeypatch, told.append)
    assert len(outcome.not_played) == 1 and told == [1]


def test_boards_wait_until_what_rates_them_is_compiled(tmp_path, monkeypatch):
    """Else the driver would compile it again."""
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(CompileStage, "is_ready", lambda stage, board: board != RATINGS)
    plan = schedule("ab", boards=tuple(board(2, range(2), n, opening=n) for n in (20, 400)))
    told: list[int] = []
    play(plan, tmp_path / "m.db", Machine(2, lambda spec: 0.02), monkeypatch, told.append)
    assert told == []
