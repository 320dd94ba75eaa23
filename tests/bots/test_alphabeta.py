"""Alpha-beta finds what plain minimax finds: at every depth, with and without its table, to the end of the match."""

import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.greedy import Greedy
from bots.search.minimax import (
    CHUNK,
    DEEPEST,
    AlphaBeta,
    Search,
    compiled_maxn,
    compiled_search,
    minimax_kernels,
    rolls_dice,
    transposition_table,
)
from bots.search.minimax_kernel import DELAY
from bots.search.perfect import Perfect
from bots.search.perfect_solver import solve
from tests.bots.built_in import label, load_race
from tests.bots.matches import decisions, immediate_returns, mean_return, must_win, random_walk, wins_in_one
from tests.bots.plain_minimax import action_values, hold_against_plain, plain_values, searched, small

EPICYCLE = engine.load_game("epicycle", 2)
ENDLESS = engine.load_game("epicycle(repetition=0)", 2)
MIDGARD = engine.load_game("midgard", 2)
ODIN = engine.load_game("midgard(variant=odin)", 2)
DEPTHS = [(EPICYCLE, 6), (engine.load_game("epicycle", 3), 5), (engine.load_game("epicycle", 5), 4)]
DEPTHS += [(MIDGARD, 3), (ODIN, 3)]


def alphabeta(state, seed=1, **params):
    return make_bot(AlphaBeta, state.game, state.current_player(), seed, params)


@pytest.mark.parametrize(("game", "depth"), DEPTHS, ids=label)
def test_the_root_is_worth_what_plain_minimax_says_and_its_choice_is_worth_that(game, depth):
    for state in small(decisions(game, 300), choices=14, count=12):
        hold_against_plain(compiled_search(game), state, depth)


@pytest.mark.parametrize(("players", "depth"), [(3, 5), (5, 4)])
def test_by_max_n_the_root_is_worth_what_every_seat_for_itself_makes_of_it(players, depth):
    game = engine.load_game("epicycle", players)
    for state in small(decisions(game, 300), choices=6, count=20):
        seat = state.current_player()
        for decisions_ahead in range(1, depth + 1):
            search = compiled_maxn(game)
            assert searched(search, state, decisions_ahead) == plain_values(state, seat, decisions_ahead)[seat]
            assert plain_values(state.child(search.best), seat, decisions_ahead - 1, 1)[seat] == search.value


def test_opponents_are_taken_for_selfish_when_they_are_many_or_when_asked_to_be():
    for players, opponents, selfish in [
        (2, "maxn", 0),
        (3, "maxn", 1),
        (4, "auto", 0),
        (5, "auto", 1),
        (5, "paranoid", 0),
    ]:
        state = engine.load_game("epicycle", players).new_initial_state()
        other, own = (compiled_search, compiled_maxn)[:: 1 if selfish else -1]
        other(state.game).begin(state.words, 0, [0], [0.0])
        alphabeta(state, opponents=opponents, nodes=500).choose(state)
        assert own(state.game).nodes == 500 and other(state.game).nodes == 0


@pytest.mark.parametrize(("game", "depth"), [(EPICYCLE, 9), (MIDGARD, 3)], ids=label)
def test_the_table_saves_states_and_changes_no_value(game, depth):
    without, visited = Search(game, np.zeros(0, np.uint64)), np.zeros(2, int)
    for state in small(decisions(game, 300), choices=40, count=20):
        assert searched(compiled_search(game), state, depth) == searched(without, state, depth)
        visited += compiled_search(game).nodes, without.nodes
    assert visited[0] < visited[1]


def test_a_search_that_is_interrupted_at_every_turn_finds_the_same_in_the_same_states():
    for state in small(decisions(MIDGARD, 300), choices=40, count=5):
        search = compiled_search(MIDGARD)
        found = [(searched(search, state, 3, step), search.best, search.nodes) for step in (1 << 40, 100, 1)]
        assert found[0] == found[1] == found[2]


def test_a_search_that_reaches_every_end_knows_who_wins_and_stops():
    """Nobody is asked what a running state is worth: in the last drops of Midgard every line comes to its end."""
    results = Counter()
    for game in (MIDGARD, ODIN):
        for state in small(decisions(game, 600), choices=5 if game is ODIN else 8, count=15):
            value = max(action_values(state, DEEPEST).values())
            search = compiled_search(game)
            assert searched(search, state, DEEPEST) == value
            assert search.decided
            results[value > 0] += 1
            choice = alphabeta(state).choose(state)
            assert action_values(state, DEEPEST)[choice] == value
    assert min(results[True], results[False]) >= 5


def test_epicycle_is_won_and_lost_as_the_table_of_the_solved_game_says():
    """Positions decided within 9 plies, with the number of plies that it takes."""
    found = Counter()
    for state in decisions(ENDLESS, 3000):
        entry = solve().look_up(state)
        if entry.value and found[entry.value] < 40:
            found[entry.value] += 1
            assert searched(compiled_search(ENDLESS), state, 9) == entry.value * (1 - DELAY * entry.depth)
            child = state.child(alphabeta(state).choose(state))
            if not child.is_terminal():
                after = solve().look_up(child)
                assert (after.value, after.depth) == (-entry.value, entry.depth - 1)
    assert found[1] == 40 and found[-1] >= 10


def test_epicycle_is_a_draw_that_no_look_ahead_takes_for_anything_else():
    state = ENDLESS.new_initial_state()
    assert abs(searched(compiled_search(ENDLESS), state, 10)) < 1 - DELAY * DEEPEST


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_win_in_one_is_taken(players):
    for state in wins_in_one(engine.load_game("epicycle", players), 20):
        assert immediate_returns(state)[alphabeta(state, nodes=1).choose(state)] == 1.0


def test_a_loss_that_the_next_seat_can_force_is_avoided_two_plies_ahead():
    found = 0
    for state in decisions(EPICYCLE, 300):
        seat = state.current_player()
        beaten = {action for action in state.legal_actions() if loses_at_once(state.child(action), seat)}
        if beaten and beaten != set(state.legal_actions()):
            found += 1
            assert alphabeta(state, depth=2).choose(state) not in beaten
    assert found > 20


def loses_at_once(state, seat):
    if state.is_terminal():
        return state.returns()[seat] == -1.0
    return any(must_win(state.child(action), 1 - seat, 0) for action in state.legal_actions())


def test_a_budget_of_states_is_kept_to_the_state():
    for state in small(decisions(MIDGARD, 100), choices=60, count=5):
        for nodes in (1000, 5000):
            alphabeta(state, nodes=nodes).choose(state)
            assert compiled_search(MIDGARD).nodes == nodes


def test_looking_one_decision_ahead_is_finished_whatever_the_budget():
    for state in small(decisions(MIDGARD, 100), choices=60, count=5):
        assert alphabeta(state, nodes=1).choose(state) == alphabeta(state, depth=1).choose(state)
        assert compiled_search(MIDGARD).nodes == len(state.legal_actions())


def test_a_choice_hangs_on_nothing_that_was_asked_before():
    states = decisions(MIDGARD, 60)[::6]
    fresh = []
    for state in states:
        transposition_table()[:] = 0
        fresh.append(alphabeta(state, nodes=3000).choose(state))
    for state, choice in [*zip(states, fresh, strict=True)][::-1]:
        assert alphabeta(state, nodes=3000).choose(state) == choice


def test_ties_are_broken_by_the_seed():
    state = engine.load_game("epicycle(max_turns=1)", 3).new_initial_state()
    assert {alphabeta(state, seed).choose(state) for seed in range(20)} == set(state.legal_actions())


def test_a_forced_move_is_made_at_once():
    walks = (random_walk(EPICYCLE, seed) for seed in itertools.count())
    forced = next(state for walk in walks for state in walk if len(state.legal_actions()) == 1)
    bot = alphabeta(forced)
    compiled_search(EPICYCLE).begin(forced.words, 0, [0], [0.0])
    assert bot.choose(forced) == forced.legal_actions()[0]
    assert compiled_search(EPICYCLE).nodes == 0


def test_with_a_clock_it_says_so_and_stops_in_time(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("bots.search.minimax.time", SimpleNamespace(monotonic=lambda: 0.01 * next(clock)))
    state = MIDGARD.new_initial_state()
    assert not alphabeta(state).timed
    bot = alphabeta(state, seconds=0.05, nodes=1)
    assert bot.timed
    assert bot.choose(state) in state.legal_actions()
    assert 2 * CHUNK < compiled_search(MIDGARD).nodes < 6 * CHUNK


def test_states_that_differ_in_the_highest_bits_have_different_keys():
    kernels = minimax_kernels(MIDGARD)
    rng = np.random.default_rng(1)
    for words in rng.integers(0, 2**64, (200, 4), dtype=np.uint64):
        other = words ^ np.array([0, 1 << 63, 1 << 63 | 1 << 34, 0], np.uint64)
        assert kernels.hashed(words, 4, 1) != kernels.hashed(other, 4, 1)


def test_dice_in_play_are_told_from_a_set_up_by_chance():
    assert rolls_dice(load_race(2)) and rolls_dice(engine.load_game("pyramid_punch", 2))
    for spec in ("epicycle(setup=random)", "midgard(variant=loki)", "midgard"):
        assert not rolls_dice(engine.load_game(spec, 2))


@pytest.mark.parametrize("game", [MIDGARD, ODIN, engine.load_game("epicycle", 3)], ids=label)
def test_it_beats_greedy(game):
    assert mean_return(game, (AlphaBeta, {"nodes": 1000}), (Greedy, {}), rounds=15) > 0.3


def test_with_five_players_it_beats_greedy_by_max_n():
    game = engine.load_game("epicycle", 5)
    assert mean_return(game, (AlphaBeta, {"nodes": 1000}), (Greedy, {}), rounds=20) > 0.4


def test_it_hardly_ever_loses_to_perfect_play():
    assert mean_return(EPICYCLE, (AlphaBeta, {"nodes": 3000}), (Perfect, {}), rounds=3) > -0.5
