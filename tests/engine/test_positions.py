"""The readers of fields that several games' position strings share."""

import pytest

import engine
from engine import PositionError
from engine.positions import check_ranks_out, read_seat, read_turn, split_fields
from tests.engine.matches import tables


def test_fields_are_counted_and_the_refusal_names_them():
    assert split_fields("x 0", "BOARD TURN") == ["x", "0"]
    for text in ("x", "x 0 1", "x  0"):
        with pytest.raises(PositionError, match=r"expected BOARD TURN, two fields with single spaces, found [13]$"):
            split_fields(text, "BOARD TURN")


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_every_game_with_positions_says_how_many_fields_it_expects(name, players, options):
    game = engine.load_game(name, players, **options)
    fields = game.new_initial_state().position.split(" ")
    with pytest.raises(PositionError, match=f"{('no', 'one', 'two', 'three', 'four', 'five')[len(fields)]} fields"):
        game.state_from_position(" ".join([*fields, "0"]))


def test_a_turn_is_a_whole_number_up_to_the_cap():
    assert [read_turn(text, 30, "plays") for text in ("0", "7", "30")] == [0, 7, 30]
    for text in ("", "-1", "07", "1.5", "٣", "1000000"):
        with pytest.raises(PositionError, match="is not a number of plays"):
            read_turn(text, 30, "plays")
    with pytest.raises(PositionError, match="31 is above the cap, max_turns=30"):
        read_turn("31", 30, "plays")


def test_a_seat_is_one_of_the_players():
    assert [read_seat(str(seat), 3) for seat in range(3)] == [0, 1, 2]
    for text in ("", "3", "-", "00", "²"):
        with pytest.raises(PositionError, match="is not a seat from 0 to 2, nor -"):
            read_seat(text, 3)


def test_seats_that_are_out_hold_the_last_ranks_and_one_seat_is_in():
    for ranks in ([], [3], [3, 2], [1, 3, 2]):
        check_ranks_out("HANDS", ranks, 4)
    for ranks in ([0], [2], [3, 3], [3, 1], [0, 1, 2, 3]):
        with pytest.raises(PositionError, match="field HANDS: the ranks of the seats out"):
            check_ranks_out("HANDS", ranks, 4)
