"""What depth-first search is to find, written down plainly over `State`, without cuts, tables or orders."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from bots.heuristics import heuristics_of
from bots.search.evaluation import evaluation_kernel
from bots.search.minimax import Search
from bots.search.minimax_kernel import DELAY, EVALUATION
from engine import State


def plain_value(state: State, seat: int, depth: int, made: int = 0) -> Fraction:
    """Return the exact value to a seat when so many decisions are still looked ahead and so many have been made."""
    if state.is_terminal():
        return Fraction(state.returns()[seat]) * (1 - Fraction(DELAY) * made)
    foresees_rolls = getattr(heuristics_of(state.game.name), "FORESEES_ROLLS", False)
    if depth < (foresees_rolls if state.is_chance_node() else 1):
        return Fraction(float(evaluation_kernel(state.game)(state.record, seat)) * EVALUATION)
    if state.is_chance_node():
        return mean_value(state, seat, depth, made)
    best = max if state.current_player() == seat else min
    return best(plain_value(state.child(action), seat, depth - 1, made + 1) for action in state.legal_actions())


def mean_value(state: State, seat: int, depth: int, made: int) -> Fraction:
    """Return the mean over a roll; a roll right after it takes the place of a decision."""
    outcomes = state.chance_outcomes()
    total = Fraction(0)
    for outcome, weight in outcomes:
        child = state.child(outcome)
        passed = child.is_chance_node()
        total += weight * plain_value(child, seat, depth - passed, made + passed)
    return total / sum(weight for _, weight in outcomes)


def plain_values(state: State, searcher: int, depth: int, made: int = 0) -> list[float]:
    """Return the values to all seats when each maximises its own; ties of others are broken against the searcher."""
    seats = range(state.game.players)
    if state.is_terminal() or (depth < 1 and not state.is_chance_node()):
        return [float(plain_value(state, seat, depth, made)) for seat in seats]
    if state.is_chance_node():
        outcomes, sums = state.chance_outcomes(), [0.0] * len(seats)
        for outcome, weight in outcomes:
            values = plain_values(state.child(outcome), searcher, depth, made)
            sums = [one + weight * other for one, other in zip(sums, values, strict=True)]
        return [one / sum(weight for _, weight in outcomes) for one in sums]
    mover = state.current_player()
    choices = [plain_values(state.child(action), searcher, depth - 1, made + 1) for action in state.legal_actions()]
    return max(choices, key=lambda values: (values[mover], -values[searcher]))


def action_values(state: State, depth: int) -> dict[int, float]:
    """Return the value of each legal action to the seat to move, `depth` decisions looked ahead in all."""
    seat = state.current_player()
    return {action: float(plain_value(state.child(action), seat, depth - 1, 1)) for action in state.legal_actions()}


def searched(search: Search, state: State, depth: int, step: int = 1 << 40) -> float:
    """Return the root's value by compiled search, one look ahead after another, interrupted every `step` states."""
    actions = state.legal_actions()
    search.begin(state.words, state.current_player(), actions, [0.0] * len(actions))
    for decisions in range(1, depth + 1):
        search.look(decisions)
        while not search.go_on(search.nodes + step):
            pass
    return search.value


def small(states: list[State], choices: int, count: int) -> list[State]:
    """Return some of the states with so many choices at most, none of them near another."""
    few = [state for state in states if len(state.legal_actions()) <= choices]
    return random.Random(2).sample(few, count)


def hold_against_plain(search: Search, state: State, depth: int, within: float = 0.0) -> None:
    """Check that at every depth the root is worth what plain search says of its best action, which is chosen."""
    for decisions in range(1, depth + 1):
        values = action_values(state, decisions)
        best = pytest.approx(max(values.values()), rel=0.0, abs=within)
        assert searched(search, state, decisions) == best
        assert values[search.best] == best
