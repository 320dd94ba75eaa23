"""Matches between searches: every seat is played, with the same dice, and equal searches are equally strong."""

import pytest

import engine
from benchmarks.sections.mcts import OpenSpielMCTS, play_pairs
from bots.greedy import Greedy
from bots.random_bot import Random
from bots.search.uct import UCT


class SameAgain(Random):
    name = "same_again"


@pytest.mark.parametrize(("name", "players"), [("epicycle", 3), ("magic_mids", 2)])
def test_two_bots_that_are_the_same_are_exactly_equal(name, players):
    assert play_pairs(engine.load_game(name, players), Random, SameAgain, 5).mean == pytest.approx(0)


def test_a_better_bot_is_better_whatever_its_place_in_the_contest():
    game = engine.load_game("epicycle", 2)
    better, worse = play_pairs(game, Greedy, Random, 20), play_pairs(game, Random, Greedy, 20)
    assert better.mean - better.half_width > 0.3
    assert worse.mean + worse.half_width < -0.3


@pytest.mark.system
@pytest.mark.parametrize("name", ["openspiel.tic_tac_toe", "openspiel.breakthrough(columns=5,rows=5)"])
def test_uct_is_as_strong_as_openspiels_search(name):
    found = play_pairs(engine.load_game(name, 2), UCT, OpenSpielMCTS, 40)
    assert abs(found.mean) < 1.5 * found.half_width < 0.4
