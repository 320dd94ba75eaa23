"""Monte-Carlo tree search, compiled, in any game with kernels."""

from __future__ import annotations

import functools
import time
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, cast

import numpy as np

from bots.base import Between, Bot, OneOf, first_decision
from bots.heuristics import heuristics_of
from bots.search import uct_kernel
from engine import State
from engine.chance import new_rng
from engine.kernel import bind
from engine.state import KernelGame, KernelState

MOST_NODES = 4_000_000  # of 40 bytes, or 56
MOST_PLAYERS = 7
MOST_VISITS = 150_000_000  # at 12 points each, which is the most with seven players, they fit 32 bits
DEEPEST = 512
LONGEST_LINE = 16
BATCH = 128  # simulations between two looks at the clock


class Child(NamedTuple):
    """Statistics of one action, or one outcome, of a node."""

    label: int
    """The action; below a chance node the outcome's key."""
    visits: int
    value: float | None
    """Mean return, in [-1, 1], of the seat to move at the node; None if never tried, and below a chance node."""
    node: int
    proven: bool = False
    """Whether the value is what the action is worth if nobody errs."""


class Tree:
    """A search tree of at most `size` nodes, and the arrays that compiled code grows it with."""

    def __init__(self, game: KernelGame, kernels: SimpleNamespace, size: int, exploration: float, rave: int) -> None:
        self._kernels = kernels
        self._game = game
        self._nodes = np.empty(size, uct_kernel.node_type(kernels.RAVE, kernels.SOLVE))
        self._pool = np.zeros(2, np.int64)  # nodes in use; simulations so far, which stamp actions played
        self._weights = np.array([(exploration, 0.5 / (game.players - 1), rave)], uct_kernel.WEIGHTS)
        self._line = np.zeros(LONGEST_LINE, np.int64)
        self._scratch = uct_kernel.Scratch(
            path=np.zeros(DEEPEST, np.int64),
            played=np.zeros((game.players, game.num_distinct_actions), np.int64),
            actions=game.action_buffer,
            words=game.blank(),
            place=np.zeros(game.players, np.int64),
            gains=np.zeros(MOST_PLAYERS + 1, np.int64),
            outcomes=game.outcome_buffer,
            odds=game.weight_buffer,
            totals=np.zeros((game.rules.MAX_ACTIONS, 8), np.int64),
        )

    def plant(self, words: np.ndarray) -> None:
        """Start a new tree from a state."""
        self._root = words.copy()
        self._scratch.totals[:] = 0
        self._kernels.plant(self._nodes, self._pool)

    def move_root(self, plies: list[int], words: np.ndarray) -> None:
        """Keep the subtree of the state that `plies` lead to; start a new tree when there is none."""
        node = self._kernels.follow(self._root, np.array(plies, np.int64), self._nodes, self._scratch.words)
        if node == uct_kernel.NOWHERE or self._nodes[node]["visits"] == 0 or not self._is_scratch(words):
            self.plant(words)
            return
        kept = np.empty_like(self._nodes)
        self._kernels.transplant(node, self._nodes, kept, self._pool)
        self._nodes, self._root = kept, words.copy()
        self._scratch.totals[:] = 0

    def _is_scratch(self, words: np.ndarray) -> bool:
        used = self._game.compiled.used_words(self._game.record(words))
        return bool((self._scratch.words[:used] == words[:used]).all())

    def seeded(self, seed: int) -> np.ndarray:
        """Return a generator seeded by the seed and by the state at the root."""
        rng = new_rng(seed)
        self._kernels.seed_rng(self._root, rng)
        return rng

    def grow(self, simulations: int, rng: np.ndarray) -> None:
        """Run that many simulations from the root, as far as its visits can still be counted."""
        simulations = min(simulations, MOST_VISITS - int(self._nodes[0]["visits"]))
        self._kernels.search(self._root, simulations, self._weights, rng, self._nodes, self._pool, self._scratch)

    def children(self, node: int = 0) -> list[Child]:
        """Return the statistics of a node's children, the one to choose first, then the most visited.

        That is the most visited one, the better of equals; but a proven one that is worth as much or more comes before
        it, unless it is a loss.
        """
        parent = self._nodes[node]
        chance = int(parent["who"]) == uct_kernel.CHANCE
        numbers = self._chain(parent["first"]) if chance else range(parent["first"], parent["first"] + parent["count"])
        children = [self._child(int(number), int(parent["who"])) for number in numbers]
        children.sort(key=lambda child: (child.proven and child.value == -1.0, -child.visits, -(child.value or 0.0)))
        if not chance and any(child.proven for child in children):
            best = max((child for child in children if child.proven), key=lambda child: child.value or 0.0)
            first = children[0]
            if first.proven or -1.0 < (best.value or 0.0) >= (first.value or 0.0):
                children.remove(best)
                children.insert(0, best)
        return children

    def who(self, node: int) -> int:
        """Return the seat to move at a node; less than 0 at chance nodes, at the end, and where nobody has looked."""
        return int(self._nodes[node]["who"])

    def returns(self, child: Child) -> list[float] | None:
        """Return the mean return of every seat after an action of the root; None if this search never tried it.

        With more than two players only simulations of the last search count, not those of a tree that was kept.
        """
        if self._game.players == 2:
            own, seat = child.value, int(self._nodes[0]["who"])
            return None if own is None else [own, -own] if seat == 0 else [-own, own]
        *points, simulations = self._scratch.totals[child.node - int(self._nodes[0]["first"])].tolist()
        if not simulations:
            return None
        most = simulations * (self._game.players - 1)
        return [gained / most - 1.0 for gained in points[: self._game.players]]

    def line(self, child: Child) -> list[int] | None:
        """Return an action of the root and those that followed it most often, up to a chance node; None if none did."""
        if not self._kernels.SOLVE:
            line = self._line[: self._kernels.follow_visits(child.node, self._nodes, self._line)].tolist()
        else:  # what is proven comes before what is visited
            line = [child.label]
            while len(line) < LONGEST_LINE and self.who(child.node) >= 0:
                child = self.children(child.node)[0]
                if not child.visits:
                    break
                line.append(child.label)
        return line if len(line) > 1 else None

    def _chain(self, node: int) -> list[int]:
        chain = []
        while node:
            chain.append(node)
            node = self._nodes[node]["sibling"]
        return chain

    def _child(self, number: int, seat: int) -> Child:
        node = self._nodes[number]
        visits, proven = int(node["visits"]), int(node["proven"]) if self._kernels.SOLVE else 0
        mean = None
        if seat >= 0 and visits:
            points, times = (uct_kernel.points_proven(proven, seat), 1) if proven else (int(node["points"]), visits)
            mean = points / (times * (self._game.players - 1)) - 1.0
        return Child(int(node["label"]), visits, mean, number, bool(proven))

    @property
    def solved(self) -> bool:
        """Whether the root is proven."""
        return bool(self._kernels.SOLVE and self._nodes[0]["proven"])


class UCT(Bot):
    """Grow a tree of the most promising lines and judge what lies at its leaves by rollouts.

    Idea: each simulation follows, from the position on the board, the actions of the highest upper confidence bound,
    each seat seeking its own return (max^n), and rolls dice where they are due; it adds one position to the tree, plays
    on from there by a cheap policy to the end of the match, and counts the result on its way back. The action tried
    most often is played. With `rave` an action's mean is mixed with that of all simulations in which it was played
    later, which pays where an action is worth much the same whenever it comes, as a drop in Midgard.
    With `solve` and two players, wins, losses and draws that are certain go up the tree: a decision is proven by a
    reply that wins or by all of them, a chance node when all outcomes are worth the same. What is proven is not
    searched again, and the search ends when the position is. With more players nothing is proven: what a seat does that
    can gain nothing more decides between the others, and proofs that took its choice for granted lost matches.
    Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning" (2006); RAVE: Gelly and Silver, "Monte-Carlo tree
    search and rapid action value estimation in computer Go" (2011); max^n: Sturtevant, "An analysis of UCT in
    multi-player games" (2008); proofs: Winands, Björnsson and Saito, "Monte-Carlo tree search solver" (2008).
    Parameters: `simulations` a move, 1 to 10,000,000, or `seconds` a move by the clock, up to 3,600 (then
    `simulations` means nothing, and matches are marked as timed); `exploration`, 0 to 10, the factor of
    sqrt(ln N / n), a win being 1 and a loss 0; `rave`, 0 (off) to 1,000,000, the simulations of an action, for each
    action there is, at which both means count alike; less than 0 for either is what suits the game (`UCT` in
    `bots.heuristics`, else 0.7 and 0);
    `rollout`, `random` or `heuristic` (the game's `rollout_action` in `bots.heuristics`, where it has one);
    `solve`, whether proofs go up the tree; `reuse`, whether the tree of the move before is kept as far as it was
    played out.
    More simulations do not mend what random rollouts misjudge: at 1,000,000 it leaves the centre on the empty board of
    connect four, where all first moves look nearly alike; `exploration=1.4` kept it there.
    The same seed, parameters and state give the same move; with `reuse` the same states before it as well.
    Cost: by default a simulation takes 0.24 (connect four) to 4.4 microseconds (Pyramid Punch with five players), which
    is 1.1 (Pyramid Punch with two) to 2.6 times (connect four) as long as a random playout; processor time on one core
    of an AMD EPYC, 22 November 2026. At most 4,000,000 nodes of 40 bytes (`rave` adds 16, `solve` 8; `reuse` doubles)
    are kept: then the tree grows no more, and rollouts go on.
    """

    name = "uct"
    players = range(2, MOST_PLAYERS + 1)
    needs = ("kernels",)
    game: KernelGame

    simulations: Annotated[int, Between(1, 10_000_000), "simulations a move; not used when seconds are given"] = 1000
    seconds: Annotated[float, Between(0.0, 3600.0), "seconds a move by the clock; 0 = by simulations"] = 0.0
    exploration: Annotated[
        float, Between(-1.0, 10.0), "weight of what was tried little; < 0 = as suits the game"
    ] = -1.0
    rave: Annotated[int, Between(-1, 1_000_000), "all moves as first; 0 = off, < 0 = as suits the game"] = -1
    rollout: Annotated[str, OneOf(("random", "heuristic")), "who plays on from the leaves"] = "random"
    solve: Annotated[bool, "let proven results go up the tree, with two players"] = False
    reuse: Annotated[bool, "go on from the tree of the move before"] = False

    def prepare(self) -> None:
        self.timed = self.seconds > 0
        suits = {"exploration": 0.7, "rave": 0} | getattr(heuristics_of(self.game.name), "UCT", {})
        exploration = suits["exploration"] if self.exploration < 0 else self.exploration
        rave = suits["rave"] if self.rave < 0 else self.rave
        kernels = compiled_search(self.game, self.rollout, rave > 0, self.solve and self.game.players == 2)
        size = 1 + self.game.rules.MAX_ACTIONS * self.simulations * (2 if self.reuse else 1)
        size = MOST_NODES if self.timed else min(MOST_NODES, size)
        self.tree = Tree(self.game, kernels, size, exploration, rave)
        self._before: list[int] | None = None

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        best = self.think(state)[0]
        self.evaluation, self.line = self.tree.returns(best), self.tree.line(best)
        return best.label

    def think(self, state: State) -> list[Child]:
        """Search and return the statistics of the legal actions, the best first."""
        words = cast(KernelState, state).words
        self._take_root(state, words)
        rng = self.tree.seeded(self.seed)
        if self.timed:
            deadline = time.perf_counter() + self.seconds
            self.tree.grow(BATCH, rng)
            while time.perf_counter() < deadline and not self.tree.solved:
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
def compiled_search(game: KernelGame, rollout: str, rave: bool, solve: bool = False) -> SimpleNamespace:
    """Return the kernels of the search, bound to one game and warmed up."""
    heuristics = heuristics_of(game.name)
    compiled = game.compiled
    also: dict[str, Any] = {"RAVE": rave, "SOLVE": solve, "SEVERAL": game.players > 2}
    also |= {name: getattr(compiled, name) for name in ("copy_words", "random_action", "points_of")}
    if rollout == "random":
        also["simulate"] = compiled.random_finish
    for name in ("outcome_key", "finish_and_mark" if rollout == "random" else "rollout_action"):
        if hasattr(heuristics, name):
            also[name] = getattr(heuristics, name)
    return warmed_up(bind(uct_kernel, game.rules, game.dtype, **also), game)


def warmed_up(kernels: SimpleNamespace, game: KernelGame) -> SimpleNamespace:
    """Compile the kernels by a small search, so that the first move need not wait for it; return them."""
    words = cast(KernelState, first_decision(game)).words
    tree = Tree(game, kernels, 1000, 1.0, 1)
    tree.plant(words)
    tree.grow(2, tree.seeded(0))
    tree.line(tree.children()[0])
    tree.move_root([], words)
    return kernels
