"""Pyramid Punch's evaluation: bounded, right about the end, and better than chance one ply ahead."""

import random

import pytest

import engine
from bots.heuristics.pyramid_punch import evaluate


def playout(game, seed, choose):
    """Return a match; `choose(state, chooser)` gives every decision."""
    chooser, state = random.Random(seed), game.new_initial_state()
    while not state.is_terminal():
        outcomes = state.chance_outcomes()
        state.apply_action(chooser.choice(outcomes)[0] if outcomes else choose(state, chooser))
    return state


def value(state, seat):
    return state.returns()[seat] if state.is_terminal() else evaluate(state.record, seat)


def look_ahead(state, chooser):
    seat = state.current_player()
    values = {action: value(state.child(action), seat) for action in state.legal_actions()}
    return chooser.choice([action for action in values if values[action] > max(values.values()) - 1e-9])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_evaluations_of_running_states_stay_within_the_returns(players):
    game = engine.load_game("pyramid_punch", players=players)

    def choose(state, chooser):
        assert all(-1 <= evaluate(state.record, seat) <= 1 for seat in range(players))
        return chooser.choice(state.legal_actions())

    for seed in range(20):
        playout(game, seed, choose)


def test_a_seat_that_is_out_is_worth_its_return():
    state = engine.load_game("pyramid_punch", players=5).state_from_position("LM..@0,0/x4/L..S@1,0/x3/LMSO@0,1 0 m 9")
    assert evaluate(state.record, 1) == pytest.approx(-1)
    assert evaluate(state.record, 3) == pytest.approx(-0.5)


def test_more_fighters_are_worth_more_and_equals_are_worth_the_same():
    game = engine.load_game("pyramid_punch", players=2)
    apart = game.state_from_position("LM..@0,0/.L..@0,-1 0 m 8")
    assert evaluate(apart.record, 0) > 0 > evaluate(apart.record, 1)
    equal = game.new_initial_state()
    assert evaluate(equal.record, 0) == evaluate(equal.record, 1) == 0


@pytest.mark.parametrize("players", [3, 5])
def test_one_ply_of_look_ahead_beats_random_play(players):
    game = engine.load_game("pyramid_punch", players=players)
    total = 0.0
    for match in range(300):
        seat = match % players

        def choose(state, chooser, seat=seat):
            return (
                look_ahead(state, chooser) if state.current_player() == seat else chooser.choice(state.legal_actions())
            )

        total += playout(game, match, choose).returns()[seat]
    assert total / 300 > 0.08
