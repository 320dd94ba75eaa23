"""What search knows about Magic Mids."""

import random

import pytest

import engine
from bots.heuristics.magic_mids import evaluate


def best_action(state):
    """Return the first action whose outcome the evaluation likes best."""

    def worth(action):
        after = state.child(action)
        return after.returns()[seat] if after.is_terminal() else evaluate(after.record, seat)

    seat = state.current_player()
    return max(state.legal_actions(), key=worth)


def states(game, seed, greedy_seat=None):
    """Return the states of one match, random but for the greedy seat."""
    chooser = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state
        outcomes = state.chance_outcomes()
        if outcomes:
            action = chooser.choices(*zip(*outcomes, strict=True))[0]
        elif state.current_player() == greedy_seat:
            action = best_action(state)
        else:
            action = chooser.choice(state.legal_actions())
        state = state.child(action)
    yield state


@pytest.mark.parametrize("players", [2, 3, 4])
def test_evaluations_of_running_positions_stay_within_one(players):
    game = engine.load_game("magic_mids", players)
    for seed in range(10):
        for state in states(game, seed):
            if not state.is_terminal():
                assert all(-1 <= evaluate(state.record, seat) <= 1 for seat in range(players))


def test_seats_that_stand_alike_are_worth_the_same_and_two_seats_sum_to_zero():
    game = engine.load_game("magic_mids", 2)
    assert evaluate(game.new_initial_state().record, 0) == evaluate(game.new_initial_state().record, 1) == 0
    for state in states(game, 3):
        if not state.is_terminal() and min(evaluate(state.record, seat) for seat in (0, 1)) > -1:
            assert abs(evaluate(state.record, 0) + evaluate(state.record, 1)) < 1e-12


def test_a_capture_is_liked_better_than_a_placement_beside_it():
    game = engine.load_game("magic_mids", 2)
    state = game.state_from_position("0L1M..../......../......../......../........ 554/545 0 444 2")
    assert state.action_to_string(best_action(state)) == "La4"


def test_a_mid_that_can_be_captured_is_worth_less_than_a_safe_one():
    game = engine.load_game("magic_mids", 2)
    exposed = game.state_from_position("1L0S..../......../......../......../........ 455/554 0 - 2")
    safe = game.state_from_position("1L....../......../..0S..../......../........ 455/554 0 - 2")
    assert evaluate(exposed.record, 0) < evaluate(safe.record, 0)


@pytest.mark.parametrize(("players", "matches", "margin"), [(2, 200, 0.3), (3, 210, 0.15), (4, 400, 0.08)])
def test_one_ply_greedy_beats_random(players, matches, margin):
    game = engine.load_game("magic_mids", players)
    total = 0.0
    for seed in range(matches):
        seat = seed % players
        *_, last = states(game, seed, greedy_seat=seat)
        total += last.returns()[seat]
    assert total / matches > margin
