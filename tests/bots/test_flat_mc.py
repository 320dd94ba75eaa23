"""Flat Monte Carlo measures what its actions are worth, and more playouts measure better."""

from itertools import count
from typing import Any

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.random_bot import Random
from bots.search.flat_mc import FlatMonteCarlo, compiled_points
from bots.search.perfect_solver import solve
from engine.chance import new_rng
from tests.bots.built_in import load_race
from tests.bots.matches import decisions, immediate_returns, mean_return, must_win, random_walk, wins_in_one
from tests.bots.random_play import random_play

EPICYCLE = engine.load_game("epicycle", players=2)


def flat_mc(state, seed=1, playouts=100):
    return make_bot(FlatMonteCarlo, state.game, state.current_player(), seed, {"playouts": playouts})


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_win_in_one_is_taken(players):
    for state in wins_in_one(engine.load_game("epicycle", players), 20):
        choice = flat_mc(state, playouts=1000).choose(state)
        assert must_win(state.child(choice), state.current_player(), plies=4)  # a win that cannot be missed is as good


def test_a_loss_in_one_is_avoided():
    found = 0
    for state in decisions(EPICYCLE, 200):
        returns = immediate_returns(state)
        if -1.0 in returns.values() and set(returns.values()) != {-1.0}:
            found += 1
            assert returns[flat_mc(state).choose(state)] != -1.0
    assert found >= 40


def test_the_points_of_actions_agree_with_random_play_worked_out_exactly():
    game = engine.load_game("epicycle(repetition=0,max_turns=10000)", players=2)
    win, _ = random_play()
    playouts = 20_000
    for state in decisions(game, 12):
        points = compiled_points(game)(state.words, state.current_player(), playouts, new_rng(8))
        for action, gained in zip(state.legal_actions(), points, strict=True):
            child = state.child(action)
            returns: dict[int, Any] = immediate_returns(state)  # None only where play goes on
            exact = max(returns[action], 0) if child.is_terminal() else 1 - win[solve().number(child)]
            spread = np.sqrt(exact * (1 - exact) / playouts)
            assert gained / 2 / playouts == pytest.approx(exact, abs=5 * spread + 1e-9)


def test_points_count_two_a_seat_beaten_and_one_a_seat_tied_with():
    game = load_race(4, goal=5)
    points = compiled_points(game)(game.state_from_position("4/3/0/3 4 0").words, 0, 10, new_rng(1))
    assert points[0] == 10 * 6  # walking wins against all three
    game = engine.load_game("epicycle(max_turns=1)", players=5)
    points = compiled_points(game)(game.new_initial_state().words, 0, 7, new_rng(1))
    assert points == [7 * 4] * 2  # the cap ends every match in a tie of five


def test_every_action_gets_the_same_number_of_playouts():
    game = engine.load_game("epicycle(max_turns=1)", players=2)  # every playout is a tie, worth one point
    for playouts in (1, 13, 400):
        assert compiled_points(game)(game.new_initial_state().words, 0, playouts, new_rng(2)) == [playouts] * 2


def test_ties_are_broken_by_the_seed():
    state = engine.load_game("epicycle(max_turns=1)", players=3).new_initial_state()
    assert {flat_mc(state, seed).choose(state) for seed in range(20)} == set(state.legal_actions())


def test_a_forced_move_costs_no_playout():
    bot = flat_mc(EPICYCLE.new_initial_state())
    before = bot._chance.copy()
    walks = (random_walk(EPICYCLE, seed) for seed in count())
    forced = next(state for walk in walks for state in walk if len(state.legal_actions()) == 1)
    assert bot.choose(forced) == forced.legal_actions()[0]
    assert (bot._chance == before).all()
    bot.choose(EPICYCLE.new_initial_state())
    assert (bot._chance != before).any()


@pytest.mark.parametrize("players", [2, 3])
def test_more_playouts_beat_fewer_at_epicycle(players):
    game = engine.load_game("epicycle", players)
    many, few = ((FlatMonteCarlo, {"playouts": playouts}) for playouts in (200, 2))
    assert mean_return(game, many, few, rounds=50) > 0.35


def test_more_playouts_beat_fewer_at_a_game_of_dice():
    many, few = ((FlatMonteCarlo, {"playouts": playouts}) for playouts in (500, 1))
    assert mean_return(load_race(2), many, few, rounds=150) > 0.05


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_flat_mc_beats_random_clearly(players):
    game = engine.load_game("epicycle", players)
    assert mean_return(game, (FlatMonteCarlo, {"playouts": 20}), (Random, {}), rounds=50) > 0.6
