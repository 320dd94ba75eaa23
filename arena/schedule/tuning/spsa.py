"""Simultaneous perturbation stochastic approximation: one pair of matches an iteration, however many parameters.

Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization" (1998): from a point x,
x + c_k d and x - c_k d meet, d drawn from {-1, 1}^p, and x moves by a_k times their difference over their distance.
a_k = a / (A + k + 1)^0.602 and c_k = c / (k + 1)^0.101. What is recommended at the end is the mean of the last points,
which varies less than the last one does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Annotated

from pydantic import Field

from arena.core.models import Model
from arena.schedule.tuning.space import DIGITS, TunedParameter, point_of, values_at

STEP_EXPONENT, REACH_EXPONENT = Decimal("0.602"), Decimal("0.101")
PERSON = b"arena spsa v1"
Point = tuple[float, ...]


class Gains(Model):
    """The sizes of steps, in the unit cube."""

    step: Annotated[float, Field(gt=0, le=100)]
    """a: how far a step goes."""
    reach: Annotated[float, Field(gt=0, le=0.5)]
    """c: how far from the present point is measured."""
    delay: Annotated[int, Field(ge=0, le=10_000_000)]
    """A: iterations by which steps begin smaller."""

    def step_at(self, iteration: int) -> float:
        """Return a_k, of an iteration from 0."""
        with localcontext(Context(prec=DIGITS)):
            return float(Decimal(str(self.step)) / Decimal(self.delay + iteration + 1) ** STEP_EXPONENT)

    def reach_at(self, iteration: int) -> float:
        """Return c_k, of an iteration from 0."""
        with localcontext(Context(prec=DIGITS)):
            return float(Decimal(str(self.reach)) / Decimal(iteration + 1) ** REACH_EXPONENT)


def directions(seed: int, iteration: int, count: int) -> list[int]:
    """Return 1 or -1 for each parameter, drawn for one iteration."""
    found: list[int] = []
    for part in range((count + 511) // 512):
        drawn = hashlib.blake2b(f"{seed} {iteration} {part}".encode(), person=PERSON).digest()
        found += [1 if byte >> bit & 1 else -1 for byte in drawn for bit in range(8)]
    return found[:count]


def candidates(
    parameters: Sequence[TunedParameter], point: Point, gains: Gains, seed: int, iteration: int
) -> tuple[tuple[int | float, ...], tuple[int | float, ...]]:
    """Return the values of `plus` and `minus`: whole numbers differ by one at least, and none leaves its range."""
    reach = gains.reach_at(iteration)
    ends: tuple[list[float], list[float]] = [], []
    for parameter, place, sign in zip(parameters, point, directions(seed, iteration, len(parameters)), strict=True):
        far = min(max(reach, parameter.half_step(place)), 0.5)
        middle = min(max(place, far), 1.0 - far)
        ends[0].append(min(max(middle + sign * far, 0.0), 1.0))
        ends[1].append(min(max(middle - sign * far, 0.0), 1.0))
    return values_at(parameters, ends[0]), values_at(parameters, ends[1])


def moved(
    parameters: Sequence[TunedParameter], point: Point, gains: Gains, seed: int, iteration: int, difference: float
) -> Point:
    """Return the point after an iteration, given how much better `plus` did than `minus`."""
    plus, minus = (point_of(parameters, each) for each in candidates(parameters, point, gains, seed, iteration))
    step = gains.step_at(iteration)
    return tuple(
        place if one == other else min(max(place + step * difference / (one - other), 0.0), 1.0)
        for place, one, other in zip(point, plus, minus, strict=True)
    )


def recommended(points: Sequence[Point]) -> Point:
    """Return the mean of the last half of the points that were reached."""
    last = points[len(points) // 2 :]
    return tuple(sum(places) / len(last) for places in zip(*last, strict=True))
