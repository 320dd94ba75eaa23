"""How strong a person is among the bots of the ladder, by the matches of theirs that the server still has.

Ratings are logits: a bot that is rated by `d` more than another one is ahead of it with the odds `exp(d)`; of more than
two players every two are compared. The bots' ratings are those that give each of them its mean return on the ladder. A
person's is the one with the largest posterior density, where the prior is a normal distribution with the mean and the
standard deviation of the bots' ratings, and a tie counts as half a win.

It is shown after `MIN_MATCHES` matches or more, as soon as these have halved the variance of the prior: where all bots
are alike that takes very many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.sessions.session import PlaySession
from arena.web.ladder import Rung, rungs_of
from engine import Game

MIN_MATCHES = 5
"""Matches before which nothing is said of a person."""
TOLD_VARIANCE = 0.5
"""The share of the prior's variance down to which the rating of a person must be known."""
MAX_STEPS = 200
"""Steps of Newton's method at most; it ends after some ten."""
HALVINGS = 60
"""Halvings of the interval in which a person's rating is looked for."""
REACH = 10.0
"""How far outside of the bots' ratings it is looked for."""
MAX_MEAN = 0.99
"""The largest mean return that has a rating: of a bot that lost its few hundred matches all, no more is known."""


class PairResult(NamedTuple):
    """What a person has achieved against a bot in a match."""

    bot: str
    score: float
    """1 ahead of it, 0.5 level, 0 behind."""
    weight: float = 1.0
    """How much it tells: results against several bots in one match depend on each other."""


class PersonRating(NamedTuple):
    """The rating of a person, and its variance."""

    at: float
    variance: float
    prior: float
    """Variance of the prior."""


class LikePerson(NamedTuple):
    """What is known of a person on a board."""

    matches: int
    """Matches that count: played to their end against bots of the ladder, nothing taken back."""
    bot: str
    """The bot whose rating is closest to the person's; empty until these tell enough."""


def ratings(rungs: Sequence[Rung]) -> dict[str, float]:
    """Return the ratings with mean 0 that give each bot its mean return against all others."""
    wanted = np.clip([rung.mean for rung in rungs], -MAX_MEAN, MAX_MEAN)
    wanted -= wanted.mean()  # a win is a loss elsewhere; what is left is of bots that played each other more often
    others, found = len(rungs) - 1, np.zeros(len(rungs))
    for _ in range(MAX_STEPS):
        ahead = np.tanh((found[:, None] - found[None, :]) / 2)
        missing = wanted - ahead.sum(1) / others
        if np.abs(missing).max() < 1e-9:
            break
        slopes = -(1 - ahead**2) / (2 * others)
        np.fill_diagonal(slopes, 0.0)
        np.fill_diagonal(slopes, -slopes.sum(1))
        step = np.linalg.lstsq(slopes, missing, rcond=None)[0]
        found += np.clip(step, -1.0, 1.0)
        found -= found.mean()
    return {rung.bot: float(rating) for rung, rating in zip(rungs, found, strict=True)}


def rating_of(results: Iterable[PairResult], rated: Mapping[str, float]) -> PersonRating:
    """Return the rating of a person by results against bots that are rated."""
    known, values = list(results), np.array([*rated.values()])
    mean, prior = float(values.mean()), float(values.var()) or 1.0
    against = np.array([rated[each.bot] for each in known])
    weights = np.array([each.weight for each in known])
    won = sum(each.weight * each.score for each in known)
    low, high = float(values.min()) - REACH, float(values.max()) + REACH
    for _ in range(HALVINGS):
        at = (low + high) / 2
        expected = 1 / (1 + np.exp(against - at))
        slope = won - float((weights * expected).sum()) - (at - mean) / prior
        low, high = (at, high) if slope > 0 else (low, at)
    information = float((weights * expected * (1 - expected)).sum()) + 1 / prior
    return PersonRating(at, 1 / information, prior)


def closest_bot(at: float, rated: Mapping[str, float]) -> str:
    """Return the bot whose rating is closest to a rating."""
    return min(rated, key=lambda bot: (abs(rated[bot] - at), bot))


def like_person(game: Game, sessions: Iterable[PlaySession]) -> LikePerson:
    """Return which bot is about as strong as the person of some sessions, on the board of a game."""
    rated = ratings(rungs) if len(rungs := rungs_of(game)) > 1 else {}
    of_board = [each for each in sessions if (each.game.spec, each.game.players) == (game.spec, game.players)]
    matches = [found for session in of_board if (found := _results(session, rated))]
    if len(matches) < MIN_MATCHES:
        return LikePerson(len(matches), "")
    rating = rating_of([result for match in matches for result in match], rated)
    told = rating.variance <= TOLD_VARIANCE * rating.prior
    return LikePerson(len(matches), closest_bot(rating.at, rated) if told else "")


def _results(session: PlaySession, rated: Mapping[str, float]) -> list[PairResult]:
    """Return what the only person of a session has achieved in it; nothing where it does not count."""
    setup, ranks = session.setup, session.view().ranks
    if ranks is None or len(setup.persons) != 1 or setup.starts_elsewhere or session.has_taken_back:
        return []
    mine = ranks[setup.persons[0]]
    met = [(bot, rank) for bot, rank in zip(setup.seats, ranks, strict=True) if bot in rated]
    weight = weight_of(len(met))
    return [PairResult(bot, 0.5 + 0.5 * ((rank > mine) - (rank < mine)), weight) for bot, rank in met]


def weight_of(bots: int) -> float:
    """Return how much each of so many results of one match tells.

    The place of a player among equals has a variance that is (bots + 2) / 3 times that of as many matches of two.
    """
    return 3 / (bots + 2)
