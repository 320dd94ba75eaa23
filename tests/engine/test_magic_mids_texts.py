"""Magic Mids: notation, refused positions and options, and drawings."""

from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import given

import engine
from engine.magic_mids.text import ACTIONS
from engine.svg import SEAT_COLOURS
from tests.engine import naive_magic_mids as naive
from tests.engine.magic_mids_states import (
    EMPTY,
    LAST_MID,
    RUNNING_BEHIND,
    SMOOTH,
    load,
    played,
    position,
    positions,
    random_match,
    read,
)
from tests.engine.pictures import fill_of, pieces_of

# Notation


@SMOOTH
@given(positions())
def test_a_position_reads_back_to_itself(position):
    assert read(position).position == position


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_of_random_matches_reads_back_to_the_same_match(players):
    for seed in range(4):
        game = load(players, max_turns=150, losers="tied")
        for state in random_match(game, seed):
            again = game.state_from_position(state.position)
            assert (again.position, again.current_player(), again.ended) == (
                state.position,
                state.current_player(),
                state.ended,
            )
            assert (again.legal_actions(), again.scores()) == (state.legal_actions(), state.scores())
            assert not state.is_terminal() or again.ranks() == state.ranks()


def test_actions_are_sizes_and_squares_and_every_one_reads_back():
    state = read(position("", roll="bbb"))
    assert [state.action_to_string(action) for action in range(60)] == [
        size + row + header for size in "SML" for row in "abcde" for header in "2345"
    ]
    assert [state.string_to_action(text) for text in ACTIONS] == list(range(60))


def test_every_roll_reads_back():
    state = load().new_initial_state()
    assert [state.string_to_action(state.action_to_string(outcome)) for outcome in range(56)] == list(range(56))


def test_the_start_positions_are_those_of_the_rulebook():
    for players, hand in naive.STOCK.items():
        assert load(players).new_initial_state().position == f"{EMPTY} {'/'.join([hand] * players)} 0 - 0"


FULL_BOARD = f"{position(RUNNING_BEHIND + ' 0Le5').rsplit(' ', 3)[0]}"
WON_BY_SEAT_0 = f"{position(LAST_MID + ' 0Le5').rsplit(' ', 3)[0]}"


@pytest.mark.parametrize(
    ("position", "field"),
    [
        (f"{EMPTY} 555/555 0 -", "count"),
        (f"{EMPTY}  555/555 0 - 0", "count"),
        (f"{EMPTY[:-9]} 555/555 0 - 0", "BOARD"),
        (f"{EMPTY}. 555/555 0 - 0", "BOARD"),
        (f"0X{EMPTY[2:]} 555/555 0 - 0", "BOARD"),
        (f"2S{EMPTY[2:]} 455/555 0 - 0", "BOARD"),
        (f"{EMPTY} 555 0 - 0", "HANDS"),
        (f"{EMPTY} 555/55 0 - 0", "HANDS"),
        (f"{EMPTY} 555/55x 0 - 0", "HANDS"),
        (f"{EMPTY} 555/554 0 - 0", "HANDS"),
        (f"0S{EMPTY[2:]} 555/555 1 - 1", "HANDS"),
        (f"{EMPTY} 555/555 2 - 0", "SEAT"),
        (f"{EMPTY} 555/555 x - 0", "SEAT"),
        (f"{EMPTY} 555/555 1 - 0", "SEAT"),
        (f"{EMPTY} 555/555 0 - 1", "SEAT"),
        (f"{EMPTY} 555/555 - - 4", "SEAT"),
        (f"{EMPTY} 555/555 0 - 2000", "SEAT"),
        (f"{FULL_BOARD} 1 - 9", "SEAT"),
        (f"{WON_BY_SEAT_0} 1 - 9", "SEAT"),
        (f"{EMPTY} 555/555 0 abb 0", "ROLL"),
        (f"{EMPTY} 555/555 0 345 0", "ROLL"),
        (f"{position('0La2 0La3 0La4 0La5 0Lb2', roll='444', turn=8)}", "ROLL"),
        (f"{position('0Ma4 0Mb4 0Mc4 1Md4 1Me4', roll='b44', turn=8)}", "ROLL"),
        (f"{FULL_BOARD} - 444 9", "ROLL"),
        (f"{EMPTY} 555/555 0 - 00", "TURN"),
        (f"{EMPTY} 555/555 0 - -1", "TURN"),
        (f"{EMPTY} 555/555 - - 2001", "TURN"),
        (f"{WON_BY_SEAT_0} - - 10", "TURN"),
        (f"{WON_BY_SEAT_0} 0 - 10", "TURN"),
        (f"{FULL_BOARD} - - 0", "TURN"),
    ],
)
def test_a_position_that_contradicts_the_rules_is_refused_with_its_field(position, field):
    with pytest.raises(engine.PositionError) as refusal:
        load().state_from_position(position)
    assert refusal.value.field == field
    assert "\n" not in str(refusal.value)


def test_the_positions_next_to_the_refused_ones_are_read():
    for end in (f"{FULL_BOARD} - - 9", f"{WON_BY_SEAT_0} - - 9", f"{EMPTY} 555/555 - - 2000"):
        assert load().state_from_position(end).position == end


def test_unknown_options_and_values_are_refused():
    with pytest.raises(engine.ParameterError, match="did you mean 'each'"):
        load(capture_power="eech")
    with pytest.raises(engine.ParameterError, match="10000"):
        load(max_turns=10_001)
    with pytest.raises(engine.UnsupportedError, match="2 to 4"):
        load(5)


# Drawings


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_terminal_drawing_fits_80_columns_and_shows_every_mid_and_the_last_placement(players):
    for state in random_match(load(players), 3):
        lines = str(state).split("\n")
        assert max(map(len, lines)) <= 80
        cells = Counter(cell for line in lines[1:6] for cell in line.replace("[", " ").replace("]", " ").split()[1:])
        assert cells.pop(".", 0) == 20 - sum(state.scores())
        assert [
            sum(n for cell, n in cells.items() if cell[0] == str(seat)) for seat in range(players)
        ] == state.scores()
        assert str(state).count("[") == (sum(state.scores()) > 0) + state.is_terminal()


def test_the_terminal_drawing_names_what_the_last_placement_captured():
    after = played(position("1Sa3 0Sa4 1Sa5", roll="bbb"), "Sa2")
    assert "[0S]" in str(after)
    assert "last: seat 0, Sa2, captured Sa3 Sa5" in str(after)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_picture_is_well_formed_and_shows_every_mid_with_its_seat(players):
    for state in random_match(load(players), 4):
        picture, pieces = ElementTree.fromstring(state.svg()), pieces_of(state.svg())
        cells = picture.findall(".//{*}g[@data-part]")
        numbers = [
            each.text for cell in cells if "cell" in cell.get("data-part") for each in cell.findall(".//{*}text")
        ]
        assert [numbers.count(str(seat)) for seat in range(players)] == state.scores()
        on_board = [piece for piece in pieces if "hand" not in piece]
        assert [sum(piece[0] == str(seat) for piece in on_board) for seat in range(players)] == state.scores()
        assert len(pieces) == players * {2: 15, 3: 11, 4: 8}[players]
        assert all(fill_of(node) == SEAT_COLOURS[int(piece[0])] for piece, node in pieces.items())
        assert picture.find("{*}title").text == f"magic_mids: {state.position}"
