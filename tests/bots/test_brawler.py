"""Brawler picks the fights that pay and keeps its fighters out of the others."""

import pytest

import engine
from bots.brawler import Brawler
from bots.random_bot import Random
from tests.bots.matches import choices, mean_return

TWO, THREE = (engine.load_game("pyramid_punch", players) for players in (2, 3))


def test_the_fight_with_the_best_balance_comes_first():
    position = "LMSO@0,0/SMLO@1,0/LMSO@-1,0 0 f 0"
    assert choices(Brawler, THREE, position) == {"Sx1O"}  # of Mx1S Sx1O Lx2M Ox2S


def test_a_pyramid_leaves_the_edge_where_it_would_have_to_fight():
    assert choices(Brawler, THREE, ".L..@0,0/LMSO@1,0/LMSO@2,0 0 m 0") == {"0r2", "0r3"}


def test_all_arrangements_are_chosen_among():
    assert len(choices(Brawler, TWO, "?/? 0 a 0", 60)) == 6


@pytest.mark.system
@pytest.mark.parametrize("players", [3, 4, 5])
def test_brawler_beats_random_where_there_are_bystanders(players):
    game = engine.load_game("pyramid_punch", players)
    assert mean_return(game, (Brawler, {}), (Random, {}), rounds=20) > 0.1
