"""Parameters that are tuned: ranges, scales, and the grid that their values lie on.

A method searches the unit cube. A place there stands for a value: in decimal arithmetic, so that no bit of it depends
on a machine's library of functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from arena.core.models import Model

Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
DIGITS = 28
"""Of decimal arithmetic."""
GRID_DIGITS = 4
"""Significant digits of a real value: of its range on a linear scale, else of itself."""
HALF, MORE_THAN_HALF = Decimal("0.5"), Decimal("0.500001")
Values = tuple[int | float, ...]
"""One for each parameter."""


def number_of(params: Mapping[str, object], name: str) -> int | float:
    """Return the value of a bot's parameter that is a number; raises `ValueError` for any other."""
    value = params.get(name)
    if not isinstance(value, int | float):
        raise ValueError(f"{name} = {value!r}: is no number")
    return value


class TunedParameter(Model):
    """A parameter of a bot, and where it is searched."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    low: Number
    high: Number
    whole: bool
    """Whether values are whole numbers."""
    scale: Literal["linear", "log"] = "linear"
    default: Number
    """The bot's own default, which its spec leaves out."""

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"{self.name}={self.low}:{self.high}: the first end must be below the second")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"{self.name}={self.low}:{self.high}:log: both ends must be above 0")
        if self.whole and not (isinstance(self.low, int) and isinstance(self.high, int)):
            raise ValueError(f"{self.name}={self.low}:{self.high}: both ends must be whole numbers")
        return self

    def value(self, place: float) -> int | float:
        """Return the value on the grid at a place from 0 to 1."""
        with localcontext(Context(prec=DIGITS)):
            exact = self._exact(Decimal(place))
            if self.whole:
                return int((exact + HALF).to_integral_value(ROUND_FLOOR))
            span = exact if self.scale == "log" else self._ends[1] - self._ends[0]
            step = Decimal(1).scaleb(span.adjusted() - GRID_DIGITS + 1)
            return float(min(max(exact.quantize(step, ROUND_HALF_UP), self._ends[0]), self._ends[1]))

    def place(self, value: float) -> float:
        """Return the place of a value."""
        with localcontext(Context(prec=DIGITS)):
            return float(self._place(Decimal(str(value))))

    def half_step(self, place: float) -> float:
        """Return the distance of places by which whole numbers differ on its two sides; 0 for real ones."""
        if not self.whole:
            return 0.0
        with localcontext(Context(prec=DIGITS)):
            exact = self._exact(Decimal(place))
            here = self._place(exact)
            return float(max(self._place(exact + MORE_THAN_HALF) - here, here - self._place(exact - MORE_THAN_HALF)))

    @property
    def _ends(self) -> tuple[Decimal, Decimal]:
        return Decimal(str(self.low)), Decimal(str(self.high))

    def _exact(self, place: Decimal) -> Decimal:
        low, high = self._ends
        if self.scale == "log":
            return (low.ln() + place * (high / low).ln()).exp()
        return low + place * (high - low)

    def _place(self, value: Decimal) -> Decimal:
        low, high = self._ends
        return (value / low).ln() / (high / low).ln() if self.scale == "log" else (value - low) / (high - low)


def values_at(parameters: Sequence[TunedParameter], places: Sequence[float]) -> tuple[int | float, ...]:
    """Return the values of all parameters at a point of the unit cube."""
    return tuple(parameter.value(place) for parameter, place in zip(parameters, places, strict=True))


def point_of(parameters: Sequence[TunedParameter], values: Sequence[float]) -> tuple[float, ...]:
    """Return the point of the unit cube at which parameters have values."""
    return tuple(parameter.place(value) for parameter, value in zip(parameters, values, strict=True))
