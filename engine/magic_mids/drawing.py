"""Magic Mids as SVG: the torus with a faint ring of what lies beyond its edges, the hands and the roll."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.magic_mids import text as notation
from engine.magic_mids.rules import CHANCE, COLUMNS, ROWS, SQUARES, TERMINAL
from engine.svg import (
    BOARD,
    FAINT,
    INK,
    LAST,
    LINE,
    MARK,
    PYRAMID_SIZES,
    SEAT_COLOURS,
    drawing,
    element,
    pyramid,
    seat_row,
    text,
)

if TYPE_CHECKING:
    from engine.state import KernelState

CELL = 64
LEFT, TOP = 72, 76  # the corner of square a2
RING = CELL // 2  # how much of the squares beyond the edges is shown
STANDS = CELL - 6  # how far below the top of its square a pyramid stands
PANEL = LEFT + COLUMNS * CELL + RING + 24
SEAT_HEIGHT = 60
IN_HAND = 0.7  # scale of the pyramids that stand for a hand
WIDTH, HEIGHT = PANEL + 330, TOP + ROWS * CELL + RING + 14


def svg(state: KernelState) -> str:
    """Draw board, hands, roll and status, as a self-contained picture."""
    return drawing(
        WIDTH,
        HEIGHT,
        f"{state.game.spec}: {state.position}",
        *_board(state.record),
        *(part for seat in range(state.game.players) for part in _hand(state, seat)),
        *_dice(state),
        *_status(state),
    )


def _corner(row: int, column: int) -> tuple[int, int]:
    return LEFT + CELL * column, TOP + CELL * row


def _board(record: np.record) -> list[str]:
    cells = notation.board_cells(record)
    square = {"x": LEFT, "y": TOP, "width": CELL * COLUMNS, "height": CELL * ROWS}
    parts = [element("rect", **square, fill=BOARD)]
    for column, header in enumerate(notation.HEADERS):
        parts.append(text(LEFT + CELL * column + CELL / 2, 30, header, 20, text_anchor="middle", font_weight="bold"))
    for row, letter in enumerate(notation.ROW_LETTERS):
        parts.append(text(20, TOP + CELL * row + CELL / 2 + 6, letter, 18, text_anchor="middle"))
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = _corner(row, column)
            parts.append(element("rect", x=x, y=y, width=CELL, height=CELL, fill="none", stroke=LINE))
    parts.append(element("rect", **square, fill="none", stroke=INK, stroke_width=2))
    parts += _last(record)
    for place, cell in enumerate(cells):
        x, y = _corner(*divmod(place, COLUMNS))
        ground = element("rect", x=x, y=y, width=CELL, height=CELL, fill=BOARD, fill_opacity=0)
        parts.append(element("g", ground, *_mid(cell, x, y), data_part=f"cell-{notation.SQUARE_NAMES[place]}"))
    return parts + _ring(cells)


def _mid(cell: str, x: int, y: int) -> list[str]:
    """Draw what stands on a square: nothing, or a pyramid with its seat's number in the corner."""
    if cell == notation.FREE:
        return []
    return [
        pyramid(x + CELL / 2, y + STANDS, notation.SIZE_LETTERS.index(cell[1]), SEAT_COLOURS[int(cell[0])]),
        text(x + 6, y + 16, cell[0], 12, font_weight="bold"),
    ]


def _ring(cells: list[str]) -> list[str]:
    """Draw what lies beyond the edges, faint and half as large: the board wraps around."""
    width, height = CELL * COLUMNS + 2 * RING, CELL * ROWS + 2 * RING
    border = {"fill": "none", "stroke": LINE, "stroke_dasharray": "3 4"}
    parts = [element("rect", x=LEFT - RING, y=TOP - RING, width=width, height=height, **border)]
    for row in range(-1, ROWS + 1):
        for column in range(-1, COLUMNS + 1):
            cell = cells[COLUMNS * (row % ROWS) + column % COLUMNS]
            if cell != notation.FREE and not (0 <= row < ROWS and 0 <= column < COLUMNS):
                x, y = _beyond(LEFT, column, COLUMNS), _beyond(TOP, row, ROWS)
                size, colour = notation.SIZE_LETTERS.index(cell[1]), SEAT_COLOURS[int(cell[0])]
                parts.append(pyramid(x, y + (STANDS - CELL / 2) / 2, size, colour, 0.5, opacity=0.4))
    return parts


def _beyond(start: int, place: int, places: int) -> float:
    """Return the middle of a row or column, of which the ring shows half when it lies beyond the edge."""
    if place < 0:
        return start - RING / 2
    return start + CELL * place + (RING if place == places else CELL) / 2


def _last(record: np.record) -> list[str]:
    """Draw the last placement's square filled, the squares it emptied crossed."""
    placed = notation.last_placement(record)
    if placed is None:
        return []
    x, y = _corner(*divmod(placed[1] % SQUARES, COLUMNS))
    frame = {"fill": LAST, "stroke": MARK, "stroke_width": 3}
    parts = [element("rect", x=x + 2.5, y=y + 2.5, width=CELL - 5, height=CELL - 5, **frame)]
    for action in notation.captures(record):
        x, y = _corner(*divmod(action % SQUARES, COLUMNS))
        cross = f"M{x + 20} {y + 20}l24 24m0 -24l-24 24"
        parts.append(element("path", d=cross, fill="none", stroke=MARK, stroke_width=3, stroke_linecap="round"))
        parts.append(text(x + 50, y + CELL - 8, notation.ACTIONS[action][0], 12, fill=FAINT))
    return parts


def _hand(state: KernelState, seat: int) -> list[str]:
    """Draw a line of the panel: how many of each size a seat has in hand, and its place at the end."""
    top = TOP - RING + SEAT_HEIGHT * seat
    box = (PANEL, top, WIDTH - PANEL - 12, SEAT_HEIGHT - 6)
    rank = state.ranks()[seat] if state.is_terminal() else None
    below = "" if rank is None else f"place {rank + 1}"
    parts = [seat_row(*box, seat, to_move=state.rolling_seat() == seat, bold=rank == 0, below=below)]
    for size, count in enumerate(notation.hand_counts(state.record, seat)):
        x = PANEL + 134 + 66 * size
        mid = pyramid(x, top + 46, size, SEAT_COLOURS[seat], IN_HAND, opacity=1 if count else 0.25)
        number = text(x + IN_HAND * PYRAMID_SIZES[size][0] / 2 + 4, top + 33, f"×{count}")
        parts.append(element("g", mid, number, data_part=f"hand-{seat}-{notation.SIZE_LETTERS[size]}"))
    return parts


def _dice(state: KernelState) -> list[str]:
    """Draw the three faces that the seat must now use, or three empty places."""
    if state.is_terminal():
        return []
    rolled = "" if state.is_chance_node() else notation.OUTCOMES[state.record.roll]
    y = HEIGHT - 104
    parts = []
    style = {"stroke": INK, "stroke_width": 2} if rolled else {"stroke": FAINT, "stroke_dasharray": "3 4"}
    for die in range(3):
        x = PANEL + 8 + 52 * die
        parts.append(element("rect", x=x, y=y, width=42, height=42, rx=7, fill="none", **style))
        face = rolled[die : die + 1].replace("b", "").replace("a", "ace")
        size = 15 if face == "ace" else 22
        parts.append(text(x + 21, y + 21 + size // 3, face, size, text_anchor="middle"))
    return parts


def _status(state: KernelState) -> list[str]:
    turn, who, placed = int(state.record.turn), state.current_player(), notation.last_placement(state.record)
    if who == TERMINAL:
        lines = [f"over after {turn} turns ({state.ended})", f"places {[rank + 1 for rank in state.ranks()]}"]
    elif who == CHANCE:
        lines = [f"turn {turn}", f"seat {state.rolling_seat()} rolls"]
    else:
        lines = [
            f"turn {turn}, roll {notation.OUTCOMES[state.record.roll]}",
            f"seat {who} has {len(state.legal_actions())} placements",
        ]
    parts = [
        text(PANEL + 8, HEIGHT - 38, lines[0], 17, font_weight="bold"),
        text(PANEL + 8, HEIGHT - 16, lines[1], 14),
    ]
    if placed:
        parts.append(
            text(PANEL + 8, HEIGHT - 124, f"last: {notation.ACTIONS[placed[1]]} by seat {placed[0]}", 15, fill=MARK)
        )
    return parts
