"""Duels: two bots take turns in one seat, against the same others, with the same dice and opening.

From round to round the seat moves on around the table; after each turn around it the others change. After as many
rounds as players the two have been in every seat, and after as many turns as fillers each filler has been everywhere
equally often.
"""

from __future__ import annotations

import functools
import math
from typing import Literal, NamedTuple


class Duel(NamedTuple):
    """The two bots that are compared, and those that fill the other seats, as entries of the schedule."""

    first: int
    second: int
    fillers: tuple[int, ...]
    """Ordered by key; the two may be among them."""

    def table(self, players: int, number: int) -> tuple[int, ...]:
        """Return the entries of a round: the two, then the others seat by seat from theirs on."""
        turn, start = divmod(number // players, len(self.fillers))
        far = _distances(len(self.fillers), players - 1)
        distance = far[turn % len(far)]
        behind = [(start + place * distance) % len(self.fillers) for place in range(players - 1)]
        return (self.first, self.second, *[self.fillers[place] for place in behind])


class StopTest(NamedTuple):
    """Sequential test that ends a comparison; `arena.stats.sprt.Sprt` says what its parameters mean."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: Literal["logistic", "normalized"]


class Compared(NamedTuple):
    """What a comparison asks: how much stronger the first bot is than the second, as entries of the schedule."""

    first: int
    second: int
    test: StopTest | None
    """None where the number of blocks is fixed."""
    opening: int
    """Plies at the beginning of a match that tell its opening from others."""


@functools.cache
def duel_places(players: int, seat: int) -> tuple[tuple[int, ...], ...]:
    """Return which place of the round's table sits in each seat, by line-up."""
    behind = [2 + (other - seat - 1) % players for other in range(players)]
    return tuple(tuple(turn if other == seat else behind[other] for other in range(players)) for turn in range(2))


@functools.cache
def _distances(fillers: int, seats: int) -> list[int]:
    """Return distances in the list for neighbours at the table that repeat no filler more than needed."""
    return [far for far in range(1, fillers + 1) if fillers // math.gcd(fillers, far) >= min(fillers, seats)]
