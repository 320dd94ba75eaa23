"""The tree search keeps its books, forgets what it should, and plays better the longer it thinks."""

import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import engine
from bots import first_decision, make_bot
from bots.random_bot import Random
from bots.search import uct_kernel
from bots.search.uct import BATCH, UCT, Tree, compiled_search
from tests.bots.brute_force import exact_values
from tests.bots.built_in import kernel_games, label, load_race
from tests.bots.matches import decisions, mean_return
from tests.bots.uct_trees import trees

ROOT = Path(__file__).parents[2]
EPICYCLE = engine.load_game("epicycle", 2)
GOLDEN = Path(__file__).with_name("uct_trees.txt")


def uct(state, seed=1, **params):
    return make_bot(UCT, state.game, state.current_player(), seed, params)


def nodes_in_use(tree):
    return tree._nodes[: tree._pool[0]]


def expanded(tree, node=0):
    """Return every node that has children, from one node on, with them."""
    children = tree.children(node)
    if children:
        yield node, children
    for child in children:
        yield from expanded(tree, child.node)


def child_of(tree, node, label):
    return next(child.node for child in tree.children(node) if child.label == label)


def test_small_trees_are_the_recorded_ones():
    written = "".join(f"{name}\n" + "".join(f"    {line}\n" for line in lines) for name, lines in trees().items())
    assert written == GOLDEN.read_text()


def test_interpreted_kernels_grow_the_same_trees():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-m", "tests.bots.uct_trees"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {"compiled": False, "trees": trees()}


@pytest.mark.parametrize("game", kernel_games(), ids=label)
def test_every_simulation_is_counted_once_at_every_node_it_went_through(game):
    for state in decisions(game, 2):
        bot = uct(state, simulations=300)
        bot.think(state)
        nodes = nodes_in_use(bot.tree)
        assert sorted(child.label for child in bot.tree.children()) == state.legal_actions()
        assert nodes[0]["visits"] == 301
        for node, children in expanded(bot.tree):
            assert sum(child.visits for child in children) == nodes[node]["visits"] - 1
            assert all(child.value is None or -1.0 <= child.value <= 1.0 for child in children)


@pytest.mark.parametrize("game", [EPICYCLE, load_race(3)], ids=label)
def test_a_move_hangs_on_seed_budget_and_state_and_on_nothing_asked_before(game):
    asked = decisions(game, 12)
    used = uct(asked[0], simulations=60)
    first = [used.choose(state) for state in asked]
    assert [used.choose(state) for state in reversed(asked)] == first[::-1]
    assert [uct(asked[0], simulations=60).choose(state) for state in asked] == first


def test_seeds_grow_different_trees():
    state = EPICYCLE.new_initial_state()
    visits = {tuple(child.visits for child in uct(state, seed, simulations=100).think(state)) for seed in range(10)}
    assert len(visits) > 3


def test_the_action_tried_most_often_is_played():
    for state in decisions(EPICYCLE, 10):
        bot = uct(state, simulations=50)
        children = bot.think(state)
        assert children[0].visits == max(child.visits for child in children)
        assert bot.choose(state) == children[0].label


def test_a_kept_tree_is_the_part_that_was_played_out():
    state = first_decision(load_race(2))
    bot = uct(state, simulations=400, reuse=True)
    bot.think(state)
    state.apply_action(state.string_to_action("roll"))
    outcome = bot.tree.children(child_of(bot.tree, 0, state.history()[-1]))[0]
    state.apply_action(outcome.label)
    visits = int(nodes_in_use(bot.tree)[outcome.node]["visits"])
    kept = [[child[:3] for child in children] for _, children in expanded(bot.tree, outcome.node)]
    assert visits > 20 and len(kept) > 5
    bot._take_root(state)
    assert [[child[:3] for child in children] for _, children in expanded(bot.tree)] == kept
    assert nodes_in_use(bot.tree)[0]["visits"] == visits
    bot.think(state)
    assert nodes_in_use(bot.tree)[0]["visits"] == visits + 400


def test_what_is_proven_is_what_the_game_is_worth():
    proven = solved = 0
    late = [state for state in decisions(engine.load_game("connect_four", 2), 3000) if len(state.history()) > 31]
    for state in late[:20]:
        bot, values = uct(state, simulations=5000, solve=True), exact_values(state)
        children = bot.think(state)
        for child in children:
            if child.proven:
                proven += 1
                assert child.value == values[child.label][bot.seat]
        if bot.tree.solved:
            solved += 1
            assert children[0].value == max(value[bot.seat] for value in values.values())
        assert bot.tree.solved or nodes_in_use(bot.tree)[0]["visits"] == 5001
    assert proven > 20 and solved > 10


def test_a_roll_is_proven_only_when_every_outcome_is_worth_the_same():
    race = load_race(2)
    lost, open_to_luck = (race.state_from_position(f"{square}/11 2 0") for square in (1, 8))
    bot = uct(lost, simulations=5000, solve=True)
    assert all(child.proven and child.value == -1.0 for child in bot.think(lost)) and bot.tree.solved
    bot = uct(open_to_luck, simulations=5000, solve=True)
    walk, roll = ({child.label: child for child in bot.think(open_to_luck)}[action] for action in (0, 1))
    assert walk.proven and walk.value == -1.0 and not roll.proven and -1.0 < roll.value < 1.0
    assert bot.choose(open_to_luck) != walk.label


def test_nothing_is_proven_unless_asked_for_nor_with_more_than_two_players():
    for game, solve in ((EPICYCLE, False), (engine.load_game("epicycle", 3), True)):
        for state in decisions(game, 40):
            bot = uct(state, simulations=300, solve=solve)
            assert not any(child.proven for child in bot.think(state)) and not bot.tree.solved


def test_a_tree_is_kept_only_for_what_followed():
    state = EPICYCLE.new_initial_state()
    bot = uct(state, simulations=100, reuse=True)
    bot.think(state)
    state.apply_action(bot.choose(state))
    bot.think(EPICYCLE.state_from_position(state.position))  # no history either, but another state
    assert nodes_in_use(bot.tree)[0]["visits"] == 101
    bot.think(EPICYCLE.state_from_position(state.position))
    assert nodes_in_use(bot.tree)[0]["visits"] == 201


def test_a_full_tree_grows_no_more_and_still_counts():
    state = EPICYCLE.new_initial_state()
    tree = Tree(EPICYCLE, compiled_search(EPICYCLE, "random", False), 20, 0.7, 0)
    tree.plant(state)
    tree.grow(500, tree.seeded(1))
    assert len(nodes_in_use(tree)) <= 20
    assert sum(child.visits for child in tree.children()) == 500


def test_seconds_are_kept_and_mark_the_match_as_timed(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("bots.search.uct.time", SimpleNamespace(perf_counter=lambda: 0.01 * next(clock)))
    state = EPICYCLE.new_initial_state()
    for seconds, batches in ((0.05, 5), (1e-9, 1)):
        bot = uct(state, seconds=seconds)
        assert sum(child.visits for child in bot.think(state)) == batches * BATCH
        assert bot.timed
    assert not uct(state, simulations=1).timed


@pytest.mark.system
@pytest.mark.parametrize("name", ["epicycle", "magic_mids", "midgard", "pyramid_punch"])
def test_a_heuristic_policy_grows_another_tree_than_random_rollouts(name):
    state = decisions(engine.load_game(name, 2), 1)[0]
    random_tree, other = (
        uct(state, simulations=200, rollout=rollout).think(state) for rollout in ("random", "heuristic")
    )
    assert random_tree != other


def test_one_simulation_on_a_kept_tree_is_enough_for_a_move():
    game = engine.load_game("midgard", 2)
    state = game.new_initial_state()
    bots = [make_bot(UCT, game, seat, 1, {"simulations": 1, "reuse": True}) for seat in range(2)]
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].choose(state))


def test_all_moves_as_first_counts_every_simulation_that_made_the_action_then_or_later():
    game = engine.load_game("midgard", 2)
    state = game.new_initial_state()
    bot = uct(state, simulations=200, rave=50)
    bot.think(state)
    nodes = nodes_in_use(bot.tree)
    root, first, count = nodes[0], nodes[0]["first"], nodes[0]["count"]
    children = nodes[first : first + count]
    assert (children["amaf_visits"] >= children["visits"]).all()
    assert (children["amaf_visits"] <= root["visits"] - 1).all()
    assert children["amaf_visits"].mean() > 30  # sea drops on about a quarter of the cells in a match


@pytest.mark.parametrize("n", [1, 2, 3, 10, 4095, 4096, 5001, 10_000_000])
def test_the_logarithm_is_right_to_three_digits(n):
    kernels = compiled_search(EPICYCLE, "random", False)
    assert kernels.root_of_logarithm(n) == pytest.approx(math.log(n) ** 0.5, abs=2e-4)
    assert uct_kernel.LN[1] == 0.0 and np.isfinite(uct_kernel.LN).all()


@pytest.mark.parametrize(("game", "least"), [(EPICYCLE, 0.3), (engine.load_game("epicycle", 4), 0.2)], ids=label)
def test_more_simulations_beat_fewer(game, least):
    many, few = ((UCT, {"simulations": simulations}) for simulations in (400, 10))
    assert mean_return(game, many, few, rounds=30) > least


@pytest.mark.parametrize(
    ("spec", "players"), [("magic_mids", 2), ("midgard", 2), ("pyramid_punch", 3), ("pyramid_punch", 5)]
)
def test_random_is_beaten_clearly_at_every_game(spec, players):
    game = engine.load_game(spec, players)
    assert mean_return(game, (UCT, {"simulations": 100}), (Random, {}), rounds=10) > 0.2


def test_visits_are_told_where_they_are_asked_for_and_the_move_played_has_most():
    state = first_decision(EPICYCLE)
    bot = uct(state, simulations=300, visits=True)
    action = bot.choose(state)
    children = uct(state, simulations=300).think(state)
    assert bot.visit_counts == {child.label: child.visits for child in children if child.visits}
    assert bot.visit_counts[action] == max(bot.visit_counts.values()) and len(bot.visit_counts) > 1
    silent = uct(state, simulations=300)
    assert (silent.choose(state), silent.visit_counts) == (action, None)
