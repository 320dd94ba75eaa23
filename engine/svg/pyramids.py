"""Pyramids in flat perspective: a lit face with pips and a shaded one, upright, lying, or stacked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from engine.svg.colours import DARK, INK, LIGHT
from engine.svg.elements import element, number

PYRAMID_SIZES = ((26, 33), (34, 44), (42, 55))  # width and height of a small, a medium and a large pyramid
CORNER = 0.22  # how far right of its middle a pyramid turns its front corner, in widths
RISE_LEFT, RISE_RIGHT = 0.12, 0.2  # how far the other corners of its base lie above that one, in widths
PIP = 3  # radius
STEP = 7  # from a pyramid to one that is stacked on it
FILL_OPACITY = ".88"  # of a pyramid's body: what lies under it is seen
SHADE_OPACITY = ".34"  # of the dark on its shaded face

Point = tuple[float, float]


def pyramid(x: float, base: float, size: int, fill: str, scale: float = 1, **style: object) -> str:
    """Draw an upright pyramid, standing on `base` with its middle at `x`; size 0 to 2 has 1 to 3 pips."""
    return _placed(x, base, _upright(size, fill) + _pips(size), scale, style)


def mini(x: float, base: float, size: int, fill: str) -> str:
    """Draw an upright pyramid about half as large, without pips: for lists of what is left; it inherits its stroke."""
    left, corner, right, top = ((x + 0.48 * across, base + 0.48 * down) for across, down in _corners(size))
    outline, shaded = _path((left, corner, right, top)), _path((top, corner, right))
    return f'<path d="{outline}" fill="{fill}"/><path d="{shaded}" fill="{DARK}" fill-opacity="{SHADE_OPACITY}"/>'


def lying(x: float, y: float, size: int, fill: str, scale: float = 1, angle: float = 0, **style: object) -> str:
    """Draw a pyramid that lies around (x, y) and points to the right, or turned clockwise from there by degrees."""
    return _placed(x, y, _lying(size, fill), scale, style, f"rotate({number(angle)})" if angle else "")


def stack(
    x: float, base: float, size: int, fill: str, scale: float = 1, pieces: Iterable[str] = (), **style: object
) -> str:
    """Draw pyramids of one size on top of each other, the lowest first; of each below there is its edge."""
    *below, top = pieces
    shape = _upright(size, fill)
    lower = (
        _placed(x, base - STEP * scale * level, shape, scale, {"data_piece": name, **style})
        for level, name in enumerate(below)
    )
    return "".join(lower) + pyramid(x, base - STEP * scale * len(below), size, fill, scale, data_piece=top, **style)


def _placed(x: float, y: float, inside: str, scale: float, style: dict[str, object], turned: str = "") -> str:
    """Return a shape at a place. The outer group is for pages that move a piece: it has no `transform` of its own."""
    scaled = "" if scale == 1 else f"scale({number(float(scale))})"
    place = f"translate({number(round(x, 1))} {number(round(y, 1))}){turned}{scaled}"
    placed = f'<g transform="{place}" stroke="{INK}" stroke-width="1.5">{inside}</g>'
    return element("g", placed, **style) if style else placed


@cache
def _upright(size: int, fill: str) -> str:
    """Return an upright pyramid without pips, around (0, 0) on its base."""
    left, corner, right, top = _corners(size)
    return _solid((left, corner, right, top), (top, corner, right), (top, left, _between(left, corner, 0.2)), fill)


@cache
def _lying(size: int, fill: str) -> str:
    """Return a pyramid on its side, around (0, 0), that points to the right."""
    width, height = PYRAMID_SIZES[size]
    tip, upper, lower = (
        (height / 2, 0.12 * width),
        (-height / 2, -0.34 * width),
        (-height / 2 + 0.16 * width, width / 2),
    )
    ridge = (-height / 2 + 0.34 * width, -0.02 * width)
    return _solid((upper, tip, lower), (ridge, tip, lower), (upper, tip, ridge), fill)


def _corners(size: int) -> tuple[Point, Point, Point, Point]:
    """Return the left, the front and the right corner of an upright pyramid's base, and its tip."""
    width, height = PYRAMID_SIZES[size]
    return (-width / 2, -RISE_LEFT * width), (CORNER * width, 0), (width / 2, -RISE_RIGHT * width), (0, -height)


def _solid(outline: tuple[Point, ...], shaded: tuple[Point, ...], lit: tuple[Point, ...], fill: str) -> str:
    """Return a translucent body, its lit edge and its shaded face."""
    return (
        f'<path d="{_path(outline)}" fill="{fill}" fill-opacity="{FILL_OPACITY}"/>'
        f'<path d="{_path(lit)}" fill="{LIGHT}" fill-opacity=".3" stroke="none"/>'
        f'<path d="{_path(shaded)}" fill="{DARK}" fill-opacity="{SHADE_OPACITY}"/>'
    )


@cache
def _pips(size: int) -> str:
    """Return the pips on the lit face of an upright pyramid, along its base."""
    left, corner, _, top = _corners(size)
    places = (_between(_between(left, corner, 0.5 + 0.31 * (pip - size / 2)), top, 0.16) for pip in range(size + 1))
    dots = "".join(f'<circle cx="{round(x, 1):g}" cy="{round(y, 1):g}" r="{PIP}"/>' for x, y in places)
    return f'<g fill="{LIGHT}" stroke="{DARK}" stroke-width=".8">{dots}</g>'


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _path(points: tuple[Point, ...]) -> str:
    """Return a closed outline through points, in whole units and as short as SVG allows."""
    return "M" + " ".join(f"{x:.0f} {y:.0f}" for x, y in points).replace(" -", "-").replace("-0", "0") + "Z"
