"""The part of connect four's drawing that stands for an action: a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connect_four.text import ACTIONS

if TYPE_CHECKING:
    from engine.state import KernelState


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the part to click for every legal action."""
    return {action: parts(state, action) for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...]:
    """Return the part of an action, legal or not."""
    return (f"column-{ACTIONS[action]}",)
