"""Why a part of Magic Mids' drawing cannot be clicked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.magic_mids import text as notation
from engine.magic_mids.rules import BOARD, COLUMNS, PLACEMENTS, SQUARES
from engine.words import Reason

if TYPE_CHECKING:
    from engine.state import KernelState

HAND = re.compile(rf"hand-([0-3])-([{notation.SIZE_LETTERS}])")
CELL = re.compile(rf"cell-([{notation.ROW_LETTERS}][{notation.HEADERS}])")
TURN, ROLL, PLACING = "§2 The turn", "§3 The roll", "§4 Placing"


def reason(state: KernelState, parts: tuple[str, ...]) -> str | None:
    """Return why the last part cannot be clicked, though those before it can."""
    chosen = parts[0][-1] if len(parts) > 1 else ""
    if found := HAND.fullmatch(parts[-1]):
        return _of_size(state, int(found[1]), found[2], chosen)
    if found := CELL.fullmatch(parts[-1]):
        return _of_square(state, found[1], chosen)
    return None


def _of_size(state: KernelState, owner: int, size: str, chosen: str) -> str | None:
    seat, roll = state.current_player(), notation.OUTCOMES[state.record.roll]
    if owner >= state.game.players:
        return None
    if owner != seat:
        return Reason(f"Those mids belong to seat {owner}; seat {seat} is to move.", TURN)
    if size not in _held(state):
        return Reason(f"Seat {seat} has no {size} left in hand.", PLACING)
    if not _columns(state)[size]:
        return Reason(f"Roll {roll} allows {_allowed(state)}, and no {size}.", ROLL)
    return f"{chosen} is chosen already: choose the square it goes to."


def _of_square(state: KernelState, square: str, chosen: str) -> str:
    roll, header = notation.OUTCOMES[state.record.roll], square[1]
    mid = notation.board_cells(state.record)[notation.SQUARE_NAMES.index(square)]
    if mid != notation.FREE:
        return Reason(f"{square} holds a mid of seat {mid[0]}: a mid goes to a free square.", PLACING)
    sizes = [size for size, headers in _columns(state).items() if header in headers]
    if chosen:
        return Reason(f"Roll {roll} allows {chosen} {_where(_columns(state)[chosen])}, not in column {header}.", ROLL)
    if not sizes:
        return Reason(f"Roll {roll} allows {_allowed(state)}, and nothing in column {header}.", ROLL)
    return (
        f"Choose {' or '.join(size for size in sizes if size in _held(state))} in hand first, then the square {square}."
    )


def _held(state: KernelState) -> str:
    """Return the sizes that the seat to move has in hand."""
    counts = notation.hand_counts(state.record, state.current_player())
    return "".join(size for size, count in zip(notation.SIZE_LETTERS, counts, strict=True) if count)


def _columns(state: KernelState) -> dict[str, str]:
    """Return by size the headers of the columns in which the roll allows it."""
    allowed = int(PLACEMENTS[state.record.roll])
    squares = {size: allowed >> SQUARES * number & BOARD for number, size in enumerate(notation.SIZE_LETTERS)}
    return {
        size: "".join(notation.HEADERS[column] for column in range(COLUMNS) if found >> column & 1)
        for size, found in squares.items()
    }


def _allowed(state: KernelState) -> str:
    """Return what the roll allows, such as `S in column 4 and M in column 4`."""
    return " and ".join(f"{size} {_where(headers)}" for size, headers in _columns(state).items() if headers)


def _where(headers: str) -> str:
    return "in every column" if headers == notation.HEADERS else f"in column {' or '.join(headers)}"
