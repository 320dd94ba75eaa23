"""Expected duration of matches, learned from those already played. It decides the size of chunks, never results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

RISE_RATE, FALL_RATE = 0.2, 0.5
"""Share of an error that is learned; too high an estimate mostly stems from a first match, which compiles."""
MIN_SEATS_PLAYED = 3
"""Seats that a bot must have played before its estimate is shown."""
INITIAL_LOG_ERROR, MAX_SETTLED_LOG_ERROR, LOG_ERROR_RATE = 3.0, 1.0, 0.2
"""Mean error of estimates, as a logarithm: before any match, when they count as settled; and a match's share in it."""


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
        self._seats: Counter[int] = Counter()
        """By entry."""
        self._log_error = INITIAL_LOG_ERROR

    def learn(self, seats: Sequence[int], seconds: float) -> None:
        """Learn from a match of these entries."""
        shares = self._shares
        new = [entry for entry in seats if entry not in shares]
        for entry in new:
            shares[entry] = seconds / self.players
            self._sum += shares[entry]
        expected = sum([shares[entry] for entry in seats])
        off = INITIAL_LOG_ERROR if new or expected <= 0 else abs(math.log(max(seconds, 1e-9) / expected))
        self._log_error += LOG_ERROR_RATE * (off - self._log_error)
        error = seconds - expected
        change = (RISE_RATE if error > 0 else FALL_RATE) * error / self.players
        for entry in seats:
            before = shares[entry]
            shares[entry] = share = before + change if before + change > 0 else 0.0
            self._sum += share - before
            self._seats[entry] += 1

    @property
    def known(self) -> bool:
        """Whether any match has been played."""
        return bool(self._shares)

    def settled(self, entries: Iterable[int]) -> bool:
        """Return whether all `entries` have played often enough, and the latest matches took as long as estimated.

        Before, estimates hold what the first matches took, which compile.
        """
        return self._log_error < MAX_SETTLED_LOG_ERROR and all(
            self._seats[entry] >= MIN_SEATS_PLAYED for entry in entries
        )

    @property
    def mean(self) -> float:
        """Mean of all matches; 0 while nothing is known."""
        return self.players * self._sum / len(self._shares) if self._shares else 0.0

    @property
    def longest(self) -> float:
        """Upper bound for any match; 0 while nothing is known."""
        return self.players * max(self._shares.values(), default=0.0)

    def match(self, seats: Sequence[int]) -> float:
        """Return the estimate for a match of these entries; 0 while nothing is known."""
        if not self._shares:
            return 0.0
        usual = self._sum / len(self._shares)
        return sum([self._shares.get(entry, usual) for entry in seats])
