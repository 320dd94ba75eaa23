"""What goes into the log and comes out of it: bots, keys and matches as plain records."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from arena.core.errors import StoreError
from arena.match.result import Clocking, MatchRow
from arena.schedule.blocks import MatchSpec

MAX_MOVES = 64 * 2**20


@dataclass(frozen=True)
class BotRow:
    """A bot as the log keeps it: enough to load it again."""

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
    """Of all runs: number of the run, worker, matches that it played."""


class Finished(NamedTuple):
    """A row, where it belongs, and how it came about."""

    spec: MatchSpec
    row: MatchRow
    worker: str
    attempts: int
    run: int | None = None
    """Number of the run that played it, when that is an earlier one and the result has waited."""


def read_clocks(text: str) -> list[Clocking]:
    """What each call of a bot took, as `MatchRow.clocks` has it."""
    try:
        calls = [[int(part) for part in call.split(",")] for call in text.split()]
        return [Clocking(seat, ply, wall / 1e6, cpu / 1e6) for seat, ply, wall, cpu in calls]
    except ValueError:
        raise StoreError("the log is damaged: a match's clocks cannot be read") from None


def read_notes(text: str) -> list[tuple[int, str]]:
    """What bots said of their moves, as `MatchRow.notes` has it."""
    try:
        notes = [(ply, note) for ply, note in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        notes = [(-1, "")]
    if not all(type(ply) is int and ply >= 0 and isinstance(note, str) for ply, note in notes):
        raise StoreError("the log is damaged: a match's notes cannot be read")
    return notes


def read_moves(value: str | bytes) -> str:
    """The moves as text, compressed or not."""
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
