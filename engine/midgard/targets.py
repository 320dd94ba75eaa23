"""The parts of Midgard's drawing that stand for an action: a cell, or the button to declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.midgard.rules import DECLARE
from engine.midgard.text import ACTIONS

if TYPE_CHECKING:
    from engine.state import KernelState


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the part to click for every legal action."""
    return {action: parts(state, action) for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...]:
    """Return the part of an action, legal or not."""
    return ("declare" if action == DECLARE else f"cell-{ACTIONS[action]}",)
