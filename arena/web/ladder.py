"""The ladder that ships: how strong bots are on each board, and which of them a person may choose to play against."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from arena.web.play_words import short_name
from engine import Game

WEAKEST = "random"


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


class BotChoice(NamedTuple):
    """A bot that can be chosen."""

    spec: str
    strength: str = ""
    """In a few words; empty for a bot that is not on the ladder."""

    @property
    def label(self) -> str:
        """What it is called there."""
        return short_name(self.spec)


def strength(rung: Rung, rungs: list[Rung]) -> str:
    """Return how strong a bot is among those of a board, as far as the intervals tell."""
    best, weakest = rungs[0], next((each for each in rungs if each.bot == WEAKEST), rungs[-1])
    if rung.bot == WEAKEST:
        return "moves at random"
    if rung.high >= best.low:
        return "among the strongest here"
    if rung.low <= weakest.high:
        return "hardly better than random"
    return "strong" if rung.mean - weakest.mean > (best.mean - weakest.mean) / 2 else "medium"


def bot_choices(game: Game, others: Iterable[str]) -> list[BotChoice]:
    """Return the bots of the ladder that play a game, the best first, and others that play it."""
    rungs = rungs_of(game)
    choices = [BotChoice(rung.bot, strength(rung, rungs)) for rung in rungs]
    known = {choice.spec for choice in choices}
    return [*choices, *(BotChoice(spec) for spec in sorted(others) if spec not in known)]
