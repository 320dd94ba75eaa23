"""The judge of connect four knows what positions are worth."""

import random
from collections import Counter

import engine
from benchmarks.sections.judge import problems, share_of_best, value_after
from bots.random_bot import Random
from bots.search.minimax import AlphaBeta
from tests.bots.brute_force import exact_values

LATE = 33
"""Discs from which on brute force is quick."""


def test_values_are_those_of_play_by_brute_force():
    rng, seen = random.Random(1), Counter[float]()
    while seen.total() < 200:
        state = engine.load_game("connect_four", 2).new_initial_state()
        while not state.is_terminal() and len(state.history()) < LATE:
            state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            expected = {action: returns[state.current_player()] for action, returns in exact_values(state).items()}
            assert {action: value_after(state, action) for action in expected} == expected
            seen.update(expected.values())
    assert min(seen[value] for value in (-1, 0, 1)) > 10


def test_a_deep_search_is_right_more_often_than_random_play():
    assert share_of_best(AlphaBeta, {"nodes": 20_000}, 20) > share_of_best(Random, {}, 20)


def test_moves_of_every_problem_differ_in_value_and_discs_are_as_planned():
    found = problems(22)
    assert all(set(problem.best) < set(problem.state.legal_actions()) for problem in found)
    assert Counter(len(problem.state.history()) for problem in found) == dict.fromkeys(range(14, 25), 2)
