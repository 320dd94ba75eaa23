"""The range of returns, for searches in games without kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from engine import Game, UnsupportedError


class UtilityRange:
    """The returns that a game can give, by which they are scaled.

    At first the bounds that the game tells, -1 and 1 where it tells none; `widen` takes in a return beyond them.
    """

    def __init__(self, game: Game) -> None:
        self.low, self.high = -1.0, 1.0
        with contextlib.suppress(UnsupportedError):
            self.low, self.high = game.min_utility, game.max_utility

    @property
    def span(self) -> float:
        return self.high - self.low

    def widen(self, returns: Sequence[float]) -> None:
        """Take in what a playout returned."""
        if min(returns) < self.low:
            self.low = min(returns)
        if max(returns) > self.high:
            self.high = max(returns)

    def scaled(self, value: float) -> float:
        """Return a return or a mean of returns, moved and scaled so that the range becomes -1 to 1."""
        return 2.0 * (value - self.low) / self.span - 1.0 if self.span else 0.0
