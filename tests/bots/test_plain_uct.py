"""Without kernels `uct` grows the tree that it grows with them, from the same random numbers."""

import math

import pytest

import engine
from bots.search.plain_uct import PlainTree, root_of_logarithm
from bots.search.uct import Tree, compiled_search
from engine.chance import GOLDEN, MIX_1, MIX_2
from tests.bots.built_in import label, load_race
from tests.bots.matches import decisions
from tests.bots.plain import plain

WORD = 2**64 - 1


class SplitMix:
    """The generator of kernels in plain Python: a number below n is what `engine.chance.below` draws."""

    def __init__(self, rng):
        self.word = int(rng[0])

    def random(self):
        self.word = self.word + int(GOLDEN) & WORD
        word = (self.word ^ self.word >> 30) * int(MIX_1) & WORD
        word = (word ^ word >> 27) * int(MIX_2) & WORD
        return ((word ^ word >> 31) >> 32) / 2**32


def twin(state):
    """Return the state without its kernels."""
    outer = plain(state.game).new_initial_state()
    outer.inner = state.clone()
    return outer


def both_trees(state, simulations, exploration=0.7, rave=0, solve=False, seed=1):
    """Return the compiled tree and the plain one from the same random numbers."""
    game = state.game
    compiled = Tree(game, compiled_search(game, "random", rave > 0, solve), 100_000, exploration, rave)
    compiled.plant(state)
    tree = PlainTree(plain(game), exploration, rave, solve)
    tree.plant(twin(state))
    grow(compiled, tree, simulations, seed)
    return compiled, tree


def grow(compiled, tree, simulations, seed):
    rng = compiled.seeded(seed)
    shim = SplitMix(rng)
    compiled.grow(simulations, rng)
    tree.grow(simulations, shim)


def same(compiled, tree, node=0, other=None):
    """Assert that two trees have the same nodes, visits, values and proofs, in the same order; return how many."""
    children, twins = compiled.children(node), tree.children(other)
    if other is not None:
        assert compiled.who(node) == tree.who(other)
    if compiled.who(node) == engine.CHANCE:
        children.sort()
        twins.sort()
    assert [(child.label, child.visits, child.proven) for child in children] == [
        (child.label, child.visits, child.proven) for child in twins
    ]
    count = len(children)
    for child, its_twin in zip(children, twins, strict=True):
        assert child.value == pytest.approx(its_twin.value)
        if child.visits:
            count += same(compiled, tree, child.node, its_twin.node)
    return count


TWO, THREE = engine.load_game("epicycle", 2), engine.load_game("epicycle", 3)
QUICK = [(TWO, {}), (TWO, {"rave": 20}), (TWO, {"solve": True}), (load_race(3), {})]
LONG = [
    (THREE, {}),
    (engine.load_game("epicycle", 5), {"rave": 20}),
    (TWO, {"solve": True, "rave": 20}),
    (load_race(3), {"rave": 20}),
    *((load_race(2), params) for params in ({}, {"rave": 20}, {"solve": True}, {"solve": True, "rave": 20})),
]
"""None with four players: sums of thirds are rounded, where the kernels add up whole points."""


@pytest.mark.parametrize(
    ("game", "params"), [*QUICK, *(pytest.param(*long, marks=pytest.mark.system) for long in LONG)], ids=str
)
def test_the_plain_tree_is_the_compiled_one(game, params):
    for state in decisions(game, 5):
        compiled, tree = both_trees(state, 400, **params)
        assert same(compiled, tree) >= len(state.legal_actions())
        assert compiled.solved == tree.solved
        best, its_twin = compiled.children()[0], tree.children()[0]
        assert compiled.returns(best) == pytest.approx(tree.returns(its_twin))
        assert compiled.line(best) == tree.line(its_twin)


@pytest.mark.parametrize("game", [TWO, load_race(3)], ids=label)
def test_a_tree_that_is_kept_is_the_compiled_one_too(game):
    state = decisions(game, 1)[0]
    compiled, tree = both_trees(state, 400)
    chosen = compiled.children()[0]
    plies = [chosen.label]
    state.apply_action(chosen.label)
    if state.is_chance_node():
        plies.append(compiled.children(chosen.node)[0].label)
        state.apply_action(plies[-1])
    compiled.move_root(plies, state)
    tree.move_root(plies, twin(state))
    grow(compiled, tree, 100, seed=2)
    assert same(compiled, tree) > 3
    assert sum(child.visits for child in tree.children()) > 110


@pytest.mark.parametrize("n", [1, 2, 3, 10, 4095, 4096, 5001, 10_000_000])
def test_the_logarithm_is_right_to_three_digits(n):
    assert root_of_logarithm(n) == pytest.approx(math.log(n) ** 0.5, abs=2e-4)
