"""States as text: the game, the position that the state was made from if any, and what has happened since."""

from __future__ import annotations

import json
from typing import Any

from engine.errors import IllegalActionError, NotationError
from engine.game import State
from engine.registry import load_game

MOST_LETTERS = 4 << 20
"""Longest text that is read: several times the longest match of our own games."""
MOST_OF_A_NAME = 1000
"""Longest game with its options that is looked for."""
FIELDS: dict[str, tuple[type, ...]] = {
    "game": (str,),
    "rules_version": (int,),
    "players": (int,),
    "position": (str, type(None)),
    "history": (list,),
}


def serialize(state: State) -> str:
    """One line of JSON, from which `deserialize` makes an equal state."""
    game = state.game
    values = (game.spec, game.type.rules_version, game.players, state.origin, state.history())
    return json.dumps(dict(zip(FIELDS, values, strict=True)), separators=(",", ":"))


def deserialize(text: str) -> State:
    """The state that `serialize` wrote; every action is checked.

    Raises `NotationError` for what is no such text or belongs to other rules, and what `load_game`,
    `state_from_position` and `apply_action` raise.
    """
    record = _record(text)
    game = load_game(record["game"], record["players"])
    if record["rules_version"] != game.type.rules_version:
        raise NotationError(
            f"the state is of rules version {record['rules_version']} of {game.name}; here is {game.type.rules_version}"
        )
    start = record["position"]
    state = game.new_initial_state() if start is None else game.state_from_position(start)
    for ply, action in enumerate(record["history"]):
        try:
            state.apply_action(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"history, entry {ply}: {error}") from None
    return state


def _record(text: str) -> dict[str, Any]:
    if not isinstance(text, str) or len(text) > MOST_LETTERS:
        raise NotationError(f"a serialized state is a text of at most {MOST_LETTERS:,} letters")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise NotationError("a serialized state is one JSON object, and this is none") from None
    if not isinstance(record, dict) or set(record) != set(FIELDS):
        raise NotationError(f"a serialized state is a JSON object with {', '.join(FIELDS)}")
    for name, kind in FIELDS.items():
        if not isinstance(record[name], kind) or isinstance(record[name], bool):
            raise NotationError(f"a serialized state: {name} is of the wrong type")
    if len(record["game"]) > MOST_OF_A_NAME:
        raise NotationError(f"a serialized state: game has more than {MOST_OF_A_NAME:,} letters")
    return record
