"""Why a part of Magic Mids' drawing cannot be clicked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.magic_mids import text as notation
from engine.magic_mids.rules import BOARD, COLUMNS, PLACEMENTS, SQUARES
from engine.magic_mids.words import FACE_WORDS, SIZE_WORDS, a_mid
from engine.words import Names, Reason, listed

if TYPE_CHECKING:
    from engine.state import KernelState

HAND = re.compile(rf"hand-([0-3])-([{notation.SIZE_LETTERS}])")
CELL = re.compile(rf"cell-([{notation.ROW_LETTERS}][{notation.HEADERS}])")
TURN, ROLL, PLACING = "§2 The turn", "§3 The roll", "§4 Placing"


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked, though those before it can."""
    chosen = parts[0][-1] if len(parts) > 1 else ""
    if found := HAND.fullmatch(parts[-1]):
        return _of_size(state, int(found[1]), found[2], chosen, names)
    if found := CELL.fullmatch(parts[-1]):
        return _of_square(state, found[1], chosen, names)
    return None


def _of_size(state: KernelState, owner: int, size: str, chosen: str, names: Names) -> str | None:
    seat = state.current_player()
    if owner >= state.game.players:
        return None
    if owner != seat:
        return Reason(f"Those mids belong to {names.who(owner)}; {names.does(seat, 'be')} to move.", TURN)
    if size not in _held(state):
        return Reason(names.begin(f"{names.does(seat, 'have')} no {SIZE_WORDS[size]} mid left in hand."), PLACING)
    if not _columns(state)[size]:
        return Reason(f"{_allowed(state)}, and no {SIZE_WORDS[size]} one.", ROLL)
    return f"The {SIZE_WORDS[chosen]} mid is chosen already: choose the square it goes to."


def _of_square(state: KernelState, square: str, chosen: str, names: Names) -> str:
    header = square[1]
    mid = notation.board_cells(state.record)[notation.SQUARE_NAMES.index(square)]
    if mid != notation.FREE:
        return Reason(f"{square} holds {names.whose(int(mid[0]))} mid: a mid goes to a free square.", PLACING)
    sizes = [size for size, headers in _columns(state).items() if header in headers]
    if chosen:
        return Reason(f"{_allowed(state, chosen)}, not in column {header}.", ROLL)
    if not sizes:
        return Reason(f"{_allowed(state)}, and nothing in column {header}.", ROLL)
    able = "".join(size for size in sizes if size in _held(state))
    return f"Choose {a_mid(able)} in hand first, then the square {square}."


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


def _allowed(state: KernelState, sizes: str = notation.SIZE_LETTERS) -> str:
    """Return where the roll allows mids of these sizes: `The roll of 2, 3 and 3 allows a medium mid in column 3`."""
    faces = listed([FACE_WORDS.get(face, face) for face in notation.OUTCOMES[state.record.roll]])
    columns = {size: headers for size, headers in _columns(state).items() if headers and size in sizes}
    (headers,) = {*columns.values()}  # sizes that one roll allows go to the same columns
    where = "every column" if headers == notation.HEADERS else f"column {listed(headers, 'or')}"
    return f"The roll of {faces} allows {a_mid(''.join(columns))} in {where}"
