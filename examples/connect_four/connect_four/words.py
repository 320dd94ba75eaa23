"""Connect four in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connect_four.rules import FULL_BOARD, HEIGHT, NORMAL, ROWS
from connect_four.text import ACTIONS
from engine.words import Names, Sentence, following, placing

if TYPE_CHECKING:
    from engine.state import KernelState


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return what the seat to move is asked."""
    parts = following(state.targets(), chosen)[1]
    text = names.ask(state.current_player(), "drop a stone into a column that is not full")
    return Sentence(text, parts, section="§3 What is allowed")


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return where a stone went, and whether it made a line."""
    seat, filled = before.current_player(), int(before.record.stones[0] | before.record.stones[1])
    row = (filled >> HEIGHT * action & (1 << ROWS) - 1).bit_length() + 1
    line = ", which makes four in a line" if after.record.ended == NORMAL else ""
    text = f"{names.does(seat, 'drop')} a stone into column {ACTIONS[action]}, where it lies in row {row}{line}."
    return Sentence(names.begin(text), (f"column-{ACTIONS[action]}",), section="§4 What a drop does")


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place, and what ended the match."""
    why = "the board is full and no four are in a line" if state.record.ended == FULL_BOARD else "four are in a line"
    return Sentence(f"{placing(state.ranks(), seat, names)}: {why}.", section="§5 The end")
