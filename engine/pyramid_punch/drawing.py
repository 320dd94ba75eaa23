"""Pyramid Punch as SVG: the tiles where they lie, pyramids seen from the side, the last ply framed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from engine.game import CHANCE, TERMINAL
from engine.pyramid_punch.rules import FIGHTS, STONE, on_table
from engine.pyramid_punch.text import ACTIONS, LastPly, fighters_on, last_ply, seat_line, table_of

if TYPE_CHECKING:
    from engine.state import KernelState

SEAT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")  # Okabe and Ito's, safe for the colour-blind
MARK = "#D55E00"
INK, FAINT, PAPER = "#222222", "#777777", "#FFFFFF"
TILE, SPACE = 128, 56  # pixels of a tile, and of one of its four spaces
INSET = (TILE - 2 * SPACE) // 2
SPACE_AT = ((0, 0), (1, 0), (1, 1), (0, 1))
HEAD, LEFT, LINE = 66, 56, 24
PYRAMID_SIZES = ((44, 46), (34, 37), (24, 28))  # width and height of L, M, S
MIN_WIDTH = 400


def svg(state: KernelState) -> str:
    """The whole state as a self-contained drawing."""
    last = last_ply(state)
    record, table = state.record, table_of(state.record)
    parts = [_text(16, 26, f"Pyramid Punch: {_status(state)}", 16, weight="bold")]
    for number, x in enumerate(table.columns):
        parts.append(_text(LEFT + TILE * number + TILE / 2, HEAD - 10, _label(x), 13, FAINT, "middle"))
    for number, y in enumerate(table.rows):
        parts.append(_text(LEFT - 10, HEAD + TILE * number + TILE / 2 + 4, _label(y), 13, FAINT, "end"))
    for seat, (column, row) in table.cells.items():
        parts.append(_tile(record, seat, LEFT + TILE * column, HEAD + TILE * row))
    for seat, (column, row) in table.cells.items():  # marks above all tiles
        parts.append(_marks(seat, LEFT + TILE * column, HEAD + TILE * row, last))
        parts.append(_badge(seat, LEFT + TILE * column, HEAD + TILE * row))
    top = HEAD + TILE * len(table.rows) + 12
    unplaced = [seat for seat in range(record.players) if record.tiles[seat] and not on_table(record, seat)]
    if unplaced:
        parts.append(_text(16, top + 16, "To be placed:", 13, FAINT))
        for i, seat in enumerate(unplaced):
            parts.append(_tile(record, seat, 16 + (TILE + 12) * i, top + 26))
            parts.append(_badge(seat, 16 + (TILE + 12) * i, top + 26))
        top += TILE + 42
    parts.append(_seats(state, top))
    texts_width = 32 + 10 * max(len(f"Pyramid Punch: {_status(state)}"), 30)
    width = max(MIN_WIDTH, texts_width, LEFT + TILE * len(table.columns) + 16, 20 + (TILE + 12) * len(unplaced))
    height = top + LINE * (record.players + 1) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif"><rect width="{width}" height="{height}" fill="{PAPER}"/>{"".join(parts)}</svg>'
    )


def _status(state: KernelState) -> str:
    record = state.record
    if state.current_player() == TERMINAL:
        return f"over after {record.turn} turns ({state.ended})"
    if state.current_player() == CHANCE:
        return f"turn {record.turn}, dice for {ACTIONS[FIGHTS + record.fight]}"
    return f"turn {record.turn}, seat {record.seat} to move"


def _seats(state: KernelState, top: float) -> str:
    """One line a seat, then the last ply."""
    parts = []
    mover = state.rolling_seat() if state.is_chance_node() else state.current_player()
    for seat in range(state.game.players):
        y = top + LINE * seat
        square = f'x="32" y="{y + 3}" width="16" height="16" rx="3"'
        parts.append(f'<rect {square} fill="{SEAT_COLOURS[seat]}" stroke="{INK}"/>')
        if seat == mover:
            parts.append(f'<path d="M14 {y + 4} l12 7 l-12 7 z" fill="{INK}"/>')
        words = f"seat {seat}   {seat_line(state, seat)}"
        parts.append(_text(58, y + 16, words, 14, weight="bold" if seat == mover else "normal"))
    text = last_ply(state).text
    if text:
        parts.append(_text(32, top + LINE * state.game.players + 16, f"last: {text}", 14, MARK))
    return "".join(parts)


def _tile(record: np.record, seat: int, left: float, top: float) -> str:
    colour = SEAT_COLOURS[seat]
    frame = f'x="{left + 2}" y="{top + 2}" width="{TILE - 4}" height="{TILE - 4}" rx="8"'
    parts = [f'<rect {frame} fill="{colour}" fill-opacity="0.18" stroke="{colour}" stroke-width="3"/>']
    for (column, row), fighter in zip(SPACE_AT, fighters_on(record.tiles[seat]), strict=True):
        x, y = left + INSET + SPACE * column, top + INSET + SPACE * row
        parts.append(_fighter(fighter, colour, x + SPACE / 2, y + SPACE / 2))
    return "".join(parts)


def _badge(seat: int, left: float, top: float) -> str:
    """The seat's number in the middle of its tile."""
    x, y = left + TILE / 2, top + TILE / 2
    circle = f'<circle cx="{x}" cy="{y}" r="10" fill="{PAPER}" stroke="{SEAT_COLOURS[seat]}" stroke-width="2"/>'
    return circle + _text(x, y + 5, str(seat), 14, anchor="middle", weight="bold")


def _fighter(fighter: int | None, colour: str, x: float, y: float) -> str:
    """A pyramid with its pips, the stone, or a faint dot where the fighter is gone; (x, y) is the space's middle."""
    if fighter is None:
        return f'<circle cx="{x}" cy="{y}" r="4" fill="none" stroke="{FAINT}" stroke-dasharray="2 2"/>'
    if fighter == STONE:
        return f'<ellipse cx="{x}" cy="{y + 4}" rx="17" ry="12" fill="{colour}" stroke="{INK}" stroke-width="1.5"/>'
    width, height = PYRAMID_SIZES[fighter]
    base = y + height / 2
    outline = f"{x},{base - height} {x - width / 2},{base} {x + width / 2},{base}"
    parts = [f'<polygon points="{outline}" fill="{colour}" stroke="{INK}" stroke-width="1.5" stroke-linejoin="round"/>']
    pips = 3 - fighter
    for pip in range(pips):
        middle = x + 9 * (pip - (pips - 1) / 2)
        parts.append(f'<circle cx="{middle}" cy="{base - 7}" r="3" fill="{PAPER}" stroke="{INK}"/>')
    return "".join(parts)


def _marks(seat: int, left: float, top: float, last: LastPly) -> str:
    """Frames round the tile or the spaces of the last ply."""
    frames = [(left + 2, top + 2, TILE - 4)] if seat == last.tile else []
    for marked, space in sorted(last.spaces):
        if marked == seat:
            column, row = SPACE_AT[space]
            frames.append((left + INSET + SPACE * column + 1, top + INSET + SPACE * row + 1, SPACE - 2))
    return "".join(
        f'<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="8" fill="none" stroke="{MARK}" stroke-width="4"/>'
        for x, y, size in frames
    )


def _label(coordinate: int | None) -> str:
    text = "…" if coordinate is None else str(coordinate)
    return text if len(text) < 7 else "…"


def _text(
    x: float, y: float, words: str, size: int, fill: str = INK, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}" xml:space="preserve">{escape(words)}</text>'
    )
