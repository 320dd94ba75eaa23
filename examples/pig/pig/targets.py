"""The parts of Pig's drawing that stand for an action: the die, and the pot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pig.rules import HOLD, ROLL

if TYPE_CHECKING:
    from engine.state import KernelState

PARTS = {HOLD: ("pot",), ROLL: ("die",)}


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the part to click for every legal action."""
    return {action: PARTS[action] for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...]:
    """Return the part of an action, legal or not."""
    return PARTS[action]
