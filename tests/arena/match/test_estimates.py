"""Evaluations, lines and visit counts: kept with their moves when right, counted when wrong, and never a fault."""

import base64
import dataclasses
import itertools
import math
import zlib
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from arena.core.errors import StoreError
from arena.match import estimates
from arena.match.estimates import (
    EVALUATION_STEPS,
    MAX_LINE_PLIES,
    MAX_MATCH_ESTIMATES,
    MAX_SEARCH_STEPS,
    SearchInfo,
    line_notation,
    pack_estimates,
    parse_line,
    read_protocol_info,
    read_search_info,
    unpack_estimates,
    write_protocol_info,
)
from arena.match.game_faults import TimeUp
from arena.match.player import MAX_NOTE_CHARS
from arena.match.result import row_of
from bots import Bot
from bots.base import first_decision
from bots.random_bot import Random
from tests.arena.match.playing import play


class Loud(list):
    """A list whose methods are the bot's own."""

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise SystemExit(3)


class Endless(list):
    def __iter__(self):
        while True:
            yield 0.5


class Number:
    def __float__(self):
        raise KeyError("no number")

    __index__ = __float__


STATE: Any = SimpleNamespace(game=SimpleNamespace(players=2), legal_actions=lambda: [4, 7, 9])
RIGHT = [
    ([0.5, -0.5], [500, -500]),
    ((1, -1), [1000, -1000]),
    (np.array([0.25, -0.25]), [250, -250]),
    ([np.float32(0.5), np.int64(0)], [500, 0]),
    ([1.0004, -0.0], [1000, 0]),
    ([0.0004999, -0.0004999], [0, 0]),
]
WRONG = [
    *([0.5], [0.5, 0.5, 0.5], [math.nan, 0], [math.inf, 0], [1.001, 0], [0, -1.01], ["0.5", "0.5"], [True, False]),
    *([None, None], "ab", b"ab", 0.5, {0: 0.5, 1: 0.5}, {0.5, -0.5}, object(), [10**400, 0], [[0.5], 0.5]),
    *(Loud([0.5, 0.5]), Endless([0.5, 0.5]), [Number(), Number()], [0.0] * 10**6, np.zeros((2, 2)), np.float64(0.5)),
]


@pytest.mark.parametrize(("value", "steps"), RIGHT, ids=repr)
def test_a_number_for_each_seat_within_the_returns_is_kept_to_a_thousandth(value, steps):
    assert read_search_info({"evaluation": value}, 4, STATE) == SearchInfo(steps, [], 0)


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_any_other_evaluation_is_left_out_and_counted(value):
    assert read_search_info({"evaluation": value, "line": [4, 7]}, 4, STATE) == SearchInfo([], [4, 7], 1)


@pytest.mark.parametrize("value", [(4, 7), [4, 7], np.array([4, 7]), [np.int32(4), 7]], ids=repr)
def test_a_line_is_kept_as_plain_numbers(value):
    given = read_search_info({"line": value}, 4, STATE)
    assert given == SearchInfo([], [4, 7], 0) and {type(action) for action in given.line} == {int}


@pytest.mark.parametrize(
    "value",
    [[7, 4], [4, -1], [4, 2**31], [4, 2.0], ["4"], "47", 4, [4, None], Loud([4]), [4, Number()], {4: 7}],
    ids=lambda value: type(value).__name__,
)
def test_a_line_that_begins_with_another_action_or_has_other_things_than_actions_is_counted(value):
    assert read_search_info({"evaluation": [0, 0], "line": value}, 4, STATE) == SearchInfo([0, 0], [], 1)


def test_of_a_long_line_the_first_plies_are_kept_and_nothing_is_neither_kept_nor_wrong():
    assert read_search_info({"line": [4] * 10**6}, 4, STATE).line == [4] * MAX_LINE_PLIES
    assert read_search_info({"line": [], "evaluation": None}, 4, STATE) == SearchInfo([], [], 0)


@pytest.mark.parametrize(
    "value", [{7: 3, 4: 40}, {np.int64(4): np.int32(40), 7: 3}, MappingProxyType({4: 40, 7: 3})], ids=repr
)
def test_visit_counts_of_legal_actions_are_kept_by_action(value):
    given = read_search_info({"visit_counts": value}, 4, STATE)
    assert given == SearchInfo([], [], 0, [4, 40, 7, 3]) and {type(number) for number in given.visit_counts} == {int}


@pytest.mark.parametrize(
    "value",
    [
        *({5: 1}, {4: -1}, {4: 2**31}, {4: 1.0}, {"4": 1}, {4: "1"}, {4: None}, {4: 1, 7: Number()}, {4: Endless([1])}),
        *([4, 40], "4:40", 40, {action: 1 for action in range(10**5)}, object()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_visit_counts_of_anything_else_are_left_out_and_counted(value):
    assert read_search_info({"line": [4], "visit_counts": value}, 4, STATE) == SearchInfo([], [4], 1)


@pytest.mark.parametrize(("value", "steps"), [(1200, 1200), (np.int64(7), 7), (0, 0)], ids=repr)
def test_steps_of_a_search_are_kept_as_a_plain_number(value, steps):
    given = read_search_info({"search_steps": value}, 4, STATE)
    assert given == SearchInfo([], [], 0, (), steps) and type(given.search_steps) is int


@pytest.mark.parametrize(
    "value", [-1, 2**63, 1.0, "7", True, [7], Number(), object()], ids=lambda value: repr(value)[:9]
)
def test_steps_that_are_no_whole_number_are_left_out_and_counted(value):
    assert read_search_info({"line": [4], "search_steps": value}, 4, STATE) == SearchInfo([], [4], 1)


def test_programs_give_visit_counts_in_notation_and_what_is_wrong_of_four_is_told_as_four():
    state = engine.load_game("epicycle", 2).new_initial_state()
    first, second = state.legal_actions()[:2]
    given = SearchInfo([500, -500], [first], 0, [*sorted([first, second])[:1], 3], 250)
    told = write_protocol_info(given, state)
    assert read_protocol_info(told, first, state) == given
    wrong: Any = {"evaluation": 1, "line": "x", "visit_counts": {"no such move": 3}, "search_steps": "many"}
    for names in itertools.chain.from_iterable(itertools.combinations(wrong, count) for count in range(1, 5)):
        found = read_protocol_info({name: wrong[name] for name in names}, first, state)
        assert found == SearchInfo([], [], len(names))
        assert read_protocol_info(write_protocol_info(found, state), first, state) == found


class OfBot(BaseException):
    """An error that no `except Exception` catches."""


def raising(error):
    class Interrupted(list):
        def __iter__(self):
            raise error

    return Interrupted([0, 0])


def test_the_alarm_is_no_wrong_evaluation():
    with pytest.raises(TimeUp):
        read_search_info({"evaluation": raising(TimeUp())}, 4, STATE)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), OfBot()], ids=repr)
def test_whatever_a_bot_raises_while_its_evaluation_is_read_is_counted(error):
    assert read_search_info({"evaluation": raising(error), "line": raising(error)}, 4, STATE) == SearchInfo([], [], 2)


def test_no_more_is_read_of_what_is_damaged_than_could_be_kept(monkeypatch):
    packed = base64.b64encode(zlib.compress(b"0::1: " * 100_000)).decode()
    parts = []
    monkeypatch.setattr(estimates, "unpack_part", lambda part: parts.append(part) or (len(parts), [], [1], [], 0))
    with pytest.raises(StoreError):
        unpack_estimates(packed, 2, 10**6)
    assert len(parts) <= MAX_MATCH_ESTIMATES + 1


STEP = st.integers(-EVALUATION_STEPS, EVALUATION_STEPS)


@st.composite
def kept(draw):
    players = draw(st.integers(2, 7))
    plies = sorted(draw(st.sets(st.integers(0, 60), max_size=20)))
    evaluations = st.lists(STEP, min_size=players, max_size=players)
    lines = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=MAX_LINE_PLIES)
    counts = st.dictionaries(st.integers(0, 99), st.integers(0, 2**31 - 1), min_size=1, max_size=9).map(flat)
    nothing: Any = st.just([])
    steps = st.just(0) | st.integers(1, MAX_SEARCH_STEPS)
    some = st.tuples(evaluations | nothing, lines | nothing, counts | nothing, steps).filter(any)
    return players, [(ply, *draw(some)) for ply in plies]


def flat(counts):
    return [number for pair in sorted(counts.items()) for number in pair]


@given(kept())
def test_what_is_packed_is_unpacked_again(sample):
    players, estimates = sample
    assert unpack_estimates(pack_estimates(estimates), players, 61) == estimates


@pytest.mark.parametrize(
    "packed",
    [
        *("x", "????", "AAAA", pack_estimates([(0, [1, 2], [3], [])])[:-4]),
        *(
            pack_estimates([(61, [1, 2], [], [])]),
            pack_estimates([(1, [1, 2], [], []), (1, [1, 2], [], [])]),
            pack_estimates([(0, [1], [], [])]),
            pack_estimates([(0, [], [], [])]),
        ),
        *(
            pack_estimates([(0, [1001, 0], [], [])]),
            pack_estimates([(0, [], [-1], [])]),
            pack_estimates([(0, [], [0] * 17, [])]),
        ),
        pack_estimates([(-1, [1, 2], [], [])]),
        *(pack_estimates([(0, [1, 2], [], [], steps)]) for steps in (-1, 2**63, "1:1")),
        pack_estimates([(ply, [0, 0], [], []) for ply in range(MAX_MATCH_ESTIMATES + 1)]),
        *(
            pack_estimates([(0, [], [], counts)])
            for counts in ([4], [4, -1], [4, 2**31], [-1, 4], [7, 1, 4, 1], [4, 1, 4, 1])
        ),
        pack_estimates([(0, [], [], flat(dict.fromkeys(range(1001), 1)))]),
        pack_estimates([(ply, [], [], flat(dict.fromkeys(range(1000), 1))) for ply in range(101)]),
    ],
)
def test_what_is_damaged_or_no_referee_keeps_is_refused(packed):
    with pytest.raises(StoreError, match="evaluations cannot be read"):
        unpack_estimates(packed, 2, 61 if len(packed) < 1000 else 10**6)


def test_a_line_is_shown_up_to_the_first_action_that_is_not_legal():
    state = engine.load_game("epicycle", 2).new_initial_state()
    first = state.legal_actions()[0]
    then = state.child(first).legal_actions()[0]
    words = line_notation(state, [first, then, 99, first])
    assert words == (state.action_to_string(first), state.child(first).action_to_string(then))
    assert parse_line(state, [*words, "no word", words[0]]) == [first, then]
    assert line_notation(state, [10**9]) == () and state.history() == []


def test_lines_go_through_dice():
    state = engine.load_game("magic_mids", 2).new_initial_state()
    line = []
    walk = state.clone()
    for _ in range(6):
        outcomes = walk.chance_outcomes()
        line.append(outcomes[0][0] if outcomes else walk.legal_actions()[0])
        walk.apply_action(line[-1])
    assert parse_line(state, list(line_notation(state, line))) == line


class Telling(Bot):
    """Says what it expects at every second of its moves."""

    asked = 0

    def choose(self, state):
        self.asked += 1
        chosen = self.pick(state.legal_actions())
        if self.asked % 2:
            self.evaluation = [0.5, -0.5]
            self.line = [chosen, 1, 2]
        return chosen


def test_an_estimate_belongs_to_the_move_at_which_it_was_set_and_to_no_later_one():
    result = play(Telling, Random, spec="midgard", opening=2)
    asked = [clocking.ply for clocking in result.clocks if clocking.seat == 0 and clocking.ply >= 0]
    assert [ply for ply, *_ in result.estimates] == asked[::2] and len(asked) > 3
    state = engine.load_game("midgard", 2).new_initial_state()
    for ply, text in enumerate(result.moves):
        for at, evaluation, line, *_ in result.estimates:
            if at == ply:
                assert evaluation == [500, -500] and line == [state.string_to_action(text), 1, 2]
        state.apply_action(state.string_to_action(text))


class Early(Telling):
    def prepare(self):
        self.evaluation = [0.5, -0.5]

    def choose(self, state):
        return self.pick(state.legal_actions())


class Changing(Early):
    """Changes the list in place, which is no new evaluation."""

    def choose(self, state):
        self.evaluation[0] = 0.25
        return super().choose(state)


@pytest.mark.parametrize("bot", [Early, Changing])
def test_what_was_set_before_the_bot_was_asked_is_not_taken(bot):
    result = play(bot, Random)
    assert result.estimates == [] and result.dropped == {}


class Own(Bot):
    """Uses the names for something else, as a bot may that was written before they meant anything."""

    line: list[int]

    def prepare(self):
        self.line = [7]
        self.evaluation = self

    def choose(self, state):
        assert self.evaluation is self
        self.line.append(len(self.line))
        assert self.line[0] == 7
        return self.pick(state.legal_actions())


class Methods(Bot):
    def evaluation(self, state):
        return 0

    @property
    def line(self):
        raise RuntimeError("asked")

    def choose(self, state):
        self.evaluation(state)
        return self.pick(state.legal_actions())


@pytest.mark.parametrize("bot", [Own, Methods])
def test_a_bot_that_uses_the_names_for_its_own_plays_as_before(bot):
    result = play(bot, Random)
    assert (result.forfeits, result.estimates, result.dropped) == ({}, [], {})
    assert result.moves == play(Random, Random).moves


class Hostile(Bot):
    """Gives one wrong thing after another."""

    def choose(self, state):
        self.evaluation = WRONG[len(state.history()) % len(WRONG)]
        self.line = Loud([1])
        return self.pick(state.legal_actions())


class Forging(Random):
    def choose(self, state):
        vars(self)["_given"] = Loud()
        return super().choose(state)


def test_wrong_estimates_are_counted_for_their_seat_and_change_nothing_else():
    result, plain = play(Hostile, Random), play(Random, Random)
    asked = sum(clocking.seat == 0 and clocking.ply >= 0 for clocking in result.clocks)
    assert result.dropped == {0: 2 * asked}
    assert (result.moves, result.ranks, result.forfeits, result.estimates) == (plain.moves, plain.ranks, {}, [])
    assert dataclasses.asdict(play(Forging, Random))["moves"] == plain.moves
    assert play(Forging, Random).dropped == {}


class Stuck(Bot):
    def choose(self, state):
        class Waiting(list):
            def __iter__(self):
                while True:
                    pass

        self.evaluation = Waiting([0.5, -0.5])
        return state.legal_actions()[0]


def test_reading_an_evaluation_is_under_the_bots_clock():
    result = play(Stuck, Random, seconds_per_move=0.05)
    assert result.forfeits[0].cause == "timeout" and result.estimates == []


def test_more_than_enough_moves_are_not_kept(monkeypatch):
    monkeypatch.setattr("arena.match.match.MAX_MATCH_ESTIMATES", 2)
    assert len(play(Telling, Telling).estimates) == 2


def test_the_flat_record_has_them_packed():
    row = row_of(play(Telling, Hostile), 0, 1.0)
    assert unpack_estimates(row.estimates, 2, row.plies) and row.dropped[1] > 0 and 0 not in row.dropped
    assert row_of(play(Random, Random), 0, 1.0).estimates == ""


# The protocol


def test_what_a_python_bot_gives_is_the_same_over_the_wire():
    state = first_decision(engine.load_game("epicycle", 2))
    action = state.legal_actions()[0]
    reply = state.child(action).legal_actions()[0]
    for said in (
        {"evaluation": [0.1234, -0.5], "line": [action, reply]},
        {"evaluation": "x"},
        {"line": [99], "evaluation": 7},
    ):
        given = read_search_info(said, action, 2)
        assert read_protocol_info(write_protocol_info(given, state), action, state) == given


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({}, None),
        ({"evaluation": [0.5, -0.5], "line": None}, SearchInfo([500, -500], [], 0)),
        ({"evaluation": [0.5, "x"], "line": ["?"]}, SearchInfo([], [], 1)),
        ({"evaluation": {}, "line": {}}, SearchInfo([], [], 2)),
        ({"evaluation": [10**400, -1], "line": [0]}, SearchInfo([], [], 2)),
    ],
)
def test_answers_of_a_program_are_read_with_the_same_care(answer, expected):
    state = first_decision(engine.load_game("epicycle", 2))
    assert read_protocol_info(answer, state.legal_actions()[0], state) == expected


def test_a_line_in_notation_has_to_begin_with_the_answer():
    state = first_decision(engine.load_game("epicycle", 2))
    first, second = state.legal_actions()[:2]
    words = [state.action_to_string(action) for action in (first, second)]
    assert read_protocol_info({"line": [words[1]]}, first, state) == SearchInfo([], [], 1)
    assert read_protocol_info({"line": [words[0], "x" * MAX_NOTE_CHARS]}, first, state) == SearchInfo([], [first], 0)
