"""Standings of a contest as of its latest complete round, and those of the rounds before: files beside the log.

They are made from the log, and made again when they are missing. Pages read them alone, so that a page costs the same
whatever the log holds.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from arena.core.files import read_regular, write_file
from arena.core.models import Model

STANDINGS_FILE, ROUNDS_FILE = "standings.json", "rounds.jsonl"
MAX_STANDINGS_BYTES = 2**26
MAX_ROUNDS_BYTES = 2**27
MAX_ROUNDS_READ = 200
"""Latest rounds that are read of all."""


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


def read_standings(folder: Path) -> Standings | None:
    """Return the standings in a season's folder; None where there are none, or they cannot be read."""
    try:
        data = json.loads(read_regular(folder / STANDINGS_FILE, MAX_STANDINGS_BYTES))
        return Standings.model_validate_json(json.dumps(data))
    except (OSError, ValueError, ValidationError, RecursionError):
        return None


def write_standings(folder: Path, standings: Standings) -> None:
    """Write the standings of a season, and add their ranks to those of its rounds, unless these have them."""
    write_file(folder / STANDINGS_FILE, [standings.model_dump_json().encode(), b"\n"])
    latest = read_rounds(folder, 1)
    if not latest or latest[-1].round < standings.round:
        ranks = {row.bot: (row.rank, row.score) for row in standings.overall}
        line = json.dumps({"round": standings.round, "time": standings.time, "ranks": ranks})
        with (folder / ROUNDS_FILE).open("ab") as file:  # a line that is cut off by a kill is left out when it is read
            file.write(f"\n{line}\n".encode())


def read_rounds(folder: Path, most: int | None = MAX_ROUNDS_READ) -> Sequence[RoundRanks]:
    """Return the ranks of the latest rounds, in order; none where they cannot be read."""
    try:
        lines = read_regular(folder / ROUNDS_FILE, MAX_ROUNDS_BYTES).splitlines()
    except (OSError, ValueError):
        return []
    found: dict[int, RoundRanks] = {}
    for line in lines if most is None else lines[-2 * most :]:
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            read = _ranks(json.loads(line))
            found[read.round] = read
    ordered = [found[number] for number in sorted(found)]
    return ordered if most is None else ordered[-most:]


def _ranks(data: Any) -> RoundRanks:
    ranks = {
        str(bot): (int(rank), score if score is None else float(score)) for bot, (rank, score) in data["ranks"].items()
    }
    return RoundRanks(int(data["round"]), str(data["time"]), ranks)
