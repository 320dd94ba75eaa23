"""Magic Mids: properties of its rules, facts of its rulebook, its notation, its drawings."""

import itertools
import os
import random
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.chance import below, new_rng
from engine.magic_mids import rules
from engine.magic_mids.text import ACTIONS, OUTCOMES
from tests.engine import naive_magic_mids as naive

EMPTY = "......../......../......../......../........"
FACE_ORDER = "ba2345"
SMOOTH = settings(deadline=None, max_examples=150)


def load(players=2, **options):
    return engine.load_game("magic_mids", players, **options)


def read(position, **options):
    return load(len(position.split(" ")[1].split("/")), **options).state_from_position(position)


def position(mids, players=2, roll="-", turn=0):
    """Return a running match with mids such as `0La2 1Me5` on the board, the others in hand."""
    board = {("abcde".index(mid[2]), "2345".index(mid[3])): mid[:2] for mid in mids.split()}
    standing = Counter(board.values())
    hands = [
        {size: int(stock) - standing[f"{seat}{size}"] for size, stock in zip("SML", naive.STOCK[players], strict=True)}
        for seat in range(players)
    ]
    return naive.write(board, hands, turn % players, roll, turn)


def played(position, action, **options):
    state = read(position, **options)
    state.apply_action(state.string_to_action(action))
    return state


def throws():
    """Return the 216 ordered throws, each written as a roll."""
    return ["".join(sorted(throw, key=FACE_ORDER.index)) for throw in itertools.product(FACE_ORDER, repeat=3)]


def allowed_by(roll):
    """Return size and column of what a roll allows on the empty board."""
    state = load().new_initial_state()
    state.apply_action(state.string_to_action(roll))
    return {ACTIONS[action][0] + ACTIONS[action][2] for action in state.legal_actions()}


def random_match(game, seed):
    """Return all states of one random match."""
    chooser = random.Random(seed)
    state = game.new_initial_state()
    while True:
        yield state
        if state.is_terminal():
            return
        outcomes = state.chance_outcomes()
        state = state.child(
            chooser.choices(*zip(*outcomes, strict=True))[0] if outcomes else chooser.choice(state.legal_actions())
        )


@st.composite
def positions(draw):
    """Return position strings of running matches with a roll to be used; reachable or not, but never refused."""
    players = draw(st.integers(2, 4))
    stock = {(seat, size): int(naive.STOCK[players][i]) for seat in range(players) for i, size in enumerate("SML")}
    mids = st.one_of(st.none(), st.tuples(st.integers(0, players - 1), st.sampled_from("SML")))
    board = {}
    for place, mid in enumerate(draw(st.lists(mids, min_size=20, max_size=20))):
        last_in_hand = mid and sum(count for (seat, _), count in stock.items() if seat == mid[0]) == 1
        if mid and stock[mid] and not last_in_hand and len(board) < 19:
            stock[mid] -= 1
            board[divmod(place, 4)] = f"{mid[0]}{mid[1]}"
    hands = [{size: stock[seat, size] for size in "SML"} for seat in range(players)]
    turn = draw(st.integers(0, 1999))
    roll = draw(st.sampled_from(OUTCOMES))
    if not naive.legal(naive.write(board, hands, turn % players, roll, turn)):
        roll = "bbb"
    return naive.write(board, hands, turn % players, roll, turn)


# §3 The roll


def test_the_rolls_stand_in_dictionary_order_with_their_orderings_as_weights():
    listed = load().new_initial_state().chance_outcomes()
    assert [OUTCOMES[outcome] for outcome, _ in listed] == sorted(
        set(throws()), key=lambda roll: [*map(FACE_ORDER.index, roll)]
    )
    assert {OUTCOMES[outcome]: weight for outcome, weight in listed} == Counter(throws())


@pytest.mark.parametrize("roll", OUTCOMES)
def test_a_roll_allows_what_the_naive_reading_allows(roll):
    if naive.placements(roll):
        assert allowed_by(roll) == naive.placements(roll)
    else:
        assert load().new_initial_state().child(OUTCOMES.index(roll)).position == f"{EMPTY} 555/555 1 - 1"


def test_of_the_216_throws_60_allow_nothing_and_the_others_what_the_rulebook_counts():
    def kind(roll):
        return "".join(sorted({placement[0] for placement in naive.placements(roll)}))

    assert Counter(map(kind, throws())) == {"": 60, "LMS": 1, "S": 19, "M": 84, "L": 28, "MS": 24}
    nothing = [roll for roll in throws() if not naive.placements(roll)]
    assert all(len(set(roll)) == 3 and "b" not in roll for roll in nothing)


def test_three_aces_and_each_triple_of_a_column_come_seven_times_in_216_throws():
    seen = Counter(frozenset(naive.placements(roll)) for roll in throws())
    assert seen[frozenset({"S2", "S3", "S4", "S5"})] == 7
    assert all(seen[frozenset({"L" + header})] == 7 for header in "2345")


def test_the_fast_generator_rolls_every_throw_equally_often():
    game, rng = load(), new_rng(1)
    record = game.new_initial_state().record
    counts = Counter(int(rules.sample_chance(record, rng)) for _ in range(21_600))
    assert all(abs(counts[i] - 100 * weight) < 6 * (100 * weight) ** 0.5 for i, weight in enumerate(rules.ORDERINGS))


@pytest.mark.parametrize(
    ("roll", "expected"),
    [
        ("b35", {"M3", "M5"}),
        ("ba4", {"S4", "M4"}),
        ("bb4", {"L4"}),
        ("b44", {"L4"}),
        ("bba", {"S2", "S3", "S4", "S5"}),
        ("aa3", {"S3"}),
        ("a44", {"M4"}),
    ],
)
def test_blanks_copy_faces_actually_rolled_and_a_triple_is_never_a_pair(roll, expected):
    assert allowed_by(roll) == expected


def test_a_roll_whose_size_is_used_up_passes_the_turn_without_a_decision():
    mids = "0La2 0La3 0La4 0La5 0Lb2"
    assert played(position(mids, turn=8), "b44").position == position(mids, turn=9)


def test_a_roll_whose_column_is_full_passes_the_turn_without_a_decision():
    mids = "0Ma4 0Mb4 0Sc4 1Md4 1Me4"
    assert played(position(mids, turn=8), "b44").position == position(mids, turn=9)


# §4 Placing


@SMOOTH
@given(positions())
def test_legal_placements_equal_a_naive_reading_of_the_rules(position):
    state = read(position)
    assert set(map(state.action_to_string, state.legal_actions())) == naive.legal(position)
    assert state.legal_actions() == sorted(state.legal_actions())


@SMOOTH
@given(positions(), st.sampled_from(["sum", "each"]), st.data())
def test_a_placement_does_what_a_naive_reading_of_the_rules_does(position, power, data):
    turn = int(position.split(" ")[4])
    for max_turns in (2000, turn + 1):
        state = read(position, capture_power=power, max_turns=max_turns)
        action = data.draw(st.sampled_from(state.legal_actions()))
        after = state.child(action)
        expected = naive.play(position, ACTIONS[action], power == "each", max_turns)
        assert (after.position, after.ended) == expected


@pytest.mark.parametrize("players", [2, 3, 4])
def test_mids_on_the_board_and_in_hand_always_add_up(players):
    for seed in range(20):
        for state in random_match(load(players), seed):
            fields = state.position.split(" ")
            for seat, hand in enumerate(fields[1].split("/")):
                counts = [fields[0].count(f"{seat}{size}") + int(n) for size, n in zip("SML", hand, strict=True)]
                assert "".join(map(str, counts)) == naive.STOCK[players]


def test_three_blanks_place_any_size_anywhere_and_the_same_seat_rolls_again():
    state = load(3).new_initial_state()
    state.apply_action(state.string_to_action("bbb"))
    assert len(state.legal_actions()) == 60
    state.apply_action(state.string_to_action("Lc4"))
    assert (state.is_chance_node(), state.rolling_seat()) == (True, 0)
    assert state.position == "......../......../....0L../......../........ 352/353/353 0 - 0"


# §5 Capture


def test_the_lines_from_a_square_pass_eight_neighbours_and_end_on_five_squares():
    for square in range(rules.SQUARES):
        assert len({square, *rules.FAR[square].tolist()}) == 6
        between = [int(members) & rules.BOARD for members in rules.BETWEEN[square]]
        assert sum(members.bit_count() for members in between) == 8
        assert sum(between).bit_count() == 8


@pytest.mark.parametrize(
    ("mids", "action"),
    [
        ("0La4 1Ma3", "Sa2"),
        ("0Le4 1Ma4", "Sb4"),  # across the top
        ("0Lb3 1Ma3", "Se3"),  # across the bottom
        ("0La4 1Ma5", "Sa2"),  # across the left side
        ("0Ld2 1Md5", "Sd4"),  # across the right side
        ("0Ld4 1Me5", "Sa2"),  # across a corner
    ],
)
def test_a_mid_between_two_of_the_mover_falls_also_across_the_edges(mids, action):
    after = played(position(mids, roll="bbb"), action)
    assert after.position == position(f"{mids.split()[0]} 0{action}")


def test_one_far_mid_flanks_two_captures_at_once_and_counts_in_full_in_each():
    assert played(position("1Sa3 0Sa4 1Sa5", roll="bbb"), "Sa2").position == position("0Sa2 0Sa4")


def test_mids_of_several_opponents_fall_at_once():
    after = played(position("0Sa2 1Sb2 0Mc4 2Lc3", 3, "bbb", 3), "Mc2")
    assert after.position == position("0Sa2 0Mc4 0Mc2", 3, turn=3)


def test_lines_are_judged_on_the_board_before_any_mid_is_removed():
    mids = "0Sa2 1Sb2 0Sa4 1Sb3 0Se2 1Sd2 0Se4 1Sd3"
    assert played(position(mids, roll="bbb"), "Sc2").position == position("0Sa2 0Sa4 0Se2 0Se4 0Sc2")


def test_both_flanks_must_be_the_movers():
    mids = "2La4 1Sa3"
    assert played(position(mids, 3, "bbb"), "La2").position == position(mids + " 0La2", 3)


def test_only_the_mid_just_placed_captures():
    mids = "1La2 1La4"
    assert played(position(mids, roll="bbb"), "Sa3").position == position(mids + " 0Sa3")


@pytest.mark.parametrize(("far", "placed", "between"), [*itertools.product((1, 2, 3), repeat=3)])
def test_the_power_of_the_flanks_decides_together_or_each_alone(far, placed, between):
    own, other = f"0{'SML'[far - 1]}a2", f"1{'SML'[between - 1]}a3"
    action = f"{'SML'[placed - 1]}a4"
    for option, power in (("sum", far + placed), ("each", min(far, placed))):
        after = played(position(f"{own} {other}", roll="bbb"), action, capture_power=option)
        left = f"{own} 0{action}" if power > between else f"{own} {other} 0{action}"
        assert after.position == position(left)


# §6 The end

AROUND_E5 = (
    "0Sd4 0Sd5 0Sd2 0Se4 0Se2 0Ma4 0Ma5 0Ma2"  # the eight neighbours of e5, so that a mid there captures nothing
)
THE_REST = ("a3", "b2", "b3", "b4", "b5", "c2", "c3", "c4", "c5", "d3", "e3")


def all_but_e5(*mids):
    """Return nineteen mids that leave e5 free."""
    return f"{AROUND_E5} {' '.join(mid + square for mid, square in zip(mids, THE_REST, strict=True))}"


RUNNING_BEHIND = all_but_e5(*["1S"] * 5, *["1M"] * 5, "1L")  # with e5 seat 0 has 9 mids on the board, seat 1 has 11
EQUAL = all_but_e5("0M", *["1S"] * 5, *["1M"] * 5)
LAST_MID = all_but_e5("0M", "0M", *["0L"] * 4, *["1S"] * 5)


def test_a_full_board_ends_the_match_and_ranks_by_mids_in_hand():
    after = played(position(RUNNING_BEHIND, roll="555", turn=8), "Le5")
    assert (after.ended, after.ranks(), after.scores()) == ("full board", [1, 0], [9, 11])
    assert after.position == f"{position(RUNNING_BEHIND + ' 0Le5').rsplit(' ', 3)[0]} - - 9"


def test_equal_hands_share_a_rank_on_a_full_board():
    assert played(position(EQUAL, roll="555", turn=8), "Le5").ranks() == [0, 0]


def test_a_full_board_and_the_cap_are_draws_on_request():
    options = {"full_board": "draw", "max_turns": 9}
    assert played(position(RUNNING_BEHIND, roll="555", turn=8), "Le5", **options).ranks() == [0, 0]
    capped = played(position(RUNNING_BEHIND, turn=8), "345", **options)
    assert (capped.ended, capped.ranks()) == ("cap", [0, 0])


def test_all_mids_placed_wins_before_a_full_board_and_before_the_cap():
    for max_turns in (2000, 9):
        after = played(position(LAST_MID, roll="555", turn=8), "Le5", max_turns=max_turns, full_board="draw")
        assert (after.ended, after.ranks(), after.scores()) == ("normal", [0, 1], [15, 5])


def test_a_full_board_comes_before_the_cap():
    assert played(position(EQUAL, roll="555", turn=8), "Le5", max_turns=9).ended == "full board"


def test_a_match_that_ends_on_three_blanks_counts_the_turn():
    assert played(position(LAST_MID, roll="bbb", turn=8), "Le5").position.endswith(" - - 9")


def test_the_cap_counts_turns_without_placement_and_ranks_by_mids_in_hand():
    after = played(position("1Sa2", turn=4), "345", max_turns=5)
    assert (after.ended, after.ranks()) == ("cap", [1, 0])
    assert not played(position("1Sa2", turn=3), "345", max_turns=5).is_terminal()


def test_a_roll_again_counts_no_turn_towards_the_cap():
    assert played(position("", roll="bbb", turn=4), "La2", max_turns=5).is_chance_node()


@pytest.mark.parametrize(("losers", "ranks"), [("ranked", [0, 2, 1]), ("tied", [0, 1, 1])])
def test_the_losers_rank_by_mids_in_hand_or_tie(losers, ranks):
    mids = "0Sa2 0Sa3 0Sa4 0Mb2 0Mb3 0Mb4 0Mb5 0Mc2 0Ld2 0Ld3 2Mc4 2Mc5"
    after = played(position(mids, 3, "555", 9), "La5", losers=losers)
    assert (after.ended, after.ranks(), after.scores()) == ("normal", ranks, [11, 0, 2])


# Symmetries of the torus

ROW_MAPS = [tuple((sign * row + shift) % 5 for row in range(5)) for sign in (1, -1) for shift in range(5)]
COLUMN_MAPS = [tuple((sign * column + shift) % 4 for column in range(4)) for sign in (1, -1) for shift in range(4)]


def moved_roll(roll, columns):
    if roll == "-":
        return roll
    faces = [naive.HEADERS[columns[naive.HEADERS.index(face)]] if face in naive.HEADERS else face for face in roll]
    return "".join(sorted(faces, key=FACE_ORDER.index))


def moved_action(action, rows, columns):
    row, column = naive.ROWS.index(action[1]), naive.HEADERS.index(action[2])
    return action[0] + naive.ROWS[rows[row]] + naive.HEADERS[columns[column]]


def moved_position(position, rows, columns):
    cells = [[line[2 * column : 2 * column + 2] for column in range(4)] for line in position.split(" ")[0].split("/")]
    board = {(rows[row], columns[column]): cells[row][column] for row in range(5) for column in range(4)}
    _, hands, seat, roll, turn = position.split(" ")
    lines = "/".join("".join(board[row, column] for column in range(4)) for row in range(5))
    return f"{lines} {hands} {seat} {moved_roll(roll, columns)} {turn}"


@SMOOTH
@given(positions(), st.sampled_from(ROW_MAPS), st.sampled_from(COLUMN_MAPS))
def test_moving_the_board_around_the_torus_moves_legal_placements_and_captures_along(position, rows, columns):
    state, moved = read(position), read(moved_position(position, rows, columns))
    actions = {action: moved_action(ACTIONS[action], rows, columns) for action in state.legal_actions()}
    assert set(actions.values()) == {ACTIONS[action] for action in moved.legal_actions()}
    for action, image in actions.items():
        after = moved.child(moved.string_to_action(image))
        assert after.position == moved_position(state.child(action).position, rows, columns)


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


# Speed without other results


def test_the_nth_member_of_a_set_is_the_nth_smallest():
    chooser = random.Random(5)
    for size in range(1, 61):
        members = sorted(chooser.sample(range(60), size))
        packed = np.int64(sum(1 << member for member in members))
        assert [int(rules.nth(packed, n)) for n in range(size)] == members
        assert (int(rules.count(packed)), int(rules.lowest(packed))) == (size, members[0])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_quick_random_finish_plays_exactly_what_rule_by_rule_play_does(players):
    for seed, max_turns in itertools.product(range(8), (20, 2000)):
        game = load(players, max_turns=max_turns)
        quick, slow = game.new_initial_state().words.copy(), game.new_initial_state().words.copy()
        counts = rules.random_finish(game.record(quick), new_rng(seed), game.action_buffer)
        state, rng = game.record(slow), new_rng(seed)
        decisions = plies = 0
        while rules.current_player(state) != rules.TERMINAL:
            if rules.current_player(state) == rules.CHANCE:
                rules.apply_chance(state, rules.sample_chance(state, rng))
            else:
                listed = rules.legal_actions(state, game.action_buffer)
                rules.apply_action(state, game.action_buffer[below(rng, listed)])
                decisions += 1
            plies += 1
        assert counts == (decisions, plies)
        assert quick.tolist() == slow.tolist()


PLAYED_OUT = """
import engine
for players in (2, 3, 4):
    game = engine.load_game("magic_mids", players, capture_power="each" if players == 3 else "sum")
    print(engine.random_playouts(game, 3, seed=players))
    state = game.new_initial_state()
    for step in range(120):
        plies = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
        if plies:
            state.apply_action(plies[step * step % len(plies)])
    print(state.position, state.legal_actions(), state.scores(), state.svg(), state, sep="\\n")
"""


def test_interpreted_and_compiled_rules_play_the_same_matches():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAYED_OUT],
            env={**os.environ, **flags},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flags in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("Playouts") == 3


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
        picture = ElementTree.fromstring(state.svg())
        seats = [
            element.text
            for element in picture.findall(".//{*}text")
            if element.get("font-size") == "12" and element.get("font-weight")
        ]
        assert [seats.count(str(seat)) for seat in range(players)] == state.scores()
        assert picture.find("{*}title").text == f"magic_mids: {state.position}"
