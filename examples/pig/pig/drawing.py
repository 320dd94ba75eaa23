"""Pig as SVG: the die, the pot, the one used last framed, and the points of the seats as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.svg import (
    BOARD,
    LINE,
    MARK,
    NARROW,
    SEAT_COLOURS,
    bar,
    die,
    drawing,
    element,
    fitted,
    part,
    seat_row,
    spots,
    text,
)
from engine.terminal import SEATS
from pig.rules import GOAL, HOLD
from pig.text import face, last_ply, status

if TYPE_CHECKING:
    from engine.state import KernelState

SIDE = 96  # of die and pot
DIE, POT, TOP = 20, 136, 24  # their left edges, and the upper one
SEAT_HEIGHT, BAR = 66, 138
WIDE = (560, 210, 260, TOP)
SLIM = (NARROW, 320, 12, 154)
"""Width and height of a drawing, left edge and top of the seats' rows."""
TOKENS = (SEATS,)
"""What has colours in a terminal (`engine.terminal`)."""
LAST = {"stroke": MARK, "stroke_width": 5}


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw die, pot, seats and status, as a self-contained picture."""
    last, layout = last_ply(state), SLIM if narrow else WIDE
    width, height, *_ = layout
    held = last == (False, HOLD)
    return drawing(
        width,
        height,
        f"{state.game.spec}: {state.position}",
        _die(face(state), last is not None and not held),
        _pot(int(state.record.pot), held),
        *(_seat(state, seat, names[seat], layout) for seat in range(state.game.players)),
        text(DIE, height - 16, fitted(status(state, names), width - 2 * DIE, 15), 15),
    )


def _die(face: str, is_last: bool) -> str:
    frame = element("rect", x=DIE, y=TOP, width=SIDE, height=SIDE, rx=16, fill="none", **LAST) if is_last else ""
    shown = die(DIE, TOP, SIDE, spots(int(face or 0), SIDE)) + frame
    return part("die", DIE, TOP, SIDE, SIDE + 26, shown, _name(DIE, "roll"))


def _pot(points: int, is_last: bool) -> str:
    frame = LAST if is_last else {"stroke": LINE}
    ground = element("rect", x=POT, y=TOP, width=SIDE, height=SIDE, rx=14, fill=BOARD, **frame)
    number = text(POT + SIDE / 2, TOP + SIDE / 2 + 12, str(points), 34, text_anchor="middle")
    return part("pot", POT, TOP, SIDE, SIDE + 26, ground, number, _name(POT, "hold"))


def _name(left: float, words: str) -> str:
    return text(left + SIDE / 2, TOP + SIDE + 20, words, 14, text_anchor="middle")


def _seat(state: KernelState, seat: int, name: str, layout: tuple[int, int, int, int]) -> str:
    width, _, left, seats = layout
    top, points = seats + SEAT_HEIGHT * seat, int(state.record.points[seat])
    is_first = state.is_terminal() and state.ranks()[seat] == 0
    at_turn = not state.is_terminal() and state.record.turn == seat
    row = (left, top, width - left - (12 if left == SLIM[2] else 20), SEAT_HEIGHT - 8)
    filled = bar(width - BAR - 32, top + 22, BAR, 14, min(points, GOAL) / GOAL, SEAT_COLOURS[seat])
    below, room = f"{points} of {GOAL}", width - left - BAR - 96
    return seat_row(*row, seat, to_move=at_turn, bold=is_first, below=below, name=name, room=room) + filled
