"""Why a column of connect four cannot be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connect_four.text import ACTIONS

if TYPE_CHECKING:
    from engine.state import KernelState
    from engine.words import Names


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked; there is none before it."""
    column = parts[-1].removeprefix("column-")
    return f"Column {column} is full." if column in ACTIONS else None
