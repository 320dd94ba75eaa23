"""Magic Mids: properties of its rules, facts of its rulebook, symmetries of the torus."""

import itertools
import os
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chance import below, new_rng
from engine.magic_mids import rules
from engine.magic_mids.text import ACTIONS, OUTCOMES
from tests.engine import naive_magic_mids as naive
from tests.engine.magic_mids_states import (
    EMPTY,
    LAST_MID,
    RUNNING_BEHIND,
    SMOOTH,
    all_but_e5,
    load,
    played,
    position,
    positions,
    random_match,
    read,
)

FACE_ORDER = "ba2345"


def throws():
    """Return the 216 ordered throws, each written as a roll."""
    return ["".join(sorted(throw, key=FACE_ORDER.index)) for throw in itertools.product(FACE_ORDER, repeat=3)]


def allowed_by(roll):
    """Return size and column of what a roll allows on the empty board."""
    state = load().new_initial_state()
    state.apply_action(state.string_to_action(roll))
    return {ACTIONS[action][0] + ACTIONS[action][2] for action in state.legal_actions()}


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


EQUAL = all_but_e5("0M", *["1S"] * 5, *["1M"] * 5)


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


@pytest.mark.system
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
