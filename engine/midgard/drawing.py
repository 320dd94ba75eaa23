"""Midgard's board as SVG: sea with waves, land with peaks, blizzard with snow, ice; every cell with its name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from engine.midgard import text as notation
from engine.midgard.rules import CELLS, CENTRES, CHANCE, DECLARE, LAND, SEA, TILES, cells_of
from engine.svg import (
    COLD,
    DARK,
    DIM,
    GROUT,
    INK,
    LIGHT,
    MARK,
    NARROW,
    RIM,
    SEAT_COLOURS,
    SEAT_INKS,
    SNOW,
    bar,
    button,
    drawing,
    element,
    fitted,
    polygon,
    text,
    untouched,
    wrapped,
)
from engine.terminal import LAST, SEATS, Token
from engine.words import counted, first_places, unusual

if TYPE_CHECKING:
    from engine.state import KernelState


class Layout(NamedTuple):
    """Where the board lies, and the words around it."""

    half_edge: int
    """Half of a cell's edge."""
    middle: float
    """Where the board's middle is, from left to right."""
    top: float
    letters: float
    """Size of the cells' names."""
    bar: float
    """How long the bar of a side's cells is."""
    side: float
    """How far from the edges both sides' words and bars begin."""
    width: float
    height: float


WIDE = Layout(30, 330, 74, 15, 190, 20, 660, 690)
SLIM = Layout(15, 170, 78, 11, 150, 10, NARROW, 426)
FILLS = {"s": SEAT_COLOURS[SEA], "l": SEAT_COLOURS[LAND], notation.ICE: COLD, notation.BLIZZARD: COLD}
INKS = {"s": SEAT_INKS[SEA], "l": SEAT_INKS[LAND], notation.ICE: DIM, notation.BLIZZARD: DIM}

TOKENS = (Token("~~", SEA, "≈≈"), Token("##", LAND, "▲▲"), Token(r"\*\*"), SEATS, LAST)
"""What has colours in a terminal (`engine.terminal`)."""


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw the board with both hands above it; the last drop is outlined."""
    layout = SLIM if narrow else WIDE
    letters, marked = notation.board_letters(state.record), notation.marked_blizzard(state)
    return drawing(
        layout.width,
        layout.height,
        f"{state.game.spec}: {state.position}",
        _ground(layout),
        element(
            "g",
            *[_cell(layout, cell, letters[cell], cell in marked) for cell in range(CELLS)],
            text_anchor="middle",
            font_size=layout.letters,
            stroke_width=2 if narrow else 2.5,
        ),
        *_last(state, layout),
        *(part for seat in (SEA, LAND) for part in _hand(state, seat, names[seat], layout)),
        *_below(state, names, layout),
    )


def _centre(layout: Layout, cell: int) -> tuple[float, float]:
    x, y = CENTRES[cell]
    return layout.middle + layout.half_edge * x, layout.top + layout.half_edge * y / 3**0.5


def _points_up(cell: int) -> bool:
    return CENTRES[cell][1] % 3 == 2


def _corners(layout: Layout, cell: int) -> list[tuple[float, float]]:
    (x, y), half = _centre(layout, cell), layout.half_edge
    down = half / 3**0.5 if _points_up(cell) else -half / 3**0.5
    return [(x - half, y + down), (x + half, y + down), (x, y - 2 * down)]


@cache
def _ground(layout: Layout) -> str:
    """Return the frame around the board: what all cells cover, with a broad edge."""
    outline = "".join(
        "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in _corners(layout, cell)) + "Z" for cell in range(CELLS)
    )
    edge = layout.half_edge / 3
    return element("path", d=outline, fill=RIM, stroke=RIM, stroke_width=edge)


@cache
def _cell(layout: Layout, cell: int, letter: str, marked: bool) -> str:
    """Draw a cell: ice, or the snow of a marked blizzard, or a tile, which is a piece."""
    (x, y), up, narrow, name = _centre(layout, cell), _points_up(cell), layout is SLIM, notation.CELL_NAMES[cell]
    words = (5.8 if up else 1) if narrow else (12 if up else -4)
    tip = (-6.6 if up else 6.8) if narrow else (-11 if up and marked else -7 if up else 9)
    fill = SNOW if marked else FILLS[letter]
    half, height = layout.half_edge, (-1 if up else 1) * layout.half_edge * 3**0.5
    edge = f"M{x - half:.0f} {y - height / 3:.1f}h{2 * half}l-{half} {height:.1f}Z"
    piece = {"data_piece": f"{notation.SEATS.index(letter)}@{name}"} if letter in notation.SEATS else {}
    return element(
        "g",
        element("path", d=edge, fill=fill, stroke=GROUT),
        _gleam(x, y, half, up) if piece else "",
        element("text", name, x=f"{x:.0f}", y=f"{y + words:.1f}", fill=INKS[letter]),
        _sign(letter, marked, x, y + tip, 0.42 if narrow else 1.0),
        data_part=f"cell-{name}",
        **piece,
    )


def _gleam(x: float, y: float, half: float, up: bool) -> str:
    """Draw the light on a tile's left or upper edge."""
    at, step = (x - 0.8 * half, y + 0.42 * half), f"l{0.7 * half:.1f}-{1.21 * half:.1f}"
    if not up:
        at, step = (x - 0.7 * half, y - 0.42 * half), f"h{1.4 * half:.0f}"
    width = max(1, round(half / 15))
    return f'<path d="M{at[0]:.0f} {at[1]:.1f}{step}" stroke="{LIGHT}" stroke-opacity=".4" stroke-width="{width}"/>'


def _sign(letter: str, marked: bool, x: float, y: float, scale: float) -> str:
    """Draw waves, a peak with snow, or a snowflake; nothing on a cell that carries none."""
    if letter == "s":
        path, style = "M-9-2q4.5-6 9 0t9 0M-5 5q2.5-4 5 0t5 0", {"fill": "none", "stroke": LIGHT, "stroke_width": 2}
    elif letter == "l":
        path, style = "M-10 5 0-9 10 5Z", {"fill": DARK}
    elif marked:
        path, style = "M-7 0h14M-3.5-6l7 12m0-12l-7 12", {"stroke": INK, "stroke_width": 2}
    else:
        return ""
    place = f"translate({x:.0f} {y:.1f})" + (f"scale({scale})" if scale != 1 else "")
    snow = f'<path d="M-3.6-4 0-9 3.6-4 1.4-2.4 0-4.2-1.4-2.4Z" fill="{LIGHT}"/>' if letter == "l" else ""
    return element("g", element("path", d=path, **style), snow, transform=place)


def _last(state: KernelState, layout: Layout) -> list[str]:
    """Draw the last drop's outline, on a pale edge that parts it from tiles of every colour, and its name."""
    dropped = notation.last_drop(state)
    if dropped is None:
        return []
    corners, narrow = _corners(layout, dropped), layout is SLIM
    edge = {"fill": "none"}
    words = f"last: {notation.CELL_NAMES[dropped]}"
    return [
        untouched(
            polygon(*corners, stroke=LIGHT, stroke_width=5 if narrow else 7, **edge),
            polygon(*corners, stroke=MARK, stroke_width=3 if narrow else 4, **edge),
        ),
        text(layout.side, layout.height - (48 if narrow else 58), words, 15, fill=MARK),
    ]


def _hand(state: KernelState, seat: int, name: str, layout: Layout) -> list[str]:
    """Draw a side's cells, as a number and as a bar; a full bar is an empty hand."""
    cells = TILES - int(state.record.hand[seat])
    moves, room = state.current_player() == seat, layout.bar + (0 if layout is SLIM else 60)
    left = layout.side if seat == SEA else layout.width - layout.side - layout.bar
    corner = left if seat == SEA else layout.width - layout.side - room
    words = f"{notation.SEAT_NAMES[seat]}: {counted(cells, 'cell')}{', to move' if moves and layout is WIDE else ''}"
    anchor, at = ("start", corner + 30) if seat == SEA else ("end", layout.width - layout.side - 30)
    style = {"text_anchor": anchor, "font_weight": "bold" if moves else "normal"}
    sign = corner + 12 if seat == SEA else layout.width - layout.side - 12
    tile = polygon((sign - 13, 37), (sign + 13, 37), (sign, 14.5), fill=SEAT_COLOURS[seat], stroke=INK)
    return [
        tile,
        _sign(notation.SEATS[seat], False, sign, 30, 0.6),
        text(at, 21, fitted(name, room - 32, 15), 15, **style),
        text(at, 38, words, 14, **style),
        bar(left, 46, layout.bar, 9, cells / TILES, SEAT_COLOURS[seat]),
    ]


def _status(state: KernelState) -> str:
    """Return whose turn it is and how much ice is left, or what comes before the start."""
    seat = state.current_player()
    if seat == CHANCE:
        return f"before the start, {3 * int(state.record.to_pick)} cells to be seeded"
    names = notation.SEAT_NAMES
    declared = f"{names[1 - seat]} declares that no ice is left; " if state.record.declared else ""
    return f"{declared}{names[seat]} to move, {counted(len(cells_of(state.record.ice)), 'ice cell')} left"


def _below(state: KernelState, names: tuple[str, ...], layout: Layout) -> list[str]:
    """Draw the status, and the button to declare where that is open."""
    declare, parts = DECLARE in state.legal_actions(), []
    if declare:
        top = 64 if layout is SLIM else layout.height - 66  # on a phone beside the board's top: its foot is broad
        parts = [button(layout.width - 104, top, 90, "declare", "declare")]
    room = layout.width - 20
    if state.is_terminal():
        words = fitted(f"over{unusual(state.ended)}, {first_places(state.ranks(), names)}", room, 13)
    else:
        words = _status(state)
    lines = wrapped(words, room, 13) if layout is SLIM else [words]
    size, top = (13, layout.height - 26) if layout is SLIM else (15, layout.height - 14)
    return parts + [
        text(layout.middle, top + 17 * line, each, size, text_anchor="middle") for line, each in enumerate(lines)
    ]
