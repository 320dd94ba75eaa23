"""The parts of Pyramid Punch's drawing that stand for an action.

An arrangement is one click. A fight is the own fighter, then the enemy. A tile that is turned, placed or moved is
clicked first; then the place beside another tile, or the number of quarter turns, or both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.pyramid_punch.rules import STEP_X, STEP_Y, on_table
from engine.pyramid_punch.text import ACTIONS, SIDE_LETTERS

if TYPE_CHECKING:
    from engine.state import KernelState


def targets(state: KernelState) -> dict[int, tuple[str, ...]]:
    """Return the parts to click for every legal action, in order."""
    return {action: _parts(state, ACTIONS[action]) for action in state.legal_actions()}


def parts(state: KernelState, action: int) -> tuple[str, ...] | None:
    """Return the parts of an action, legal or not; None for a place beside a tile that does not lie on the table."""
    name = ACTIONS[action]
    beside = name[2] if name[1] in "@>" else ""
    return _parts(state, name) if not beside.isdigit() or on_table(state.record, int(beside)) else None


def place_part(x: int, y: int) -> str:
    """Return the name of a free place, by its coordinates in the state's record."""
    return f"place-{x},{y}"


def _parts(state: KernelState, name: str) -> tuple[str, ...]:
    if not name[0].isdigit():
        own, _, fight = name.partition("x")
        return (
            (f"fighter-{state.current_player()}-{own}", f"fighter-{fight[0]}-{fight[1]}")
            if fight
            else (f"tile-{name}",)
        )
    tile, kind, how = f"tile-{name[0]}", name[1], name[2:]
    if kind == "r":
        return tile, f"turn-{how}"
    if how == "*":
        return (tile,)
    anchor, side = int(how[0]), SIDE_LETTERS.index(how[1])
    record = state.record
    place = place_part(int(record.x[anchor] + STEP_X[side]), int(record.y[anchor] + STEP_Y[side]))
    return (tile, place, f"turn-{how[3:]}") if kind == "@" else (tile, place)
