"""Matches as their states remember them, for words that tell how something came about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from engine.game import State

Kind = TypeVar("Kind", bound=State)


def replay(state: Kind) -> Iterator[tuple[Kind, int]]:
    """Yield each state that a state remembers, and the action or outcome that was played there.

    It is always the same object: clone what is to be kept.
    """
    game, origin = state.game, state.origin
    before = game.new_initial_state() if origin is None else game.state_from_position(origin)
    assert isinstance(before, type(state))
    for action in state.history():
        yield before, action
        before.apply_action(action)
