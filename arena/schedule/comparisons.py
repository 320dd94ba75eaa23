"""What is asked of a comparison, and the test that may end it."""

from __future__ import annotations

from typing import Literal, NamedTuple


class StopTest(NamedTuple):
    """Sequential test that ends a comparison; `arena.stats.sprt.Sprt` says what its parameters mean."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: Literal["logistic", "normalized"]


class ComparisonPlan(NamedTuple):
    """What a comparison asks: how much stronger the first bot is than the second, as entries of the schedule."""

    first: int
    second: int
    test: StopTest | None
    """None where the number of blocks is fixed."""
    opening: int
    """Plies at the beginning of a match that tell its opening from others."""
