"""The arena's games in OpenSpiel: suites that others wrote, on all of them, and algorithms that play or solve them."""

import unittest

import numpy as np
import pyspiel
import pytest

import engine
from arena.interop.openspiel import register
from tests.arena.interop.openspiel.playing import (
    NAMES,
    assert_same_matches,
    bounded_tables,
    certainty,
    compiled_search,
    plain_search,
)

pytestmark = pytest.mark.system

SHORT = {"epicycle": {"max_turns": 40}, "magic_mids": {"max_turns": 12}, "pyramid_punch": {"max_turns": 8}}
"""Caps for what takes long at every ply."""
TABLES = bounded_tables()
IDS = [f"{name}-{players}-{options}" for name, players, options in TABLES]


@pytest.fixture(scope="module", autouse=True)
def ours_are_registered():
    register()


@pytest.fixture(params=TABLES, ids=IDS)
def game(request):
    """Every game with every number of players, and with other options."""
    name, players, options = request.param
    return pyspiel.load_game(f"arena_{name}", {**options, "players": players})


@pytest.fixture(params=TABLES, ids=IDS)
def short_game(request):
    """The same, with a cap that ends matches soon."""
    name, players, options = request.param
    return pyspiel.load_game(f"arena_{name}", {**SHORT.get(name, {}), **options, "players": players})


def run(suite):
    """Run a suite of unittest; all of it must pass, and something must have been run."""
    result = unittest.TestResult()
    suite.run(result)
    assert result.wasSuccessful(), [text for _, text in result.errors + result.failures]
    return result.testsRun


# Suites that others wrote


def test_random_simulations_in_cpp_find_nothing(game):
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False, mask_test=True)


def test_random_simulations_in_python_find_nothing(game):
    from open_spiel.python.tests.games_sim_test import GamesSimTest

    np.random.seed(1)  # noqa: NPY002  # the suite draws from it
    GamesSimTest().sim_game(game)


def test_the_suite_of_simulations_passes_as_it_is():
    from open_spiel.python.tests import games_sim_test

    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*_arena_{name}" for name in NAMES]
    kinds = [engine.game_type(name) for name in NAMES]
    counts = [kind.max_players - kind.min_players + 1 for kind in kinds]
    expected = len(kinds) + sum(count for count in counts if count > 1)
    assert run(loader.loadTestsFromModule(games_sim_test)) == expected


def nodes(state):
    """Return how many chance nodes, decisions and ends the whole tree below an engine's state has."""
    if state.is_terminal():
        return np.array([0, 0, 1])
    below = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
    return sum(map(nodes, map(state.child, below)), np.array([state.is_chance_node(), not state.is_chance_node(), 0]))


def test_the_suite_of_the_interface_passes_on_parts_and_on_whole_trees(monkeypatch):
    from open_spiel.integration_tests import api_test

    trees = ["arena_epicycle(max_turns=5)", "arena_epicycle(players=3,max_turns=5)"]
    for spec in trees:
        chance, decisions, ends = nodes(pyspiel.load_game(spec).game.new_initial_state())
        monkeypatch.setitem(api_test.TOTAL_NUM_STATES, spec, (chance, decisions, ends))
        monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, spec, decisions)
    monkeypatch.setattr(api_test, "_GAMES_FULL_TREE_TRAVERSAL_TESTS", [(spec, spec) for spec in trees])
    monkeypatch.setattr(api_test, "_GAMES_TO_TEST", {f"arena_{name}" for name in NAMES})
    flags(monkeypatch, test_only_games="arena_.*")
    assert run(api_test.load_tests(unittest.TestLoader(), None, None)) == 8 * len(trees) + 5 * len(NAMES)


def flags(monkeypatch, **values):
    """Set flags of OpenSpiel's modules, which read them from the command line otherwise."""
    from absl.flags import FLAGS

    FLAGS.mark_as_parsed()
    for name, value in values.items():
        monkeypatch.setattr(FLAGS, name, value)


def test_playthroughs_come_out_the_same_again_and_from_their_files(short_game, tmp_path, monkeypatch):
    from open_spiel.python.algorithms import generate_playthrough

    flags(monkeypatch)
    file = tmp_path / "playthrough.txt"
    text = generate_playthrough.playthrough(str(short_game), None, seed=1)
    file.write_text(text)
    assert generate_playthrough.replay(file) == (text, text)
    assert generate_playthrough.playthrough(str(short_game), None, seed=2) != text


def test_connect_four_is_openspiels_connect_four_in_20_000_matches():
    assert_same_matches(pyspiel.load_game("arena_connect_four"), pyspiel.load_game("connect_four"), range(20_000))


# Algorithms


@pytest.mark.parametrize("search", [compiled_search, plain_search])
@pytest.mark.parametrize("spec", ["arena_connect_four", "arena_epicycle(players=5,max_turns=60)", "arena_midgard"])
def test_tree_search_beats_random(spec, search):
    assert certainty(pyspiel.load_game(spec), search, matches=16, simulations=20) > 2.3


@pytest.mark.parametrize(
    ("spec", "matches", "simulations"),
    [("arena_magic_mids(max_turns=60)", 24, 60), ("arena_pyramid_punch(players=4,max_turns=40)", 120, 40)],
)
def test_tree_search_beats_random_with_dice(spec, matches, simulations):
    assert certainty(pyspiel.load_game(spec), compiled_search, matches, simulations) > 2.3


def value(state, seat):
    """Return what optimal play of two seats is worth to one of them, found by the engine alone."""
    if state.is_terminal():
        return state.returns()[seat]
    outcomes = state.chance_outcomes()
    if outcomes:
        total = sum(weight for _, weight in outcomes)
        return sum(weight * value(state.child(outcome), seat) for outcome, weight in outcomes) / total
    best = max if state.current_player() == seat else min
    return best(value(state.child(action), seat) for action in state.legal_actions())


def test_alpha_beta_finds_the_values_that_the_engine_gives():
    from open_spiel.python.algorithms import minimax

    game = pyspiel.load_game("arena_epicycle(max_turns=9)")
    level, values = [game.new_initial_state()], set()
    for _ in range(5):
        level = [state.child(action) for state in level for action in state.legal_actions()]
        level = [state for state in level if not state.is_terminal()]
        for state in level:
            seat = state.current_player()
            expected = value(state.match.state, seat)
            assert minimax.alpha_beta_search(game, state)[0] == expected
            values.add(expected)
    assert len(values) > 1


def test_regret_minimisation_finds_the_value_of_a_small_game():
    game = pyspiel.load_game("arena_epicycle(max_turns=7)")
    solver = pyspiel.CFRSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert pyspiel.exploitability(game, policy) < 0.03
    found = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    assert found[0] == pytest.approx(value(game.game.new_initial_state(), 0), abs=0.03)
