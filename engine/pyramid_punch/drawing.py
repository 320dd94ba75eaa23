"""Pyramid Punch as SVG: the tiles where they lie, pyramids seen from the side, the last ply framed.

The free places beside a tile and the numbers of quarter turns are controls (`engine.svg.control`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.game import CHANCE, TERMINAL
from engine.pyramid_punch.rules import ARRANGE, FIGHTS, MOVE, PLACE, STEPS, STONE, on_table, pack_tile
from engine.pyramid_punch.targets import place_part
from engine.pyramid_punch.text import ACTIONS, LETTERS, LastPly, fighters_on, last_ply, seat_line, table_of
from engine.svg import (
    FAINT,
    INK,
    MARK,
    PAPER,
    PYRAMID_SIZES,
    SEAT_COLOURS,
    SEAT_NAME,
    TO_MOVE,
    button,
    control,
    drawing,
    element,
    pyramid,
    seat_row,
    text,
)

if TYPE_CHECKING:
    from engine.state import KernelState

TILE, SPACE = 128, 56  # pixels of a tile, and of one of its four spaces
INSET = (TILE - 2 * SPACE) // 2
SPACE_AT = ((0, 0), (1, 0), (1, 1), (0, 1))
STRIP = 26  # how broad a free place beside a tile is drawn
HEAD, LEFT, ROW, GAP = 40, 56 + STRIP, 26, 12
LABELS = 26  # height of the line with the columns' coordinates
FIGHTER = 0.86  # scale of a pyramid, so that the largest leaves room for the seat's number
CHOICE = TILE // 2 + 6  # pixels from one arrangement to choose to the next
MIN_WIDTH = 400


def svg(state: KernelState) -> str:
    """Draw the whole state as a self-contained picture."""
    record, table = state.record, table_of(state.record)
    unplaced = [seat for seat in range(record.players) if record.tiles[seat] and not on_table(record, seat)]
    width = max(MIN_WIDTH, LEFT + TILE * len(table.columns) + STRIP + 8, 20 + (TILE + GAP) * len(unplaced))
    if record.phase == ARRANGE:
        width = max(width, 16 + CHOICE * FIGHTS)
    parts = [text(16, 26, _status(state), 17, font_weight="bold"), *_table(state)]
    top = HEAD
    if table.cells:
        top += LABELS + STRIP + TILE * len(table.rows) + STRIP + 2 * GAP + ROW
        parts += _turns(state, top - GAP - ROW)
    if record.phase == ARRANGE:
        parts += _arrangements(int(record.seat), top)
        top += TILE // 2 + 34
    if unplaced:
        parts.append(text(16, top + 16, "To be placed:", 13, fill=FAINT))
        for number, seat in enumerate(unplaced):
            place = (16 + (TILE + GAP) * number, top + 26)
            parts += [_tile(record.tiles[seat], seat, *place), _badge(seat, *place)]
        top += TILE + 42
    parts += [_seat(state, seat, top + ROW * seat, width) for seat in range(record.players)]
    top += ROW * record.players + 8
    last = last_ply(state)
    if last.text:
        parts.append(text(8 + SEAT_NAME, top + 12, f"last: {last.text}", 15, fill=MARK))
        top += 24
    return drawing(width, top, f"{state.game.spec}: {state.position}", *parts)


def _status(state: KernelState) -> str:
    record = state.record
    if state.current_player() == TERMINAL:
        return f"over after {record.turn} turns ({state.ended})"
    if state.current_player() == CHANCE:
        return f"turn {record.turn}, dice for {ACTIONS[FIGHTS + record.fight]}"
    return f"turn {record.turn}, seat {record.seat} to move"


def _table(state: KernelState) -> list[str]:
    """Draw the tiles on the table between their coordinates; marks and seats' numbers lie above all tiles."""
    table, last = table_of(state.record), last_ply(state)
    top = HEAD + LABELS + STRIP
    places = {seat: (LEFT + TILE * column, top + TILE * row) for seat, (column, row) in table.cells.items()}
    columns, rows = ({"fill": FAINT, "text_anchor": anchor} for anchor in ("middle", "end"))
    return [
        *(text(LEFT + TILE * (n + 0.5), HEAD + 16, _label(x), 13, **columns) for n, x in enumerate(table.columns)),
        *(text(LEFT - STRIP - 10, top + TILE * (n + 0.5) + 4, _label(y), 13, **rows) for n, y in enumerate(table.rows)),
        *(_tile(state.record.tiles[seat], seat, *place) for seat, place in places.items()),
        *(strip for seat, place in places.items() for strip in _free_sides(state.record, seat, *place)),
        *(frame for seat, place in places.items() for frame in _marks(seat, *place, last)),
        *(_badge(seat, *place) for seat, place in places.items()),
    ]


def _seat(state: KernelState, seat: int, top: float, width: float) -> str:
    """Draw a seat's line: what it has left, and at the end its place."""
    mover = state.rolling_seat() if state.is_chance_node() else state.current_player()
    words, rank = seat_line(state, seat), state.ranks()[seat] if state.is_terminal() else None
    if rank is not None and state.record.tiles[seat]:
        words = f"place {rank + 1}: {words}"
    bold = seat == mover or rank == 0
    row = seat_row(8, top + 1, width - 16, ROW - 2, seat, to_move=seat == mover, bold=bold)
    weight = "bold" if bold else "normal"
    return element("g", row, text(8 + SEAT_NAME + 66, top + ROW / 2 + 5, words, 15, font_weight=weight))


def _free_sides(record: np.record, seat: int, left: float, top: float) -> list[str]:
    """Draw the free places beside a tile while tiles are placed or moved, each as a strip along the tile's side."""
    if record.phase not in (PLACE, MOVE):
        return []
    taken = {(int(record.x[other]), int(record.y[other])) for other in range(record.players) if on_table(record, other)}
    strips, long, style = [], TILE - 28, {"rx": 6, "fill": TO_MOVE, "stroke": INK, "stroke_dasharray": "3 4"}
    for x, y in STEPS:
        place = int(record.x[seat]) + x, int(record.y[seat]) + y
        if place not in taken:
            width, height = (STRIP - 4, long) if x else (long, STRIP - 4)
            middle_x, middle_y = (start + TILE / 2 + (TILE + STRIP) / 2 * step for start, step in ((left, x), (top, y)))
            corner = {"x": middle_x - width / 2, "y": middle_y - height / 2}
            strips.append(element("rect", **corner, width=width, height=height, **style, **control(place_part(*place))))
    return strips


def _turns(state: KernelState, top: float) -> list[str]:
    """Draw the buttons for the quarter turns of a tile that is placed or rotated."""
    turns = {PLACE: range(4), MOVE: range(1, 4)}.get(int(state.record.phase), range(0))
    return [button(16 + 70 * turn, top, 62, f"↻ {90 * turn}°", f"turn-{turn}") for turn in turns]


def _arrangements(seat: int, top: float) -> list[str]:
    """Draw the arrangements that the seat can choose from, half as large as tiles."""
    parts = [text(16, top + 16, "Arrangements:", 13, fill=FAINT)]
    for number, letters in enumerate(ACTIONS[:FIGHTS]):
        tile = _tile(pack_tile([LETTERS.index(letter) for letter in letters]), seat, 0, 0, f"tile-{letters}")
        place = f"translate({16 + CHOICE * number} {top + 24}) scale(0.5)"
        parts.append(element("g", tile, transform=place))
    return parts


def _tile(tile: int, seat: int, left: float, top: float, choice: str = "") -> str:
    """Draw a tile, whose fighters are parts of their own unless it stands for a choice."""
    colour = SEAT_COLOURS[seat]
    frame = {"x": left + 2, "y": top + 2, "width": TILE - 4, "height": TILE - 4, "rx": 8}
    parts = [element("rect", **frame, fill=colour, fill_opacity=0.18, stroke=colour, stroke_width=3)]
    for (column, row), fighter in zip(SPACE_AT, fighters_on(tile), strict=True):
        x, y = left + INSET + SPACE * column, top + INSET + SPACE * row
        part = {} if choice or fighter is None else {"data_part": f"fighter-{seat}-{LETTERS[fighter]}"}
        parts.append(_fighter(fighter, colour, x + SPACE / 2, y + SPACE / 2, **part))
    return element("g", *parts, data_part=choice or f"tile-{seat}")


def _badge(seat: int, left: float, top: float) -> str:
    """Draw the seat's number in the middle of its tile."""
    x, y = left + TILE / 2, top + TILE / 2
    circle = element("circle", cx=x, cy=y, r=10, fill=PAPER, stroke=SEAT_COLOURS[seat], stroke_width=2)
    return circle + text(x, y + 5, str(seat), 14, text_anchor="middle", font_weight="bold")


def _fighter(fighter: int | None, colour: str, x: float, y: float, **part: str) -> str:
    """Draw a pyramid with its pips, the stone, or a faint dot for a fighter that is gone, around (x, y)."""
    if fighter is None:
        return element("circle", cx=x, cy=y, r=4, fill="none", stroke=FAINT, stroke_dasharray="2 2")
    if fighter == STONE:
        return element("ellipse", cx=x, cy=y + 4, rx=17, ry=12, fill=colour, stroke=INK, stroke_width=1.5, **part)
    size = 2 - fighter  # fighters are numbered from the largest
    return pyramid(x, y + FIGHTER * PYRAMID_SIZES[size][1] / 2, size, colour, FIGHTER, **part)


def _marks(seat: int, left: float, top: float, last: LastPly) -> list[str]:
    """Draw frames round the tile or the spaces of the last ply."""
    frames = [(left + 2, top + 2, TILE - 4)] if seat == last.tile else []
    for marked, space in sorted(last.spaces):
        if marked == seat:
            column, row = SPACE_AT[space]
            frames.append((left + INSET + SPACE * column + 1, top + INSET + SPACE * row + 1, SPACE - 2))
    style = {"rx": 8, "fill": "none", "stroke": MARK, "stroke_width": 4}
    return [element("rect", x=x, y=y, width=size, height=size, **style) for x, y, size in frames]


def _label(coordinate: int | None) -> str:
    words = "…" if coordinate is None else str(coordinate)
    return words if len(words) < 7 else "…"
