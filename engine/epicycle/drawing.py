"""Epicycle as SVG: the pie with its ten slices, the hands beside or below it, the last play marked."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from engine.epicycle import text as notation
from engine.epicycle.rules import CHANCE, SLOTS, TERMINAL
from engine.epicycle.words import SIZE_WORDS
from engine.svg import (
    BOARD,
    FAINT,
    GROUT,
    INK,
    LAST,
    LINE,
    MARK,
    NARROW,
    PAPER,
    PIECE,
    RIM,
    SEAT_COLOURS,
    drawing,
    element,
    fitted,
    headline,
    part,
    polygon,
    pyramid,
    seat_row,
    text,
    untouched,
)
from engine.terminal import LAST as LAST_PLAY
from engine.terminal import SEATS, Token
from engine.words import first_places, listed, told_apart, unusual

if TYPE_CHECKING:
    from engine.state import KernelState


class Layout(NamedTuple):
    """Where the pie lies, and the panel of the seats."""

    x: float
    """Of the pie's middle."""
    y: float
    radius: float
    panel: float
    """Left edge of the seats' rows, and of the words above them."""
    words: float
    """Baseline of the status."""
    seats: float
    """Upper edge of the first seat's row."""
    row: float
    """Height of a seat's row."""
    hand: float
    """Middle of the first piece in hand."""
    width: float


WIDE = Layout(196, 200, 160, 412, 30, 68, 64, 610, 750)
SLIM = Layout(170, 222, 142, 12, 22, 420, 54, 190, NARROW)
HEIGHT = 420  # of the wide drawing
PIECES, ARROW = 0.69, 0.33  # how far from the middle the pieces stand, and the arrow of the last play runs, in radii
IN_HAND = 48  # from one piece in hand to the next
SCALES = {WIDE: 0.98, SLIM: 0.82}

TOKENS = (Token(r"\bseat (?P<seat>[0-4])  [SML](?: [SML])*"), SEATS, LAST_PLAY)
"""What has colours in a terminal (`engine.terminal`)."""


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw pie, hands, last play and status, as a self-contained picture."""
    layout = SLIM if narrow else WIDE
    height = layout.seats + layout.row * state.game.players + 8 if narrow else HEIGHT
    return drawing(
        layout.width,
        height,
        f"{state.game.spec}: {state.position}",
        *_pie(state, layout),
        untouched(*_arrow(state, layout)),
        *(_seat(state, seat, names[seat], layout) for seat in range(state.game.players)),
        *_status(state, names, layout),
    )


def _point(layout: Layout, slot: float, radius: float) -> tuple[float, float]:
    """Return a place on the pie, `radius` radii from its middle; slot 0 is at the top, numbers run clockwise."""
    angle = math.tau * slot / SLOTS
    return layout.x + layout.radius * radius * math.sin(angle), layout.y - layout.radius * radius * math.cos(angle)


def _pie(state: KernelState, layout: Layout) -> list[str]:
    last = notation.last_play(state)
    rim = {"cx": layout.x, "cy": layout.y}
    parts = [
        element("circle", **rim, r=layout.radius + 8, fill=RIM, stroke=INK, stroke_width=1.5),
        element("circle", **rim, r=layout.radius, fill=GROUT),
    ]
    for slot, letter in enumerate(notation.pie_letters(state.record)):
        filled = LAST if last and slot == last.slot else PAPER if letter == "." else BOARD
        x, y = _point(layout, slot, 1)
        x, y = (
            layout.x + (x - layout.x) * (1 + 19 / layout.radius),
            layout.y + (y - layout.y) * (1 + 19 / layout.radius),
        )
        parts.append(text(x, y + 5, str(slot), 13, fill=FAINT, text_anchor="middle"))
        x, y = _point(layout, slot, PIECES)
        piece = ""
        if letter != ".":
            size, place = notation.SIZES.index(letter), f"{letter}@{slot}"
            piece = pyramid(x, y + 24 * SCALES[layout], size, PIECE, SCALES[layout], data_piece=place)
        elif state.current_player() != CHANCE:
            piece = text(x, y + 5, "gap", 14, fill=FAINT, text_anchor="middle", font_style="italic")
        parts.append(element("g", _slice(layout, slot, filled), piece, data_part=f"slot-{slot}"))
    return parts


def _slice(layout: Layout, slot: int, fill: str) -> str:
    (x, y), (end_x, end_y) = _point(layout, slot - 0.5, 1), _point(layout, slot + 0.5, 1)
    radius = layout.radius
    path = f"M{layout.x} {layout.y}L{x:.1f} {y:.1f}A{radius} {radius} 0 0 1 {end_x:.1f} {end_y:.1f}Z"
    return element("path", d=path, fill=fill, stroke=LINE, stroke_width=2, stroke_linejoin="round")


def _arrow(state: KernelState, layout: Layout) -> list[str]:
    """Draw an arrow from the slot of the piece played to the gap that the piece taken has left."""
    last = notation.last_play(state)
    if last is None:
        return []
    forward = 1 if last.steps > 0 else -1
    tip, radius = last.slot + last.steps, round(ARROW * layout.radius, 1)
    (x, y), (end_x, end_y) = _point(layout, last.slot, ARROW), _point(layout, tip - 0.32 * forward, ARROW)
    path = f"M{x:.1f} {y:.1f}A{radius} {radius} 0 0 {int(forward > 0)} {end_x:.1f} {end_y:.1f}"
    back, wide = tip - 0.45 * forward, 8 / layout.radius
    head = [_point(layout, tip, ARROW), _point(layout, back, ARROW + wide), _point(layout, back, ARROW - wide)]
    return [
        element("path", d=path, fill="none", stroke=MARK, stroke_width=3),
        element("circle", cx=x, cy=y, r=4, fill=MARK),
        polygon(*head, fill=MARK),
    ]


def _seat(state: KernelState, seat: int, name: str, layout: Layout) -> str:
    """Draw a seat's line of the panel: whose it is, whether it is to move, its hand, and its place once settled."""
    top = layout.seats + layout.row * seat
    hand = notation.hand_letters(int(state.record.hands), seat)
    place = f"place {state.record.ranks[seat] + 1}" if not hand or state.is_terminal() else ""
    row = seat_row(
        layout.panel - 8,
        top + 1,
        layout.width - layout.panel - 4,
        layout.row - 2,
        seat,
        to_move=state.current_player() == seat,
        bold=place == "place 1",
        below=place if hand else f"out, {place}",
        fill=INK if hand else FAINT,
        name=name,
        room=layout.hand - layout.panel - 68 if hand else 0,
    )
    seen: Counter[str] = Counter()
    for number, letter in enumerate(hand):
        row += _in_hand(seat, letter, seen[letter], layout.hand + IN_HAND * number, top, layout)
        seen[letter] += 1
    return row


def _in_hand(seat: int, letter: str, before: int, middle: float, top: float, layout: Layout) -> str:
    """Draw a piece in hand; `before` counts those of its size that stand before it."""
    piece = pyramid(
        middle,
        top + layout.row - 5,
        notation.SIZES.index(letter),
        SEAT_COLOURS[seat],
        0.86 if layout is SLIM else 0.98,
        data_piece=f"{letter}@{seat}.{before}",
    )
    box = (middle - IN_HAND / 2 + 1, top + 3, IN_HAND - 2, layout.row - 6)
    return part(f"hand-{seat}-{letter}", *box, piece)


def _status(state: KernelState, names: tuple[str, ...], layout: Layout) -> list[str]:
    turn, who, last = int(state.record.turn), state.current_player(), notation.last_play(state)
    if who == TERMINAL:
        lines = [f"over after {turn} plays{unusual(state.ended)}", first_places(state.ranks(), names)]
    elif who == CHANCE:
        lines = ["before the deal", "nine pieces to be dealt"]
    else:
        sizes = dict.fromkeys(SIZE_WORDS[notation.ACTIONS[action][0]] for action in state.legal_actions())
        lines = [f"turn {turn + 1}, {told_apart(names, who)} to move", f"into the gap: {listed([*sizes], 'or')}"]
    room = layout.width - layout.panel - 8
    parts = [
        headline(layout.panel, layout.words, lines[0], room),
        text(layout.panel, layout.words + 22, fitted(lines[1], room, 14), 14),
    ]
    if last:
        x, y = (20.0, HEIGHT - 12.0) if layout is WIDE else (layout.panel, layout.seats - 14)
        size = SIZE_WORDS[notation.pie_letters(state.record)[last.slot]]
        parts.append(text(x, y, f"last: {size} piece into slot {last.slot}", 15, fill=MARK))
    return parts
