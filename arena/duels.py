"""Duels: two bots take turns in one seat of one line-up, the other seats filled by others, dice and opening the same.

From round to round the seat walks around the table; after each turn around it, the others change. So after as many
rounds as there are players the two have been in every seat, and the others fill in evenly.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

GOLDEN = 0.618


class Duel(NamedTuple):
    """Who is compared, and who fills the other seats; entries of the schedule."""

    first: int
    second: int
    fillers: tuple[int, ...]
    """Ordered by key; the two may be among them."""

    def table(self, players: int, number: int) -> tuple[int, ...]:
        """The entries of a round: the two, then those who sit behind them, seat by seat."""
        return (self.first, self.second, *_fillers(self.fillers, players - 1, number // players))


@functools.cache
def duel_places(players: int, seat: int) -> tuple[tuple[int, ...], ...]:
    """By line-up: which place of the round's table sits in each seat."""
    behind = [2 + (other - seat - 1) % players for other in range(players)]
    return tuple(tuple(turn if other == seat else behind[other] for other in range(players)) for turn in range(2))


def _fillers(fillers: tuple[int, ...], count: int, step: int) -> tuple[int, ...]:
    """All choices of so many fillers in turn, each time around in another order; too few of them sit there repeatedly.

    Steps of about the golden section make the first few choices use all of them, too.
    """
    if len(fillers) < count:
        return tuple(fillers[(step + place) % len(fillers)] for place in range(count))
    choices, stride = _choices(len(fillers), count)
    turn, at = divmod(step, len(choices))
    chosen = choices[at * stride % len(choices)]
    orders = list(itertools.permutations(chosen))
    return tuple(fillers[place] for place in orders[(turn + at) % len(orders)])


@functools.cache
def _choices(count: int, size: int) -> tuple[list[tuple[int, ...]], int]:
    """All choices of `size` out of `count`, and how far to step through them."""
    choices = list(itertools.combinations(range(count), size))
    stride = max(1, round(GOLDEN * len(choices)))
    while math.gcd(stride, len(choices)) > 1:
        stride += 1
    return choices, stride
