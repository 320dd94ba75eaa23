"""Connect four as SVG: the board, the last drop ringed, lines of four dotted, the seats beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connect_four.rules import COLUMNS, ROWS, STEPS
from connect_four.text import ACTIONS, bit, last_drop, status
from engine.svg import BOARD, DARK, FAINT, INK, LIGHT, LINE, MARK, PAPER, SEAT_COLOURS, drawing, element, seat_row, text

if TYPE_CHECKING:
    from engine.state import KernelState

LEFT, TOP, CELL, STONE = 20, 20, 52, 21  # the board's corner, the side of a cell, the radius of a stone
PANEL, SEATS, SEAT_HEIGHT = 412, 36, 56
WIDTH, HEIGHT = 690, 408


def svg(state: KernelState) -> str:
    """Draw board, last drop, lines, seats and status, as a self-contained picture."""
    return drawing(
        WIDTH,
        HEIGHT,
        f"{state.game.spec}: {state.position}",
        element("rect", x=LEFT, y=TOP, width=CELL * COLUMNS, height=CELL * ROWS, rx=10, fill=BOARD, stroke=INK),
        *(_column(state, column) for column in range(COLUMNS)),
        *(
            text(centre(column, 0)[0], 354, letter, 16, fill=FAINT, text_anchor="middle")
            for column, letter in enumerate(ACTIONS)
        ),
        *(_seat(state, seat) for seat in range(state.game.players)),
        text(LEFT, HEIGHT - 16, status(state), 15),
    )


def centre(column: int, row: int) -> tuple[float, float]:
    """Return the middle of a cell."""
    return LEFT + CELL * (column + 0.5), TOP + CELL * (ROWS - row - 0.5)


def in_lines(stones: int) -> int:
    """Return the set of the stones that are part of a line of four."""
    cells = 0
    for step in STEPS:
        starts = stones & stones >> step & stones >> 2 * step & stones >> 3 * step
        cells |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return cells


def _column(state: KernelState, column: int) -> str:
    ground = element("rect", x=LEFT + CELL * column, y=TOP, width=CELL, height=CELL * ROWS, fill=BOARD, fill_opacity=0)
    cells = (_cell(state, column, row) for row in range(ROWS))
    return element("g", ground, *cells, data_part=f"column-{ACTIONS[column]}")


def _cell(state: KernelState, column: int, row: int) -> str:
    x, y = centre(column, row)
    for seat, stones in enumerate(map(int, state.record.stones)):
        if stones & bit(column, row):
            last = last_drop(state) == (column, row)
            ring = {"stroke": MARK, "stroke_width": 5} if last else {"stroke": INK, "stroke_width": 1.5}
            stone = element("circle", cx=x, cy=y, r=STONE, fill=SEAT_COLOURS[seat], **ring)
            dotted = in_lines(stones) & bit(column, row)
            return stone + (element("circle", cx=x, cy=y, r=6, fill=LIGHT, stroke=DARK) if dotted else "")
    return element("circle", cx=x, cy=y, r=STONE, fill=PAPER, stroke=LINE)


def _seat(state: KernelState, seat: int) -> str:
    box = (PANEL, SEATS + SEAT_HEIGHT * seat, WIDTH - PANEL - 20, SEAT_HEIGHT - 4)
    place = f"place {state.ranks()[seat] + 1}" if state.is_terminal() else ""
    return seat_row(*box, seat, to_move=state.current_player() == seat, bold=place == "place 1", below=place)
