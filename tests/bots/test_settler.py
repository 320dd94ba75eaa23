"""Settler contests the opponent's footholds, and declares in Odin only when that wins."""

import pytest

import engine
from bots.random_bot import Random
from bots.settler import Settler
from engine import Game
from tests.bots.matches import choices, decisions, mean_return

STANDARD = engine.load_game("midgard", 2)
ODIN = engine.load_game("midgard", 2, variant="odin")


def position_after(game: Game, *actions: str) -> str:
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(state.string_to_action(action))
    return state.position


def test_the_first_drop_stays_off_the_perimeter():
    assert {cell[0] for cell in choices(Settler, STANDARD, position_after(STANDARD), 200)} <= set("cdefghij")


def test_the_first_answer_is_a_drop_two_steps_from_the_opponents_tile():
    assert choices(Settler, STANDARD, position_after(STANDARD, "g4"), 100) == {"f4", "g6", "h4", "h6"}


def test_a_declaration_is_answered_by_another_when_that_wins():
    assert choices(Settler, ODIN, position_after(ODIN, "a1", "g4", "declare")) == {"declare"}  # land holds g4


def test_a_declaration_is_answered_by_a_drop_when_agreeing_would_lose():
    assert choices(Settler, ODIN, position_after(ODIN, "g4", "a1", "declare")) == {"f4", "g6", "h4", "h6"}


def test_nothing_is_declared_first():
    for state in decisions(ODIN, 40):
        if state.position.endswith("-"):
            assert "declare" not in choices(Settler, ODIN, state.position, 3)


@pytest.mark.parametrize("variant", ["standard", "mere_mortal", "odin", "loki"])
def test_settler_beats_random(variant):
    game = engine.load_game("midgard", 2, variant=variant)
    assert mean_return(game, (Settler, {}), (Random, {}), rounds=8) > 0.7
