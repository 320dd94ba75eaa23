"""Connect four as SVG: the board, the last drop ringed, lines of four dotted, the seats beside or below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from connect_four.rules import COLUMNS, ROWS, STEPS
from connect_four.text import ACTIONS, bit, last_drop, status
from engine.svg import (
    BOARD,
    DARK,
    FAINT,
    INK,
    LIGHT,
    LINE,
    MARK,
    NARROW,
    PAPER,
    RIM,
    SEAT_COLOURS,
    drawing,
    element,
    part,
    seat_row,
    text,
)
from engine.terminal import LAST, SEATS, Token

if TYPE_CHECKING:
    from engine.state import KernelState

STONE = r"(?<=[ \[]){}(?![^\s\]])"
TOKENS = (Token(STONE.format("x"), 0, "●"), Token(STONE.format("o"), 1, "●"), SEATS, LAST)
"""What has colours in a terminal (`engine.terminal`)."""


class Layout(NamedTuple):
    """Where the board lies, how large its cells are, and where the seats' rows begin."""

    left: int
    cell: int
    panel: int
    seats: int
    width: int
    height: int


TOP, SEAT_HEIGHT = 20, 56
WIDE = Layout(20, 52, 412, 36, 690, 408)
SLIM = Layout(9, 46, 8, 330, NARROW, 480)


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw board, last drop, lines, seats and status, as a self-contained picture."""
    layout = SLIM if narrow else WIDE
    board = {"width": layout.cell * COLUMNS, "height": layout.cell * ROWS, "rx": 10}
    below = TOP + layout.cell * ROWS + 22
    return drawing(
        layout.width,
        layout.height,
        f"{state.game.spec}: {state.position}",
        element("rect", x=layout.left, y=TOP, **board, fill=BOARD, stroke=RIM, stroke_width=3),
        *(_column(state, column, layout) for column in range(COLUMNS)),
        *(
            text(centre(column, 0, layout)[0], below, letter, 16, fill=FAINT, text_anchor="middle")
            for column, letter in enumerate(ACTIONS)
        ),
        *(_seat(state, seat, names[seat], layout) for seat in range(state.game.players)),
        text(layout.left, layout.height - 16, status(state), 15),
    )


def centre(column: int, row: int, layout: Layout) -> tuple[float, float]:
    """Return the middle of a cell."""
    return layout.left + layout.cell * (column + 0.5), TOP + layout.cell * (ROWS - row - 0.5)


def in_lines(stones: int) -> int:
    """Return the set of the stones that are part of a line of four."""
    cells = 0
    for step in STEPS:
        starts = stones & stones >> step & stones >> 2 * step & stones >> 3 * step
        cells |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return cells


def _column(state: KernelState, column: int, layout: Layout) -> str:
    cells = (_cell(state, column, row, layout) for row in range(ROWS))
    box = (layout.left + layout.cell * column, TOP, layout.cell, layout.cell * ROWS)
    return part(f"column-{ACTIONS[column]}", *box, *cells)


def _cell(state: KernelState, column: int, row: int, layout: Layout) -> str:
    x, y = centre(column, row, layout)
    place = {"cx": x, "cy": y, "r": 0.4 * layout.cell}
    for seat, stones in enumerate(map(int, state.record.stones)):
        if stones & bit(column, row):
            last = last_drop(state) == (column, row)
            ring = {"stroke": MARK, "stroke_width": 5} if last else {"stroke": INK, "stroke_width": 1.5}
            piece = {"data_piece": f"{seat}@{ACTIONS[column]}{row}"}
            stone = element("circle", **place, fill=SEAT_COLOURS[seat], **ring, **piece)
            dotted = in_lines(stones) & bit(column, row)
            return stone + (element("circle", cx=x, cy=y, r=6, fill=LIGHT, stroke=DARK) if dotted else "")
    return element("circle", **place, fill=PAPER, stroke=LINE)


def _seat(state: KernelState, seat: int, name: str, layout: Layout) -> str:
    width = layout.width - layout.panel - (8 if layout is SLIM else 20)
    box = (layout.panel, layout.seats + SEAT_HEIGHT * seat, width, SEAT_HEIGHT - 4)
    place = f"place {state.ranks()[seat] + 1}" if state.is_terminal() else ""
    return seat_row(*box, seat, to_move=state.current_player() == seat, bold=place == "place 1", below=place, name=name)
