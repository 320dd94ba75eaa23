"""Duels: two bots take turns in one seat of one line-up, the other seats filled by others, dice and opening the same.

From round to round the seat walks around the table; after each turn around it, the others change. So after as many
rounds as there are players the two have been in every seat, and after as many turns as there are fillers each of these
has been everywhere equally often.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple


class Duel(NamedTuple):
    """Who is compared, and who fills the other seats; entries of the schedule."""

    first: int
    second: int
    fillers: tuple[int, ...]
    """Ordered by key; the two may be among them."""

    def table(self, players: int, number: int) -> tuple[int, ...]:
        """The entries of a round: the two, then those who sit behind them, seat by seat."""
        turn, start = divmod(number // players, len(self.fillers))
        far = _distances(len(self.fillers), players - 1)
        distance = far[turn % len(far)]
        behind = [(start + place * distance) % len(self.fillers) for place in range(players - 1)]
        return (self.first, self.second, *[self.fillers[place] for place in behind])


@functools.cache
def duel_places(players: int, seat: int) -> tuple[tuple[int, ...], ...]:
    """By line-up: which place of the round's table sits in each seat."""
    behind = [2 + (other - seat - 1) % players for other in range(players)]
    return tuple(tuple(turn if other == seat else behind[other] for other in range(players)) for turn in range(2))


@functools.cache
def _distances(fillers: int, seats: int) -> list[int]:
    """How far apart in their list neighbours at the table may be, so that no filler is there more than needed."""
    return [far for far in range(1, fillers + 1) if fillers // math.gcd(fillers, far) >= min(fillers, seats)]
