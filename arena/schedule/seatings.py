"""Seatings: which entry of a table sits where, by round and line-up."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from operator import itemgetter

from arena.schedule.tables import Table

Order = Callable[[Table], Table]


@functools.cache
def base_orders(players: int) -> list[Order]:
    """Return the cyclic orders of a table, one a round in turn, so that neighbours are balanced as well as seats."""
    return [itemgetter(0, *order) for order in itertools.permutations(range(1, players))]


@functools.cache
def seat_places(players: int, permutations: bool) -> list[Table]:
    """Return which place of the base order sits in each seat, by line-up: rotations, or every order."""
    if permutations:
        return list(itertools.permutations(range(players)))
    return [tuple((seat + turn) % players for seat in range(players)) for turn in range(players)]
