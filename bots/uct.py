"""Monte-Carlo tree search, compiled, in any game with kernels."""

from __future__ import annotations

import functools
import time
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, cast

import numpy as np

from bots import uct_kernel
from bots.base import Between, Bot, OneOf, first_decision
from bots.knowledge import knowledge_of
from engine import State
from engine.chance import new_rng
from engine.kernel import bind
from engine.state import KernelGame, KernelState

MOST_NODES = 4_000_000  # 32 bytes each
DEEPEST = 512
BATCH = 64  # simulations between two looks at the clock


class Child(NamedTuple):
    """What a search found out about one action, or one outcome, of a node."""

    label: int
    """The action; below a chance node the outcome's key."""
    visits: int
    value: float
    """Mean return, in [-1, 1], of the seat to move at the node; 0 below a chance node."""
    node: int


class Tree:
    """A search tree that may grow to `size` nodes, and what compiled code needs to grow it."""

    def __init__(self, game: KernelGame, kernels: SimpleNamespace, size: int, weights: tuple[float, ...]) -> None:
        self._kernels = kernels
        self._game = game
        self._nodes = np.empty(size, uct_kernel.AMAF_NODE if kernels.RAVE else uct_kernel.NODE)
        self._pool = np.zeros(2, np.int64)  # nodes in use; simulations so far, which stamp actions played
        self._weights = np.array([weights], uct_kernel.WEIGHTS)
        self._scratch = game.blank()
        self._buffers = (
            np.zeros(DEEPEST, np.int64),
            np.zeros((game.players, game.num_distinct_actions), np.int64),
            game.action_buffer,
            self._scratch,
            np.zeros(game.players, np.int64),
            np.zeros(8, np.int64),
        )

    def plant(self, words: np.ndarray) -> None:
        """Start anew from a state."""
        self._root = words.copy()
        self._kernels.plant(self._nodes, self._pool)

    def move_root(self, course: list[int], words: np.ndarray) -> None:
        """Keep what lies below the state that the plies of `course` lead to; start anew when nothing does."""
        node = self._kernels.follow(self._root, np.array(course, np.int64), self._nodes, self._scratch)
        if node == 0 or not self._is_scratch(words):
            self.plant(words)
            return
        kept = np.empty_like(self._nodes)
        self._kernels.transplant(node, self._nodes, kept, self._pool)
        self._nodes, self._root = kept, words.copy()

    def _is_scratch(self, words: np.ndarray) -> bool:
        used = self._game.compiled.used_words(self._game.record(words))
        return bool((self._scratch[:used] == words[:used]).all())

    def grow(self, simulations: int, rng: np.ndarray) -> None:
        """Run that many simulations from the root."""
        self._kernels.search(self._root, simulations, self._weights, rng, self._nodes, self._pool, *self._buffers)

    def children(self, node: int = 0) -> list[Child]:
        """What is known of a node's children, the most visited first, the better first of equals."""
        first, count, chance = self._nodes[node]["first"], self._nodes[node]["count"], self._nodes[node]["who"] < 0
        numbers = self._chain(first) if chance else range(first, first + count)
        return sorted((self._child(number, chance) for number in numbers), key=lambda c: (-c.visits, -c.value))

    def _chain(self, node: int) -> list[int]:
        chain = []
        while node:
            chain.append(int(node))
            node = self._nodes[node]["sibling"]
        return chain

    def _child(self, number: int, chance: bool) -> Child:
        label, visits, points = (int(self._nodes[number][field]) for field in ("label", "visits", "points"))
        mean = 0.0 if chance or visits == 0 else points / (visits * (self._game.players - 1)) - 1.0
        return Child(label, visits, mean, number)


class UCT(Bot):
    """Grow a tree of the most promising lines and judge the positions at its leaves by rollouts.

    Parameters: `simulations`
    Cost: one rollout and some steps in the tree for each simulation.
    """

    name = "uct"
    needs = ("kernels",)
    game: KernelGame

    simulations: Annotated[int, Between(1, 10_000_000), "simulations a move; not used when seconds are given"] = 1000
    seconds: Annotated[float, Between(0.0, 3600.0), "seconds a move by the clock; 0 = by simulations"] = 0.0
    exploration: Annotated[float, Between(0.0, 10.0), "weight of what has been tried little"] = 0.7
    rollout: Annotated[str, OneOf(("random", "heuristic")), "who plays on from the leaves"] = "random"
    rave: Annotated[int, Between(0, 1_000_000), "visits up to which all moves as first count; 0 = off"] = 0
    reuse: Annotated[bool, "go on from the tree of the move before"] = False

    def prepare(self) -> None:
        self.timed = self.seconds > 0
        self._kernels = compiled_search(self.game, self.rollout, self.rave > 0)
        weights = (self.exploration, 0.5 / (self.game.players - 1), self.rave)
        most = 1 + self.game.rules.MAX_ACTIONS * self.simulations * (2 if self.reuse else 1)
        self.tree = Tree(self.game, self._kernels, MOST_NODES if self.timed else min(MOST_NODES, most), weights)
        self._before: list[int] | None = None

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        return actions[0] if len(actions) == 1 else self.think(state)[0].label

    def think(self, state: State) -> list[Child]:
        """Search; what was found out about the legal actions, the best first."""
        words = cast(KernelState, state).words
        rng = new_rng(self.seed)
        self._kernels.seed_rng(words, rng)
        self._take_root(state, words)
        if self.timed:
            deadline = time.perf_counter() + self.seconds
            while time.perf_counter() < deadline:
                self.tree.grow(BATCH, rng)
        else:
            self.tree.grow(self.simulations, rng)
        return self.tree.children()

    def _take_root(self, state: State, words: np.ndarray) -> None:
        before, self._before = self._before, state.history() if self.reuse else None
        if before is not None and self._before is not None and self._before[: len(before)] == before:
            self.tree.move_root(self._before[len(before) :], words)
        else:
            self.tree.plant(words)


@functools.cache
def compiled_search(game: KernelGame, rollout: str, rave: bool) -> SimpleNamespace:
    """The kernels of the search for one game."""
    knowledge = knowledge_of(game.name)
    also: dict[str, Any] = {"RAVE": rave, "copy_words": game.compiled.copy_words}
    for name in ("outcome_key", "finish_and_mark", *(("rollout_action",) if rollout == "heuristic" else ())):
        if hasattr(knowledge, name):
            also[name] = getattr(knowledge, name)
    if rollout == "random":
        also["finish"] = game.compiled.random_finish
    return bind(uct_kernel, game.rules, game.dtype, **also)
