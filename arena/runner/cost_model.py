"""Expected duration of matches, learned from those already played. It decides the size of chunks, never results."""

from __future__ import annotations

from collections.abc import Sequence

RISE, FALL = 0.2, 0.5
"""Shares of an error that are learned; an estimate that is too high mostly stems from a first match, which compiles."""


class CostModel:
    """Seconds by bot on one board: a match takes as long as its seats together.

    After each match the error of its estimate is divided among its seats (least mean squares: Widrow and Hoff,
    Adaptive switching circuits, 1960).
    """

    def __init__(self, players: int) -> None:
        self.players = players
        self._shares: dict[int, float] = {}
        """By entry."""
        self._sum = 0.0

    def learn(self, seats: Sequence[int], seconds: float) -> None:
        """Learn from a match of these entries."""
        shares = self._shares
        for entry in seats:
            if entry not in shares:
                shares[entry] = seconds / self.players
                self._sum += shares[entry]
        error = seconds - sum([shares[entry] for entry in seats])
        change = (RISE if error > 0 else FALL) * error / self.players
        for entry in seats:
            share = max(shares[entry] + change, 0.0)
            self._sum += share - shares[entry]
            shares[entry] = share

    @property
    def known(self) -> bool:
        """Whether any match has been played."""
        return bool(self._shares)

    @property
    def mean(self) -> float:
        """Of all matches; 0 while nothing is known."""
        return self.players * self._sum / len(self._shares) if self._shares else 0.0

    @property
    def longest(self) -> float:
        """An upper bound of all matches; 0 while nothing is known."""
        return self.players * max(self._shares.values(), default=0.0)

    def match(self, seats: Sequence[int]) -> float:
        """Return the estimate for a match of these entries; 0 while nothing is known."""
        if not self._shares:
            return 0.0
        usual = self._sum / len(self._shares)
        return sum([self._shares.get(entry, usual) for entry in seats])
