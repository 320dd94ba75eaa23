"""The ladder that ships: how strong bots are on each board."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from engine import Game


class Rung(NamedTuple):
    """What the ladder found of a bot on a board: its mean return, with the ends of its interval."""

    bot: str
    mean: float
    low: float
    high: float


@cache
def ladder() -> dict[tuple[str, int], list[Rung]]:
    """Return the rungs by game and players, the best first; `scripts/strengths.py` writes the file."""
    found: dict[tuple[str, int], list[Rung]] = {}
    text = files("arena.web").joinpath("strengths.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        rung = Rung(row["bot"], float(row["mean_return"]), float(row["low"]), float(row["high"]))
        found.setdefault((row["game"], int(row["players"])), []).append(rung)
    return found


def rungs_of(game: Game) -> list[Rung]:
    """Return the rungs of a game's board, the best first; of a variant that has none those of the game itself."""
    return ladder().get((game.spec, game.players)) or ladder().get((game.name, game.players), [])
