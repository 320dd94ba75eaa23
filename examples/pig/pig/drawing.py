"""Pig as SVG: the die, the pot, the one used last framed, and the points of the seats as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.svg import BOARD, INK, LINE, MARK, PAPER, SEAT_COLOURS, drawing, element, seat_row, text
from pig.rules import GOAL, HOLD
from pig.text import face, last_ply, status

if TYPE_CHECKING:
    from engine.state import KernelState

WIDTH, HEIGHT = 560, 210
SIDE = 96  # of die and pot
DIE, POT, TOP = 20, 136, 24  # their left edges, and the upper one
PANEL, SEAT_HEIGHT, BAR = 260, 66, 160
SPOTS = {
    "": (),
    "1": ((0, 0),),
    "2": ((-1, -1), (1, 1)),
    "3": ((-1, -1), (0, 0), (1, 1)),
    "4": ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    "5": ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    "6": ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""Places of a face's spots, from the middle of the die."""
LAST = {"stroke": MARK, "stroke_width": 5}


def svg(state: KernelState) -> str:
    """Draw die, pot, seats and status, as a self-contained picture."""
    last = last_ply(state)
    held = last == (False, HOLD)
    return drawing(
        WIDTH,
        HEIGHT,
        f"{state.game.spec}: {state.position}",
        _die(face(state), last is not None and not held),
        _pot(int(state.record.pot), held),
        *(_seat(state, seat) for seat in range(state.game.players)),
        text(DIE, HEIGHT - 16, status(state), 15),
    )


def _die(face: str, is_last: bool) -> str:
    middle_x, middle_y, step = DIE + SIDE / 2, TOP + SIDE / 2, SIDE / 4
    spots = (
        element("circle", cx=middle_x + step * right, cy=middle_y + step * down, r=8, fill=INK)
        for right, down in SPOTS[face]
    )
    frame = LAST if is_last else {"stroke": INK}
    ground = element("rect", x=DIE, y=TOP, width=SIDE, height=SIDE, rx=14, fill=PAPER, **frame)
    return element("g", ground, *spots, _name(DIE, "roll"), data_part="die")


def _pot(points: int, is_last: bool) -> str:
    frame = LAST if is_last else {"stroke": LINE}
    ground = element("rect", x=POT, y=TOP, width=SIDE, height=SIDE, rx=14, fill=BOARD, **frame)
    number = text(POT + SIDE / 2, TOP + SIDE / 2 + 12, str(points), 34, text_anchor="middle")
    return element("g", ground, number, _name(POT, "hold"), data_part="pot")


def _name(left: float, words: str) -> str:
    return text(left + SIDE / 2, TOP + SIDE + 20, words, 14, text_anchor="middle")


def _seat(state: KernelState, seat: int) -> str:
    top, points = TOP + SEAT_HEIGHT * seat, int(state.record.points[seat])
    is_first = state.is_terminal() and state.ranks()[seat] == 0
    at_turn = not state.is_terminal() and state.record.turn == seat
    row = (PANEL, top, WIDTH - PANEL - 20, SEAT_HEIGHT - 8)
    bar = {"x": PANEL + BAR - 30, "y": top + 22, "height": 14, "rx": 3}
    return element(
        "g",
        seat_row(*row, seat, to_move=at_turn, bold=is_first, below=f"{points} of {GOAL}"),
        element("rect", **bar, width=BAR - 22, fill=PAPER, stroke=LINE),
        element("rect", **bar, width=(BAR - 22) * min(points, GOAL) / GOAL, fill=SEAT_COLOURS[seat]),
    )
