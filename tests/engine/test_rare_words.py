"""Sentences that random matches seldom give, word for word."""

import re

import pytest

import engine
from engine import Names
from engine.words import margin, placing

NAMES = ("Anna", "greedy", "Blue", "uct", "Sky")
MIDS = "......../......../......../......../........ 555/555 0"
PROMPTS = {
    "Place a small, a medium or a large mid from hand on any free square, then roll again if the match goes on.": (
        *("magic_mids", 2, {}),
        f"{MIDS} bbb 0",
    ),
    "Place a small or a medium mid from hand on a free square of column 4.": ("magic_mids", 2, {}, f"{MIDS} ba4 0"),
    "greedy: put a small, a medium or a large piece from hand into the gap.": (
        *("epicycle", 5, {}),
        "SMLSMLSM.S SML/SML/SML/SML/MLL 1 1",
    ),
    "Blue: choose a tile to rotate, anybody's, as none that lies apart can be moved.": (
        *("pyramid_punch", 4, {}),
        "x2/L...@0,0/M...@-1,1/x3 2 m 21",
    ),
    "Choose Blue's tile, which lies apart and must be moved.": (
        *("pyramid_punch", 5, {}),
        "LMSO@0,0/LMSO@1,0/LMSO@5,0/x3/x4 0 m 20",
    ),
}
TOLD = {
    "Anna drops a sea tile on a1.": ("midgard", 2, {}, None, ["a1"]),
    "greedy declares too, which ends the match: 62 cells go to Anna and 62 to greedy.": (
        *("midgard", 2, {"variant": "odin"}),
        None,
        ["declare", "declare"],
    ),
    "Anna rolls blank, 3 and 5, the blank as 3 or 5: a medium mid in column 3 or 5.": (
        *("magic_mids", 2, {}),
        f"{MIDS} - 0",
        ["b35"],
    ),
    "Anna rolls 2, 3 and 5: no two dice agree, so nothing is placed; greedy is next.": (
        *("magic_mids", 2, {}),
        f"{MIDS} - 0",
        ["235"],
    ),
    "Anna rolls blank, blank and blank: any mid goes to any free square, and another roll follows.": (
        *("magic_mids", 2, {}),
        f"{MIDS} - 0",
        ["bbb"],
    ),
}


@pytest.mark.parametrize("text", PROMPTS)
def test_a_prompt(text):
    name, players, options, position = PROMPTS[text]
    state = engine.load_game(name, players, **options).state_from_position(position)
    assert state.prompt(Names(NAMES[:players], 0)).text == text


@pytest.mark.parametrize("text", TOLD)
def test_what_happened(text):
    name, players, options, position, moves = TOLD[text]
    game = engine.load_game(name, players, **options)
    state = game.new_initial_state() if position is None else game.state_from_position(position)
    for move in moves[:-1]:
        state.apply_action(state.string_to_action(move))
    assert state.tell(state.string_to_action(moves[-1]), Names(NAMES[:players])).text == text


def test_perimeter_cells_decide_between_equal_numbers_of_cells():
    state = engine.load_game("midgard", 2, variant="odin").new_initial_state()
    for _ in range(2):
        state.apply_action(state.string_to_action("declare"))
    names = Names(NAMES[:2], 1)
    won = "62 cells each, 14 of the perimeter to 13: both declared that no ice was left."
    assert state.verdict(0, names).text == state.verdict(None, names).text == f"Anna won, {won}"
    lost = "You lost, 62 cells each, 13 of the perimeter to 14: both declared that no ice was left."
    assert state.verdict(1, names).text == lost


def test_how_a_seat_fell_before_the_position_that_a_match_began_with_is_not_told():
    end = engine.load_game("epicycle", 3).state_from_position("SML.MLSML. x2/x1/SML - 9".replace("L.M", "LSM", 1))
    names = Names(NAMES[:3], 0)
    assert end.verdict(2, names).text == "Blue won."
    assert end.verdict(0, names).text == "You came third. Blue won."


def test_a_position_seen_too_often_ends_a_match_for_all():
    end = engine.load_game("epicycle", 2).state_from_position("SMLSMLSML. SML/SML - 40")
    assert end.verdict(1, Names(NAMES[:2], 1)).text == (
        "You share first place with Anna: the same position came up for the third time."
    )
    assert end.verdict(None, Names(NAMES[:2])).text.startswith("Anna and greedy share first place: ")


def test_a_tile_laid_beside_that_of_the_reader_is_laid_beside_yours():
    state = engine.load_game("pyramid_punch", 3).state_from_position("LMSO@0,0/LMSO@1,0/LMSO@0,1 1 m 19")
    names = Names(NAMES[:3], 0)
    told = {state.action_to_string(action): state.tell(action, names).text for action in state.legal_actions()}
    beside = [text for action, text in told.items() if action.startswith("2>0")]
    assert beside and all(re.fullmatch(r"greedy moves Blue's tile .* yours\.", text) for text in beside)


def test_a_draw_among_three_begins_with_a_capital_whoever_reads_it():
    assert placing([0, 0, 0], 1, Names(NAMES[:3], 0)) == "You, greedy and Blue share first place"


def test_a_draw_by_the_rules_between_unequal_scores_gives_nobody_those_of_another():
    assert margin([0, 0], [12, 8], None, "mid") == ""
    assert margin([0, 0], [10, 10], None, "mid") == ", 10 mids each"
