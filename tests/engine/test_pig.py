"""Pig, the dice game that plugs in: a naive recomputation, facts of the rulebook, positions, the tutorial."""

import functools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pig.rules import GOAL

import engine
from bots import make_bot
from bots.greedy import Greedy
from engine import PositionError
from tests.engine.matches import walk

GAME = engine.load_game("pig")
TUTORIAL = Path(__file__).parents[2] / "examples" / "pig" / "README.md"
START = "0/0 0 0 chooses"


class Naive:
    """The rules once more, as a list of what was rolled in this turn."""

    def __init__(self):
        self.held, self.rolled, self.seat, self.in_air, self.winner = [0, 0], [], 0, False, None

    def legal(self):
        return [] if self.in_air or self.winner is not None else ["hold", "roll"] if self.rolled else ["roll"]

    def play(self, word):
        if word == "roll":
            self.in_air = True
        elif word == "hold":
            self.held[self.seat] += sum(self.rolled)
            self.winner = self.seat if self.held[self.seat] >= 100 else None
            self.next()
        else:
            self.in_air = False
            self.rolled.append(int(word))
            if word == "1":
                self.next()

    def next(self):
        self.rolled, self.seat = [], 1 - self.seat

    def position(self):
        phase = "won" if self.winner is not None else "rolls" if self.in_air else "chooses"
        turn = self.seat if self.winner is None else self.winner
        return f"{self.held[0]}/{self.held[1]} {sum(self.rolled)} {turn} {phase}"


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_naive_rules_play_the_same_match(seed):
    naive, before = Naive(), None
    for state in walk(GAME, seed):
        if before is not None:
            ply = state.history()[-1]
            naive.play(before.action_to_string(ply))
        assert state.position == naive.position()
        legal = state.legal_actions() if state.current_player() >= 0 else []
        assert [state.action_to_string(action) for action in legal] == naive.legal()
        assert state.scores() == naive.held
        if state.is_terminal():
            assert state.ranks()[naive.winner] == 0 and state.ended == "normal"
        before = state.clone()


def after(*words):
    state = GAME.new_initial_state()
    for word in words:
        state.apply_action(state.string_to_action(word))
    return state


@functools.cache
def turn(pot, limit):
    """Return the mean of what a turn brings in from a pot on, and the probability of nothing, holding at the limit."""
    if pot >= limit:
        return float(pot), 0.0
    state = GAME.state_from_position(f"0/0 {pot} 0 chooses")
    state.apply_action(state.string_to_action("roll"))
    total, nothing, weights = 0.0, 0.0, 0
    for outcome, weight in state.chance_outcomes():
        child = state.child(outcome)
        mean, lost = turn(child.record.pot, limit) if child.record.turn == 0 else (0.0, 1.0)
        total, nothing, weights = total + weight * mean, nothing + weight * lost, weights + weight
    return total / weights, nothing / weights


def test_who_holds_at_20_gets_what_the_rulebook_says():
    mean, nothing = turn(0, 20)
    assert (round(mean, 2), round(nothing, 3)) == (8.14, 0.625)
    assert max(range(2, 40), key=lambda limit: turn(0, limit)[0]) in (19, 20)


def test_greedy_rolls_below_20_and_holds_from_there():
    for pot in range(2, 40):
        state = GAME.state_from_position(f"30/30 {pot} 1 chooses")
        if pot != 20:  # where both are worth the same
            bot = make_bot(Greedy, GAME, 1, 1, {})
            assert state.action_to_string(bot.choose(state)) == ("roll" if pot < 20 else "hold")


def test_who_has_enough_wins_by_holding_alone():
    state = GAME.state_from_position("98/99 6 0 chooses")
    assert not state.is_terminal()
    state.apply_action(state.string_to_action("hold"))
    assert (state.position, state.returns()) == ("104/99 0 0 won", [1.0, -1.0])


@pytest.mark.parametrize(
    ("position", "field"),
    [
        ("1/0 0 0 chooses", "POINTS"),
        ("02/0 0 0 chooses", "POINTS"),
        ("0 0 0 chooses", "POINTS"),
        ("0/0 1 0 chooses", "POT"),
        ("0/0 0 2 chooses", "SEAT"),
        ("0/100 0 0 chooses", "SEAT"),
        ("0/0 0 0 waits", "PHASE"),
        ("0/0 0 0 won", "PHASE"),
        ("100/0 0 0 rolls", "PHASE"),
        ("100/0 5 0 won", "POT"),
        ("0/0 0 chooses", "count"),
    ],
)
def test_a_position_that_cannot_be_is_refused_with_its_field(position, field):
    with pytest.raises(PositionError) as refusal:
        GAME.state_from_position(position)
    assert refusal.value.field == field


def test_drawings_tell_a_1_from_holding():
    lost, held = after("roll", "1"), after("roll", "2", "hold")
    assert lost.history()[-1] == held.history()[-1] == 0
    assert "rolled 1, pot 0; seat 1 chooses" in str(lost) and "rolled" not in str(held)
    assert (lost.svg().count("<circle"), held.svg().count("<circle")) == (1, 0)
    waiting = GAME.state_from_position("0/0 2 0 rolls")
    waiting.apply_action(waiting.string_to_action("6"))
    assert "rolled 6, pot 8; seat 0 chooses" in str(waiting)


def test_the_start_is_written_as_the_rulebook_says():
    assert GAME.new_initial_state().position == START and GOAL == 100


@pytest.mark.parametrize(("file", "code"), re.findall(r"```python\n# (\S+)\n(.*?)```", TUTORIAL.read_text(), re.DOTALL))
def test_what_the_tutorial_shows_stands_in_the_package(file, code):
    assert code.rstrip() in (TUTORIAL.parent / file).read_text()
