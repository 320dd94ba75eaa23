"""Boards in a terminal: colours change no sign's place, and without them nothing at all."""

import re
from types import SimpleNamespace

import pytest

import engine
from engine.terminal import coloured
from tests.engine.matches import tables, walk

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TABLES = [table[:2] for table in tables() if not table[2]]


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_coloured_board_has_the_same_signs_in_the_same_places(name, players):
    for number, state in enumerate(walk(engine.load_game(name, players), 3)):
        if number % 7 == 0:
            text = str(state)
            assert COLOUR.sub("", coloured(state.game.type, text, unicode=False)) == text
            shown = COLOUR.sub("", coloured(state.game.type, text))
            assert [len(line) for line in shown.splitlines()] == [len(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["epicycle", "magic_mids", "midgard", "pyramid_punch"])
def test_every_seat_has_a_colour_of_its_own(name):
    kind = engine.game_type(name)
    players = kind.max_players
    text = str(engine.load_game(name, players).new_initial_state())
    seats = {found[1]: found[0] for found in re.findall(r"(\x1b\[[0-9;]*m)seat (\d)", coloured(kind, text))}
    assert len({*seats.values()}) == len(seats) == players


def test_the_last_play_and_pieces_on_the_board_have_colours():
    state = engine.load_game("midgard", 2).new_initial_state()
    state.apply_action(state.string_to_action("e5"))
    shown = coloured(state.game.type, str(state))
    assert "≈≈" in shown and "~~" not in shown and len(COLOUR.findall(shown)) > 6
    mids = engine.load_game("magic_mids", 2).state_from_position(
        "0S....../" + "/".join(["........"] * 4) + " 455/555 1 bbb 1"
    )
    assert COLOUR.sub("", coloured(mids.game.type, "0S")) != coloured(mids.game.type, "0S")


def test_a_game_that_names_no_signs_keeps_its_text():
    assert coloured(SimpleNamespace(package=""), "seat 0 [x]") == "seat 0 [x]"


def test_stones_of_connect_four_and_seats_of_pig_have_colours():
    state = engine.load_game("connect_four", 2).new_initial_state()
    for column in "dde":
        state.apply_action(state.string_to_action(column))
    shown = coloured(state.game.type, str(state))
    assert shown.count("●") == 5, "three on the board, and those of both seats"
    pig = engine.load_game("pig", 2).new_initial_state()
    assert len({*COLOUR.findall(coloured(pig.game.type, str(pig)))}) == 3, "two seats and the end of a colour"
