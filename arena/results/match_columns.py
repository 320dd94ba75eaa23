"""Columns of a log's matches and of their seats, and the file that keeps them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arena.core.files import write_file
from arena.results.growing import GrowingArray, Vocabulary
from arena.results.match_filter import MatchKey

FILE_VERSION = 2
LOG_COLUMNS = {
    "block": np.int64,
    "lineup": np.int32,
    "board": np.int32,
    "round": np.int32,
    "plies": np.int32,
    "ended": np.int16,
}
"""Columns of matches that the log has."""
MATCH_COLUMNS = {**LOG_COLUMNS, "table": np.int32}
SEAT_COLUMNS = {
    "match": np.int32,
    "seat": np.int8,
    "bot": np.int32,
    "rank": np.int8,
    "cause": np.int16,
    "entry": np.int32,
}
MAX_RANKS = 128
"""Ranks that a column of seats can hold."""


class MatchColumns:
    """Matches and seats in the order in which they were read; those of a match lie together."""

    def __init__(
        self,
        match: Mapping[str, np.ndarray] | None = None,
        seat: Mapping[str, np.ndarray] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        match = match or {name: np.empty(0, kind) for name, kind in MATCH_COLUMNS.items()}
        seat = seat or {name: np.empty(0, kind) for name, kind in SEAT_COLUMNS.items()}
        about = about or {"ended": [], "causes": [""], "bots": [], "plan": ""}
        self.match = {name: GrowingArray(values) for name, values in match.items()}
        self.seat = {name: GrowingArray(values) for name, values in seat.items()}
        self.ended, self.causes = Vocabulary(about["ended"]), Vocabulary(about["causes"])
        self.bots = Vocabulary(about["bots"])
        """Identities."""
        self.plan = str(about["plan"])
        """Digest of the plan that tables and entries are of."""

    def __len__(self) -> int:
        return len(self.match["block"].view)

    @property
    def newest(self) -> MatchKey | None:
        """The match that was read last."""
        if not len(self):
            return None
        return MatchKey(int(self.match["block"].view[-1]), int(self.match["lineup"].view[-1]))

    def append(self, match: Mapping[str, np.ndarray], seat: Mapping[str, np.ndarray]) -> None:
        """Add matches and their seats."""
        for name, column in self.match.items():
            column.extend(match[name])
        for name, column in self.seat.items():
            column.extend(seat[name])

    def write(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write the columns to a file, with what the caller wants to know about them when it reads them."""
        about = {"format": FILE_VERSION, **about, "plan": self.plan}
        about |= {"ended": self.ended.words, "causes": self.causes.words, "bots": self.bots.words}
        arrays = {f"match_{name}": column.view for name, column in self.match.items()}
        arrays |= {f"seat_{name}": column.view for name, column in self.seat.items()}
        content = io.BytesIO()
        np.savez(content, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
        write_file(path, [content.getvalue()])

    def check(self, boards: Mapping[int, tuple[str, int]]) -> None:
        """Raise `ValueError` unless the columns fit together; `boards` are games and players by number."""
        match, seat = ({name: each.view for name, each in columns.items()} for columns in (self.match, self.seat))
        counts = for_each_value(match["board"], lambda board: boards[board][1])
        sound = np.array_equal(np.repeat(np.arange(len(counts)), counts), seat["match"])
        sound = sound and all_below(match["ended"], len(self.ended.words))
        sound = sound and all_below(seat["cause"], len(self.causes.words))
        sound = sound and all_below(seat["bot"], len(self.bots.words))
        if not sound or not all_below(seat["rank"], MAX_RANKS):
            raise ValueError("its columns do not fit together")


def read_columns(path: Path) -> tuple[MatchColumns, dict[str, Any]]:
    """Return the columns in a file, and what was written about them.

    A changed file may raise many errors; raises `ValueError` for one of another version or with other columns.
    """
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes())
        match = {name: arrays[f"match_{name}"] for name in MATCH_COLUMNS}
        seat = {name: arrays[f"seat_{name}"] for name in SEAT_COLUMNS}
    for columns, kinds in ((match, MATCH_COLUMNS), (seat, SEAT_COLUMNS)):
        if len({len(values) for values in columns.values()}) != 1:
            raise ValueError("its columns have different lengths")
        if any(columns[name].dtype != kind for name, kind in kinds.items()):
            raise ValueError("its columns have other types")
    if about["format"] != FILE_VERSION:
        raise ValueError("it is of another version")
    return MatchColumns(match, seat, about), about


def for_each_value(values: np.ndarray, function: Callable[[int], int]) -> np.ndarray:
    """Return a function of each value, called once for those that are equal."""
    kinds, number = np.unique(values, return_inverse=True)
    return np.array([function(kind) for kind in kinds.tolist()], np.int64)[number]


def all_below(values: np.ndarray, count: int) -> bool:
    """Return whether all values are from 0 to below a count."""
    return bool(((values >= 0) & (values < count)).all())
