"""What is asked of a comparison, and the test that may end it."""

from __future__ import annotations

from typing import NamedTuple

from arena.stats.sprt import Sprt


class ComparisonPlan(NamedTuple):
    """What a comparison asks: how much stronger the first bot is than the second, as entries of the schedule."""

    first: int
    second: int
    test: Sprt | None
    """None where the number of blocks is fixed."""
    opening: int
    """Plies at the beginning of a match that tell its opening from others."""
