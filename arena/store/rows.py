"""Records that are written to the log, and parsers of its columns."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from arena.core.errors import StoreError
from arena.match.result import MatchRow
from arena.schedule.blocks import MatchSpec

DROPPED_PATTERN = re.compile(r"([0-9]{1,2}:[1-9][0-9]{0,8}(,(?!$)|$))*")
MAX_MOVES_BYTES = 64 * 2**20
"""Largest size in bytes of the moves of a match."""


@dataclass(frozen=True)
class BotRow:
    """A bot: all that is needed to load it again, which is empty for persons and for bots from elsewhere."""

    identity: str
    spec: str
    module: str = ""
    class_name: str = ""
    bundle: str = ""


class EventRow(NamedTuple):
    """An event that a round of a contest is bound to."""

    round: int
    kind: str
    label: str
    data: str
    """JSON."""


class RunRow(NamedTuple):
    """The latest run."""

    number: int
    started: str
    """UTC."""
    workers: list[tuple[int, str, int]]
    """Number of a run, worker, and number of its matches, of all runs."""


class SeatResult(NamedTuple):
    """What became of a seat in a match of a block."""

    lineup: int
    seat: int
    rank: int
    forfeited: int
    """1 if it did."""


class FinishedMatch(NamedTuple):
    """A finished match with its place in the plan and how it was played."""

    spec: MatchSpec
    row: MatchRow
    worker: str
    attempts: int


def read_notes(text: str) -> list[tuple[int, str]]:
    """Parse the notes of bots on their moves."""
    try:
        notes = [(ply, note) for ply, note in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        notes = [(-1, "")]
    if not all(type(ply) is int and ply >= 0 and isinstance(note, str) for ply, note in notes):
        raise StoreError("the log is damaged: a match's notes cannot be read")
    return notes


def estimate_columns(packed: str, dropped: Mapping[int, int]) -> tuple[bytes, str]:
    """Return what bots expected in a match, and the counts of what was wrong, as columns of the log."""
    return base64.b64decode(packed), ",".join(f"{seat}:{count}" for seat, count in sorted(dropped.items()))


def estimates_of_columns(moves: bytes | None, dropped: str | None) -> tuple[str, dict[int, int]]:
    """Return columns of the log as `MatchRow` has them; what bots expected is not unpacked here."""
    if not DROPPED_PATTERN.fullmatch(dropped or ""):
        raise StoreError("the log is damaged: a match's counts of wrong evaluations cannot be read")
    counts = (part.split(":") for part in (dropped or "").split(",") if part)
    return base64.b64encode(moves or b"").decode(), {int(seat): int(count) for seat, count in counts}


def read_moves(value: str | bytes) -> str:
    """Return the moves as text, decompressing them if needed."""
    if isinstance(value, str):
        return value
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(value, MAX_MOVES_BYTES).decode()
    except (TypeError, zlib.error, UnicodeDecodeError):
        raise StoreError("the log is damaged: a match's moves cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise StoreError(f"the log is damaged: a match's moves have more than {MAX_MOVES_BYTES >> 20} MiB")
    return text
