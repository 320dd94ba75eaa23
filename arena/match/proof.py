"""The referee's own search for how a match ends if nobody errs: exhaustive, in whole numbers, for any game."""

from __future__ import annotations

from collections.abc import Sequence

from engine import CHANCE, TERMINAL, State

MAX_DEPTH = 100
"""Plies that a proof may look ahead."""


def proved_ranks(state: State, positions: int) -> tuple[int, ...] | None:
    """Return the ranks in which a match ends if nobody errs, whatever dice show; None where they are not proved.

    The search deepens ply by ply until it has proved them or looked at so many positions. With more than two players a
    seat that could choose between different results that are equally good for it leaves them unproved.
    """
    search = _Search(positions)
    for depth in range(1, MAX_DEPTH + 1):
        search.is_cut = False
        found = search.ranks(state, depth)
        if found is not None or search.left <= 0 or not search.is_cut:
            return found
    return None


class _Search:
    """One search, to greater and greater depths."""

    def __init__(self, positions: int) -> None:
        self.left = positions
        """Positions that it may still look at."""
        self.is_cut = False
        """Whether anything was not looked at because it lay too deep."""

    def ranks(self, state: State, depth: int) -> tuple[int, ...] | None:
        """Return the ranks in which a position ends, as far as so many plies and the positions left prove them."""
        who = state.current_player()
        if who == TERMINAL:
            return tuple(state.ranks())
        if depth == 0:
            self.is_cut = True
            return None
        if who == CHANCE:
            return self._same_ranks(state, [outcome for outcome, _ in state.chance_outcomes()], depth)
        return self._best_ranks(state, who, depth)

    def _same_ranks(self, state: State, outcomes: Sequence[int], depth: int) -> tuple[int, ...] | None:
        """Return the ranks that follow whatever the dice show."""
        found = None
        for outcome in outcomes:
            ranks = self._after(state, outcome, depth)
            if ranks is None or found not in (None, ranks):
                return None
            found = ranks
        return found

    def _best_ranks(self, state: State, who: int, depth: int) -> tuple[int, ...] | None:
        """Return the ranks that follow when a seat chooses the best for itself."""
        found: dict[int, tuple[int, ...]] = {}
        is_proved = True
        for action in state.legal_actions():
            ranks = self._after(state, action, depth)
            if ranks is None:
                is_proved = False
                if state.game.players > 2:
                    return None
                continue
            value = sum((other > ranks[who]) - (other < ranks[who]) for other in ranks)
            if found.setdefault(value, ranks) != ranks:
                found[value] = ()
            if len(ranks) == 2 and value > 0:
                return ranks
        return (found[max(found)] or None) if found and is_proved else None

    def _after(self, state: State, action: int, depth: int) -> tuple[int, ...] | None:
        self.left -= 1
        return self.ranks(state.child(action), depth - 1) if self.left >= 0 else None
