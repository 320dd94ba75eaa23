"""Compare two checkouts: each section is measured in one and the other in turn, pair by pair.

Whatever else the machine does strikes both alike, so the ratio within a pair says more than either figure.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from benchmarks.checkouts import Checkout
from benchmarks.figures import Figure, Skipped, number


class Ratio(NamedTuple):
    """Geometric mean of paired ratios, with Student's 95 % interval of their logarithms."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


class ComparedFigure(NamedTuple):
    """A figure in both checkouts."""

    figure: Figure
    """Of this checkout, with the median of its values."""
    other: float
    """Median of the other's values."""
    value: Ratio
    """This checkout's value by the other's."""
    processor: Ratio | None
    """The same of processor seconds."""

    @property
    def verdict(self) -> str:
        """Whether the interval of the value leaves 1 out, in words."""
        if self.figure.better == "neither" or self.value.low <= 1 <= self.value.high:
            return ""
        return "better" if (self.value.low > 1) == (self.figure.better == "higher") else "worse"

    def cells(self) -> tuple[str, ...]:
        """Return what a table shows of it."""
        figure = self.figure
        values = number(figure.value), number(self.other), str(self.value), str(self.processor or "")
        return figure.name, f"{figure.unit}, {figure.better}", *values, self.verdict


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio | None:
    """Return the ratio of ours by theirs; None for fewer than two pairs, or where a value is not above 0."""
    if len(pairs) < 2 or any(min(pair) <= 0 for pair in pairs):
        return None
    logs = [math.log(ours / theirs) for ours, theirs in pairs]
    mean = statistics.fmean(logs)
    half = float(stdtrit(len(logs) - 1, 0.975)) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(*map(math.exp, (mean, mean - half, mean + half)))


def measure_pairs(
    sides: tuple[Checkout, Checkout], section: str, pairs: int, full: bool, show: Callable[[str], None]
) -> tuple[list[ComparedFigure], list[Skipped]]:
    """Measure a section in two checkouts in turn, every other pair from the other end, after a run that warms up."""
    found: list[list[dict[str, Figure]]] = [[], []]
    skipped: dict[Skipped, None] = {}
    for pair in range(-1, pairs):
        for side in (0, 1) if pair % 2 else (1, 0):
            measured = list(sides[side].measure(section, full))
            skipped |= dict.fromkeys(each for each in measured if isinstance(each, Skipped))
            if pair >= 0:
                found[side].append({each.name: each for each in measured if isinstance(each, Figure)})
        show(f"{section}: {'warm-up' if pair < 0 else f'pair {pair + 1} of {pairs}'}")
    return compared(*found), list(skipped)


def compared(ours: Sequence[dict[str, Figure]], theirs: Sequence[dict[str, Figure]]) -> list[ComparedFigure]:
    """Return the figures that both sides have, in this checkout's order."""
    rows = []
    for name, figure in (ours[0] if ours else {}).items():
        pairs = [(a[name], b[name]) for a, b in zip(ours, theirs, strict=True) if name in a and name in b]
        value = ratio_of([(a.value, b.value) for a, b in pairs])
        if value is not None:
            used = [(a.processor or 0, b.processor or 0) for a, b in pairs]
            middle, other = (statistics.median(each.value for each in side) for side in zip(*pairs, strict=True))
            shown = Figure(name, middle, figure.unit, figure.better)
            rows.append(ComparedFigure(shown, other, value, ratio_of(used)))
    return rows
