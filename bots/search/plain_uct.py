"""Monte-Carlo tree search in plain Python, for games without kernels: the uncompiled twin of `bots.search.uct_kernel`.

From the same draws it grows the same tree. A node gets its children on its second visit, one a legal action, in random
order; below a chance node lie the outcomes drawn so far. When there is no room, no node gets children any more.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import Any

from bots.search.tree import DEEPEST, LONGEST_LINE, Child, best_first
from bots.search.uct_kernel import LN_2, LOGARITHMS, ROOT_LN
from bots.search.utility_range import UtilityRange
from engine import CHANCE, Game, State
from engine.game import rolled

MOST_CHILDREN = 1_000_000  # of 100 to 200 bytes
UNKNOWN = -2
ROOTS = ROOT_LN.tolist()
NONE: list[Any] = []
"""No children; all nodes without share it, so that they take little room."""


class Node:
    """What is known of a state."""

    __slots__ = (
        "amaf",
        "children",
        "doubts",
        "gained",
        "labels",
        "proven",
        "proven_below",
        "sums",
        "visits",
        "who",
        "worths",
    )

    def __init__(self) -> None:
        self.visits = 0
        self.gained = 0.0
        """Sum of the returns of the seat that chose this node."""
        self.who = UNKNOWN
        """Seat to move, `CHANCE` or `TERMINAL`; `UNKNOWN` before the second visit."""
        self.proven: float | None = None
        """What seat 0 is proven to gain, with two players."""
        self.proven_below = False
        """Whether an outcome was proven lately."""
        self.labels: Sequence[int] = ()
        """Actions in random order, or all chance outcomes; none before the second visit."""
        self.children: list[Node | None] = NONE
        """In the order of the labels; None where nobody has been."""
        self.sums: Sequence[int] = ()
        """Sums of weights up to each outcome."""
        self.worths: list[float] = NONE
        """Of actions: mean return of the seat to move, mixed with that of all moves as first; infinite if untried."""
        self.doubts: list[float] = NONE
        """Of actions: 1 / sqrt(visits), 1 if untried."""
        self.amaf: list[tuple[int, float]] = NONE
        """Of actions: simulations in which the seat made it now or later on, and the sum of its returns in them."""

    def proven_for(self, seat: int) -> float | None:
        """Return what a seat is proven to gain."""
        return self.proven if self.proven is None or seat == 0 else -self.proven


class PlainTree:
    """A search tree, and the state at its root."""

    batch = 1
    """Simulations between two looks at the clock."""

    def __init__(
        self, game: Game, exploration: float, rave: int, solve: bool = False, room: int = MOST_CHILDREN
    ) -> None:
        self._game = game
        self._range = UtilityRange(game)
        self._exploration, self._rave, self._solve, self._size = exploration, rave, solve, room
        self._opposed = game.players == 2
        """Whether one seat has lost what the other gained in all simulations so far."""

    def plant(self, state: State) -> None:
        """Start a new tree from a state."""
        self._state, self._root, self._room = state.clone(), Node(), self._size
        self._root.visits = 1
        self._totals: dict[int, list[float]] = {}

    def move_root(self, plies: Iterable[int], state: State) -> None:
        """Keep the subtree of the state that `plies` lead to; start a new tree when there is none."""
        node, reached = self._root, self._state
        for ply in plies:
            child = node.children[node.labels.index(ply)] if ply in node.labels else None
            if child is None or not child.visits:
                return self.plant(state)
            node = child
            reached.apply_action(ply)
        if reached != state:
            return self.plant(state)
        self._root, self._totals = node, {}
        self._room = self._size - sum(len(each.labels) for each in below(node))

    def seeded(self, seed: int) -> random.Random:
        """Return a generator seeded by the seed and by the state at the root."""
        return random.Random(f"{seed} {self._state.origin} {self._state.history()}")

    def grow(self, simulations: int, rng: random.Random) -> None:
        """Run that many simulations from the root, or fewer when it is proven."""
        for _ in range(simulations):
            if self.solved:
                return
            state = self._state.clone()
            path, picks = self._select(state, rng)
            played: set[tuple[int, int]] | None = set() if self._rave else None
            proven = self._proof_of(path[-1], state) if self._solve else None
            gains = state.playout(rng, played) if proven is None else (proven, -proven)
            self._range.widen(gains)
            self._opposed = self._opposed and gains[0] == -gains[1]
            self._backpropagate(path, picks, gains)
            if played is not None:
                self._backpropagate_amaf(path, picks, gains, played)
            if proven is not None:
                self._prove(path, picks, proven)

    def _select(self, state: State, rng: random.Random) -> tuple[list[Node], list[int]]:
        """Follow the tree to a leaf or a proven node, playing along in `state`; return nodes and picks."""
        node = self._root
        path, picks = [node], list[int]()
        while len(path) < DEEPEST:
            if node.who == UNKNOWN and node.visits:
                self._expand(node, state, rng)
            if node.proven is not None or not node.labels:
                break
            if node.who == CHANCE:
                if node.proven_below and prove_chance(node):
                    break
                pick = node.labels.index(rolled(node.labels, node.sums, rng))
            else:
                pick = self._best_child(node)
            state.apply_action(node.labels[pick])
            child = node.children[pick]
            if child is None:
                child = node.children[pick] = Node()
            path.append(child)
            picks.append(pick)
            node = child
        return path, picks

    def _expand(self, node: Node, state: State, rng: random.Random) -> None:
        """Note who is to move and what may follow, if there is room."""
        who = state.current_player()
        if who == CHANCE:
            labels, node.sums = state.chances()
        else:
            labels = state.legal_actions()
        count = len(labels)
        if count > self._room:
            return
        self._room -= count
        node.who, node.labels, node.children = who, labels, [None] * count
        if who >= 0:
            shuffle(labels, rng)
            node.worths, node.doubts = [math.inf] * count, [1.0] * count
            node.amaf = [(0, 0.0)] * count if self._rave else []

    def _best_child(self, node: Node) -> int:
        """Return the number of the child with the highest upper confidence bound."""
        spread = self._exploration * self._range.span * root_of_logarithm(node.visits)
        bounds = [worth + spread * doubt for worth, doubt in zip(node.worths, node.doubts, strict=True)]
        return bounds.index(max(bounds))

    def _backpropagate(self, path: list[Node], picks: list[int], gains: Sequence[float]) -> None:
        """Count the simulation at every node of the path, with the return of the seat that chose the node."""
        self._root.visits += 1
        for i, pick in enumerate(picks):
            parent, child = path[i], path[i + 1]
            child.visits += 1
            if parent.who >= 0:
                child.gained += gains[parent.who]
                parent.worths[pick] = child.gained / child.visits
                parent.doubts[pick] = 1.0 / math.sqrt(child.visits)
        if picks:
            so_far = self._totals.get(picks[0], [0.0] * (self._game.players + 1))
            self._totals[picks[0]] = [total + gain for total, gain in zip(so_far, (*gains, 1.0), strict=True)]

    def _backpropagate_amaf(
        self, path: list[Node], picks: list[int], gains: Sequence[float], played: set[tuple[int, int]]
    ) -> None:
        """Count the simulation also at every child whose action the same seat made then or later on."""
        for node, pick in zip(reversed(path[:-1]), reversed(picks), strict=True):
            seat = node.who
            if seat < 0:
                continue
            played.add((seat, node.labels[pick]))
            equivalence = self._rave * len(node.labels)
            for i, label in enumerate(node.labels):
                child = node.children[i]
                if (seat, label) in played and (child is None or child.proven is None):
                    count_amaf(node, i, gains[seat], equivalence)

    # Proofs, in games for two, where one seat loses what the other gains

    def _proof_of(self, leaf: Node, state: State) -> float | None:
        """Return what seat 0 is proven to gain at the leaf."""
        if leaf.proven is not None or leaf.who == CHANCE or not state.is_terminal():
            return leaf.proven
        returns = state.returns()
        return returns[0] if returns[0] == -returns[1] else None

    def _prove(self, path: list[Node], picks: list[int], proven: float) -> None:
        """Note what the leaf is proven to be worth, and go up as far as that proves the nodes above."""
        path[-1].proven = proven
        for i in reversed(range(len(picks))):
            parent = path[i]
            if parent.who == CHANCE:
                parent.proven_below = True
                return
            worth = path[i + 1].proven_for(parent.who)
            assert worth is not None
            parent.worths[picks[i]] = worth if worth > self._range.low else self._range.low - 0.5 * self._range.span
            parent.doubts[picks[i]] = 0.0
            parent.proven = self._proven_by_children(parent)
            if parent.proven is None:
                return

    def _proven_by_children(self, node: Node) -> float | None:
        """Return what a decision is proven to be worth to seat 0, by a child that wins or by all children."""
        seat = node.who
        known = [None if child is None else child.proven_for(seat) for child in node.children]
        proven = [worth for worth in known if worth is not None]
        best = max(proven)
        if best < self._range.high and len(proven) < len(known):
            return None
        return best if seat == 0 else -best

    # What was found

    @property
    def solved(self) -> bool:
        """Whether the root is proven."""
        return self._root.proven is not None

    @property
    def simulations(self) -> int:
        """Simulations that have grown the tree, those of a tree that was kept included."""
        return self._root.visits - 1

    def children(self, node: Node | None = None) -> list[Child]:
        """Return the statistics of a node's children, by default the root's, as `bots.search.tree.best_first`."""
        node = node or self._root
        found = [self._child(label, child, node.who) for label, child in zip(node.labels, node.children, strict=True)]
        if node.who == CHANCE:
            found = [child for child in found if child.visits]
        return best_first(found, node.who == CHANCE)

    def who(self, node: Node) -> int:
        """Return the seat to move at a node; less than 0 at chance nodes, at the end, and where nobody has looked."""
        return node.who

    def returns(self, child: Child) -> list[float] | None:
        """Return the mean return of every seat after an action of the root; None if this search never tried it.

        Where one of two seats loses what the other gains, simulations of a tree that was kept count as well.
        """
        seat = self._root.who
        if self._opposed:
            own = self._worth(child.node, seat)
            if own is None:
                return None
            return [self._range.scaled(own if each == seat else -own) for each in range(2)]
        *sums, simulations = self._totals.get(self._root.labels.index(child.label), (0.0,))
        return [self._range.scaled(total / simulations) for total in sums] if simulations else None

    def line(self, child: Child) -> list[int] | None:
        """Return an action of the root and those that followed it most often, up to a chance node; None if none did."""
        line = [child.label]
        while len(line) < LONGEST_LINE and child.node.who >= 0:
            child = self._likeliest(child.node)
            if not child.visits:
                break
            line.append(child.label)
        return line if len(line) > 1 else None

    def _likeliest(self, node: Node) -> Child:
        """Return the child that is most likely to be chosen: with proofs the best one, else the most visited."""
        if self._solve:
            return self.children(node)[0]
        visits = [child.visits if child else 0 for child in node.children]
        most = visits.index(max(visits))
        return self._child(node.labels[most], node.children[most], node.who)

    def _child(self, label: int, child: Node | None, seat: int) -> Child:
        worth = None if child is None or seat < 0 else self._worth(child, seat)
        value = None if worth is None else self._range.scaled(worth)
        child = child or Node()
        return Child(label, child.visits, value, child, child.proven is not None)

    def _worth(self, child: Node, seat: int) -> float | None:
        """Return the mean return, or what is proven, of the seat that chose a node."""
        if child.proven is not None:
            return child.proven_for(seat)
        return child.gained / child.visits if child.visits else None


def shuffle(labels: list[int], rng: random.Random) -> None:
    """Put a list into random order, by draws that the compiled search makes too."""
    for i in range(len(labels)):
        j = i + int(rng.random() * (len(labels) - i))
        labels[i], labels[j] = labels[j], labels[i]


def root_of_logarithm(n: int) -> float:
    """Return the square root of the natural logarithm of a whole number from 1, to four digits."""
    if n < LOGARITHMS:
        return ROOTS[n]
    shifted = 0.0
    while n >= LOGARITHMS:
        n >>= 1
        shifted += LN_2
    return math.sqrt(ROOTS[n] ** 2 + shifted)


def prove_chance(node: Node) -> bool:
    """Prove a chance node if every outcome is proven to be worth the same; return whether it is."""
    node.proven_below = False
    proven = {None if child is None else child.proven for child in node.children}
    if len(proven) == 1:
        (node.proven,) = proven
    return node.proven is not None


def count_amaf(node: Node, number: int, gained: float, equivalence: float) -> None:
    """Count a simulation in the all-moves-as-first statistics of a child, and mix its worth anew."""
    visits, total = node.amaf[number][0] + 1, node.amaf[number][1] + gained
    node.amaf[number] = visits, total
    mean, child = total / visits, node.children[number]
    node.worths[number] = mean
    if child is not None and child.visits:
        own = child.gained / child.visits
        share = math.sqrt(equivalence / (3.0 * child.visits + equivalence))
        node.worths[number] = own + share * (mean - own)


def below(node: Node) -> Iterable[Node]:
    """Yield a node and all nodes below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.children if child is not None]
