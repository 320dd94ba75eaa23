"""Midgard's board as SVG: sea blue with a wave, land orange with a peak, every cell with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.midgard import text as notation
from engine.midgard.rules import CELLS, CENTRES, DECLARE, LAND, SEA, TILES
from engine.svg import COLD, DARK, DIM, INK, LIGHT, MARK, PAPER, SEAT_COLOURS, button, drawing, element, polygon, text

if TYPE_CHECKING:
    from engine.state import KernelState

HALF_EDGE, THIRD = 30, 17.32  # half an edge, and a third of a row's height
LEFT, TOP = 330, 70
BAR = 180
WIDTH, HEIGHT = 2 * LEFT, 690
FILLS = {"s": SEAT_COLOURS[SEA], "l": SEAT_COLOURS[LAND], notation.ICE: COLD, notation.BLIZZARD: COLD}
INKS = {"s": LIGHT, "l": DARK, notation.ICE: DIM, notation.BLIZZARD: DIM}


def svg(state: KernelState) -> str:
    """Draw the board with both hands above it; the last drop is outlined."""
    letters = notation.board_letters(state.record)
    marked = notation.marked_blizzard(state)
    return drawing(
        WIDTH,
        HEIGHT,
        f"{state.game.spec}: {state.position}",
        *(_cell(cell, letters[cell], cell in marked) for cell in range(CELLS)),
        *_last(state),
        *(part for seat in (SEA, LAND) for part in _hand(state, seat)),
        *([button(WIDTH - 110, HEIGHT - 46, 90, "declare", "declare")] if DECLARE in state.legal_actions() else []),
        text(LEFT, HEIGHT - 14, notation.status(state), 15, text_anchor="middle"),
    )


def _centre(cell: int) -> tuple[float, float]:
    x, y = CENTRES[cell]
    return LEFT + HALF_EDGE * x, TOP + THIRD * y


def _points_up(cell: int) -> bool:
    return CENTRES[cell][1] % 3 == 2


def _corners(cell: int) -> list[tuple[float, float]]:
    x, y = _centre(cell)
    down = THIRD if _points_up(cell) else -THIRD
    return [(x - HALF_EDGE, y + down), (x + HALF_EDGE, y + down), (x, y - 2 * down)]


def _cell(cell: int, letter: str, marked: bool) -> str:
    x, y = _centre(cell)
    ink, up = INKS[letter], _points_up(cell)
    sign = _sign(letter, marked, x, y - 6 if up else y + 9)
    return element(
        "g",
        polygon(*_corners(cell), fill=FILLS[letter], stroke=PAPER, stroke_width=2),
        text(x, y + (12 if up else -4), notation.CELL_NAMES[cell], 11, fill=ink, text_anchor="middle"),
        element("path", d=sign, fill="none", stroke=INK if marked else ink, stroke_width=2) if sign else "",
        data_part=f"cell-{notation.CELL_NAMES[cell]}",
    )


def _sign(letter: str, marked: bool, x: float, y: float) -> str:
    """Return the path of a wave, a peak or a snowflake; none for a cell that carries none."""
    if letter == "s":
        return f"M{x - 9:.1f} {y:.1f}q4.5 -7 9 0t9 0"
    if letter == "l":
        return f"M{x - 8:.1f} {y + 3:.1f}l8 -9l8 9"
    return f"M{x - 6:.1f} {y:.1f}h12m-9 -5.2l6 10.4m0 -10.4l-6 10.4" if marked else ""


def _last(state: KernelState) -> list[str]:
    """Draw the last drop's outline, on a pale edge that parts it from tiles of every colour, and its name."""
    dropped = notation.last_drop(state)
    if dropped is None:
        return []
    edge = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _corners(dropped)) + "Z"
    return [
        element("path", d=edge, fill="none", stroke=PAPER, stroke_width=7, stroke_linejoin="round"),
        polygon(*_corners(dropped), fill="none", stroke=MARK, stroke_width=4, stroke_linejoin="round"),
        text(20, HEIGHT - 58, f"last: {notation.CELL_NAMES[dropped]}", 15, fill=MARK),
    ]


def _hand(state: KernelState, seat: int) -> list[str]:
    """Draw a side's cells, as a number and as a bar that grows inward; a full bar is an empty hand."""
    cells = TILES - int(state.record.hand[seat])
    edge, anchor = ((20, "start"), (WIDTH - 20, "end"))[seat]
    filled = BAR * cells / TILES
    moves = state.current_player() == seat
    words = f"seat {seat}, {notation.SEAT_NAMES[seat]}: {cells} cells{', to move' if moves else ''}"
    bar = {"y": 44, "height": 12}
    return [
        text(edge, 34, words, 17, text_anchor=anchor, font_weight="bold" if moves else "normal"),
        element("rect", x=edge - filled * seat, width=filled, **bar, fill=FILLS[notation.SEATS[seat]]),
        element("rect", x=edge - BAR * seat, width=BAR, **bar, fill="none", stroke=DIM),
    ]
