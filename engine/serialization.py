"""States as one line of JSON: the game, the position that the state was made from if any, and what happened since."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.errors import NotationError

MAX_RECORD_CHARS = 4 << 20
"""Longest text that is read: several times the longest match of our own games."""
MAX_SPEC_CHARS = 1000
"""Longest game spec that is read."""
FIELDS: dict[str, tuple[type, ...]] = {
    "game": (str,),
    "rules_version": (int,),
    "players": (int,),
    "position": (str, type(None)),
    "history": (list,),
}


class Record(NamedTuple):
    """The fields of a serialized state, in their order."""

    game: str
    rules_version: int
    players: int
    position: str | None
    history: list[Any]


def write_record(record: Record) -> str:
    """Return the record as one line of JSON."""
    return json.dumps(record._asdict(), separators=(",", ":"))


def read_record(text: str) -> Record:
    """Return the record that `write_record` wrote; raises `NotationError` for any other text."""
    if not isinstance(text, str) or len(text) > MAX_RECORD_CHARS:
        raise NotationError(f"a serialized state is a text of at most {MAX_RECORD_CHARS:,} letters")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise NotationError("a serialized state is one JSON object, and this is none") from None
    if not isinstance(record, dict) or set(record) != set(FIELDS):
        raise NotationError(f"a serialized state is a JSON object with {', '.join(FIELDS)}")
    for name, kind in FIELDS.items():
        if not isinstance(record[name], kind) or isinstance(record[name], bool):
            raise NotationError(f"a serialized state: {name} is of the wrong type")
    if len(record["game"]) > MAX_SPEC_CHARS:
        raise NotationError(f"a serialized state: game has more than {MAX_SPEC_CHARS:,} letters")
    return Record(**record)
