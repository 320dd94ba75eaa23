"""The parts of Magic Mids' drawing that stand for an action: a size in hand, then a square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.magic_mids.text import ACTIONS

if TYPE_CHECKING:
    from engine.state import KernelState


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the parts to click for every legal action, in order."""
    return {action: parts(state, action) for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...]:
    """Return the parts of an action, legal or not."""
    name = ACTIONS[action]
    return f"hand-{state.current_player()}-{name[0]}", f"cell-{name[1:]}"
