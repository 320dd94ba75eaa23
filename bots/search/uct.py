"""Monte-Carlo tree search in any game: compiled where the game has kernels, in plain Python elsewhere."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, cast

import numpy as np

from bots.base import Between, Bot, OneOf, TimeFor, first_decision
from bots.heuristics import heuristics_of
from bots.search import uct_kernel
from bots.search.evaluation import NO_MEMORY, Assessment
from bots.search.plain_uct import PlainTree
from bots.search.tree import DEEPEST, LONGEST_LINE, Child, best_first
from engine import Game, State
from engine.chance import new_rng
from engine.kernel import bind
from engine.state import KernelGame, KernelState

MOST_NODES = 4_000_000  # of 40 bytes, or 56
MOST_PLAYERS = 10
MOST_COMPILED = 7  # players with whom the compiled search plays
MOST_VISITS = 150_000_000  # at 12 points each, which is the most with seven players, they fit 32 bits
GRAIN = 128  # parts of a point in which leaves are valued
BATCH = 128  # simulations between two looks at the clock


class Tree:
    """A search tree of at most `size` nodes, and the arrays that compiled code grows it with."""

    batch = BATCH

    def __init__(
        self, game: KernelGame, kernels: SimpleNamespace, size: int, exploration: float, rave: int, prior: float = 1.0
    ) -> None:
        self.kernels = kernels
        self._points = kernels.GRAIN * (game.players - 1)  # half of what a visit can gain
        self._game = game
        self._nodes = np.empty(size, uct_kernel.node_type(kernels.RAVE, kernels.SOLVE, kernels.PRIOR))
        self._pool = np.zeros(2, np.int64)  # nodes in use; simulations so far, which stamp actions played
        self._weights = np.array([(exploration, 0.5 / self._points, rave, prior)], uct_kernel.WEIGHTS)
        self._line = np.zeros(LONGEST_LINE, np.int64)
        self._scratch = uct_kernel.Scratch(
            path=np.zeros(DEEPEST, np.int64),
            played=np.zeros((game.players, game.num_distinct_actions), np.int64),
            actions=game.action_buffer,
            words=game.blank(),
            after=game.blank(),
            place=np.zeros(game.players, np.int64),
            gains=np.zeros(MOST_COMPILED + 1, np.int64),
            outcomes=game.outcome_buffer,
            odds=game.weight_buffer,
            totals=np.zeros((game.rules.MAX_ACTIONS, 8), np.int64),
            valued=kernels.valued,
        )

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, uct_kernel.Scratch]:
        """What compiled code takes: weights, nodes, pool, scratch."""
        return self._weights, self._nodes, self._pool, self._scratch

    def plant(self, state: State) -> None:
        """Start a new tree from a state."""
        self._root = cast(KernelState, state).words.copy()
        self._scratch.totals[:] = 0
        self.kernels.plant(self._nodes, self._pool)

    def move_root(self, plies: list[int], state: State) -> None:
        """Keep the subtree of the state that `plies` lead to; start a new tree when there is none."""
        words = cast(KernelState, state).words
        node = self.kernels.follow(self._root, np.array(plies, np.int64), self._nodes, self._scratch.words)
        if node == uct_kernel.NOWHERE or self._nodes[node]["visits"] == 0 or not self._is_scratch(words):
            self.plant(state)
            return
        kept = np.empty_like(self._nodes)
        self.kernels.transplant(node, self._nodes, kept, self._pool)
        self._nodes, self._root = kept, words.copy()
        self._scratch.totals[:] = 0

    def _is_scratch(self, words: np.ndarray) -> bool:
        used = self._game.compiled.used_words(self._game.record(words))
        return bool((self._scratch.words[:used] == words[:used]).all())

    def seeded(self, seed: int) -> np.ndarray:
        """Return a generator seeded by the seed and by the state at the root."""
        rng = new_rng(seed)
        self.kernels.seed_rng(self._root, rng)
        return rng

    def grow(self, simulations: int, rng: np.ndarray) -> None:
        """Run that many simulations from the root, as far as its visits can still be counted."""
        simulations = min(simulations, MOST_VISITS // self.kernels.GRAIN - 1 - self.simulations)
        self.kernels.search(self._root, simulations, self._weights, rng, self._nodes, self._pool, self._scratch)

    @property
    def simulations(self) -> int:
        """Simulations that have grown the tree, those of a tree that was kept included."""
        return int(self._nodes[0]["visits"]) - 1

    def children(self, node: int = 0) -> list[Child]:
        """Return the statistics of a node's children, in the order of `bots.search.tree.best_first`."""
        parent = self._nodes[node]
        chance = int(parent["who"]) == uct_kernel.CHANCE
        numbers = self._chain(parent["first"]) if chance else range(parent["first"], parent["first"] + parent["count"])
        return best_first([self._child(int(number), int(parent["who"])) for number in numbers], chance)

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
        most = simulations * self._points
        return [gained / most - 1.0 for gained in points[: self._game.players]]

    def line(self, child: Child) -> list[int] | None:
        """Return an action of the root and those that followed it most often, up to a chance node; None if none did."""
        if not self.kernels.SOLVE:
            line = self._line[: self.kernels.follow_visits(child.node, self._nodes, self._line)].tolist()
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
        visits, proven = int(node["visits"]), int(node["proven"]) if self.kernels.SOLVE else 0
        mean = None
        if seat >= 0 and visits:
            sure = uct_kernel.points_proven(proven, seat) - 1.0  # with two players
            mean = sure if proven else int(node["points"]) / (visits * self._points) - 1.0
        return Child(int(node["label"]), visits, mean, number, bool(proven))

    @property
    def solved(self) -> bool:
        """Whether the root is proven."""
        return bool(self.kernels.SOLVE and self._nodes[0]["proven"])


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
    `simulations` means nothing, and matches are marked as timed), or `time` a move, such as `20ms`, which a tournament
    calibrates once into simulations for each board; `exploration`, 0 to 10, the factor of
    sqrt(ln N / n), a win being 1 and a loss 0; `rave`, 0 (off) to 1,000,000, the simulations of an action, for each
    action there is, at which both means count alike; less than 0 for either is what suits the game (`UCT` in
    `bots.heuristics`, else 0.7 and 0);
    `rollout`, `random` or `heuristic` (the game's `rollout_action` in `bots.heuristics`, where it has one);
    `solve`, whether proofs go up the tree; `reuse`, whether the tree of the move before is kept as far as it was
    played out; `visits`, whether it tells how often it tried each action, for datasets.
    More simulations do not mend what random rollouts misjudge: at 1,000,000 it leaves the centre on the empty board of
    connect four, where all first moves look nearly alike; `exploration=1.4` kept it there.
    The same seed, parameters and state give the same move; with `reuse` the same states before it as well.
    A game without kernels is searched in plain Python, by the same rules: from the same random numbers both grow the
    same tree. `exploration` then counts in units of the range of returns, from the game's smallest utility to its
    largest (-1 to 1 where it tells none), widened by what playouts return beyond it. Rollouts are random ones, and
    `solve` proves nothing in matches where one seat does not lose what the other gains.
    Cost: by default a simulation takes 0.24 (connect four) to 4.4 microseconds (Pyramid Punch with five players), which
    is 1.1 (Pyramid Punch with two) to 2.6 times (connect four) as long as a random playout; processor time on one core
    of an AMD EPYC, 22 November 2026. At most 4,000,000 nodes of 40 bytes (`rave` adds 16, `solve` 8; `reuse` doubles)
    are kept: then the tree grows no more, and rollouts go on. In plain Python a simulation takes little
    longer than a random match by `State`, 20 to 3,000 microseconds; 1,000,000 nodes of 100 to 200 bytes are kept.
    """

    name = "uct"
    players = range(2, MOST_PLAYERS + 1)
    needs = ("clone",)

    simulations: Annotated[int, Between(1, 10_000_000), "simulations a move; not used when seconds are given"] = 1000
    seconds: Annotated[float, Between(0.0, 3600.0), "seconds a move by the clock; 0 = by simulations"] = 0.0
    time: Annotated[str, TimeFor("simulations", ("seconds",)), "processor time a move, calibrated: 20ms, 1.5s"] = ""
    exploration: Annotated[
        float, Between(-1.0, 10.0), "weight of what was tried little; < 0 = as suits the game"
    ] = -1.0
    rave: Annotated[int, Between(-1, 1_000_000), "all moves as first; 0 = off, < 0 = as suits the game"] = -1
    rollout: Annotated[str, OneOf(("random", "heuristic")), "who plays on from the leaves"] = "random"
    solve: Annotated[bool, "let proven results go up the tree, with two players"] = False
    reuse: Annotated[bool, "go on from the tree of the move before"] = False
    visits: Annotated[bool, "tell how often each action was tried"] = False

    suits: ClassVar[str] = "UCT"
    """What the game's heuristics call the settings that suit it."""
    usual: ClassVar[dict[str, float]] = {"exploration": 0.7, "rave": 0}
    """Settings for other games."""

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if game.kernels and game.players > MOST_COMPILED:
            return f"plays compiled games with up to {MOST_COMPILED} players, not {game.players}"
        return super().refusal(game)

    def prepare(self) -> None:
        self.timed = self.seconds > 0
        self.tree: Tree | PlainTree = (
            self.new_tree(compiled_search)
            if isinstance(self.game, KernelGame)
            else PlainTree(self.game, *self._settings())
        )
        self._before: list[int] | None = None

    def _settings(self) -> tuple[float, int, bool]:
        """Return exploration, simulations at which RAVE counts as much, and whether to prove."""
        return self.suiting("exploration"), self.suiting("rave"), self.solve and self.game.players == 2

    def suiting(self, parameter: str) -> Any:
        """Return the value of a parameter, what suits the game where that is less than 0."""
        given = getattr(self, parameter)
        suits = self.usual | getattr(heuristics_of(self.game.name), self.suits, {})
        return suits[parameter] if given < 0 else given

    def leaves(self) -> Assessment | None:
        """Return what values leaves, None for rollouts."""
        return None

    def tolerance(self) -> float:
        """Return how far behind the best one an action is whose prior is a quarter of the best one's; 0 for none."""
        return 0.0

    def new_tree(self, search: Callable[..., SimpleNamespace]) -> Tree:
        """Return a tree with room for a move; `search` takes what `bound_search` does."""
        game, (exploration, rave, solve) = cast(KernelGame, self.game), self._settings()
        kernels = search(game, self.rollout, rave > 0, solve, self.leaves(), self.tolerance() > 0)
        size = 1 + game.rules.MAX_ACTIONS * self.simulations * (2 if self.reuse else 1)
        size = MOST_NODES if self.timed else min(MOST_NODES, size)
        return Tree(game, kernels, size, exploration, rave, self.tolerance())

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        children = self.think(state)
        best = children[0]
        self.evaluation, self.line = self.tree.returns(best), self.tree.line(best)
        if self.visits:
            self.visit_counts = {child.label: child.visits for child in children if child.visits}
        return best.label

    def think(self, state: State) -> list[Child]:
        """Search and return the statistics of the legal actions, the best first."""
        tree: Any = self.tree  # each kind takes the generators that it makes
        self._take_root(state)
        rng, before = tree.seeded(self.seed), tree.simulations
        if self.timed:
            deadline = time.perf_counter() + self.seconds
            tree.grow(tree.batch, rng)
            while time.perf_counter() < deadline and not tree.solved:
                tree.grow(tree.batch, rng)
        else:
            tree.grow(self.simulations, rng)
        self.search_steps = tree.simulations - before
        return self.tree.children()

    def _take_root(self, state: State) -> None:
        before, self._before = self._before, state.history() if self.reuse else None
        if before is not None and self._before is not None and self._before[: len(before)] == before:
            self.tree.move_root(self._before[len(before) :], state)
        else:
            self.tree.plant(state)


@functools.cache
def compiled_search(game: KernelGame, *settings: Any) -> SimpleNamespace:
    """Return the kernels of `bound_search`, warmed up."""
    return warmed_up(bound_search(game, *settings), game)


@functools.cache
def bound_search(
    game: KernelGame,
    rollout: str,
    rave: bool,
    solve: bool = False,
    leaves: Assessment | None = None,
    prior: bool = False,
) -> SimpleNamespace:
    """Return the kernels of the search, bound to one game.

    `leaves`, if given, value states in place of rollouts, and with `prior` what may follow too, before it is tried.
    """
    heuristics = heuristics_of(game.name)
    compiled = game.compiled
    also: dict[str, Any] = {"RAVE": rave, "SOLVE": solve, "PRIOR": prior, "SEVERAL": game.players > 2}
    also |= {"VALUED": leaves is not None, "GRAIN": GRAIN if leaves else 1} | (
        {"assess": leaves.kernel} if leaves else {}
    )
    also |= {name: getattr(compiled, name) for name in ("copy_words", "random_action", "points_of")}
    if rollout == "random":
        also["simulate"] = compiled.random_finish
    for name in ("outcome_key", "finish_and_mark" if rollout == "random" else "rollout_action"):
        if hasattr(heuristics, name):
            also[name] = getattr(heuristics, name)
    kernels = bind(uct_kernel, game.rules, game.dtype, **also)
    kernels.valued = leaves.memory if leaves else NO_MEMORY
    return kernels


def warmed_up(kernels: SimpleNamespace, game: KernelGame) -> SimpleNamespace:
    """Compile the kernels by a small search, so that the first move need not wait for it; return them."""
    state = first_decision(game)
    tree = Tree(game, kernels, 1000, 1.0, 1)
    tree.plant(state)
    tree.grow(2, tree.seeded(0))
    tree.line(tree.children()[0])
    tree.move_root([], state)
    return kernels
