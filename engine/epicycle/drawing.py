"""Epicycle as SVG: the pie with its ten slices, the hands beside it, the last play marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.epicycle import text as notation
from engine.epicycle.rules import CHANCE, SLOTS, TERMINAL
from engine.svg import (
    BOARD,
    FAINT,
    INK,
    LAST,
    LINE,
    MARK,
    PAPER,
    PIECE,
    SEAT_COLOURS,
    drawing,
    element,
    polygon,
    pyramid,
    seat_row,
    text,
)

if TYPE_CHECKING:
    from engine.state import KernelState

CENTRE_X, CENTRE_Y, RADIUS = 196, 200, 164
PIECES, ARROW = 112, 52  # how far from the centre the pieces stand, and the arrow of the last play runs
PANEL, SEATS, SEAT_HEIGHT = 412, 68, 64
WIDTH, HEIGHT = 690, 408


def svg(state: KernelState) -> str:
    """Draw pie, hands, last play and status, as a self-contained picture."""
    return drawing(
        WIDTH,
        HEIGHT,
        f"{state.game.spec}: {state.position}",
        *_pie(state),
        *_arrow(state),
        *(part for seat in range(state.game.players) for part in _seat(state, seat)),
        *_status(state),
    )


def _point(slot: float, radius: float) -> tuple[float, float]:
    """Return a place on the pie; slot 0 is at the top, numbers run clockwise."""
    angle = math.tau * slot / SLOTS
    return CENTRE_X + radius * math.sin(angle), CENTRE_Y - radius * math.cos(angle)


def _pie(state: KernelState) -> list[str]:
    last = notation.last_play(state)
    slices = []
    for slot, letter in enumerate(notation.pie_letters(state.record)):
        filled = LAST if last and slot == last.slot else PAPER if letter == "." else BOARD
        x, y = _point(slot, RADIUS + 16)
        slices.append(text(x, y + 5, str(slot), 14, fill=FAINT, text_anchor="middle"))
        x, y = _point(slot, PIECES)
        piece = ""
        if letter != ".":
            piece = pyramid(x, y + 21, notation.SIZES.index(letter), PIECE)
        elif state.current_player() != CHANCE:
            piece = text(x, y + 5, "gap", 14, fill=FAINT, text_anchor="middle", font_style="italic")
        slices.append(element("g", _slice(slot, filled), piece, data_part=f"slot-{slot}"))
    rim = element("circle", cx=CENTRE_X, cy=CENTRE_Y, r=RADIUS, fill="none", stroke=INK, stroke_width=2)
    return [*slices, rim]


def _slice(slot: int, fill: str) -> str:
    (x, y), (end_x, end_y) = _point(slot - 0.5, RADIUS), _point(slot + 0.5, RADIUS)
    path = f"M{CENTRE_X} {CENTRE_Y}L{x:.1f} {y:.1f}A{RADIUS} {RADIUS} 0 0 1 {end_x:.1f} {end_y:.1f}Z"
    return element("path", d=path, fill=fill, stroke=LINE)


def _arrow(state: KernelState) -> list[str]:
    """Draw an arrow from the slot of the piece played to the gap that the piece taken has left."""
    last = notation.last_play(state)
    if last is None:
        return []
    forward = 1 if last.steps > 0 else -1
    tip = last.slot + last.steps
    (x, y), (end_x, end_y) = _point(last.slot, ARROW), _point(tip - 0.32 * forward, ARROW)
    path = f"M{x:.1f} {y:.1f}A{ARROW} {ARROW} 0 0 {int(forward > 0)} {end_x:.1f} {end_y:.1f}"
    head = [_point(tip, ARROW), _point(tip - 0.45 * forward, ARROW + 8), _point(tip - 0.45 * forward, ARROW - 8)]
    return [
        element("path", d=path, fill="none", stroke=MARK, stroke_width=3),
        element("circle", cx=x, cy=y, r=4, fill=MARK),
        polygon(*head, fill=MARK),
    ]


def _seat(state: KernelState, seat: int) -> list[str]:
    """Draw a seat's line of the panel: whose it is, whether it is to move, its hand, and its place once settled."""
    top = SEATS + SEAT_HEIGHT * seat
    hand = notation.hand_letters(int(state.record.hands), seat)
    place = f"place {state.record.ranks[seat] + 1}" if not hand or state.is_terminal() else ""
    box = (PANEL - 8, top + 1, WIDTH - PANEL - 4, SEAT_HEIGHT - 2)
    row = seat_row(
        *box,
        seat,
        to_move=state.current_player() == seat,
        bold=place == "place 1",
        below=place if hand else f"out, {place}",
        fill=INK if hand else FAINT,
    )
    return [row, *(_in_hand(seat, letter, PANEL + 126 + 48 * place, top) for place, letter in enumerate(hand))]


def _in_hand(seat: int, letter: str, x: float, top: float) -> str:
    part = f"hand-{seat}-{letter}"
    return pyramid(x, top + SEAT_HEIGHT - 6, notation.SIZES.index(letter), SEAT_COLOURS[seat], data_part=part)


def _status(state: KernelState) -> list[str]:
    turn, who, last = int(state.record.turn), state.current_player(), notation.last_play(state)
    if who == TERMINAL:
        lines = [f"over: {state.ended}", f"{turn} plays, places {[rank + 1 for rank in state.ranks()]}"]
    elif who == CHANCE:
        lines = ["before the deal", "nine pieces to be dealt"]
    else:
        legal = " ".join(notation.ACTIONS[action] for action in state.legal_actions())
        lines = [f"turn {turn}, seat {who} to move", f"legal: {legal}"]
    parts = [text(PANEL, 30, lines[0], 17, font_weight="bold"), text(PANEL, 52, lines[1], 14)]
    if last:
        parts.append(text(20, HEIGHT - 16, f"last play {notation.ACTIONS[last.action]}", 15, fill=MARK))
    return parts
