"""The parts of Epicycle's drawing that stand for an action: a piece in hand, then the slice of the piece taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.epicycle.rules import SLOTS, offset_of
from engine.epicycle.text import ACTIONS

if TYPE_CHECKING:
    from engine.state import KernelState


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the parts to click for every legal action, in order."""
    return {action: parts(state, action) for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...]:
    """Return the parts of an action, legal or not."""
    slot = (int(state.record.gap) + int(offset_of(action))) % SLOTS
    return f"hand-{state.current_player()}-{ACTIONS[action][0]}", f"slot-{slot}"
