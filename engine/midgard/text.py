"""Midgard's notation: cells, orbits, position strings, and the drawing for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.errors import PositionError
from engine.midgard import rules
from engine.positions import split_fields

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

ROWS = "abcdefghijk"
CELL_NAMES = tuple(
    f"{row}{n}" for row, length in zip(ROWS, rules.ROW_LENGTHS, strict=True) for n in range(1, length + 1)
)
ROW_STARTS = tuple(sum(rules.ROW_LENGTHS[:row]) for row in range(len(rules.ROW_LENGTHS)))
ACTIONS = (*CELL_NAMES, "declare")
OUTCOMES = tuple("+".join(CELL_NAMES[cell] for cell in orbit) for orbit in rules.ORBITS)
ICE, BLIZZARD = ".", "*"
SEATS = "sl"
SEAT_NAMES = ("sea", "land")


def board_letters(state: np.record) -> str:
    """Return a character per cell in board order: `.` ice, `*` blizzard, `s` sea, `l` land."""
    letters = [BLIZZARD] * rules.CELLS
    for letter, cells in ((ICE, state.ice), ("s", state.tiles[rules.SEA]), ("l", state.tiles[rules.LAND])):
        for cell in rules.cells_of(cells):
            letters[cell] = letter
    return "".join(letters)


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `BOARD MOVER FLAG`."""
    letters = board_letters(state)
    board = "/".join(
        letters[start : start + length] for start, length in zip(ROW_STARTS, rules.ROW_LENGTHS, strict=True)
    )
    mover = {rules.CHANCE: "?", rules.TERMINAL: "-"}.get(int(state.seat)) or SEATS[state.seat]
    return f"{board} {mover} {'d' if state.declared else '-'}"


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    board, mover, flag = split_fields(text, "BOARD MOVER FLAG")
    rules.set_up(state, game.players, game.params)
    letters = _read_rows(board)
    for letter, cells in ((ICE, state.ice), ("s", state.tiles[rules.SEA]), ("l", state.tiles[rules.LAND])):
        cells[:] = rules.cell_set(cell for cell in range(rules.CELLS) if letters[cell] == letter)
    left_empty = state.odin and mover == "-"  # what an Odin match leaves unfilled may have been ice
    _check_cells(letters, bool(left_empty) or game.params["variant"] == "loki")
    for seat in (rules.SEA, rules.LAND):
        count = letters.count(SEATS[seat])
        if count > rules.TILES:
            raise PositionError("BOARD", f"has {count} {SEAT_NAMES[seat]} tiles, where each side has {rules.TILES}")
        state.hand[seat] = rules.TILES - count
    _read_mover(state, letters, mover)
    _read_flag(state, flag)


def _read_rows(board: str) -> str:
    rows = board.split("/")
    if len(rows) != len(ROWS):
        raise PositionError("BOARD", f"has {len(rows)} rows, not {len(ROWS)}")
    for name, row, length in zip(ROWS, rows, rules.ROW_LENGTHS, strict=True):
        if len(row) != length:
            raise PositionError("BOARD", f"row {name} has {len(row)} cells, not {length}")
        if strange := set(row) - {ICE, BLIZZARD, *SEATS}:
            raise PositionError("BOARD", f"row {name} holds '{min(strange)}', which is none of . * s l")
    return "".join(rows)


def _check_cells(letters: str, lone_blizzard: bool) -> None:
    if letters[rules.CENTRE] == ICE:
        raise PositionError("BOARD", f"{CELL_NAMES[rules.CENTRE]} is ice, but the centre is blizzard from the start")
    touched = {near for cell, letter in enumerate(letters) if letter in SEATS for near in rules.NEIGHBOURS[cell]}
    for cell, letter in enumerate(letters):
        beside_a_tile = cell in touched
        if letter == ICE and beside_a_tile:
            raise PositionError("BOARD", f"{CELL_NAMES[cell]} is ice beside a tile, where it would be blizzard")
        if letter == BLIZZARD and not (beside_a_tile or cell == rules.CENTRE or lone_blizzard):
            raise PositionError("BOARD", f"{CELL_NAMES[cell]} is blizzard, but neither the centre nor beside a tile")


def _read_mover(state: np.record, letters: str, mover: str) -> None:
    if mover == "?":
        _read_picked(state, letters)
        return
    if mover not in (*SEATS, "-"):
        raise PositionError("MOVER", f"'{mover}' is none of s l ? -")
    state.to_pick = 0
    out_of_tiles = [SEAT_NAMES[seat] for seat in (rules.SEA, rules.LAND) if state.hand[seat] == 0]
    if mover == "-":
        if ICE in letters and not (state.odin or out_of_tiles):
            raise PositionError(
                "MOVER", f"is -, but ice is left and neither side has all {rules.TILES} tiles on the board"
            )
        state.seat = rules.TERMINAL
        state.ended = rules.NORMAL
        return
    if ICE not in letters:
        raise PositionError("MOVER", f"is {mover}, but no ice is left, so that the match is over")
    if out_of_tiles:
        raise PositionError("MOVER", f"is {mover}, but {out_of_tiles[0]} has no tile left, so that the match is over")
    state.seat = SEATS.index(mover)
    if not state.odin:
        _check_no_enclosure(letters)


def _read_picked(state: np.record, letters: str) -> None:
    """Read the orbits picked so far, before Loki's last seed: the board shows nothing else but the centre."""
    picked = [orbit for orbit, cells in enumerate(rules.ORBITS) if all(letters[cell] == BLIZZARD for cell in cells)]
    seeds = {rules.CENTRE, *(cell for orbit in picked for cell in rules.ORBITS[orbit])}
    shown = "".join(BLIZZARD if cell in seeds else ICE for cell in range(rules.CELLS))
    if letters != shown or len(picked) >= state.to_pick:
        raise PositionError("MOVER", "is ?, but the board is none that Loki's set-up shows before its last seeds")
    state.picked = sum(1 << orbit for orbit in picked)
    state.to_pick -= len(picked)


def _check_no_enclosure(letters: str) -> None:
    """Check that every blizzard cell can be reached from the ice through blizzard."""
    reached = [cell for cell in range(rules.CELLS) if letters[cell] == ICE]
    enclosed = {cell for cell in range(rules.CELLS) if letters[cell] == BLIZZARD}
    for cell in reached:  # grows while it is walked
        found = enclosed.intersection(rules.NEIGHBOURS[cell])
        reached += found
        enclosed -= found
    if enclosed:
        raise PositionError("BOARD", f"the region of {CELL_NAMES[min(enclosed)]} is enclosed, but not terraformed")


def _read_flag(state: np.record, flag: str) -> None:
    if flag not in ("d", "-"):
        raise PositionError("FLAG", f"'{flag}' is neither d nor -")
    if flag == "d" and not state.odin:
        raise PositionError("FLAG", "is d, but only Odin knows declaring")
    if flag == "d" and state.seat == rules.TERMINAL:
        raise PositionError("FLAG", "is d, but the match is over")
    state.declared = flag == "d"


def last_drop(state: KernelState) -> int | None:
    """Return the cell of the last action's drop; None after a declaration, a chance outcome or nothing at all."""
    history = state.history()
    seeded_last = not any(state.record.tiles.flat)
    return history[-1] if history and not seeded_last and history[-1] != rules.DECLARE else None


def marked_blizzard(state: KernelState) -> set[int]:
    """Return the blizzard cells that a drawing marks: in Mere Mortal all, else those beside no tile."""
    letters = board_letters(state.record)
    blizzard = {cell for cell in range(rules.CELLS) if letters[cell] == BLIZZARD}
    if state.game.params["variant"] == "mere_mortal":
        return blizzard
    return {cell for cell in blizzard if not any(letters[near] in SEATS for near in rules.NEIGHBOURS[cell])}


def draw(state: KernelState) -> str:
    """Draw the triangle of triangles: `~~` sea, `##` land, `**` marked blizzard; other empty cells show their numbers.

    The last drop stands in brackets.
    """
    letters = board_letters(state.record)
    marked = marked_blizzard(state)
    canvas = [[" "] * 52 for _ in range(2 * len(ROWS))]
    for cell, letter in enumerate(letters):
        number = CELL_NAMES[cell][1:]
        _draw_cell(canvas, cell, {"s": "~~", "l": "##"}.get(letter) or ("**" if cell in marked else f"{number:>2}"))
    dropped = last_drop(state)
    if dropped is not None:
        _draw_cell(canvas, dropped, "~~" if letters[dropped] == "s" else "##", "[]")
    lines = ["".join(line).rstrip() for line in canvas]
    return "\n".join([*lines, "", *_hands(state), f"  {status(state)}"])


def _draw_cell(canvas: list[list[str]], cell: int, content: str, sides: str = "") -> None:
    """Draw a cell, two lines a row and four columns an edge; its content stands where the triangle is broad."""
    x, y = rules.CENTRES[cell]
    row, points_up = divmod(y - 1, 3)
    column = 24 + 2 * x
    broad, tip = (2 * row + 1, 2 * row) if points_up else (2 * row, 2 * row + 1)
    left, right = ("/", "\\") if points_up else ("\\", "/")
    canvas[broad][column : column + 4] = [*(sides[:1] or left), *content, *(sides[1:] or right)]
    canvas[tip][column + 1 : column + 3] = [left, right]
    if CELL_NAMES[cell][1:] == "1":
        canvas[broad][column - 2] = ROWS[row]


def _hands(state: KernelState) -> list[str]:
    who = state.current_player()
    return [
        f"{'>' if seat == who else ' '} seat {seat}  {SEAT_NAMES[seat]:4} {mark}"
        f"  {rules.TILES - state.record.hand[seat]:2} cells, {state.record.hand[seat]:2} tiles in hand"
        for seat, mark in ((rules.SEA, "~~"), (rules.LAND, "##"))
    ]


def status(state: KernelState) -> str:
    """Return whose turn it is and what is open to it, or how the match ended."""
    who = state.current_player()
    if who == rules.CHANCE:
        return f"before the start, {3 * int(state.record.to_pick)} seeds to come"
    if who == rules.TERMINAL:
        return f"over ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    legal = f"{len(rules.cells_of(state.record.ice))} ice cells"
    if state.record.odin:
        legal += " or declare"
    declared = f"{SEAT_NAMES[1 - who]} declares that no ice is left; " if state.record.declared else ""
    return f"{declared}{SEAT_NAMES[who]} to move, legal: {legal}"
