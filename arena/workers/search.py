"""Look at a position with Monte-Carlo tree search, a while at a time."""

from __future__ import annotations

import time
from typing import Any

from arena.match.player import LocalBot
from arena.workers import messages
from engine import CHANCE, EngineError, Game, State


class Searcher:
    """A search tree that grows on demand; the same orders give the same tree, but for `ContinueSearch.seconds`."""

    def __init__(self, game: Game, contestant: LocalBot) -> None:
        self._game = game
        self._bot = contestant.make(game, 0, 0, contestant.params)
        self._bot.prepare()
        self._state: State | None = None
        self._simulations = 0

    def begin(self, order: messages.StartSearch) -> messages.SearchReport:
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
        self._bot.tree.plant(state)
        self._rng = self._bot.tree.seeded(0)
        return messages.SearchReport(0, False, [], [], "")

    def grow(self, order: messages.ContinueSearch) -> messages.SearchReport:
        """Run simulations until there are enough, or time is up, and report what was found."""
        if self._state is None:
            return _refused("there is no position")
        tree, deadline, left = self._bot.tree, time.monotonic() + order.seconds, order.simulations
        while left > 0 and not tree.solved:
            tree.grow(min(tree.batch, left), self._rng)
            self._simulations += min(tree.batch, left)
            left -= tree.batch
            if time.monotonic() > deadline:
                break
        children = tree.children()
        candidates = [
            messages.SearchCandidate(child.label, child.visits, child.value, child.proven, self._line(child))
            for child in children
        ]
        return messages.SearchReport(self._simulations, bool(tree.solved), self._values(children), candidates, "")

    def _line(self, child: Any) -> list[int]:
        """Return the plies expected from an action on."""
        return self._bot.tree.line(child) or [child.label]

    def _values(self, children: list[Any]) -> list[float]:
        """Return the expected return by seat: the mean of all simulations, or what is proven."""
        best, tree = children[0], self._bot.tree
        if best.proven and tree.solved:
            return tree.returns(best)
        visited = [(child.visits, tree.returns(child)) for child in children if child.visits]
        visits = sum(count for count, _ in visited)
        return [
            sum(count * returns[seat] for count, returns in visited) / visits
            for seat in range(self._game.players if visits else 0)
        ]


def _refused(why: str) -> messages.SearchReport:
    return messages.SearchReport(0, True, [], [], why)
