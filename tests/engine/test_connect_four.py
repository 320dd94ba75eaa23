"""Connect four, the game that plugs in: facts, a naive recomputation, symmetry, positions, the tutorial."""

import random
import re
from pathlib import Path

import pytest
from connect_four import rules, text
from connect_four.heuristics import evaluate, prospects
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from bots import make_bot
from bots.search.minimax import AlphaBeta
from engine import PositionError, play
from engine.chance import new_rng
from engine.state import KernelState
from tests.engine.matches import walk
from tests.engine.perft import perft

TUTORIAL = Path(__file__).parents[2] / "examples" / "connect_four" / "README.md"
GAME = engine.load_game("connect_four")
START = "......./......./......./......./......./....... 0"
SEEDS = st.integers(0, 2**32 - 1)
DIRECTIONS = {"level": (1, 0), "upright": (0, 1), "rising": (1, 1), "falling": (1, -1)}


def lines_of_four():
    """Return every line of the board as its four cells, by direction."""
    board = {(column, row) for column in range(7) for row in range(6)}
    found = {name: [] for name in DIRECTIONS}
    for name, (right, up) in DIRECTIONS.items():
        for column, row in sorted(board):
            line = [(column + i * right, row + i * up) for i in range(4)]
            if board.issuperset(line):
                found[name].append(line)
    return found


LINES = [line for lines in lines_of_four().values() for line in lines]


class Naive:
    """The rules once more: columns as lists, lines of four looked for cell by cell."""

    def __init__(self):
        self.columns = [[] for _ in range(7)]
        self.seat = 0
        self.ranks = None
        self.ended = ""

    def legal(self):
        return [] if self.ended else [column for column in range(7) if len(self.columns[column]) < 6]

    def drop(self, column):
        self.columns[column].append(self.seat)
        if any(all(self.at(cell) == self.seat for cell in line) for line in LINES):
            self.ended, self.ranks = "normal", [int(seat != self.seat) for seat in (0, 1)]
        elif all(len(stones) == 6 for stones in self.columns):
            self.ended, self.ranks = "full board", [0, 0]
        self.seat = 1 - self.seat

    def at(self, cell):
        column, row = cell
        return self.columns[column][row] if row < len(self.columns[column]) else None

    def position(self):
        rows = ["".join({0: "x", 1: "o", None: "."}[self.at((c, r))] for c in range(7)) for r in reversed(range(6))]
        return f"{'/'.join(rows)} {'-' if self.ended else self.seat}"


def after(drops):
    """Return the state after drops from the start, and what the naive rules make of them."""
    state, naive = GAME.new_initial_state(), Naive()
    for letter in drops:
        state.apply_action(state.string_to_action(letter))
        naive.drop("abcdefg".index(letter))
    return state, naive


def same(state, naive):
    assert state.position == naive.position()
    assert state.legal_actions() == naive.legal()
    assert state.ended == naive.ended
    if state.is_terminal():
        assert state.ranks() == naive.ranks
    else:
        assert state.current_player() == naive.seat


def stones(cells):
    """Return cells as a set in one word."""
    return sum(text.bit(column, row) for column, row in cells)


def mirrored(position):
    """Return a position string with the columns in reverse order."""
    board, seat = position.split(" ")
    return f"{'/'.join(row[::-1] for row in board.split('/'))} {seat}"


def full_board(seed):
    """Return the drops of a match that avoids lines to its end."""
    rng = random.Random(seed)
    while True:
        state, drops = GAME.new_initial_state(), []
        while not state.is_terminal():
            safe = [action for action in state.legal_actions() if state.child(action).ended != "normal"]
            if not safe:
                break
            drops.append(text.ACTIONS[rng.choice(safe)])
            state.apply_action(state.string_to_action(drops[-1]))
        if state.ended == "full board":
            return drops


# Facts


def test_the_counts_of_sequences_are_the_published_ones():
    counts = [perft(GAME.new_initial_state(), depth).sequences for depth in range(1, 9)]
    assert counts == [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


def test_the_board_has_69_lines_of_four():
    assert {name: len(lines) for name, lines in lines_of_four().items()} == {
        "level": 24,
        "upright": 21,
        "rising": 12,
        "falling": 12,
    }


def test_a_set_has_a_four_when_it_holds_one_of_the_69_lines_and_not_with_any_three_of_them():
    for line in LINES:
        assert rules.has_four(stones(line))
        for left_out in line:
            assert not rules.has_four(stones(set(line) - {left_out}))


def test_no_line_goes_around_the_board():
    cells = [(column, row) for column in range(7) for row in range(6)]
    rng = random.Random(1)
    for _ in range(3000):
        chosen = set(rng.sample(cells, rng.randint(4, 30)))
        assert bool(rules.has_four(stones(chosen))) == any(chosen.issuperset(line) for line in LINES)


@pytest.mark.parametrize(
    ("direction", "drops"),
    [("upright", "abababa"), ("level", "aabbccd"), ("rising", "abbccdcddfd"), ("falling", "gffeededdbd")],
)
def test_seat_0_wins_in_each_of_the_four_directions(direction, drops):
    before, _ = after(drops[:-1])
    assert not before.is_terminal()
    state, naive = after(drops)
    assert (state.ended, state.ranks(), state.returns()) == ("normal", [0, 1], [1.0, -1.0])
    same(state, naive)
    made = [name for name, lines in lines_of_four().items() for line in lines if all(naive.at(c) == 0 for c in line)]
    assert made == [direction]


def test_seat_1_can_win_too():
    state, naive = after("abababcb")
    assert (state.ranks(), state.returns()) == ([1, 0], [-1.0, 1.0])
    same(state, naive)


@pytest.mark.parametrize("seed", range(3))
def test_a_full_board_without_a_line_is_a_draw(seed):
    state, naive = after(full_board(seed))
    assert (state.ended, state.ranks(), state.returns()) == ("full board", [0, 0], [0.0, 0.0])
    same(state, naive)


# The naive rules, and symmetry


@given(seed=SEEDS)
@settings(max_examples=60)
def test_the_naive_rules_play_the_same_match(seed):
    naive = Naive()
    for state in walk(GAME, seed):
        if state.history():
            naive.drop(state.history()[-1])
        same(state, naive)


@given(seed=SEEDS)
@settings(max_examples=20)
def test_the_mirrored_match_goes_the_same_way(seed):
    mirror = GAME.new_initial_state()
    for state in walk(GAME, seed):
        if state.history():
            mirror.apply_action(6 - state.history()[-1])
        assert mirror.position == mirrored(state.position)
        assert mirror.legal_actions() == sorted(6 - action for action in state.legal_actions())
        for seat in (0, 1):
            assert evaluate(mirror.record, seat) == evaluate(state.record, seat)


@given(seed=SEEDS)
@settings(max_examples=20)
def test_random_playouts_from_any_state_end_as_the_rules_say(seed):
    rng = new_rng(seed)
    for state in walk(GAME, seed):
        words = state.words.copy()
        plies = GAME.compiled.random_finish(GAME.record(words), rng, GAME.action_buffer)[0]
        end = KernelState(GAME, words)
        assert end.is_terminal()
        assert plies == state.position.count(".") - end.position.count(".")
        again = GAME.state_from_position(end.position)
        assert (again.ended, again.ranks()) == (end.ended, end.ranks())


# Heuristics


@given(seed=SEEDS)
@settings(max_examples=20)
def test_the_evaluation_counts_open_lines_and_threats(seed):
    for state in walk(GAME, seed):
        first, second = (
            {(c, r) for c in range(7) for r in range(6) if int(word) & text.bit(c, r)} for word in state.record.stones
        )
        found = []
        for seat, (own, other) in enumerate(((first, second), (second, first))):
            missing = [set(line) - own for line in LINES if not other.intersection(line)]
            threats = {cell for cells in missing if len(cells) == 1 for cell in cells}
            lines = sum((0, 1, 3, 6, 10)[4 - len(cells)] for cells in missing)
            found.append(lines + sum(10 if row % 2 == seat else 2 for _, row in threats))
        assert [prospects(state.record, seat) for seat in (0, 1)] == found
        lead = found[0] - found[1]
        assert evaluate(state.record, 0) == -evaluate(state.record, 1) == lead / (abs(lead) + 60)


def test_alphabeta_opens_in_the_centre_whatever_its_budget():
    state = GAME.new_initial_state()
    for nodes in (100, 1000, 10_000, 20_000, 50_000, 100_000):
        for seed in range(3):
            assert make_bot(AlphaBeta, GAME, 0, seed, {"nodes": nodes}).choose(state) == 3


# Positions and drawings


def test_the_start_is_written_as_the_rulebook_says():
    assert GAME.new_initial_state().position == START


@pytest.mark.parametrize(
    ("position", "field", "why"),
    [
        (START.replace("....... 0", "x.....x 0"), "BOARD", "2 x and 0 o"),
        (START.replace("....... 0", "..x.... 0"), "SEAT", "0 is not to move with 1 x and 0 o"),
        (START.replace("....... 0", "..o.... 0"), "BOARD", "0 x and 1 o"),
        (START.replace("....... 0", "....... -"), "SEAT", "must be -"),
        (START.replace("....... 0", "....... 2"), "SEAT", "'2' is not a seat"),
        (START.replace(".......", "x......", 1), "BOARD", "column a lies on an empty cell"),
        (START.replace(".......", "......", 1), "BOARD", "not six rows"),
        (START.replace(".......", "....X..", 1), "BOARD", "not six rows"),
        (START + " ", "count", "two fields"),
        ("......./......./......./......./ooo..../xxxx... 1", "SEAT", "must be - when"),
        ("......./......./......./......./xxx..../oooo... -", "BOARD", "3 x and 4 o"),
        ("......./......./......./......./xxxx.../oooo... -", "BOARD", "x has four in a line, but the last drop was"),
        ("......./......./......./xxxx.../oooxoo./xxxxooo -", "BOARD", "no last drop can have made all these lines"),
    ],
)
def test_a_position_that_cannot_be_is_refused_with_its_field(position, field, why):
    with pytest.raises(PositionError, match=why) as refusal:
        GAME.state_from_position(position)
    assert refusal.value.field == field


def test_two_lines_made_by_one_drop_are_a_position():
    state = GAME.state_from_position("......./......./......x/.....xo/....xoo/xxxxooo -")
    assert (state.ended, state.ranks()) == ("normal", [0, 1])


def test_the_drawings_mark_the_last_drop_and_the_line():
    state, _ = after("aabbccd")
    assert "[x]" in str(state) and "over after 7 drops (normal), places [1, 2]" in str(state)
    assert state.svg().count('r="6"') == 4
    read = GAME.state_from_position(state.position)
    assert "[" not in str(read).splitlines()[5]


# The tutorial


def blocks(language):
    """Return (file, code) of every block of the tutorial in that language that names its file."""
    return re.findall(rf"```{language}\n# (\S+)\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)


@pytest.mark.parametrize(("file", "code"), [*blocks("python"), *blocks("toml")])
def test_what_the_tutorial_shows_stands_in_the_package(file, code):
    assert code.rstrip() in (TUTORIAL.parent / file).read_text()


def test_the_tutorial_tells_every_kernel_that_the_engine_asks_for():
    text = TUTORIAL.read_text()
    for name in (*play.RULES, *play.OPTIONAL):
        assert f"| `{name}(state" in text
