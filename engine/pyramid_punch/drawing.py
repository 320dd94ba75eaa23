"""Pyramid Punch as SVG: the tiles where they lie, the fighters on them, the last ply framed.

The free places beside a tile and the numbers of quarter turns are controls (`engine.svg.control`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.game import CHANCE, TERMINAL
from engine.pyramid_punch.rules import ARRANGE, FIGHTS, MOVE, PLACE, STEPS, STONE, on_table, pack_tile, stands
from engine.pyramid_punch.targets import place_part
from engine.pyramid_punch.text import ACTIONS, LETTERS, Table, fighters_on, last_ply, seat_line, table_of
from engine.pyramid_punch.words import SIDE_WORDS, SIZE_WORDS
from engine.svg import (
    FAINT,
    INK,
    MARK,
    NARROW,
    PAPER,
    PYRAMID_SIZES,
    SEAT_COLOURS,
    SEAT_INKS,
    SEAT_NAME,
    TO_MOVE,
    button,
    control,
    die,
    drawing,
    element,
    fitted,
    headline,
    lying,
    mini,
    number,
    pyramid,
    seat_row,
    spots,
    stone,
    text,
    untouched,
    width_of,
)
from engine.terminal import LAST, SEATS
from engine.words import colour_name, told_apart, unusual

if TYPE_CHECKING:
    from engine.state import KernelState

TILE = 128  # side of a tile in a wide drawing, and of the ones from which those that are smaller are scaled
SPACE_AT = ((0, 0), (1, 0), (1, 1), (0, 1))
STRIP = 28  # how broad a free place beside a tile is drawn, its edge included
HEAD, GAP = 40, 12
ROW = 30  # height of a seat's line
LEFT = 100  # width of what a seat has left, in its line
MARGIN, SLIM_MARGIN = 40, 16  # left of the table, for its rows' coordinates
LABELS = 26  # height of the line with the columns' coordinates
FIGHTER = 0.9  # scale of a pyramid on a tile of 128
BADGE = 0.1  # radius of the badge with a seat's number, in tiles
MIN_WIDTH, MAX_SLIM_TILE, SMALL_TILE = 440, 108, 60
UNPLACED_COLUMNS = 3  # tiles to be placed beside each other in a narrow drawing
DIE = 26


class Layout(NamedTuple):
    """How large things are, and where the table lies."""

    tile: float
    gap: float
    """Width or height of a gap between tiles that lie apart."""
    left: float
    """Left edge of the table."""
    width: float
    narrow: bool

    def at(self, line: list[int | None], place: int) -> float:
        """Return how far from the table's edge a column or row begins."""
        return sum(self.gap if each is None else self.tile for each in line[:place])


TOKENS = (SEATS, LAST)
"""What has colours in a terminal (`engine.terminal`)."""


def picture(state: KernelState, names: tuple[str, ...], narrow: bool) -> str:
    """Draw the whole state as a self-contained picture."""
    record, table = state.record, table_of(state.record)
    unplaced = [seat for seat in range(record.players) if record.tiles[seat] and not on_table(record, seat)]
    layout = _slim(table) if narrow else _wide(table, len(unplaced), record.phase == ARRANGE)
    parts = [headline(16, 26, _status(state, names), layout.width - 24)]
    top: float = HEAD
    if table.cells:
        parts += _table(state, table, layout)
        top += LABELS + 2 * STRIP + layout.at(table.rows, len(table.rows)) + GAP
        turns = _turns(state, top)
        parts += turns
        top += GAP + 28 * bool(turns)
    if record.phase == ARRANGE:
        choices, top = _arrangements(int(record.seat), top, layout)
        parts += choices
    if unplaced:
        tiles, top = _unplaced(record, unplaced, top, layout)
        parts += tiles
    parts += [_seat(state, seat, names[seat], top + ROW * seat, layout) for seat in range(record.players)]
    top += ROW * record.players + 8
    last = _last_words(state, top, layout)
    return drawing(layout.width, top + 30 * bool(last), f"{state.game.spec}: {state.position}", *parts, *last)


def _wide(table: Table, unplaced: int, arranging: bool) -> Layout:
    columns = TILE * len(table.columns)
    width = max(MIN_WIDTH, 2 * (MARGIN + STRIP) + columns, 20 + (TILE + GAP) * unplaced)
    if arranging:
        width = max(width, 16 + (TILE // 2 + GAP) * FIGHTS)
    return Layout(TILE, TILE, (width - columns) / 2, width, False)


def _slim(table: Table) -> Layout:
    """Return the layout in which the table, however wide, is as wide as the narrow drawing."""
    gaps = table.columns.count(None)
    tiles, room = max(1, len(table.columns) - gaps), NARROW - 2 * STRIP * (1 + gaps)
    tile = max(24, min(MAX_SLIM_TILE, (room - 2 * SLIM_MARGIN) // tiles))
    if tile < SMALL_TILE:
        tile = max(24, min(SMALL_TILE, (room - 8) // tiles))
    columns = tile * (len(table.columns) - gaps) + 2 * STRIP * gaps
    return Layout(tile, 2 * STRIP, (NARROW - columns) / 2, NARROW, True)


def _status(state: KernelState, names: tuple[str, ...]) -> str:
    record = state.record
    if state.current_player() == TERMINAL:
        return f"over after {record.turn} turns{unusual(state.ended)}"
    if state.current_player() == CHANCE:
        return f"turn {record.turn + 1}, roll: {_in_words(ACTIONS[FIGHTS + record.fight])}"
    when = "setting up" if record.phase in (ARRANGE, PLACE) else f"turn {record.turn + 1}"
    return f"{when}, {told_apart(names, record.seat)} to move"


def _table(state: KernelState, table: Table, layout: Layout) -> list[str]:
    """Draw the tiles on the table between their coordinates, and the free places around them."""
    left, top = layout.left, HEAD + LABELS + STRIP
    places = {
        seat: (left + layout.at(table.columns, column), top + layout.at(table.rows, row))
        for seat, (column, row) in table.cells.items()
    }
    parts = []
    for column, x in enumerate(table.columns):
        middle = left + layout.at(table.columns, column) + (layout.gap if x is None else layout.tile) / 2
        parts.append(text(middle, HEAD + 14, _label(x), 13, fill=FAINT, text_anchor="middle"))
    for row, y in enumerate(table.rows):
        middle = top + layout.at(table.rows, row) + (layout.gap if y is None else layout.tile) / 2
        parts.append(text(left - STRIP - 4, middle + 4, _label(y), 13, fill=FAINT, text_anchor="end"))
    for seat, place in places.items():
        parts += _free_sides(state.record, seat, *place, layout)
    for seat, place in places.items():
        marks = _marks(state, seat, layout)
        parts.append(_tile(state.record.tiles[seat], seat, *place, layout.tile, marks=marks))
    return parts


def _unplaced(record: np.record, seats: list[int], top: float, layout: Layout) -> tuple[list[str], float]:
    """Draw the tiles that are still to be placed, and return where they end."""
    parts = [text(16, top + 16, "To be placed:", 13, fill=FAINT)]
    tile, columns = (96, UNPLACED_COLUMNS) if layout.narrow else (TILE, len(seats))
    for place, seat in enumerate(seats):
        row, column = divmod(place, columns)
        corner = (12 + (tile + 8) * column, top + 26 + (tile + 8) * row)
        parts.append(_tile(record.tiles[seat], seat, *corner, tile))
    return parts, top + 32 + (tile + 8) * -(-len(seats) // columns)


def _seat(state: KernelState, seat: int, name: str, top: float, layout: Layout) -> str:
    """Draw a seat's line: what it has left, and at the end its place."""
    record = state.record
    mover = state.rolling_seat() if state.is_chance_node() else state.current_player()
    words, rank = seat_line(state, seat), state.ranks()[seat] if state.is_terminal() else None
    bold, left = seat == mover or rank == 0, ""
    if record.tiles[seat] and on_table(record, seat):
        words = f"place {rank + 1}" if rank is not None else ""
        left = _left(record, seat, layout.width - LEFT - 14, top + ROW - 4)
    elif record.tiles[seat]:
        words = "unplaced"
    end = layout.width - 20 - LEFT * bool(left)
    room = end - 8 - SEAT_NAME - 8 - width_of(words, 13)
    box = (8, top + 1, layout.width - 16, ROW - 2)
    row = seat_row(*box, seat, to_move=seat == mover, bold=bold, name=name, room=room)
    style = {"text_anchor": "end", **({"font_weight": "bold"} if bold else {})}
    return row + (text(end, top + ROW / 2 + 5, words, 13, **style) if words else "") + left


def _left(record: np.record, seat: int, left: float, base: float) -> str:
    """Draw what a seat has left, small."""
    fill = SEAT_COLOURS[seat]
    shapes = (mini(12 + 26 * place, 0, 2 - place, fill) for place in range(STONE) if stands(record, seat, place))
    pebble = element("ellipse", cx=87, cy=-8, rx=9, ry=6.5, fill=fill) if stands(record, seat, STONE) else ""
    return element("g", *shapes, pebble, transform=f"translate({number(left)} {number(base)})", stroke=INK)


def _free_sides(record: np.record, seat: int, left: float, top: float, layout: Layout) -> list[str]:
    """Draw the free places beside a tile while tiles are placed or moved, each as a strip along the tile's side."""
    if record.phase not in (PLACE, MOVE):
        return []
    taken = {(int(record.x[other]), int(record.y[other])) for other in range(record.players) if on_table(record, other)}
    strips, tile, thick = [], layout.tile, STRIP - 3
    long, style = tile - 8, {"rx": 6, "fill": TO_MOVE, "stroke": INK, "stroke_dasharray": "3 4"}
    for (x, y), side in zip(STEPS, SIDE_WORDS.values(), strict=True):
        place = int(record.x[seat]) + x, int(record.y[seat]) + y
        if place not in taken:
            width, height = (thick, long) if x else (long, thick)
            middle_x, middle_y = (start + tile / 2 + (tile + STRIP) / 2 * step for start, step in ((left, x), (top, y)))
            corner = {"x": middle_x - width / 2, "y": middle_y - height / 2}
            control_of = control(place_part(*place), f"{side} tile {seat}")
            strips.append(element("rect", **corner, width=width, height=height, **style, **control_of))
    return strips


def _turns(state: KernelState, top: float) -> list[str]:
    """Draw the buttons for the quarter turns of a tile that is placed or rotated."""
    turns = {PLACE: range(4), MOVE: range(1, 4)}.get(int(state.record.phase), range(0))
    return [button(12 + 80 * turn, top, 72, f"↻ {90 * turn}°", f"turn-{turn}") for turn in turns]


def _arrangements(seat: int, top: float, layout: Layout) -> tuple[list[str], float]:
    """Draw the arrangements that the seat can choose from, and return where they end."""
    parts = [text(16, top + 16, "Arrangements:", 13, fill=FAINT)]
    tile, columns = (96, 3) if layout.narrow else (TILE // 2, FIGHTS)
    for place, letters in enumerate(ACTIONS[:FIGHTS]):
        row, column = divmod(place, columns)
        packed = pack_tile([LETTERS.index(letter) for letter in letters])
        corner = (14 + (tile + GAP) * column, top + 24 + (tile + GAP) * row)
        parts.append(_tile(packed, seat, *corner, tile, f"tile-{letters}"))
    return parts, top + 24 + (tile + GAP) * (FIGHTS // columns) + 4


def _tile(tile: int, seat: int, left: float, top: float, side: float, choice: str = "", marks: str = "") -> str:
    """Draw a tile with its seat's number, its fighters parts of their own unless it stands for a choice."""
    place = f"translate({number(float(left))} {number(float(top))})"
    spaces = (_space(seat, space, each, side, not choice) for space, each in enumerate(fighters_on(tile)))
    inside = (_ground(seat, side), *spaces, marks, _badge(seat, side))
    drawn = element("g", *inside, data_part=choice or f"tile-{seat}", transform=place)
    return drawn if choice else element("g", drawn, data_piece=f"tile-{seat}")


@cache
def _ground(seat: int, side: float) -> str:
    """Return a tile without its spaces."""
    frame = {"x": 1.5, "y": 1.5, "width": side - 3, "height": side - 3, "rx": 9, "fill": SEAT_COLOURS[seat]}
    return element("rect", **frame, fill_opacity=".5", stroke=INK, stroke_width=1.5)


@cache
def _space(seat: int, space: int, fighter: int | None, side: float, parts: bool) -> str:
    """Return a space of a tile with the fighter on it, which is a part and a piece where parts are wanted."""
    inset = 4 if side < SMALL_TILE else 5  # of 64: on a small tile, all of a space is there to be hit
    x, y = (side * (inset + 28 * step) / 64 for step in SPACE_AT[space])
    width = side * (36 - 2 * inset) / 64
    ground = element("rect", x=x, y=y, width=width, height=width, rx=4, fill=PAPER, fill_opacity=".72")
    shape = _fighter(fighter, SEAT_COLOURS[seat], x + width / 2, y + width / 2, side / TILE)
    if not parts or fighter is None:
        return ground + shape
    piece = f"{seat}-{LETTERS[fighter]}"
    return element("g", ground, element("g", shape, data_piece=piece), data_part=f"fighter-{piece}")


@cache
def _badge(seat: int, side: float) -> str:
    """Return the seat's number in the middle of its tile."""
    middle, radius = side / 2, max(BADGE * side, 9.0)
    circle = {"cx": middle, "cy": middle, "r": radius}
    style = {"text_anchor": "middle", "font_weight": "bold", "fill": SEAT_INKS[seat]}
    size = min(15.0, max(12.0, radius * 1.3))
    return element("circle", **circle, fill=SEAT_COLOURS[seat], stroke=INK, stroke_width=1.5) + text(
        middle, middle + size * 0.36, str(seat), size, **style
    )


def _fighter(fighter: int | None, colour: str, x: float, y: float, scale: float) -> str:
    """Draw a pyramid with its pips, the stone, or a faint dot for a fighter that is gone, around (x, y)."""
    if fighter is None:
        return element("circle", cx=x, cy=y, r=4 * scale, fill="none", stroke=FAINT, stroke_dasharray="2 2")
    if fighter == STONE:
        return stone(x, y + 4 * scale, colour, scale)
    size = 2 - fighter  # fighters are numbered from the largest
    return pyramid(x, y + FIGHTER * scale * PYRAMID_SIZES[size][1] / 2, size, colour, FIGHTER * scale)


def _marks(state: KernelState, seat: int, layout: Layout) -> str:
    """Draw on a tile what the last ply did: a frame round it or its space that fought, and the fighter that fell."""
    last, side, marks = last_ply(state), layout.tile, []
    style = {"rx": 8, "fill": "none", "stroke": MARK, "stroke_width": 3 if layout.narrow else 4}
    if seat == last.tile:
        marks.append(element("rect", x=1.5, y=1.5, width=side - 3, height=side - 3, **style))
    for marked, space in sorted(last.spaces):
        if marked == seat:
            x, y = (side * (1 + 7 * step) / 16 for step in SPACE_AT[space])
            marks.append(_fallen(state, seat, space, (x + side * 7 / 32, y + side * 7 / 32), side / TILE))
            marks.append(element("rect", x=x + 1, y=y + 1, width=side * 7 / 16 - 2, height=side * 7 / 16 - 2, **style))
    return untouched(*marks)


def _fallen(state: KernelState, seat: int, space: int, middle: tuple[float, float], scale: float) -> str:
    """Draw the fighter that the last fight has knocked out, on its side where it stood."""
    fight, _, dice = last_ply(state).text.partition(" ")
    if not dice or "x" not in fight or fighters_on(state.record.tiles[seat])[space] is not None:
        return ""
    letter = fight[3] if seat == int(fight[2]) else fight[0]
    if letter == LETTERS[STONE]:
        return stone(*middle, SEAT_COLOURS[seat], scale, opacity=0.35)
    return lying(*middle, 2 - LETTERS.index(letter), SEAT_COLOURS[seat], 0.8 * scale, -20, opacity=0.45)


def _last_words(state: KernelState, top: float, layout: Layout) -> list[str]:
    """Draw the last ply in words, and the dice of a fight in the colours of those who rolled them."""
    last = last_ply(state)
    if not last.text:
        return []
    fight, _, dice = last.text.partition(" ")
    rolled = "x" in fight and bool(dice)
    left, right = 16, layout.width - 16 - rolled * 2 * (DIE + 6)
    parts = [text(left, top + 14, fitted(f"last: {_in_words(fight)}", right - left, 15), 15, fill=MARK)]
    if rolled:
        rollers = (int(state.record.seat), int(fight[2]))
        for place, (face, seat) in enumerate(zip(dice.split("-"), rollers, strict=True)):
            fill, ink = SEAT_COLOURS[seat], SEAT_INKS[seat]
            parts.append(die(right + (DIE + 6) * place, top - 4, DIE, spots(int(face), DIE, ink), fill=fill))
    return parts


def _in_words(name: str) -> str:
    """Return an action or an outcome in words."""
    if "x" in name:
        return f"{SIZE_WORDS[name[0]]} against {SIZE_WORDS[name[3]]}"
    if not name[0].isdigit():
        return "fighters arranged"
    if name[1] == "-":
        return f"dice {name[0]} and {name[2]}"
    if name[1] == "r":
        return f"{_whose(name[0])} tile rotated by {90 * int(name[2])}°"
    where = "first" if name[2] == "*" else f"{SIDE_WORDS[name[3]].removeprefix('to the ')} {_whose(name[2])}"
    return f"{_whose(name[0])} tile {'placed' if name[1] == '@' else 'moved'} {where}"


def _whose(seat: str) -> str:
    """Return a player as the owner of a tile, by its colour, which is short and beside the names."""
    return f"{colour_name(int(seat))}'s"


def _label(coordinate: int | None) -> str:
    words = "…" if coordinate is None else str(coordinate)
    return words if len(words) < 7 else "…"
