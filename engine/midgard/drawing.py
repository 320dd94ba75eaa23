"""Midgard's board as SVG: sea blue with a wave, land orange with a peak, every cell with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.game import CHANCE, TERMINAL
from engine.midgard.rules import CELLS, CENTRES, LAND, SEA, TILES, cells_of
from engine.midgard.text import BLIZZARD, CELL_NAMES, ICE, SEAT_NAMES, board_letters, last_drop, marked_blizzard

if TYPE_CHECKING:
    from engine.state import KernelState

HALF_EDGE, THIRD = 30, 17.32  # half an edge, and a third of a row's height
LEFT, TOP = 330, 70
BAR = 180
WIDTH, HEIGHT = 2 * LEFT, 690
FILLS = {"s": "#0072B2", "l": "#E69F00", ICE: "#E1EBF1", BLIZZARD: "#E1EBF1"}
INKS = {"s": "#FFFFFF", "l": "#000000", ICE: "#5A6770", BLIZZARD: "#5A6770"}
LAST = "#000000"


def svg(state: KernelState) -> str:
    """The board with both hands above it; the last drop is outlined."""
    letters = board_letters(state.record)
    marked = marked_blizzard(state)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' font-family="sans-serif" role="img">',
        f"<title>Midgard: {_caption(state)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>',
        *(_cell(cell, letters[cell], cell in marked) for cell in range(CELLS)),
    ]
    dropped = last_drop(state)
    if dropped is not None:
        parts.append(f'<polygon points="{_corners(dropped)}" fill="none" stroke="{LAST}" stroke-width="4"/>')
    parts += [_hand(state, seat) for seat in (SEA, LAND)]
    parts.append(_text(LEFT, HEIGHT - 14, _caption(state), 15))
    return "\n".join([*parts, "</svg>"])


def _centre(cell: int) -> tuple[float, float]:
    x, y = CENTRES[cell]
    return LEFT + HALF_EDGE * x, TOP + THIRD * y


def _points_up(cell: int) -> bool:
    return CENTRES[cell][1] % 3 == 2


def _corners(cell: int) -> str:
    x, y = _centre(cell)
    down = THIRD if _points_up(cell) else -THIRD
    return f"{x - HALF_EDGE:.1f},{y + down:.1f} {x + HALF_EDGE:.1f},{y + down:.1f} {x:.1f},{y - 2 * down:.1f}"


def _cell(cell: int, letter: str, marked: bool) -> str:
    x, y = _centre(cell)
    ink = INKS[letter]
    up = _points_up(cell)
    parts = [
        f'<polygon points="{_corners(cell)}" fill="{FILLS[letter]}" stroke="#FFFFFF" stroke-width="2"/>',
        _text(x, y + (12 if up else -4), CELL_NAMES[cell], 11, ink),
    ]
    sign_y = y - 4 if up else y + 9
    if letter == "s":
        parts.append(_line(f"M{x - 9:.1f} {sign_y:.1f}q4.5 -7 9 0t9 0", ink))
    elif letter == "l":
        parts.append(_line(f"M{x - 8:.1f} {sign_y + 3:.1f}l8 -9l8 9", ink))
    elif marked:
        parts.append(_line(f"M{x - 6:.1f} {sign_y:.1f}h12m-9 -5.2l6 10.4m0 -10.4l-6 10.4", "#8A3A63"))
    return "".join(parts)


def _line(path: str, ink: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="2"/>'


def _text(x: float, y: float, text: str, size: int, ink: str = "#000000", anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{ink}">{text}</text>'


def _hand(state: KernelState, seat: int) -> str:
    """A side's cells, as a number and as a bar that grows inward; a full bar is an empty hand."""
    cells = TILES - int(state.record.hand[seat])
    edge, anchor = ((20, "start"), (WIDTH - 20, "end"))[seat]
    full, filled = BAR, BAR * cells / TILES
    to_move = ", to move" if state.current_player() == seat else ""
    return (
        _text(edge, 34, f"{SEAT_NAMES[seat]}: {cells} cells{to_move}", 17, anchor=anchor)
        + f'<rect x="{edge - full * seat}" y="44" width="{full}" height="12" fill="#FFFFFF" stroke="#5A6770"/>'
        + f'<rect x="{edge - filled * seat:.1f}" y="44" width="{filled:.1f}" height="12" fill="{FILLS["sl"[seat]]}"/>'
    )


def _caption(state: KernelState) -> str:
    who = state.current_player()
    if who == CHANCE:
        return f"{3 * int(state.record.to_pick)} seeds to come"
    if who == TERMINAL:
        return f"over ({state.ended}), ranks {state.ranks()}"
    left = f"{len(cells_of(state.record.ice))} ice cells left"
    declared = f"{SEAT_NAMES[1 - who]} declares that no ice is left; " if state.record.declared else ""
    return f"{declared}{SEAT_NAMES[who]} to move, {left}"
