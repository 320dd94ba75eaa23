"""Pyramid Punch: rules recomputed naively, facts, rulings and symmetries."""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import CHANCE
from engine.chance import new_rng
from engine.pyramid_punch import rules, text
from tests.engine import naive_pyramid_punch as naive
from tests.engine.pyramid_punch_states import GAMES, PLAYERS, state_at, walk

walks = st.tuples(st.sampled_from(PLAYERS), st.integers(0, 2**32 - 1))
few = settings(max_examples=40, deadline=None)


# Matches of several tiles that begin where seats are out, so that tiles lie apart

APART = (
    (3, "LMSO@0,0/x2/LMSO@2,0 0 m 9"),
    (3, "L...@0,0/x2/L...@2,0 0 m 9"),
    (5, "L.O.@0,0/.M.S@1,0/x4/SO..@3,0/..LM@4,0 3 m 9"),
    (5, "LMSO@0,0/LMSO@1,0/x4/LMSO@3,0/LMSO@4,0 0 m 9"),
    (5, "x4/L...@0,0/.M..@-1,1/..S.@1,1/...L@0,2 2 m 31"),
)


def legal_texts(state):
    return {state.action_to_string(action) for action in state.legal_actions()}


# Properties


@few
@given(walks)
def test_legal_actions_equal_a_naive_recomputation(case):
    players, seed = case
    for state in walk(GAMES[players].new_initial_state(), seed):
        if state.current_player() >= 0:
            assert legal_texts(state) == naive.legal_actions(state.position), state.position


@pytest.mark.parametrize(("players", "position"), APART)
def test_legal_actions_of_tiles_apart_equal_a_naive_recomputation(players, position):
    for seed in range(25):
        for state in walk(GAMES[players].state_from_position(position), seed, plies=40):
            if state.current_player() >= 0:
                assert legal_texts(state) == naive.legal_actions(state.position), state.position


@few
@given(walks)
def test_no_two_tiles_ever_lie_on_one_place(case):
    players, seed = case
    for state in walk(GAMES[players].new_initial_state(), seed):
        places = list(naive.Table(state.position).place.values())
        assert len(set(places)) == len(places)


@few
@given(walks)
def test_fighters_leave_only_by_dice_one_at_a_time_or_with_their_last_pyramid(case):
    players, seed = case
    states = [state for state in walk(GAMES[players].new_initial_state(), seed) if state.record.phase > rules.ARRANGE]
    for state, after in pairwise(states):
        before, left = fighters_of(state), fighters_of(after)
        lost = {tile: before[tile] - left.get(tile, set()) for tile in before if before[tile] != left.get(tile)}
        assert len(lost) <= state.is_chance_node()
        assert all(left.get(tile, set()) <= before[tile] for tile in before)
        for tile, fighters in lost.items():
            assert len(fighters if tile in left else fighters - {"O"}) == 1


def fighters_of(state):
    """Return the set of fighters of every tile in the match; a tile has none twice."""
    spaces = naive.Table(state.position).spaces
    assert all(len(set(letters) - {"."}) == 4 - letters.count(".") for letters in spaces.values())
    return {tile: set(letters) - {"."} for tile, letters in spaces.items()}


@few
@given(walks)
def test_neighbours_kept_up_to_date_equal_those_that_the_places_tell(case):
    players, seed = case
    for state in walk(GAMES[players].new_initial_state(), seed):
        places = naive.Table(state.position).place
        for seat in range(players):
            told = {other for other, _ in naive.beside(places, places[seat])} if seat in places else set()
            assert {other for other in range(players) if state.record.beside[seat] >> other & 1} == told


@few
@given(walks, st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_moving_the_whole_table_changes_nothing(case, x, y):
    players, seed = case
    for state in walk(GAMES[players].new_initial_state(), seed, plies=60):
        shifted = state.clone()
        shifted.record.x += x
        shifted.record.y += y
        assert shifted.position == state.position
        for action in state.legal_actions():
            assert shifted.child(action).position == state.child(action).position


def turn_table(position):
    """Return the position seen after a quarter turn of the table clockwise."""
    tiles, *rest = position.split(" ")
    turned = []
    for tile in tiles.split("/"):
        spaces, at, where = tile.partition("@")
        if at and where != "-":
            x, y = map(int, where.split(","))
            turned.append(f"{spaces[3]}{spaces[:3]}@{-y},{x}")
        else:
            turned.append(tile)
    return " ".join(["/".join(turned), *rest])


@few
@given(walks)
def test_turning_the_whole_table_changes_nothing(case):
    players, seed = case
    game = GAMES[players]
    clockwise = str.maketrans("NESW", "ESWN")
    for state in walk(game.new_initial_state(), seed, plies=60):
        if state.record.phase not in (rules.FIGHT, rules.MOVE):
            continue
        turned = game.state_from_position(turn_table(state.position))
        fighting = state.record.phase == rules.FIGHT
        for action in state.legal_actions():
            name = state.action_to_string(action)
            head, sep, tail = name.partition(">")
            same = name if fighting else head + sep + tail.translate(clockwise)
            after = turned.child(turned.string_to_action(same))
            assert after.position == turn_table(state.child(action).position)
        assert len(turned.legal_actions()) == len(state.legal_actions())


@few
@given(walks)
def test_positions_read_back_to_the_same_state(case):
    players, seed = case
    for state in walk(GAMES[players].new_initial_state(), seed):
        again = state.game.state_from_position(state.position)
        assert again.position == state.position
        assert again.current_player() == state.current_player()
        assert again.legal_actions() == state.legal_actions()
        assert again.scores() == state.scores()
        if state.is_terminal():
            assert (again.ranks(), again.ended) == (state.ranks(), state.ended)


@few
@given(walks)
def test_a_turn_has_at_most_eight_fights_two_for_one_fighter_and_none_twice(case):
    players, seed = case
    turn, enemies, own = (-1, -1), [], Counter()
    previous = None
    for state in walk(GAMES[players].new_initial_state(), seed):
        if state.is_chance_node():
            key = (state.record.turn, state.record.seat)
            if key != turn:
                turn, enemies, own = key, [], Counter()
            name = previous.action_to_string(state.history()[-1])
            enemies.append(name[2:])
            own[name[0]] += 1
            assert len(enemies) <= 8 and len(set(enemies)) == len(enemies) and max(own.values()) <= 2
        previous = state


# Facts of the rules page


@pytest.mark.parametrize("players", PLAYERS)
def test_every_seat_chooses_from_six_arrangements_in_order(players):
    state = GAMES[players].new_initial_state()
    for seat in range(players):
        assert state.current_player() == seat
        names = " ".join(state.action_to_string(action) for action in state.legal_actions())
        assert names == "LMSO LMOS LSMO LSOM LOMS LOSM"
        state.apply_action(5 - seat)
    assert len(state.legal_actions()) == players


def test_the_second_tile_of_two_has_sixteen_places():
    state = state_at("LMSO@-/LMSO@0,0 1 p 0")
    assert len(state.legal_actions()) == 16


@pytest.mark.parametrize(
    ("fight", "won", "tied"), [("LxM", 21, 5), ("MxO", 26, 4), ("LxO", 30, 3), ("MxM", 15, 6), ("SxL", 6, 4)]
)
def test_fights_are_won_as_often_as_the_page_says(fight, won, tied):
    own, enemy = fight[0], fight[2]
    spare = "L" if own == "O" else ""
    mine, theirs = f".{own}{spare or '.'}.", f"{enemy}{'..L' if enemy == 'O' else '...'}"
    state = state_at(f"{mine}@0,0/{theirs}@1,0 0 f!{own}x1{enemy} 4")
    results = Counter()
    for outcome, weight in state.chance_outcomes():
        left = naive.Table(state.child(outcome).position).spaces
        results[own in left.get(0, ""), enemy in left.get(1, "")] += weight
    assert results == {(True, False): won, (True, True): tied, (False, True): 36 - won - tied}


@pytest.mark.parametrize("players", PLAYERS)
def test_the_first_turn_after_placing_always_has_a_fight(players):
    for seed in range(50):
        match = walk(GAMES[players].new_initial_state(), seed)
        state = next(state for state in match if state.record.phase > rules.PLACE)
        assert state.record.phase == rules.FIGHT


def test_no_place_decision_has_more_actions_than_there_is_room_for():
    widest = 0
    for seed in range(300):
        for state in walk(GAMES[5].new_initial_state(), seed, plies=10):
            widest = max(widest, len(state.legal_actions()))
    assert widest == rules.MAX_ACTIONS


# Rulings


def test_a_tile_may_not_leave_its_only_partner():
    state = state_at("LMSO@0,0/LMSO@1,0/x4/LMSO@3,0/LMSO@4,0 0 m 9")
    moves = [action for action in state.legal_actions() if action >= rules.MOVES]
    assert len(moves) == 12
    for action in moves:
        assert all(state.child(action).record.beside[seat] for seat in (0, 1, 3, 4))


def test_a_single_tile_must_be_moved_when_it_can_be():
    state = state_at("LMSO@0,0/x2/LMSO@2,0 0 m 9")
    assert legal_texts(state) == {f"{tile}>{2 - tile}{side}" for tile in (0, 2) for side in "NESW"}


def test_single_tiles_that_cannot_move_are_rotated():
    state = state_at("L...@0,0/x2/L...@2,0 0 m 9")  # two fighters on top-left spaces can never touch
    assert legal_texts(state) == {f"{tile}r{turns}" for tile in (0, 2) for turns in (1, 2, 3)}


def test_a_tied_enemy_counts_as_fought():
    state = state_at(".L..@0,0/M..L@1,0 0 f 4").child(text.ACTIONS.index("Lx1M"))
    tied = state.child(text.OUTCOMES.index("1-2"))
    assert tied.position == ".L..@0,0/M..L@1,0 0 m 4"


def test_a_mover_who_loses_the_last_pyramid_is_out_with_the_stone_and_the_turn_is_over():
    state = state_at(".S.O@0,0/L..M@1,0/LMSO@2,0 0 f!Sx1L 3")
    assert state.child(text.OUTCOMES.index("1-6")).position == "x2/L..M@0,0/LMSO@1,0 1 m 4"


def test_the_last_seat_with_fighters_wins_and_the_turn_counts():
    state = state_at(".L.O@0,0/S..O@1,0 1 f!Sx0L 99").child(text.OUTCOMES.index("6-1"))
    assert (state.position, state.ended, state.ranks()) == ("x1/S..O@0,0 - - 100", "normal", [1, 0])


def test_the_cap_ranks_by_pyramids_with_ties_shared_ahead_of_the_seats_out():
    state = state_at("LMSO@0,0/x3/.M.L@1,0/..ML@0,1 3 m 99").child(text.ACTIONS.index("0r1"))
    assert (state.ended, state.ranks(), state.scores()) == ("cap", [0, 3, 1, 1], [3, 0, 2, 2])
    assert state.position.endswith(" - - 100")


def test_the_cap_may_be_a_draw_of_the_seats_still_in():
    state = state_at("LMSO@0,0/x3/.M.L@1,0/..ML@0,1 3 m 9", max_turns=10, cap_ranking="draw")
    assert state.child(text.ACTIONS.index("0r1")).ranks() == [0, 3, 0, 0]


def test_the_roll_belongs_to_the_seat_whose_turn_it_is():
    state = state_at("L.M.@0,0/.S.O@1,0/LMSO@2,0 1 f!Sx2L 4")
    assert (state.current_player(), state.rolling_seat()) == (CHANCE, 1)
    assert len(state.chance_outcomes()) == 36


# Random play


def test_random_actions_are_all_the_legal_ones_equally_often():
    positions = [
        "LMSO@-/LMSO@0,0/LMSO@- 1 p 0",
        "LMSO@-/LMSO@- 0 p 0",
        "LM.O@0,0/L.S.@1,0 0 m 2",
        "LMSO@0,0/OSML@0,-1/LMSO@1,0 0 f 9",
        *(position for _, position in APART),
    ]
    for position in positions:
        state = state_at(position)
        legal, rng = state.legal_actions(), new_rng(7)
        draws = 200 * len(legal)
        drawn = Counter(int(rules.random_action(state.record, rng, state.game.action_buffer)) for _ in range(draws))
        assert sorted(drawn) == legal
        assert sum((count - 200) ** 2 / 200 for count in drawn.values()) < 3 * len(legal) + 15, position


@pytest.mark.parametrize("players", PLAYERS)
def test_playing_to_the_end_at_one_go_equals_playing_ply_by_ply(players):
    game = engine.load_game("pyramid_punch", players=players, max_turns=60)
    for seed in range(40):
        quick, slow = game.new_initial_state(), game.new_initial_state()
        decisions, plies = rules.random_finish(quick.record, new_rng(seed), game.action_buffer)
        assert (decisions, plies) == ply_by_ply(slow.record, new_rng(seed), game.action_buffer)
        assert np.array_equal(quick.words, slow.words)


def test_playing_to_the_end_can_begin_anywhere():
    for players, position in APART:
        for state in walk(GAMES[players].state_from_position(position), 3):
            quick, slow = state.clone(), state.clone()
            counts = rules.random_finish(quick.record, new_rng(5), state.game.action_buffer)
            assert counts == ply_by_ply(slow.record, new_rng(5), state.game.action_buffer)
            assert np.array_equal(quick.words, slow.words)


def ply_by_ply(record, rng, actions):
    decisions = plies = 0
    while (who := rules.current_player(record)) != rules.TERMINAL:
        if who == CHANCE:
            rules.apply_chance(record, rules.sample_chance(record, rng))
        else:
            rules.apply_action(record, rules.random_action(record, rng, actions))
            decisions += 1
        plies += 1
    return decisions, plies


WALK = """
import engine, random
from engine.chance import new_rng
for players in (2, 3, 5):
    game = engine.load_game("pyramid_punch", players=players)
    for seed in range(3):
        state, chooser = game.new_initial_state(), random.Random(seed)
        while not state.is_terminal():
            plies = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
            print(state.position, plies)
            state.apply_action(chooser.choice(plies))
        print(state.position, state.ranks(), state.ended, state.scores())
    state = game.new_initial_state()
    print(game.rules.random_finish(state.record, new_rng(3), game.action_buffer), state.position)
"""


@pytest.mark.system
def test_the_interpreted_rules_play_like_the_compiled_ones():
    outputs = []
    for switch in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": switch}
        root = Path(engine.__file__).parents[1]
        command = [sys.executable, "-W", "error", "-c", WALK]
        outputs.append(
            subprocess.run(command, env=environment, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout
        )
    assert len(outputs[0].splitlines()) > 300
    assert outputs[0] == outputs[1]
