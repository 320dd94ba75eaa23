"""Catcher captures, shields its mids, and keeps out of reach."""

import pytest

import engine
from bots.catcher import Catcher
from bots.random_bot import Random
from tests.bots.matches import choices, mean_return

TWO = engine.load_game("magic_mids", 2)


def test_a_mid_is_captured_where_that_is_possible():
    assert choices(Catcher, TWO, "......../......../0M1S..../......../........ 545/455 0 a44 2") == {"Mc4"}


def test_an_own_mid_is_shielded_against_the_one_beside_it():
    assert choices(Catcher, TWO, "......../......../1S0S..../......../........ 455/455 0 a44 2") == {"Mc4"}


def test_squares_beside_an_opposing_mid_with_a_free_one_opposite_are_avoided():
    assert choices(Catcher, TWO, "......../......../..1S..../......../........ 555/455 0 a44 2") == {"Ma4", "Me4"}


def test_among_equals_the_smallest_mid_is_placed():
    position = "......../......../......../......../........ 555/555 0 ba4 0"
    assert choices(Catcher, TWO, position) == {"Sa4", "Sb4", "Sc4", "Sd4", "Se4"}


@pytest.mark.parametrize(("players", "at_least"), [(2, 0.2), (3, 0.15), (4, 0.05)])
def test_catcher_beats_random(players, at_least):
    game = engine.load_game("magic_mids", players)
    assert mean_return(game, (Catcher, {}), (Random, {}), rounds=24) > at_least
