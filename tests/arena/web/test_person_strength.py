"""Which bot is called about as strong as a person: by ratings of the ladder, tested against simulated persons."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from arena.match.person import PERSON
from arena.sessions.setup import SessionSetup
from arena.web.ladder import ladder, rungs_of
from arena.web.person_strength import (
    MAX_MEAN,
    MIN_MATCHES,
    TOLD_VARIANCE,
    LikePerson,
    PairResult,
    closest_bot,
    like_person,
    rating_of,
    ratings,
    weight_of,
)
from engine import load_game

BOARDS = sorted(ladder())


def played_by(strength, matches, players, rated, chance):
    """Results of a person of known strength in matches with bots drawn at random, who come in by Plackett and Luce."""
    found = []
    for _ in range(matches):
        bots = [chance.choice([*rated]) for _ in range(players - 1)]
        mine, *others = (at - math.log(chance.expovariate(1)) for at in (strength, *(rated[bot] for bot in bots)))
        weight = weight_of(len(bots))
        found += [PairResult(bot, float(mine > other), weight) for bot, other in zip(bots, others, strict=True)]
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_ratings_give_every_bot_its_mean_return_on_the_ladder(board):
    rungs = ladder()[board]
    means = np.clip([rung.mean for rung in rungs], -MAX_MEAN, MAX_MEAN)
    rated, surplus = ratings(rungs), means.mean()
    for rung, wanted in zip(rungs, means, strict=True):
        others = [rated[other.bot] for other in rungs if other != rung]
        mean = np.mean([math.tanh((rated[rung.bot] - other) / 2) for other in others])
        assert mean == pytest.approx(wanted - surplus, abs=0.002)
    assert max(np.diff([*rated.values()])) < 1e-6, "the order is that of the ladder"
    assert abs(surplus) < 0.02


@pytest.mark.parametrize("board", BOARDS)
def test_simulated_persons_are_rated_near_their_strength_by_the_variance_that_is_told(board):
    rated, chance = ratings(ladder()[board]), random.Random(7)
    spread = float(np.std([*rated.values()]))
    squares = {}
    for matches in (MIN_MATCHES, 20, 100):
        found = []
        for _ in range(300):
            strength = chance.gauss(0.0, spread)
            told = rating_of(played_by(strength, matches, board[1], rated, chance), rated)
            found.append(((told.at - strength), told.variance))
        errors, variances = zip(*found, strict=True)
        squares[matches] = np.mean(np.square(errors))
        assert squares[matches] == pytest.approx(np.mean(variances), rel=0.35), "the variance is honest"
        assert abs(np.mean(errors)) < 0.15 * spread, "no bias"
    assert squares[100] < squares[MIN_MATCHES] < 1.1 * spread**2
    assert squares[100] < squares[20] < squares[MIN_MATCHES] or spread < 0.3, (
        "nearly alike: 20 matches tell next to nothing"
    )


@pytest.mark.parametrize("board", BOARDS)
def test_a_bot_that_is_shown_is_about_as_strong_as_the_simulated_person(board):
    rated, chance = ratings(ladder()[board]), random.Random(11)
    spread, wrong = float(np.std([*rated.values()])), []
    for _ in range(100):
        strength = chance.gauss(0.0, spread)
        told = rating_of(played_by(strength, 300, board[1], rated, chance), rated)
        if told.variance <= TOLD_VARIANCE * told.prior:
            wrong.append(rated[closest_bot(told.at, rated)] - strength)
    if spread < 0.1:
        assert not wrong, "where all bots are alike nothing is said"
        return
    assert len(wrong) > 83, "so many matches are enough on every other board"
    assert math.sqrt(np.mean(np.square(wrong))) < 0.85 * spread


def test_who_always_loses_is_like_the_weakest_and_who_always_wins_like_the_strongest():
    rated = ratings(ladder()["epicycle", 2])
    for bot, score in (("random", 0.0), ("alphabeta:nodes=10000", 1.0)):
        assert closest_bot(rating_of([PairResult(bot, score)] * 20, rated).at, rated) == bot
    level = rating_of([PairResult("greedy", 0.5)] * 200, rated)
    assert level.at == pytest.approx(rated["greedy"], abs=0.05)


def session(ranks, *seats, game="epicycle", back=False, **setup):
    """A session that is over, or not yet (None)."""
    return SimpleNamespace(
        game=load_game(game, len(seats)),
        setup=SessionSetup(game, seats, **setup),
        has_taken_back=back,
        view=lambda: SimpleNamespace(ranks=ranks),
    )


def test_matches_of_the_board_count_that_one_person_has_played_to_the_end_without_taking_back():
    game = load_game("epicycle", 2)
    won, lost = session([0, 1], f"{PERSON}:ada", "greedy"), session([0, 1], "uct:simulations=1600", PERSON)
    others = [
        session(None, PERSON, "greedy"),
        session([0, 1], PERSON, PERSON),
        session([0, 1], PERSON, "settler"),
        session([0, 1], PERSON, "greedy", back=True),
        session([0, 1], PERSON, "greedy", actions=(1,)),
        session([0, 1, 2], PERSON, "greedy", "random"),
        session([0, 1], PERSON, "greedy", game="magic_mids"),
    ]
    assert like_person(game, [*others, won, lost]) == LikePerson(2, "")
    enough = [*others, *[won] * 4, *[lost] * 4]
    rated = ratings(rungs_of(game))
    expected = [PairResult("greedy", 1.0)] * 4 + [PairResult("uct:simulations=1600", 0.0)] * 4
    assert like_person(game, enough) == LikePerson(8, closest_bot(rating_of(expected, rated).at, rated))
    level = session([0, 0], PERSON, "random")
    assert like_person(game, [level] * 50).bot in ("random", "cautious")
