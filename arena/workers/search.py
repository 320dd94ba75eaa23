"""Look at a position with Monte-Carlo tree search, a while at a time."""

from __future__ import annotations

import heapq
import time
from typing import Any

from arena.match.player import Contestant
from arena.workers import messages
from engine import CHANCE, EngineError, Game, State

BATCH = 500
"""Simulations between two looks at the clock."""
LONGEST_LINE = 8
"""Plies of an expected line."""
LEAST_VISITS = 10
"""Visits below which a ply is not expected."""
WIDTH, MOST_NODES = 6, 1000
"""Best actions of a decision, and nodes, that are looked at for the returns of other seats; none with two players."""


class Searcher:
    """A search tree that grows on demand; the same orders give the same tree, but for `Grow.seconds`."""

    def __init__(self, game: Game, contestant: Contestant) -> None:
        self._game = game
        self._bot = contestant.make(game, 0, 0, contestant.params)
        self._bot.prepare()
        self._state: State | None = None
        self._simulations = 0

    def begin(self, order: messages.Search) -> messages.Searched:
        """Start from a position; it may not be one to be searched."""
        game = self._game
        try:
            state = game.new_initial_state() if order.position is None else game.state_from_position(order.position)
            for action in order.actions:
                state.apply_action(action)
        except EngineError as error:
            return _refused(str(error))
        if state.current_player() < 0:
            return _refused("dice are due" if state.current_player() == CHANCE else "the match is over")
        self._state = state
        self._simulations = 0
        self._bot.tree.plant(state.words)  # type: ignore[attr-defined]  # uct plays games with kernels alone
        self._rng = self._bot.tree.seeded(0)
        return messages.Searched(0, False, [], [], "")

    def grow(self, order: messages.Grow) -> messages.Searched:
        """Run simulations until there are enough, or time is up, and tell what was found."""
        if self._state is None:
            return _refused("there is no position")
        tree, deadline, left = self._bot.tree, time.monotonic() + order.seconds, order.simulations
        while left > 0 and not tree.solved:
            tree.grow(min(BATCH, left), self._rng)
            self._simulations += min(BATCH, left)
            left -= BATCH
            if time.monotonic() > deadline:
                break
        children = tree.children()
        candidates = [
            messages.Candidate(child.label, child.visits, child.value, child.proven, self._line(child))
            for child in children
        ]
        return messages.Searched(self._simulations, bool(tree.solved), self._values(children), candidates, "")

    def _line(self, child: Any) -> list[int]:
        """Return the plies expected from an action on."""
        assert self._state is not None
        state, line = self._state.clone(), []
        while True:
            state.apply_action(child.label)
            line.append(child.label)
            if state.current_player() < 0 or len(line) == LONGEST_LINE:
                return line
            children = self._bot.tree.children(child.node)
            if not children or children[0].visits < LEAST_VISITS:
                return line
            child = children[0]

    def _values(self, children: list[Any]) -> list[float]:
        """Return the expected return by seat. With two players one gains what the other loses."""
        assert self._state is not None
        seat, players = self._state.current_player(), self._game.players
        best = children[0]
        if best.proven and players == 2:
            mine = best.value
        else:
            mine = _mean([(child.visits, child.value) for child in children if child.value is not None])
        if players == 2:
            return [mine if other == seat else -mine for other in range(2)]
        found: dict[int, list[tuple[int, float]]] = {other: [] for other in range(players)}
        waiting: list[tuple[int, int, frozenset[int]]] = [(0, 0, frozenset(found))]
        for _ in range(MOST_NODES):
            if not waiting:
                break
            self._gather(waiting, found)
        return self._balanced(found)

    def _balanced(self, found: dict[int, list[tuple[int, float]]]) -> list[float]:
        """Return means that add up to 0, as returns do; seats too far away share what the others leave."""
        known = {other: _mean(weighted) for other, weighted in found.items() if weighted}
        unknown = len(found) - len(known)
        total = sum(known.values())
        if unknown:
            return [known.get(other, -total / unknown) for other in found]
        return [mean - total / len(found) for mean in known.values()]

    def _gather(
        self, waiting: list[tuple[int, int, frozenset[int]]], found: dict[int, list[tuple[int, float]]]
    ) -> None:
        """Look at the most visited node that waits: a heap of negative visits, node, and seats that are wanted.

        A seat's returns are those at the nodes at which it chooses for the first time.
        """
        _, node, wanted = heapq.heappop(waiting)
        who, children = self._bot.tree.who(node), self._bot.tree.children(node)
        if who in wanted:
            found[who] += [(child.visits, child.value) for child in children if child.value is not None]
            wanted -= {who}
        if wanted:
            for child in children if who < 0 else children[:WIDTH]:
                if child.visits:
                    heapq.heappush(waiting, (-child.visits, child.node, wanted))


def _mean(weighted: list[tuple[int, float]]) -> float:
    visits = sum(count for count, _ in weighted)
    return sum(count * value for count, value in weighted) / visits if visits else 0.0


def _refused(why: str) -> messages.Searched:
    return messages.Searched(0, True, [], [], why)
