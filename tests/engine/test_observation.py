"""What observations promise beyond the contract: no absolute seat shows, memory is counted, tables fit the planes."""

import re
from collections import Counter

import numpy as np
import pytest

import engine
from engine import Game, State
from engine.observation import Block, ObservationSpec, permuted
from engine.state import KernelState
from tests.engine.matches import stops, walk


def turned_bits(packed: int, bits: int, players: int) -> int:
    """Return the fields of so many bits, one a seat, each given to the seat after."""
    fields = [packed >> bits * seat & (1 << bits) - 1 for seat in range(players)]
    return sum(field << bits * ((seat + 1) % players) for seat, field in enumerate(fields))


def turn_epicycle(record: np.record, players: int) -> None:
    record.hands = turned_bits(int(record.hands), 6, players)
    record.ranks[:players] = np.roll(record.ranks[:players], 1)


def turn_magic_mids(record: np.record, players: int) -> None:
    for name in ("mids", "hands"):
        record[name][:players] = np.roll(record[name][:players], 1)


def turn_midgard(record: np.record, players: int) -> None:
    for name in ("tiles", "hand"):
        record[name] = record[name][::-1].copy()


def turn_connect_four(record: np.record, players: int) -> None:
    record.stones = record.stones[::-1].copy()


def turn_pyramid_punch(record: np.record, players: int) -> None:
    for name in ("tiles", "x", "y", "ranks"):
        record[name][:players] = np.roll(record[name][:players], 1)
    record.table = turned_bits(int(record.table), 1, players)
    record.fought = turned_bits(int(record.fought), 4, players)
    record.fight = (record.fight + 16) % (16 * players)


TURN = {
    "connect_four": turn_connect_four,
    "epicycle": turn_epicycle,
    "magic_mids": turn_magic_mids,
    "midgard": turn_midgard,
    "pyramid_punch": turn_pyramid_punch,
}


def with_seats_turned(state: KernelState) -> np.ndarray:
    """Return the words of the state in which every seat has the place of the one before it."""
    game = state.game
    words = state.words.copy()
    record = game.record(words)
    TURN[game.name](record, game.players)
    if record.seat >= 0:
        record.seat = (record.seat + 1) % game.players
    return words


@pytest.mark.parametrize(
    ("spec", "players"),
    [
        ("connect_four", 2),
        ("epicycle(repetition=0)", 4),
        ("magic_mids", 3),
        ("midgard", 2),
        ("midgard(variant=odin)", 2),
        ("pyramid_punch", 4),
    ],
)
def test_when_all_seats_move_on_each_sees_what_the_one_before_it_saw(spec, players):
    game = engine.load_game(spec, players)
    out = np.zeros(game.observation_spec().size, np.float32)
    for seed in range(3):
        for state in stops(game, seed):
            words = with_seats_turned(state)
            for seat in range(players):
                game.observe(words, (seat + 1) % players, out)
                assert np.array_equal(out, state.observe(seat))


def place(state: State, mover: int) -> tuple[str, int]:
    """Return what an Epicycle position is for the rule of repetition."""
    pie, hands, _, _ = state.position.split(" ")
    return f"{pie} {hands}", mover


@pytest.mark.parametrize("players", [2, 3])
def test_occurrences_are_those_counted_from_the_start_of_the_match(players):
    game = engine.load_game("epicycle(repetition=4)", players)
    spec = game.observation_spec()
    most = 0
    for seed in range(6):
        state = game.new_initial_state()
        counts: Counter[tuple[str, int]] = Counter()
        while not state.is_terminal():
            counts[place(state, state.current_player())] += 1
            seen = spec.split(state.observe(0))
            assert round(float(seen["occurrences"][0]) * 4) == counts[place(state, state.current_player())]
            expected = np.zeros(6)
            for action in state.legal_actions():
                child = state.child(action)
                ends = child.is_terminal()
                repeats = [times for (text, _), times in counts.items() if ends and text == place(child, 0)[0]]
                expected[action] = max(repeats, default=0) if ends else counts[place(child, child.current_player())]
            assert np.allclose(seen["seen_after"] * 4, expected)
            most = max(most, int(expected.max()))
            legal = state.legal_actions()
            state.apply_action(max(legal, key=lambda action: (expected[action], action * (seed + 1) % 7)))
    assert most == 3


def test_without_the_rule_of_repetition_nothing_is_counted():
    game = engine.load_game("epicycle(repetition=0)", 2)
    for state in stops(game, 1):
        seen = game.observation_spec().split(state.observe(0))
        assert not seen["occurrences"].any() and not seen["seen_after"].any()


def test_midgards_tables_lead_from_cells_to_places_in_the_planes_and_to_their_neighbours():
    game = engine.load_game("midgard")
    tables = game.observation_spec().tables
    state = game.new_initial_state()
    is_cell = game.observation_spec().split(state.observe(0))["cells"][2]
    rows, columns = tables["places"].T
    assert is_cell.sum() == len(tables["places"]) == len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == 124
    assert is_cell[rows, columns].all()
    for cell, near in enumerate(tables["neighbours"]):
        for other in near[near >= 0]:
            assert cell in tables["neighbours"][other]
            assert abs(rows[cell] - rows[other]) <= 1 and abs(columns[cell] - columns[other]) <= 1
    for action in (0, 50, 123):
        drop = state.child(action)
        tiles = drop.game.observation_spec().split(drop.observe(0))["tiles"]
        assert np.argwhere(tiles[0]).tolist() == [tables["places"][action].tolist()] and not tiles[1].any()


def renamed(text: str, seat: int, players: int) -> str:
    """Return an action's words with tiles as the seat counts them; what follows `/` or `r` are quarter turns."""
    tiles, *turns = re.split("([/r])", text)
    seen = (str((int(letter) - seat) % players) if letter.isdigit() else letter for letter in tiles)
    return "".join([*seen, *turns])


def test_pyramid_punch_names_the_tiles_of_actions_as_the_seat_counts_them():
    game = engine.load_game("pyramid_punch", 3)
    spec = game.observation_spec()
    seen = 0
    for state in walk(game, 4):
        for action in state.legal_actions():
            text = state.action_to_string(action)
            for seat in range(3):
                relative = int(spec.seen_actions(seat, game.num_distinct_actions)[action])
                assert state.action_to_string(relative) == renamed(text, seat, 3), text
                seen += relative != action
    assert seen > 50


def test_a_batch_is_split_into_blocks_without_copying():
    spec = ObservationSpec(1, (Block("one", (2, 2), "a square"), Block("two", (1,), "a number", -1.0, 2.0)))
    flat = np.arange(15, dtype=np.float32).reshape(3, 5)
    parts = spec.split(flat)
    assert parts["one"].shape == (3, 2, 2) and parts["two"].tolist() == [[4], [9], [14]]
    assert np.shares_memory(parts["one"], flat)
    assert spec.slices == {"one": slice(0, 4), "two": slice(4, 5)}
    assert (spec.minimum.tolist(), spec.maximum.tolist()) == ([0, 0, 0, 0, -1], [1, 1, 1, 1, 2])
    assert str(spec) == "one 2x2 [0, 1]: a square\ntwo 1 [-1, 2]: a number"
    with pytest.raises(engine.UnsupportedError, match="5 entries are expected, not"):
        spec.split(flat[:, :4])


def test_entries_of_blocks_that_a_symmetry_leaves_alone_stay():
    blocks = (Block("one", (3,), "three"), Block("two", (2,), "two"))
    assert permuted(blocks, {"one": lambda one: one[::-1]}).tolist() == [2, 1, 0, 3, 4]


def test_a_game_with_kernels_but_without_observations_says_so(monkeypatch):
    game: Game = engine.load_game("epicycle", 2)
    monkeypatch.setattr("engine.state.find_spec", lambda name: None)
    with pytest.raises(engine.UnsupportedError, match="epicycle has no observations"):
        game.observation_spec()
