"""Connect four's notation: actions, position strings, and the drawing for a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from connect_four.rules import COLUMNS, FULL_BOARD, HEIGHT, NORMAL, ROWS, TERMINAL, TOP, finish, has_four
from engine.errors import PositionError
from engine.positions import read_seat, split_fields

if TYPE_CHECKING:
    from engine.state import KernelGame, KernelState

ACTIONS = tuple("abcdefg")
OUTCOMES = ()
STONES = "xo"  # by seat
EMPTY = "."


def bit(column: int, row: int) -> int:
    """Return the set of one cell."""
    return 1 << HEIGHT * column + row


CELLS = [[bit(column, row) for column in range(COLUMNS)] for row in reversed(range(ROWS))]
"""Sets of one cell, row by row, the uppermost first."""


def rows(state: np.record) -> list[str]:
    """Return the board as it is seen: six rows of seven letters, the uppermost first."""
    first, second = state.stones.tolist()
    return [
        "".join([STONES[0] if first & cell else STONES[1] if second & cell else EMPTY for cell in cells])
        for cells in CELLS
    ]


def write_position(game: KernelGame, state: np.record) -> str:
    """Return `BOARD SEAT`."""
    return f"{'/'.join(rows(state))} {'-' if state.seat == TERMINAL else state.seat}"


def read_position(game: KernelGame, state: np.record, text: str) -> None:
    """Fill a blank record from a position string; raises `PositionError` with the field and why."""
    board, seat = split_fields(text, "BOARD SEAT")
    _read_board(state, board)
    counts = [int(stones).bit_count() for stones in state.stones]
    if counts[0] - counts[1] not in (0, 1):
        raise PositionError("BOARD", f"{counts[0]} x and {counts[1]} o, where x begins and the two take turns")
    to_move = counts[0] - counts[1]
    state.seat = to_move
    _read_ending(state, 1 - to_move)
    if seat != "-" and read_seat(seat, game.players) != to_move:
        raise PositionError("SEAT", f"{seat} is not to move with {counts[0]} x and {counts[1]} o")
    if (seat == "-") != (state.seat == TERMINAL):
        raise PositionError("SEAT", "must be - when a line or a full board has ended the match, and only then")


def _read_board(state: np.record, text: str) -> None:
    lines = text.split("/")
    if len(lines) != ROWS or not all(re.fullmatch(f"[{STONES}{EMPTY}]{{{COLUMNS}}}", line) for line in lines):
        raise PositionError("BOARD", f"'{text}' is not six rows of seven letters x, o or ., joined by /")
    for column, letters in enumerate(zip(*reversed(lines), strict=True)):
        if EMPTY in "".join(letters).rstrip(EMPTY):
            raise PositionError("BOARD", f"a stone in column {ACTIONS[column]} lies on an empty cell")
        for row, letter in enumerate(letters):
            if letter != EMPTY:
                state.stones[STONES.index(letter)] |= bit(column, row)


def _read_ending(state: np.record, last_seat: int) -> None:
    """End the match if the board says so, and refuse lines that the last drop cannot have made."""
    if has_four(state.stones[1 - last_seat]):
        raise PositionError("BOARD", f"{STONES[1 - last_seat]} has four in a line, but the last drop was the other's")
    if has_four(state.stones[last_seat]):
        if not _made_by_one_drop(state, last_seat):
            raise PositionError("BOARD", "no last drop can have made all these lines")
        finish(state, last_seat, NORMAL)
    elif (state.stones[0] | state.stones[1]) & TOP == TOP:
        finish(state, last_seat, FULL_BOARD)


def _made_by_one_drop(state: np.record, seat: int) -> bool:
    filled, stones = int(state.stones[0] | state.stones[1]), int(state.stones[seat])
    uppermost = filled & ~(filled >> 1)
    cells = (bit(column, row) for column in range(COLUMNS) for row in range(ROWS))
    return any(not has_four(stones & ~cell) for cell in cells if cell & uppermost & stones)


def last_drop(state: KernelState) -> tuple[int, int] | None:
    """Return (column, row) of the last drop; None at the start and in a state read from a position."""
    history = state.history()
    if not history:
        return None
    column = history[-1]
    filled = int(state.record.stones[0] | state.record.stones[1])
    return column, (filled >> HEIGHT * column & (1 << ROWS) - 1).bit_length() - 1


def draw(state: KernelState) -> str:
    """Draw the board with the last drop in brackets, and the seats."""
    last = last_drop(state)
    lines = []
    for row, letters in zip(reversed(range(ROWS)), rows(state.record), strict=True):
        cells = (f"[{letter}]" if (column, row) == last else f" {letter} " for column, letter in enumerate(letters))
        lines.append(f"  {''.join(cells)}".rstrip())
    lines += [f"   {'  '.join(ACTIONS)}", ""]
    for seat, stone in enumerate(STONES):
        lines.append(f"{'>' if seat == state.current_player() else ' '} seat {seat}  {stone}")
    return "\n".join([*lines, f"  {status(state)}"])


def status(state: KernelState) -> str:
    """Return how the match stands, in a few words."""
    drops = int(state.record.stones[0] | state.record.stones[1]).bit_count()
    if state.is_terminal():
        return f"over after {drops} drops ({state.ended}), places {[rank + 1 for rank in state.ranks()]}"
    return f"drop {drops + 1}, legal: {' '.join(ACTIONS[action] for action in state.legal_actions())}"
