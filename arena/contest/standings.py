"""Standings of a contest as of its latest complete round, and those of the rounds before: files beside the log.

They are made from the log, and made again when they are missing. Pages read them alone, so that a page costs the same
whatever the log holds.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Hashable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from arena.core.files import open_regular, read_regular, write_file
from arena.core.models import Model

STANDINGS_FILE, ROUNDS_FILE = "standings.json", "rounds.jsonl"
MAX_STANDINGS_BYTES = 2**26
MAX_ROUNDS_BYTES = 2**27
"""Most bytes that are read of the file of rounds, from its end."""
MAX_ROUNDS_READ = 200
"""Latest rounds that are read of all."""
READ_BYTES = 2**18
"""Bytes of the file of rounds that are read at a time."""


class BoardRow(Model):
    """A bot on a board."""

    bot: str
    """Its label in the log, `b12.3`; `house:SPEC` for a bot of the house."""
    rank: int
    rank_low: int
    """The best rank that its interval allows."""
    rank_high: int
    rating: float | None
    low: float | None
    """Lower end of the rating's 95 % interval; None where there are too few blocks for one."""
    high: float | None
    matches: int
    blocks: int


class BoardStandings(Model):
    """The bots on a board, the best first."""

    game: str
    players: int
    rows: tuple[BoardRow, ...]


class OverallRow(Model):
    """A bot over all boards."""

    bot: str
    rank: int
    rank_low: int
    rank_high: int
    score: float | None
    """Mean over all boards of the expected score against the field, from 0 to 1; 0 on those it does not play."""
    low: float | None
    high: float | None
    matches: int
    boards: int
    """Boards that it plays on."""
    suspended: bool = False
    """Whether it forfeited so often that it plays no more."""


class Standings(Model):
    """The standings as of a complete round."""

    season: int
    round: int
    time: str
    """When the round was complete, UTC."""
    bots: int
    matches: int
    boards: tuple[BoardStandings, ...]
    overall: tuple[OverallRow, ...] = Field(default=())


class RoundRanks(NamedTuple):
    """Overall ranks as of a round."""

    round: int
    time: str
    ranks: dict[str, tuple[int, float | None]]
    """Rank and score by label."""


def file_versions(folder: Path) -> tuple[Hashable, Hashable]:
    """Return what changes whenever the standings of a season, and those of its rounds, are written; None without."""
    return _file_version(folder / STANDINGS_FILE), _file_version(folder / ROUNDS_FILE)


def _file_version(path: Path) -> Hashable:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def read_standings(folder: Path) -> Standings | None:
    """Return the standings in a season's folder; None where there are none, or they cannot be read."""
    try:
        return Standings.model_validate_json(read_regular(folder / STANDINGS_FILE, MAX_STANDINGS_BYTES))
    except (OSError, ValueError):
        return None


def write_standings(folder: Path, standings: Standings) -> None:
    """Write the standings of a season, and add their ranks to those of its rounds, unless these have them."""
    write_file(folder / STANDINGS_FILE, [standings.model_dump_json().encode(), b"\n"])
    add_to_rounds(folder, standings)


def add_to_rounds(folder: Path, standings: Standings) -> None:
    """Add the ranks of standings to those of the season's rounds, unless these have them."""
    latest = read_rounds(folder, 1)
    if not latest or latest[-1].round < standings.round:
        ranks = {row.bot: (row.rank, row.score) for row in standings.overall}
        line = json.dumps({"round": standings.round, "time": standings.time, "ranks": ranks})
        with (folder / ROUNDS_FILE).open("ab") as file:  # a line that is cut off by a kill is left out when it is read
            file.write(f"\n{line}\n".encode())


def read_rounds(folder: Path, most: int | None = MAX_ROUNDS_READ) -> Sequence[RoundRanks]:
    """Return the ranks of the latest rounds, in order; none where they cannot be read."""
    found: dict[int, RoundRanks] = {}
    with contextlib.closing(latest_rounds(folder)) as rounds:
        for ranks in islice(rounds, most):
            found[ranks.round] = ranks
    return [found[number] for number in sorted(found)]


def latest_rounds(folder: Path) -> Generator[RoundRanks, None, None]:
    """Yield the ranks of the rounds, the latest first; what cannot be read is left out.

    Only as much of the file is read as is asked for, so that its length does not matter.
    """
    known: set[int] = set()
    with contextlib.suppress(OSError), contextlib.closing(_lines_from_the_end(folder / ROUNDS_FILE)) as lines:
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                read = _ranks(json.loads(line))
                if read.round not in known:  # one that was written twice counts as it was written last
                    known.add(read.round)
                    yield read


def _lines_from_the_end(path: Path) -> Generator[bytes, None, None]:
    """Yield the lines of a file that anybody may have made, the last one first; raises `OSError`."""
    with open_regular(path) as file:
        end = file.seek(0, os.SEEK_END)
        parts: list[bytes] = []  # of a line whose beginning has not been read, the last one first
        first = max(0, end - MAX_ROUNDS_BYTES)
        while end > first:
            begin = max(first, end - READ_BYTES)
            file.seek(begin)
            *lines, tail = file.read(end - begin).split(b"\n")[::-1]
            end = begin
            if lines:
                yield b"".join([lines[0], *reversed(parts)])
                yield from lines[1:]
                parts = []
            parts.append(tail)
        if not first:
            yield b"".join(reversed(parts))


def _ranks(data: Any) -> RoundRanks:
    ranks = {
        str(bot): (int(rank), score if score is None else float(score)) for bot, (rank, score) in data["ranks"].items()
    }
    return RoundRanks(int(data["round"]), str(data["time"]), ranks)
