"""Pyramid Punch: notation, refused positions and drawings."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from engine import PositionError
from engine.pyramid_punch import drawing, rules, text
from tests.engine import naive_pyramid_punch as naive
from tests.engine.pictures import pieces_of
from tests.engine.pyramid_punch_states import GAMES, PLAYERS, state_at, walk

# Notation


def test_every_action_and_outcome_reads_back_and_none_is_written_twice():
    state = GAMES[2].new_initial_state()
    for action, name in enumerate(text.ACTIONS):
        assert (state.action_to_string(action), state.string_to_action(name)) == (name, action)
    rolling = state_at(".L..@0,0/M..L@1,0 0 f!Lx1M 4")
    for outcome, name in enumerate(text.OUTCOMES):
        assert (rolling.action_to_string(outcome), rolling.string_to_action(name)) == (name, outcome)
    assert len(set(text.ACTIONS)) == len(text.ACTIONS) == state.game.num_distinct_actions
    assert len(set(text.OUTCOMES)) == len(text.OUTCOMES) == rules.MAX_OUTCOMES


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (rules.ARRANGEMENTS, "LMSO"),
        (rules.FIGHTS + 16 * 2 + 4 * rules.MEDIUM + rules.LARGE, "Mx2L"),
        (rules.ROTATIONS + 3 * 0 + 0, "0r1"),
        (rules.MOVES + 16 * 2 + 4 * 0 + rules.EAST, "2>0E"),
        (rules.FIRST_TILES + 2, "2@*"),
        (rules.PLACES + 64 * 2 + 16 * 0 + 4 * rules.EAST + 1, "2@0E/1"),
    ],
)
def test_the_numbers_of_actions_mean_what_the_rules_take_them_to_mean(number, name):
    assert text.ACTIONS[number] == name


@pytest.mark.parametrize(
    "position",
    [
        "?/? 0 a 0",
        "LMSO@-/? 1 a 0",
        "LMSO@-/LOSM@- 0 p 0",
        "LMSO@-/LMSO@0,0/LMSO@-1,0 2 p 0",
        "LMSO@0,0/LMSO@-1,0 0 f 0",
        "...M@0,0/.MSO@-1,0 0 f:1M!Mx1S 2",
        "LMSO@0,0/OSML@0,-1/LMSO@1,0 0 f:1M,2L!Lx1L 9",
        "x2/L...@0,0/M...@-3,1000000000000 1 m 8",
        ".MS.@0,0/x1 - - 7",
        "LM..@0,0/.S..@0,1 - - 100",
    ],
)
def test_positions_read_back_to_the_same_text(position):
    assert state_at(position).position == position


@pytest.mark.parametrize(
    ("field", "position"),
    [
        # syntax
        ("count", "?/? 0 a"),
        ("count", "?/?  0 a 0"),
        ("TILES", "? 0 a 0"),
        ("TILES", "?/?/? 0 a 0"),
        ("TILES", "LMSO@0,0/LMS@1,0 0 m 2"),
        ("TILES", "LMSO@0,0/LMSX@1,0 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@1 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@+1,0 0 m 2"),
        ("TILES", "LMSO@0,-0/LMSO@1,0 0 m 2"),
        ("TILES", "LMSO@0,0/LLSO@1,0 0 m 2"),
        ("TILES", "LMSO@0,0/...O@1,0 0 m 2"),
        ("TILES", "LMSO@1,0/LMSO@2,0 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@- 0 m 2"),
        ("TILES", "LMSO@0,0/? 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@1,0 0 a 0"),
        ("TILES", "LMSO@0,0/x1/LMSO@- 1 p 0"),
        ("TILES", "?/LMSO@- 1 a 0"),
        ("TILES", "MLSO@-/LMSO@- 0 p 0"),
        ("TILES", f"L...@0,0/x2/L...@{10**18},0 0 m 4"),
        ("TILES", f"L...@0,0/x2/L...@{'9' * 5000},0 0 m 4"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:\u0661L 2"),
        ("SEAT", "LMSO@0,0/LMSO@1,0 2 m 2"),
        ("SEAT", "LMSO@0,0/LMSO@1,0 - m 2"),
        ("SEAT", "LMSO@0,0/x1 0 - 2"),
        ("SEAT", "LMSO@0,0/x1 0 m 2"),
        ("SEAT", "x2/LMSO@0,0/LMSO@1,0 0 m 2"),
        ("SEAT", "LMSO@-/? 0 a 0"),
        ("SEAT", "LMSO@-/LMSO@0,0 0 p 0"),
        ("PHASE", "LMSO@-/LMSO@- 0 a 0"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 p 0"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 q 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f: 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 m:1L 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f!Mx1M 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:1L!Mx1L 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0/OSLM@0,1 0 f:2O,1L 3"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:1L,1L 2"),
        ("TURN", "LMSO@0,0/LMSO@1,0 0 m 02"),
        ("TURN", "LMSO@0,0/LMSO@1,0 0 m -2"),
        # what the page lists
        ("TURN", "LMSO@0,0/LMSO@1,0 0 m 102"),
        ("SEAT", "LMSO@0,0/LMSO@1,0 0 m 100"),
        ("SEAT", "LMSO@0,0/LMSO@1,0 0 f 100"),
        ("TURN", "?/? 0 a 2"),
        ("TURN", "LMSO@-/LMSO@- 0 p 2"),
        ("SEAT", "LMSO@0,0/LMSO@1,0 0 m 3"),
        ("TURN", "LMSO@0,0/LMSO@1,0 - - 3"),
        ("TILES", "LMSO@0,0/LMSO@2,0 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@1,1 0 m 2"),
        ("TILES", "LMSO@0,0/LMSO@-/LMSO@2,0 2 p 0"),
        ("TILES", "LMSO@0,0/LMSO@0,0 0 m 2"),
        ("TILES", "LMSO@0,0/x1/LMSO@1,0 0 m 2"),
        ("TILES", "LMSO@0,0/x2/x2 0 m 2"),
        ("TILES", "x0/x1 - - 2"),
        ("PHASE", "LMSO@0,0/.M.O@1,0 0 f:1L 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:1M 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:0L 2"),
        ("PHASE", "LMSO@0,0/LMSO@1,0 0 f:3L 2"),
        ("PHASE", "LMSO@0,0/.M..@1,0 0 f 2"),
        ("PHASE", "LMSO@0,0/L...@1,0 0 f:1L 2"),
    ],
)
def test_positions_that_cannot_be_are_refused_by_field(field, position):
    players = {"? 0 a 0": 2, "?/?/? 0 a 0": 2}.get(position)
    with pytest.raises(PositionError) as refused:
        state_at(position, players)
    assert refused.value.field == field
    assert "\n" not in str(refused.value)


# Drawings


@pytest.mark.parametrize("players", PLAYERS)
def test_terminal_drawings_fit_eighty_columns_and_name_every_seat(players):
    for seed in range(5):
        for state in walk(GAMES[players].new_initial_state(), seed):
            lines = str(state).splitlines()
            assert max(map(len, lines)) <= 80
            assert sum(f"seat {seat}  " in line for seat in range(players) for line in lines) == players


def test_terminal_drawings_cut_wide_gaps():
    state = state_at("L.O.@0,0/.M.S@1,0/x4/SO..@300000,-12/..LM@300001,-12 3 m 9")
    assert max(map(len, str(state).splitlines())) <= 80


def test_drawings_mark_the_tile_moved_and_the_spaces_that_fought():
    moved = state_at("LMSO@0,0/LMSO@1,0 0 m 2").child(text.ACTIONS.index("1>0S"))
    assert "[1]" in str(moved) and "last: 1>0S" in str(moved)
    rolling = state_at("LMSO@0,0/LMSO@1,0 0 f 2").child(text.ACTIONS.index("Mx1L"))
    assert "[M]|[L]" in str(rolling)
    fallen = rolling.child(text.OUTCOMES.index("6-1"))
    assert "[M]|[.]" in str(fallen) and "last: Mx1L 6-1" in str(fallen)


@pytest.mark.parametrize("players", range(2, 6))
def test_every_arrangement_to_choose_from_lies_within_the_drawing(players):
    root = ElementTree.fromstring(GAMES[players].new_initial_state().svg())
    width = float(root.get("viewBox").split()[2])
    choices = [each for each in root.iter() if re.fullmatch("tile-[LMSO]{4}", each.get("data-part", ""))]
    lefts = [float(each.get("transform").removeprefix("translate(").split()[0]) for each in choices]
    assert len(lefts) == 6 and max(lefts) + drawing.TILE / 2 <= width


@pytest.mark.parametrize("players", PLAYERS)
def test_svg_drawings_are_well_formed_and_show_every_fighter_on_a_tile(players):
    for state in walk(GAMES[players].new_initial_state(), players):
        pieces = Counter(piece[2:] for piece in pieces_of(state.svg()) if piece[0].isdigit())
        spaces = "".join(naive.Table(state.position).spaces.values()) if state.record.phase > rules.ARRANGE else None
        if spaces is not None:
            assert pieces == Counter(letter for letter in spaces if letter in "LMSO")
