"""Magic Mids as SVG: the torus with a faint ring of what lies beyond its edges, the hands and the roll."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.magic_mids import text as notation
from engine.magic_mids.rules import CHANCE, COLUMNS, ROWS, SQUARES, TERMINAL
from engine.magic_mids.words import SIZE_WORDS
from engine.svg import (
    BOARD,
    FAINT,
    GROUT,
    INK,
    LAST,
    LINE,
    MARK,
    NARROW,
    PYRAMID_SIZES,
    RIM,
    SEAT_COLOURS,
    die,
    drawing,
    element,
    fitted,
    headline,
    lying,
    part,
    pyramid,
    seat_row,
    spots,
    stack,
    text,
    untouched,
)
from engine.terminal import LAST as LAST_PLAY
from engine.terminal import SEATS, Token
from engine.words import first_places, listed, told_apart, unusual

if TYPE_CHECKING:
    from engine.state import KernelState


class Layout(NamedTuple):
    """Where the board lies, and the panel of the seats."""

    cell: int
    left: int
    """Left edge of column 2."""
    top: int
    """Upper edge of row a."""
    ring: int
    """How much of the squares beyond the edges is shown."""
    panel: int
    """Left edge of the seats' rows."""
    seats: int
    """Upper edge of the first seat's row."""
    row: int
    """Height of a seat's row."""
    hand: int
    """Middle of the small mids in hand."""
    step: int
    """From one size in hand to the next."""
    width: int


CELL, SLIM_CELL = 64, 60
WIDE = Layout(CELL, 76, 80, CELL // 2, 408, 48, 66, 584, 70, 782)
SLIM = Layout(SLIM_CELL, 56, 148, 22, 12, 484, 60, 176, 58, NARROW)
HEIGHT = WIDE.top + ROWS * CELL + WIDE.ring + 14  # of the wide drawing
IN_HAND = {WIDE: 0.72, SLIM: 0.66}  # scale of the mids in hand
DIE = 42
STAR = "M0 -14L3.3 -4.5H13.3L5.2 1.4L8.2 11L0 5L-8.2 11L-5.2 1.4L-13.3 -4.5H-3.3Z"

TOKENS = (Token(r"(?<![\w])(?P<seat>[0-3])[SML]\b"), SEATS, LAST_PLAY)
"""What has colours in a terminal (`engine.terminal`)."""


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw board, hands, roll and status, as a self-contained picture."""
    layout = SLIM if narrow else WIDE
    return drawing(
        layout.width,
        layout.seats + layout.row * state.game.players + 4 if narrow else HEIGHT,
        f"{state.game.spec}: {state.position}",
        *_board(state.record, layout),
        *(_hand(state, seat, names[seat], layout) for seat in range(state.game.players)),
        *_dice(state, layout),
        *_status(state, names, layout),
    )


def _board(record: np.record, layout: Layout) -> list[str]:
    cells, cell = notation.board_cells(record), layout.cell
    left, top, ring = layout.left, layout.top, layout.ring
    width, height = cell * COLUMNS, cell * ROWS
    beyond = {"width": width + 2 * ring, "height": height + 2 * ring, "rx": 14}
    parts = [
        element("rect", x=left - ring, y=top - ring, **beyond, fill=GROUT, fill_opacity=0.45),
        element("rect", x=left - 7, y=top - 7, width=width + 14, height=height + 14, rx=9, fill=RIM, stroke=INK),
    ]
    for column, header in enumerate(notation.HEADERS):
        x = left + cell * column + cell / 2
        parts.append(text(x, top - ring - 8, header, 20, text_anchor="middle", font_weight="bold"))
    for row, letter in enumerate(notation.ROW_LETTERS):
        parts.append(text(left - ring - 17, top + cell * row + cell / 2 + 6, letter, 18, text_anchor="middle"))
    placed = notation.last_placement(record)
    last = -1 if placed is None else placed[1] % SQUARES
    taken = {action % SQUARES: action for action in notation.captures(record)}
    parts += [_square(square, content, square == last, taken, layout) for square, content in enumerate(cells)]
    return [*parts, untouched(*_ring(cells, layout))]


def _square(square: int, content: str, last: bool, taken: dict[int, int], layout: Layout) -> str:
    """Draw a square: empty, with a mid and its seat's number, or with the mid just captured, on its side."""
    row, column = divmod(square, COLUMNS)
    cell = layout.cell
    x, y = layout.left + cell * column, layout.top + cell * row
    edge = {"fill": LAST, "stroke": MARK, "stroke_width": 3} if last else {"fill": BOARD, "stroke": LINE}
    inside = [element("rect", x=x + 1.5, y=y + 1.5, width=cell - 3, height=cell - 3, rx=5, **edge)]
    if content != notation.FREE:
        seat, size = int(content[0]), notation.SIZE_LETTERS.index(content[1])
        piece = f"{seat}-{content[1]}@{notation.SQUARE_NAMES[square]}"
        inside.append(pyramid(x + cell / 2, y + cell - 5, size, SEAT_COLOURS[seat], 0.95, data_piece=piece))
        inside.append(text(x + 6, y + 17, content[0], 13, font_weight="bold"))
    elif square in taken:
        size = notation.SIZE_LETTERS.index(notation.ACTIONS[taken[square]][0])
        cross = f"M{x + 14} {y + 14}l{cell - 28} {cell - 28}m0 -{cell - 28}l-{cell - 28} {cell - 28}"
        inside.append(lying(x + cell / 2, y + cell / 2, size, FAINT, 0.8, -20, opacity=0.45))
        inside.append(element("path", d=cross, fill="none", stroke=MARK, stroke_width=3, stroke_linecap="round"))
    return element("g", *inside, data_part=f"cell-{notation.SQUARE_NAMES[square]}")


def _ring(cells: list[str], layout: Layout) -> list[str]:
    """Draw what lies beyond the edges, faint and small: the board wraps around."""
    parts, scale = [], layout.ring / layout.cell
    for row in range(-1, ROWS + 1):
        for column in range(-1, COLUMNS + 1):
            cell = cells[COLUMNS * (row % ROWS) + column % COLUMNS]
            if cell != notation.FREE and not (0 <= row < ROWS and 0 <= column < COLUMNS):
                x, y = _beyond(layout.left, column, COLUMNS, layout), _beyond(layout.top, row, ROWS, layout)
                size, colour = notation.SIZE_LETTERS.index(cell[1]), SEAT_COLOURS[int(cell[0])]
                parts.append(pyramid(x, y + 24 * scale, size, colour, scale))
    return [element("g", *parts, opacity=0.5)]


def _beyond(start: int, place: int, places: int, layout: Layout) -> float:
    """Return the middle of a row or column, of which the ring shows half when it lies beyond the edge."""
    if place < 0:
        return start - layout.ring / 2 - 3
    return start + layout.cell * place + ((layout.ring + 6) if place == places else layout.cell) / 2


def _hand(state: KernelState, seat: int, name: str, layout: Layout) -> str:
    """Draw a line of the panel: the mids of each size that a seat has in hand, and its place at the end."""
    top = layout.seats + layout.row * seat
    rank = state.ranks()[seat] if state.is_terminal() else None
    row = seat_row(
        layout.panel - 8,
        top,
        layout.width - layout.panel + (4 if layout is SLIM else -4),
        layout.row - 4,
        seat,
        to_move=state.rolling_seat() == seat,
        bold=rank == 0,
        below="" if rank is None else f"place {rank + 1}",
        name=name,
        room=layout.hand - layout.panel - 68,
    )
    counts = notation.hand_counts(state.record, seat)
    return row + "".join(_in_hand(seat, size, count, top, layout) for size, count in enumerate(counts))


def _in_hand(seat: int, size: int, count: int, top: int, layout: Layout) -> str:
    """Draw the mids of a size that a seat has in hand, on top of each other, and their number."""
    letter, scale, x = notation.SIZE_LETTERS[size], IN_HAND[layout], layout.hand + layout.step * size
    base, words = top + layout.row - 9, x + scale * PYRAMID_SIZES[size][0] / 2 + 3
    pieces = [f"{seat}-{letter}@hand.{number}" for number in range(count)]
    mids = (
        stack(x, base, size, SEAT_COLOURS[seat], scale, pieces)
        if count
        else pyramid(x, base, size, SEAT_COLOURS[seat], scale, opacity=0.25)
    )
    box = (x - 20, top + 2, layout.step - 2, layout.row - 8)
    return part(f"hand-{seat}-{letter}", *box, mids, text(words, base - 1, f"×{count}", 13))


def _dice(state: KernelState, layout: Layout) -> list[str]:
    """Draw the three faces that the seat must now use, or three empty places."""
    if state.is_terminal():
        return []
    rolled = "" if state.is_chance_node() else notation.OUTCOMES[state.record.roll]
    left, top = (layout.panel, HEIGHT - 110) if layout is WIDE else (NARROW - 3 * (DIE + 6) - 4, 10)
    return [
        die(left + (DIE + 6) * number, top, DIE, _face(rolled[number]) if rolled else "", rolled=bool(rolled))
        for number in range(3)
    ]


@cache
def _face(letter: str) -> str:
    """Return what is on a face: spots, a star for the ace, nothing but a word for the blank."""
    if letter == "b":
        return text(0, 4, "blank", 12, fill=FAINT, text_anchor="middle")
    if letter == "a":
        return element("path", d=STAR, fill=MARK, stroke=INK)
    return spots(int(letter), DIE)


def _status(state: KernelState, names: tuple[str, ...], layout: Layout) -> list[str]:
    turn, who, placed = int(state.record.turn), state.current_player(), notation.last_placement(state.record)
    wide = layout is WIDE
    if who == TERMINAL:
        lines = [f"over after {turn} turns{unusual(state.ended)}", first_places(state.ranks(), names)]
    elif who == CHANCE:
        lines = [f"turn {turn + 1}", f"{told_apart(names, state.rolling_seat())} to roll"]
    else:
        sizes = dict.fromkeys(SIZE_WORDS[notation.ACTIONS[action][0]] for action in state.legal_actions())
        mids_now = f"{listed([*sizes], 'or')} mid"
        # on a phone the row in the seats' panel says who is to move
        lines = (
            [f"turn {turn + 1}, {mids_now}", f"{told_apart(names, who)} to place"]
            if wide
            else [f"turn {turn + 1}", mids_now]
        )
    x, y, room = (layout.panel, HEIGHT - 38, 360) if wide else (layout.panel, 24, 176 if who != TERMINAL else 320)
    parts = [
        headline(x, y, lines[0], room),
        text(x, y + 22, fitted(lines[1], room, 14), 14),
    ]
    if placed:
        name = notation.ACTIONS[placed[1]]
        words = f"last: {SIZE_WORDS[name[0]]} on {name[1:]} by {told_apart(names, placed[0])}"
        parts.append(text(x, HEIGHT - 124 if wide else y + 44, fitted(words, max(room, 320), 15), 15, fill=MARK))
    return parts
