"""Records that are written to the log, and parsers of its columns."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from arena.core.errors import StoreError
from arena.match.result import MatchRow
from arena.schedule.blocks import MatchSpec

MAX_MOVES = 64 * 2**20
"""Largest size in bytes of the moves of a match."""


@dataclass(frozen=True)
class BotRow:
    """A bot: all that is needed to load it again."""

    identity: str
    spec: str
    module: str
    class_name: str
    bundle: str


class RunRow(NamedTuple):
    """The latest run."""

    number: int
    started: str
    """UTC."""
    workers: list[tuple[int, str, int]]
    """Number of a run, worker, and number of its matches, of all runs."""


class Finished(NamedTuple):
    """A finished match with its place in the plan and how it was played."""

    spec: MatchSpec
    row: MatchRow
    worker: str
    attempts: int
    run: int | None = None
    """Number of the earlier run that played it, if the result has waited in the log."""


def read_notes(text: str) -> list[tuple[int, str]]:
    """Parse the notes of bots on their moves."""
    try:
        notes = [(ply, note) for ply, note in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        notes = [(-1, "")]
    if not all(type(ply) is int and ply >= 0 and isinstance(note, str) for ply, note in notes):
        raise StoreError("the log is damaged: a match's notes cannot be read")
    return notes


def read_moves(value: str | bytes) -> str:
    """Return the moves as text, decompressing them if needed."""
    if isinstance(value, str):
        return value
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(value, MAX_MOVES).decode()
    except (TypeError, zlib.error, UnicodeDecodeError):
        raise StoreError("the log is damaged: a match's moves cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise StoreError(f"the log is damaged: a match's moves have more than {MAX_MOVES >> 20} MiB")
    return text
