"""Magic Mids as SVG: the torus with a faint ring of what lies beyond its edges, the hands and the roll."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from engine.magic_mids.rules import CHANCE, COLUMNS, ROWS, SQUARES, TERMINAL
from engine.magic_mids.text import (
    ACTIONS,
    FREE,
    HEADERS,
    OUTCOMES,
    ROW_LETTERS,
    SIZE_LETTERS,
    board_cells,
    captures,
    hand_counts,
    last_placement,
)

if TYPE_CHECKING:
    from engine.state import KernelState

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito: apart for every eye
INK, PALE, BOARD_FILL, LAST_FILL = "#222222", "#8a8a8a", "#f6f3ec", "#fbe9a9"
CELL = 64
LEFT, TOP = 72, 76  # the corner of square a2
RING = CELL // 2  # how much of the squares beyond the edges is shown
PANEL = LEFT + COLUMNS * CELL + RING + 32
SEAT_HEIGHT = 60
WIDTH, HEIGHT = PANEL + 262, TOP + ROWS * CELL + RING + 14
HALF_WIDTHS, HEIGHTS = (10, 14, 18), (26, 37, 48)  # of a small, medium and large pyramid


def svg(state: KernelState) -> str:
    """A picture that needs nothing else: board, hands, roll, status."""
    record = state.record
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(f'{state.game.spec}: {state.position}')}</title>",
        _rectangle(0, 0, WIDTH, HEIGHT, fill="#ffffff"),
        *_board(record),
        *(part for seat in range(record.players) for part in _hand(record, seat, seat == state.rolling_seat())),
        *_dice(state),
        *_status(state),
        "</svg>",
    ]
    return "\n".join(parts)


def _rectangle(x: int, y: int, width: int, height: int, **style: object) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {_attributes(style)}/>'


def _text(x: int, y: int, text: str, size: int = 14, **style: object) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" {_attributes({"fill": INK, **style})}>{escape(text)}</text>'


def _attributes(style: dict[str, object]) -> str:
    return " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in style.items())


def _pyramid(x: int, base: int, seat: int, size: int) -> str:
    """A pyramid seen from the side, standing on `base`, its pips in a row above."""
    half, height = HALF_WIDTHS[size], HEIGHTS[size]
    pips = "".join(
        f'<circle cx="{x + 8 * i - 4 * size}" cy="{base - 6}" r="2.6" fill="#ffffff"/>' for i in range(size + 1)
    )
    return f'<path d="M{x - half} {base}L{x} {base - height}L{x + half} {base}Z" fill="{COLOURS[seat]}"/>{pips}'


def _corner(row: int, column: int) -> tuple[int, int]:
    return LEFT + CELL * column, TOP + CELL * row


def _board(record: np.record) -> list[str]:
    cells = board_cells(record)
    parts = [_rectangle(LEFT, TOP, CELL * COLUMNS, CELL * ROWS, fill=BOARD_FILL)]
    for column, header in enumerate(HEADERS):
        parts.append(_text(LEFT + CELL * column + CELL // 2, 30, header, 20, text_anchor="middle", font_weight="bold"))
    for row, letter in enumerate(ROW_LETTERS):
        parts.append(_text(20, TOP + CELL * row + CELL // 2 + 6, letter, 18, text_anchor="middle"))
    parts += _last(record)
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = _corner(row, column)
            parts.append(_rectangle(x, y, CELL, CELL, fill="none", stroke="#b9b2a3"))
            parts += _mid(cells[COLUMNS * row + column], x, y)
    parts.append(_rectangle(LEFT, TOP, CELL * COLUMNS, CELL * ROWS, fill="none", stroke=INK, stroke_width=2))
    return parts + _ring(cells)


def _mid(cell: str, x: int, y: int) -> list[str]:
    """What stands on a square: nothing, or a pyramid with its seat's number in the corner."""
    if cell == FREE:
        return []
    seat = int(cell[0])
    pyramid = _pyramid(x + CELL // 2, y + CELL - 8, seat, SIZE_LETTERS.index(cell[1]))
    return [pyramid, _text(x + 5, y + 15, cell[0], 12, fill=COLOURS[seat], font_weight="bold")]


def _ring(cells: list[str]) -> list[str]:
    """What lies beyond the edges, faint and half as large: the board wraps around."""
    width, height = CELL * COLUMNS + 2 * RING, CELL * ROWS + 2 * RING
    parts = [_rectangle(LEFT - RING, TOP - RING, width, height, fill="none", stroke="#cfc9bd", stroke_dasharray="3 4")]
    for row in range(-1, ROWS + 1):
        for column in range(-1, COLUMNS + 1):
            cell = cells[COLUMNS * (row % ROWS) + column % COLUMNS]
            if cell != FREE and not (0 <= row < ROWS and 0 <= column < COLUMNS):
                x, y = _beyond(LEFT, column, COLUMNS), _beyond(TOP, row, ROWS)
                pyramid = _pyramid(0, CELL // 2 - 8, int(cell[0]), SIZE_LETTERS.index(cell[1]))
                parts.append(f'<g transform="translate({x} {y}) scale(0.5)" opacity="0.4">{pyramid}</g>')
    return parts


def _beyond(start: int, place: int, places: int) -> int:
    """The middle of a row or column, of which the ring shows half when it lies beyond the edge."""
    if place < 0:
        return start - RING // 2
    return start + CELL * place + (RING // 2 if place == places else CELL // 2)


def _last(record: np.record) -> list[str]:
    """The last placement's square filled, the squares it emptied crossed."""
    placed = last_placement(record)
    if placed is None:
        return []
    x, y = _corner(*divmod(placed[1] % SQUARES, COLUMNS))
    parts = [_rectangle(x + 2, y + 2, CELL - 4, CELL - 4, fill=LAST_FILL, stroke="#c79a00", stroke_width=3)]
    for action in captures(record):
        x, y = _corner(*divmod(action % SQUARES, COLUMNS))
        cross = f"M{x + 20} {y + 20}l24 24m0 -24l-24 24"
        parts.append(f'<path d="{cross}" stroke="#b5aa92" stroke-width="4" stroke-linecap="round"/>')
        parts.append(_text(x + 46, y + CELL - 6, ACTIONS[action][0], 12, fill=PALE))
    return parts


def _hand(record: np.record, seat: int, to_move: bool) -> list[str]:
    y = TOP - RING + SEAT_HEIGHT * seat
    parts = []
    if to_move:
        parts.append(_rectangle(PANEL - 8, y, WIDTH - PANEL - 4, SEAT_HEIGHT - 6, fill="#eeeeee", rx=6))
    parts.append(_text(PANEL, y + 33, f"seat {seat}", 14, fill=COLOURS[seat], font_weight="bold"))
    for size, count in enumerate(hand_counts(record, seat)):
        x = PANEL + 76 + 62 * size
        pyramid = _pyramid(0, 0, seat, size)
        parts.append(
            f'<g transform="translate({x} {y + 46}) scale(0.8)" opacity="{1 if count else 0.25}">{pyramid}</g>'
        )
        parts.append(_text(x + HALF_WIDTHS[size] + 2, y + 33, f"×{count}"))
    return parts


def _dice(state: KernelState) -> list[str]:
    """The three faces that the seat must now use, or three empty places."""
    if state.is_terminal():
        return []
    rolled = "" if state.is_chance_node() else OUTCOMES[state.record.roll]
    y = HEIGHT - 104
    parts = []
    style = {"stroke": INK, "stroke_width": 2} if rolled else {"stroke": PALE, "stroke_dasharray": "3 4"}
    for die in range(3):
        x = PANEL + 52 * die
        parts.append(_rectangle(x, y, 42, 42, rx=7, fill="none", **style))
        face = rolled[die : die + 1].replace("b", "").replace("a", "ace")
        size = 15 if face == "ace" else 22
        parts.append(_text(x + 21, y + 21 + size // 3, face, size, text_anchor="middle"))
    return parts


def _status(state: KernelState) -> list[str]:
    turn, who = state.record.turn, state.current_player()
    if who == TERMINAL:
        lines = [f"over after {turn} turns ({state.ended})", f"ranks {state.ranks()}"]
    elif who == CHANCE:
        lines = [f"turn {turn}", f"seat {state.rolling_seat()} rolls"]
    else:
        lines = [
            f"turn {turn}, roll {OUTCOMES[state.record.roll]}",
            f"seat {who} has {len(state.legal_actions())} placements",
        ]
    return [_text(PANEL, HEIGHT - 38 + 20 * i, line) for i, line in enumerate(lines)]
