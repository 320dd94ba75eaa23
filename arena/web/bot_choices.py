"""Bots to choose from on the page that sets up a match, each with a word on its strength from the ladder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena.web.ladder import Rung, rungs_of
from arena.web.play_words import short_name
from engine import Game

WEAKEST = "random"


class BotChoice(NamedTuple):
    """A bot that can be chosen."""

    spec: str
    label: str
    strength: str
    """In a few words; empty for a bot that is not on the ladder."""


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
    choices = [BotChoice(rung.bot, short_name(rung.bot), strength(rung, rungs)) for rung in rungs]
    known = {choice.spec for choice in choices}
    return [*choices, *(BotChoice(spec, short_name(spec), "") for spec in sorted(others) if spec not in known)]
