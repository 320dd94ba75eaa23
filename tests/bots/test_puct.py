"""`learned_uct` with priors visits what a naive search by the same formula visits."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.learned import LearnedUCT
from bots.learning.weights import learned_assessment
from bots.search.uct import GRAIN
from tests.bots.built_in import label
from tests.bots.matches import decisions

GAMES = [engine.load_game("midgard", 2), engine.load_game("midgard(variant=loki)", 2), engine.load_game("epicycle", 3)]
EXPLORATION, PRIOR = 1.5, 0.25


class TiedError(Exception):
    """Two actions had the same bound, so that their order, which is random, decides."""


@dataclass
class Node:
    """A position, by the state in it."""

    state: engine.State
    value: np.float32
    prior: np.float32
    visits: int = 0
    points: int = 0
    children: dict[int, Node] = field(default_factory=dict)


def worth(state, seat):
    """Return the seat's return after the end, the learned worth before it."""
    if state.is_terminal():
        return state.returns()[seat]
    found = learned_assessment(state.game)
    return found.kernel(state.game.record(state.words), seat, found.memory)


def points_of(state, seat):
    """Return what a leaf is worth to a seat, in parts of a point."""
    if state.game.players == 2 and seat == 1:
        return 2 * GRAIN - points_of(state, 0)
    return int((worth(state, seat) + 1.0) * ((state.game.players - 1) * GRAIN) + 0.5)


def expand(node):
    """Add all children, with their values and priors."""
    seat, after = node.state.current_player(), {}
    for action in node.state.legal_actions():
        after[action] = node.state.clone()
        after[action].apply_action(action)
    worths = {action: worth(state, seat) for action, state in after.items()}
    values = {action: np.float32(0.5 * (each + 1.0)) for action, each in worths.items()}
    behind = {action: 1.0 + (max(worths.values()) + 1.0 - 2.0 * float(values[action])) / PRIOR for action in worths}
    shares = {action: np.float32(1.0 / each**2) for action, each in behind.items()}
    total = sum(map(float, shares.values()))
    for action, state in after.items():
        node.children[action] = Node(state, values[action], np.float32(float(shares[action]) / total))


def best_child(node):
    """Return the child with the highest bound; raises `TiedError` where two have it."""
    spread = EXPLORATION * node.visits**0.5
    bounds = {
        action: float(child.value) + spread * float(child.prior) / (1 + child.visits)
        for action, child in node.children.items()
    }
    ordered = sorted(bounds.values())
    if len(ordered) > 1 and ordered[-1] - ordered[-2] < 1e-6:
        raise TiedError
    return node.children[max(bounds, key=bounds.__getitem__)]


def visits_after(state, simulations):
    """Return how often each action was tried."""
    root = Node(state, np.float32(0), np.float32(1), visits=1)
    for _ in range(simulations):
        path = [root]
        while path[-1].visits and not path[-1].state.is_terminal():
            if not path[-1].children:
                expand(path[-1])
            path.append(best_child(path[-1]))
        root.visits += 1
        for parent, child in pairwise(path):
            child.visits += 1
            child.points += points_of(path[-1].state, parent.state.current_player())
            child.value = np.float32(child.points / (2 * (state.game.players - 1) * GRAIN) / child.visits)
    return {action: child.visits for action, child in root.children.items()}


@pytest.mark.parametrize("game", GAMES, ids=label)
def test_visits_are_those_of_a_naive_search(game):
    compared = 0
    for state in decisions(game, 20):
        params = {"simulations": 40, "exploration": EXPLORATION, "prior": PRIOR}
        bot = make_bot(LearnedUCT, game, state.current_player(), 1, params)
        try:
            expected = visits_after(state, 40)
        except TiedError:
            continue
        assert {child.label: child.visits for child in bot.think(state)} == expected
        compared += 1
    assert compared >= 6


def test_with_dice_every_simulation_is_counted_once_at_every_node():
    game = engine.load_game("magic_mids", 2)
    for state in decisions(game, 5):
        bot = make_bot(LearnedUCT, game, state.current_player(), 1, {"simulations": 300, "prior": PRIOR})
        children = bot.think(state)
        assert sorted(child.label for child in children) == state.legal_actions()
        assert sum(child.visits for child in children) == 300
        for child in children:
            below = bot.tree.children(child.node)
            assert not below or sum(each.visits for each in below) == child.visits - 1


def test_priors_are_used_where_they_suit_the_game_or_are_asked_for():
    def tried(game, **params):
        bot = make_bot(LearnedUCT, game, 0, 1, {"simulations": 50, **params})
        return {child.label: child.visits for child in bot.think(decisions(game, 3)[2])}

    midgard, epicycle = GAMES[0], engine.load_game("epicycle", 4)
    assert tried(midgard) == tried(midgard, prior=0.2) != tried(midgard, prior=0)
    assert tried(epicycle) == tried(epicycle, prior=0) != tried(epicycle, prior=0.2)
