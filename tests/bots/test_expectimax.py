"""Expectimax finds the plain means over the dice, and cuts only what cannot matter."""

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.greedy import Greedy
from bots.search.minimax import Expectimax, Search, compiled_maxn, compiled_search
from tests.bots.built_in import label, load_race
from tests.bots.matches import decisions, immediate_returns, mean_return, wins_in_one
from tests.bots.plain_minimax import action_values, hold_against_plain, plain_values, searched, small

GAMES = [*(engine.load_game("magic_mids", players) for players in (2, 3))]
GAMES += [engine.load_game("pyramid_punch", players) for players in (2, 3)]
DEPTHS = [(game, 2) for game in GAMES] + [(load_race(3, goal=4), 2), (load_race(2, goal=3), 3)]


def expectimax(state, seed=1, **params):
    return make_bot(Expectimax, state.game, state.current_player(), seed, params)


@pytest.mark.system
@pytest.mark.parametrize(("game", "depth"), DEPTHS, ids=label)
def test_the_root_is_worth_what_plain_expectimax_says_and_its_choice_is_worth_that(game, depth):
    for state in small(decisions(game, 200), choices=5, count=5):
        hold_against_plain(compiled_search(game), state, depth, within=1e-12)


def test_by_max_n_the_root_is_worth_what_every_seat_for_itself_makes_of_it():
    game = GAMES[3]
    for state in small(decisions(game, 200), choices=6, count=5):
        seat = state.current_player()
        assert searched(compiled_maxn(game), state, 2) == pytest.approx(plain_values(state, seat, 2)[seat], abs=1e-12)


@pytest.mark.parametrize("game", GAMES, ids=label)
def test_the_table_saves_states_and_changes_no_value(game):
    without, visited = Search(game, np.zeros(0, np.uint64)), np.zeros(2, int)
    for state in small(decisions(game, 200), choices=12, count=6):
        value = searched(compiled_search(game), state, 3)
        assert value == pytest.approx(searched(without, state, 3), abs=1e-12)
        visited += compiled_search(game).nodes, without.nodes
    assert visited[0] < visited[1]


def test_a_search_that_is_interrupted_at_every_turn_finds_the_same_in_the_same_states():
    game = GAMES[0]
    for state in small(decisions(game, 200), choices=12, count=3):
        search = compiled_search(game)
        found = [(searched(search, state, 2, step), search.best, search.nodes) for step in (1 << 40, 1)]
        assert found[0] == found[1]


def test_a_win_in_one_is_taken():
    for state in wins_in_one(load_race(3), 20):
        assert immediate_returns(state)[expectimax(state).choose(state)] == 1.0


def test_a_sure_win_is_preferred_to_a_likely_one_and_a_risk_to_a_sure_loss():
    game = load_race(2, goal=12)
    assert expectimax(game.state_from_position("11/3 2 0"), depth=1).choose(game.state_from_position("11/3 2 0")) == 0
    behind = game.state_from_position("7/11 2 0")  # whoever walks or falls short is beaten by the next walk
    values = action_values(behind, 2)
    choice = expectimax(behind, depth=2).choose(behind)
    assert values[choice] == max(values.values()) and choice != 0


def test_a_budget_of_states_is_kept_to_the_state():
    game = GAMES[0]
    for state in small(decisions(game, 100), choices=20, count=3):
        expectimax(state, nodes=2000).choose(state)
        assert compiled_search(game).nodes == 2000


def test_games_without_dice_are_left_to_alphabeta():
    assert "dice" in Expectimax.refusal(engine.load_game("midgard", 2))
    assert Expectimax.refusal(load_race(4)) is None


@pytest.mark.system
@pytest.mark.parametrize(("game", "nodes", "margin"), [(GAMES[0], 2000, 0.1), (GAMES[3], 1000, 0.1)], ids=label)
def test_it_beats_greedy(game, nodes, margin):
    assert mean_return(game, (Expectimax, {"nodes": nodes}), (Greedy, {}), rounds=60) > margin
