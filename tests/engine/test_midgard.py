"""Midgard: facts of the rules, conservation laws, symmetries, rulings and heuristics."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from bots.heuristics.midgard import evaluate
from engine.chance import new_rng
from engine.midgard import rules, text
from tests.engine import midgard_matches
from tests.engine.midgard_matches import advance, match
from tests.engine.midgard_states import START, letters, load, position, seeds, specs

CORNERS = [text.CELL_NAMES.index(name) for name in ("a1", "j1", "j19")]


def regions(cells):
    """Return the regions of the cells given, found cell by cell."""
    left, found = set(cells), []
    while left:
        region, edge = set(), [min(left)]
        while edge:
            cell = edge.pop()
            if cell in left:
                left.remove(cell)
                region.add(cell)
                edge.extend(rules.NEIGHBOURS[cell])
        found.append(region)
    return found


# Facts of the board


def test_board_has_124_cells_27_on_the_perimeter_and_159_edges():
    degrees = [len(near) for near in rules.NEIGHBOURS]
    assert (len(degrees), degrees.count(1), degrees.count(3)) == (124, 27, 97)
    assert sum(degrees) == 2 * 159
    assert len(regions(range(124))) == 1
    assert all(cell in rules.NEIGHBOURS[near] for cell in range(124) for near in rules.NEIGHBOURS[cell])


@pytest.mark.parametrize(
    ("cell", "near"),
    [
        ("a1", {"b3"}),
        ("b1", {"b2"}),
        ("b2", {"b1", "b3", "c3"}),
        ("b3", {"a1", "b2", "b4"}),
        ("g8", {"g7", "g9", "h9"}),
        ("i18", {"i17", "i19", "j18"}),
        ("j1", {"j2"}),
        ("j3", {"j2", "j4", "k1"}),
        ("j18", {"j17", "j19", "i18"}),
        ("k8", {"j17"}),
    ],
)
def test_neighbours_are_those_that_the_notation_tells(cell, near):
    assert {text.CELL_NAMES[n] for n in rules.NEIGHBOURS[text.CELL_NAMES.index(cell)]} == near


def symmetries():
    """Return the maps of the board onto itself, found from the distances to the three corners alone."""

    def distances(start):
        steps, edge = {start: 0}, [start]
        for cell in edge:
            for near in rules.NEIGHBOURS[cell]:
                if near not in steps:
                    steps[near] = steps[cell] + 1
                    edge.append(near)
        return steps

    far = [distances(corner) for corner in CORNERS]
    seen_from = [tuple(steps[cell] for steps in far) for cell in range(124)]
    assert len(set(seen_from)) == 124
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    return [[seen_from.index(tuple(place[i] for i in order)) for place in seen_from] for order in orders]


MAPS = symmetries()


def test_six_maps_keep_adjacency_and_the_centre():
    assert len({tuple(image) for image in MAPS}) == 6
    for image in MAPS:
        assert image[rules.CENTRE] == rules.CENTRE
        assert all({image[n] for n in rules.NEIGHBOURS[c]} == set(rules.NEIGHBOURS[image[c]]) for c in range(124))


def test_123_first_drops_are_legal_25_of_them_different():
    legal = load().new_initial_state().legal_actions()
    assert len(legal) == 123
    assert rules.CENTRE not in legal
    assert len({min(image[cell] for image in MAPS) for cell in legal}) == 25


def test_32_orbits_are_closed_under_turns_and_cover_the_interior_but_the_centre():
    assert len(rules.ORBITS) == 32
    assert sorted(cell for orbit in rules.ORBITS for cell in orbit) == sorted(rules.INTERIOR)
    turns = [image for image in MAPS if image[CORNERS[0]] != CORNERS[0] and image[image[image[0]]] == 0]
    assert len(turns) == 2
    for orbit in rules.ORBITS:
        assert {frozenset(turn[cell] for cell in orbit) for turn in turns} == {frozenset(orbit)}


def test_random_play_takes_53_7_drops_and_sea_wins_56_8_of_100():
    played = engine.random_playouts(load(), 20_000, seed=5)
    assert played.actions / played.matches == pytest.approx(53.7, abs=0.2)
    assert played.rank_sums[1] / played.matches == pytest.approx(0.568, abs=0.015)
    assert played.ended == {"normal": 20_000}


def test_somebody_runs_out_of_tiles_in_about_19_of_100_random_matches():
    game = load()
    rng = new_rng(6)
    ran_out = 0
    for _ in range(4000):
        record = game.record(game.new_initial_state().words.copy())
        rules.random_finish(record, rng, game.action_buffer)
        ran_out += 0 in record.hand
    assert ran_out / 4000 == pytest.approx(0.194, abs=0.02)


# What always holds


@settings(deadline=None, max_examples=60)
@given(specs, seeds)
def test_tiles_and_kinds_of_cells_equal_a_recount_after_every_ply(spec, seed):
    game = load(spec)
    blizzard_at_start = None
    for state in match(game, seed):
        if state.is_chance_node():
            continue
        board = letters(state)
        if blizzard_at_start is None:
            blizzard_at_start = {cell for cell in range(124) if board[cell] == "*"}
        assert state.scores() == [board.count("s"), board.count("l")]
        assert [70 - hand for hand in state.record.hand] == state.scores()
        assert not any(state.record.tiles[0] & state.record.tiles[1])
        tiles = {cell for cell in range(124) if board[cell] in "sl"}
        bare = {c for c in range(124) if c not in tiles | blizzard_at_start and not tiles & set(rules.NEIGHBOURS[c])}
        if not (game.params["variant"] == "odin" and state.is_terminal()):
            assert bare == {cell for cell in range(124) if board[cell] == "."}
        if not state.is_terminal():
            drops = bare | ({rules.DECLARE} if game.params["variant"] == "odin" else set())
            assert set(state.legal_actions()) == drops


@settings(deadline=None, max_examples=60)
@given(specs.filter(lambda spec: "odin" not in spec), seeds)
def test_every_enclosed_region_and_no_other_is_terraformed_by_influence(spec, seed):
    game = load(spec)
    before = None
    for state in match(game, seed):
        board = letters(state)
        if before is not None and 0 not in state.record.hand:
            mover, cell, old = before
            dropped = old[:cell] + "sl"[mover] + old[cell + 1 :]
            for near in rules.NEIGHBOURS[cell]:
                dropped = dropped[:near] + "*" + dropped[near + 1 :]
            for region in regions(c for c in range(124) if dropped[c] == "*"):
                edges = [dropped[near] for c in region for near in rules.NEIGHBOURS[c] if near not in region]
                lead = edges.count("s") - edges.count("l")
                now = "".join(board[c] for c in sorted(region))
                if "." in edges:
                    assert set(now) == {"*"}
                elif lead:
                    assert set(now) == {"s" if lead > 0 else "l"}
                else:
                    assert now == ("sl" if mover == 0 else "ls") * (len(region) // 2)
        before = None
        if state.current_player() >= 0:
            before = (state.current_player(), midgard_matches.choice(state, seed), board)


@given(st.lists(st.sampled_from("sl*"), min_size=124, max_size=124))
def test_a_tied_region_has_an_even_number_of_cells(cells):
    for region in regions(c for c in range(124) if cells[c] == "*"):
        edges = [cells[near] for c in region for near in rules.NEIGHBOURS[c] if near not in region]
        if edges.count("s") == edges.count("l"):
            assert len(region) % 2 == 0


@settings(deadline=None, max_examples=80)
@given(specs, seeds)
def test_there_are_no_draws_and_the_board_is_full_unless_tiles_ran_out(spec, seed):
    state = midgard_matches.finish(load(spec), seed)
    assert sorted(state.ranks()) == [0, 1]
    assert state.ended == "normal"
    if 0 in state.record.hand:
        assert state.ranks()[state.scores().index(70)] == 0
    else:
        assert set(letters(state)) <= set("sl")
        assert sum(state.scores()) == 124


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["midgard", "midgard(variant=odin)"]), seeds, st.sampled_from(range(1, 6)))
def test_symmetries_map_legal_actions_to_legal_actions_and_results_to_results(spec, seed, number):
    image = [*MAPS[number], rules.DECLARE]
    game = load(spec)
    mapped = game.new_initial_state()
    for state in match(game, seed):
        assert sorted(image[action] for action in state.legal_actions()) == mapped.legal_actions()
        assert state.current_player() == mapped.current_player()
        if state.is_terminal():
            assert state.ranks() == mapped.ranks()
            if 0 not in state.record.hand:
                assert state.scores() == mapped.scores()
        else:
            mapped.apply_action(image[midgard_matches.choice(state, seed)])


@settings(deadline=None, max_examples=150)
@given(specs.filter(lambda spec: "odin" not in spec), seeds, st.integers(0, 60))
def test_random_finish_agrees_with_the_same_drops_made_by_the_rules(spec, seed, plies):
    game = load(spec)
    state = advance(game, seed, plies)
    if state.is_chance_node() or state.is_terminal():
        return
    words, drops = state.words.copy(), np.zeros(rules.MAX_ACTIONS, np.int64)
    record = game.record(words)
    decisions, passed = rules.random_finish(record, new_rng(seed), drops)
    for drop in drops[:decisions]:
        state.apply_action(int(drop))
    out = np.zeros(2, np.int64)
    rules.ranks(record, out)
    assert (state.is_terminal(), passed) == (True, decisions)
    assert (out.tolist(), rules.ended(record)) == (state.ranks(), rules.NORMAL)
    assert record.hand.tolist() == state.record.hand.tolist()
    assert record.ice.tolist() == state.record.ice.tolist()
    assert (record.tiles[0] | record.tiles[1]).tolist() == (state.record.tiles[0] | state.record.tiles[1]).tolist()


@pytest.mark.parametrize(("spec", "chance"), [("midgard(variant=loki)", 2), ("midgard(variant=odin)", 0)])
def test_random_finish_plays_every_variant_to_its_end(spec, chance):
    game = load(spec)
    rng = new_rng(3)
    for _ in range(50):
        words = game.blank()
        words[:] = game.new_initial_state().words
        decisions, plies = rules.random_finish(game.record(words), rng, game.action_buffer)
        assert plies == decisions + chance
        assert game.record(words).seat == engine.TERMINAL


def test_random_action_takes_every_legal_action_equally_often():
    state = advance(load("midgard(variant=odin)"), 8, 40)
    legal = state.legal_actions()
    rng = new_rng(1)
    drawn = [rules.random_action(state.record, rng, state.game.action_buffer) for _ in range(400 * len(legal))]
    assert sorted(set(drawn)) == legal
    assert all(300 < drawn.count(action) < 500 for action in legal)


def test_random_playouts_and_play_by_the_rules_last_equally_long():
    game = load()
    rng = new_rng(9)
    lengths = []
    for _ in range(4000):
        words = game.new_initial_state().words.copy()
        lengths.append(rules.finish_by_the_rules(game.record(words), rng, game.action_buffer))
    played = engine.random_playouts(game, 4000, seed=9)
    assert np.mean(lengths) == pytest.approx(played.actions / played.matches, abs=0.3)


def test_loki_orbits_are_drawn_equally_often_and_never_twice():
    game = load("midgard(variant=loki)")
    state = game.new_initial_state()
    state.apply_action(7)
    rng = new_rng(4)
    drawn = [rules.sample_chance(state.record, rng) for _ in range(400 * 31)]
    assert sorted(set(drawn)) == [orbit for orbit in range(32) if orbit != 7]
    assert all(300 < drawn.count(orbit) < 500 for orbit in set(drawn))
    assert state.chance_outcomes() == [(orbit, 1) for orbit in range(32) if orbit != 7]


@pytest.mark.system
def test_interpreted_rules_play_the_same_matches_as_compiled_ones():
    command = [sys.executable, "-m", "tests.engine.midgard_matches"]
    interpreted = subprocess.run(
        command, env=midgard_matches.interpreted_environment(), capture_output=True, text=True, check=True
    )
    assert interpreted.stdout.strip() == midgard_matches.digest()


# Rulings


def test_a_drop_that_empties_the_hand_ends_the_match_with_nothing_enclosed():
    owned = set(range(69))
    near = {n for cell in owned for n in rules.NEIGHBOURS[cell]} - owned
    board = "".join("s" if c in owned else "*" if c in near else "." for c in range(124))
    state = load().state_from_position(position(board))
    state.apply_action(state.string_to_action("k8"))
    assert state.is_terminal()
    assert (state.scores(), state.ranks(), state.ended) == ([70, 0], [0, 1], "normal")
    assert "." in state.position


def test_running_out_in_a_region_fills_it_in_board_order_and_leaves_the_rest_empty():
    found = 0
    for seed in range(400):
        *_, before, last = match(load(), seed)
        if 0 not in last.record.hand:
            continue
        winner, loser = ("sl"[last.ranks().index(rank)] for rank in (0, 1))
        blizzard = {cell for cell in range(124) if letters(before)[cell] == "*"}
        for region in regions(blizzard | set(rules.NEIGHBOURS[last.history()[-1]])):
            now = "".join(letters(last)[cell] for cell in sorted(region))
            if {winner, "*"} <= set(now) and loser not in now:
                assert now == winner * now.count(winner) + "*" * now.count("*")
                found += 1
    assert found > 3


def test_odin_shares_the_empty_board_by_62_to_62_and_sea_wins_on_the_perimeter():
    state = load("midgard(variant=odin)").new_initial_state()
    state.apply_action(rules.DECLARE)
    assert state.position == START.replace(" s -", " l d")
    state.apply_action(rules.DECLARE)
    rim = [letters(state)[cell] for cell in rules.PERIMETER]
    assert (state.scores(), rim.count("s"), rim.count("l"), state.ranks()) == ([62, 62], 14, 13, [0, 1])


def test_odin_ties_are_shared_out_by_the_last_player_who_dropped():
    state = load("midgard(variant=odin)").new_initial_state()
    for name in ("a1", "k8", "declare", "declare"):
        state.apply_action(state.string_to_action(name))
    board = letters(state)
    assert board[1] == "l"  # b1, the first perimeter cell of a region with one edge each
    assert state.scores() == [62, 62]


def test_a_drop_answers_a_declaration():
    state = load("midgard(variant=odin)").new_initial_state()
    for name in ("declare", "e5", "declare"):
        state.apply_action(state.string_to_action(name))
    assert state.position.endswith(" l d")
    assert state.current_player() == 1
    assert not state.is_terminal()


# Heuristics


def test_the_evaluation_is_bounded_and_turns_its_sign_with_the_seat():
    for seed in range(20):
        state = advance(load(), seed, 2 * seed)
        if not state.is_terminal():
            value = evaluate(state.record, 0)
            assert -1 <= value <= 1
            assert evaluate(state.record, 1) == -value


@pytest.mark.parametrize("spec", ["midgard", "midgard(variant=odin)"])
def test_greedy_play_by_the_evaluation_beats_random_play(spec):
    wins = sum(midgard_matches.greedy_wins(load(spec), seed, seat=seed % 2) for seed in range(100))
    assert wins >= 95
