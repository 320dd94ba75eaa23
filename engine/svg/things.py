"""Dice, stones, and the line of a seat in a panel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engine.svg.colours import DARK, FAINT, INK, LIGHT, LINE, SEAT_COLOURS, SEAT_INKS, TO_MOVE
from engine.svg.elements import BOLD_WIDTH, element, fitted, number, text, width_of

SEAT_NAME = 52  # how far from its left end a seat's row has the name
SPOTS: Sequence[tuple[tuple[int, int], ...]] = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
)
"""Places of the spots of each face, from the middle of a die, in quarters of its side."""


def die(x: float, y: float, side: float, *inside: str, fill: str = LIGHT, rolled: bool = True, **frame: object) -> str:
    """Draw a die with what is on its upper face around (0, 0), its corner at (x, y); dashed until it is rolled."""
    box = {"x": -side / 2, "y": -side / 2, "width": side, "height": side, "rx": round(side / 6, 1)}
    place = f"translate({number(x + side / 2)} {number(y + side / 2)})"
    if not rolled:
        dashed = {"fill": "none", "stroke": FAINT, "stroke_dasharray": "3 4", **frame}
        return element("g", element("rect", **box, **dashed), *inside, transform=place)
    edge = f"M{number(-side / 2 + 2)} {number(side / 2 - 4)}q{number(side / 2 - 2)} 5 {number(side - 4)} 0"
    return element(
        "g",
        element("rect", **box, **{"fill": fill, "stroke": INK, "stroke_width": 1.5, **frame}),
        element("path", d=edge, fill="none", stroke=DARK, stroke_opacity=0.25, stroke_width=3),
        *inside,
        transform=place,
    )


@cache
def spots(face: int, side: float, fill: str = DARK) -> str:
    """Return the spots of a face of a die with six of them, around (0, 0)."""
    dots = (element("circle", cx=side * x / 4, cy=side * y / 4, r=side / 11) for x, y in SPOTS[face])
    return element("g", *dots, fill=fill)


def stone(x: float, y: float, fill: str, scale: float = 1, **style: object) -> str:
    """Draw a flat stone around (x, y)."""
    body = {"cx": x, "cy": y, "rx": 17 * scale, "ry": 12 * scale}
    bend = " ".join(number(scale * length) for length in (6, -6, 14, -3.5))
    gleam = f"M{number(x - 10 * scale)} {number(y - 3 * scale)}q{bend}"
    drawn = element("ellipse", **body, fill=fill, stroke=INK, stroke_width=1.5 * scale) + element(
        "path", d=gleam, fill="none", stroke=LIGHT, stroke_width=2 * scale, stroke_opacity=".6"
    )
    return element("g", drawn, **style) if style else drawn


def swatch(x: float, y: float, seat: int, side: float = 18) -> str:
    """Draw a seat's colour with its number, the corner at (x, y)."""
    box = {"x": x, "y": y, "width": side, "height": side, "rx": 4}
    style = {"text_anchor": "middle", "font_weight": "bold", "fill": SEAT_INKS[seat]}
    return element("rect", **box, fill=SEAT_COLOURS[seat], stroke=INK) + text(
        x + side / 2, y + side / 2 + 4.5, str(seat), 12, **style
    )


def seat_row(
    left: float,
    top: float,
    width: float,
    height: float,
    seat: int,
    *,
    to_move: bool,
    bold: bool = False,
    below: str = "",
    fill: str = INK,
    name: str = "",
    room: float = 0,
) -> str:
    """Draw a seat's line in a panel: its colour and number, its name above some words, a frame when it is to move.

    `room` is how wide name and words may be; where that is not given, as wide as the line.
    """
    middle, room = top + height / 2, room or max(width - SEAT_NAME - 6, 80)
    frame = element("rect", x=left, y=top, width=width, height=height, rx=8, fill=TO_MOVE, stroke=INK)
    arrow = element("path", d=f"M{number(left + 8)} {number(middle - 7)}l12 7l-12 7z", fill=INK)
    bold = bold or to_move
    style = {"fill": fill, **({"font_weight": "bold"} if bold else {})}
    name = fitted(name or f"seat {seat}", room, 15, bold)
    parts = [frame, arrow] if to_move else []
    parts += [
        swatch(left + 26, middle - 9, seat),
        text(left + SEAT_NAME, middle + (-2 if below else 5), name, 15, **style),
    ]
    if below:
        parts.append(text(left + SEAT_NAME, middle + 15, fitted(below, room, 13), 13, **style))
    return "".join(parts)


def headline(x: float, y: float, words: str, room: float) -> str:
    """Draw bold words, in smaller letters where they take more room, and cut where that is not enough."""
    size = 17 if BOLD_WIDTH * width_of(words, 17) <= room else 14
    return text(x, y, fitted(words, room, size, bold=True), size, font_weight="bold")


def bar(x: float, y: float, width: float, height: float, share: float, fill: str) -> str:
    """Draw a bar of which a share is filled."""
    box = {"x": x, "y": y, "height": height, "rx": 3}
    filled = element("rect", **box, width=width * share, fill=fill) if share else ""
    return filled + element("rect", **box, width=width, fill="none", stroke=LINE)
