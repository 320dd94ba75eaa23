"""Why the pot of Pig cannot be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.state import KernelState
    from engine.words import Names


def reason(state: KernelState, parts: tuple[str, ...], names: Names) -> str | None:
    """Return why the last part cannot be clicked; there is none before it."""
    return "There is nothing to hold: a turn begins with a roll." if parts[-1] == "pot" else None
