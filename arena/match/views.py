"""What a seat may see of a state."""

from __future__ import annotations

from engine import State


def view(state: State, seat: int | None) -> State:
    """Return a copy of a state as a seat may see it, or as a spectator (None): in today's games all of it."""
    return state.clone()


def lent(state: State, seat: int | None) -> State:
    """Return the same as `view` without a copy, to be read before the state changes."""
    return state
