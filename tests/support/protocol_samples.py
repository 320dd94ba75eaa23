"""One message of each kind, from two-player Epicycle."""

from __future__ import annotations

import engine
from tests.support.protocol_driver import Message, gameover, move, newgame

START = engine.load_game("epicycle", 2).new_initial_state()


def beginning(**changes: object) -> Message:
    return {**newgame(START, 0, 7, {"boldness": 100}), **changes}


def first_move(**changes: object) -> Message:
    return {**move(START, []), **changes}


def last_message() -> Message:
    state = START.clone()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    return gameover(state, [[0, "S+"]])
