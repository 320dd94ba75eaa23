"""The positions in `tests.bots.puzzles` are what they claim to be: proved by brute force."""

from collections import Counter
from fractions import Fraction

import pytest

import engine
from bots.greedy import compiled_values
from bots.search.perfect_solver import solve
from tests.bots.brute_force import Bounds, BruteForce, exact_values, fearing, hoping
from tests.bots.puzzles import POSITIONS, TINY

MARGIN = Fraction(1, 10)
"""What the best wrong action is worth less than a right one, at least."""


positions = pytest.mark.parametrize("position", POSITIONS, ids=str)


def split(values: dict[int, Bounds], right: set[int]) -> tuple[list[Bounds], list[Bounds]]:
    """Return what is known of the right actions and of the wrong ones."""
    return [values[action] for action in right], [bounds for action, bounds in values.items() if action not in right]


def stands_out(values: dict[int, Bounds], right: set[int], seat: int) -> bool:
    """Return whether every right action is at least as good as every wrong one may be, and not known for the same."""
    good, bad = split(values, right)
    return all(one.low[seat] >= other.high[seat] and one != other for one in good for other in bad)


def favourites(values: dict[int, Bounds], seat: int) -> set[int]:
    """Return the actions that seem best to somebody who goes by the low end."""
    highest = max(bounds.low[seat] for bounds in values.values())
    return {action for action, bounds in values.items() if bounds.low[seat] == highest}


@positions
def test_the_right_actions_are_better_than_all_others_whatever_happens(position):
    state = position.state()
    seat, right = state.current_player(), position.right_actions(state)
    good, bad = split(BruteForce().actions(state, position.horizon), right)
    assert good and bad
    assert min(bounds.low[seat] for bounds in good) >= max(bounds.high[seat] for bounds in bad) + MARGIN, (
        position.lesson
    )


@positions
def test_it_takes_just_as_many_plies_of_look_ahead_as_stated(position):
    state = position.state()
    search, right = BruteForce(), position.right_actions(state)
    told = [
        stands_out(search.actions(state, plies), right, state.current_player())
        for plies in range(1, position.plies + 1)
    ]
    assert told == [False] * (position.plies - 1) + [True]


@positions
def test_greedy_fails_where_it_is_said_to(position):
    state = position.state()
    values = compiled_values(state.game)(state, state.current_player(), 0)
    choices = {action for action, value in zip(state.legal_actions(), values, strict=True) if value == max(values)}
    assert (not choices <= position.right_actions(state)) == position.greedy_fails


@pytest.mark.parametrize("position", [position for position in POSITIONS if position.dice], ids=str)
def test_neither_hope_nor_fear_makes_out_what_the_average_does(position):
    state = position.state()
    seat, right = state.current_player(), position.right_actions(state)
    for fold in (hoping(seat), fearing(seat)):
        assert not favourites(BruteForce(fold).actions(state, position.horizon), seat) <= right


@pytest.mark.parametrize("position", [p for p in POSITIONS if p.game == "epicycle" and p.players == 2], ids=str)
def test_the_solved_game_agrees(position):
    """The table knows no cap: to it a right action is as good as any."""
    state, table = position.state(), solve()
    for action in position.right_actions(state):
        child = state.child(action)
        value = child.returns()[state.current_player()] if child.is_terminal() else -table.look_up(child).value
        assert value == table.look_up(state).value


def test_every_game_has_at_least_five_positions_two_of_which_greedy_misses():
    count = Counter(position.kind for position in POSITIONS)
    missed = Counter(position.kind for position in POSITIONS if position.greedy_fails)
    assert min(count.values()) >= 5
    assert min(missed[game] for game in count) >= 2
    assert len({str(position) for position in POSITIONS}) == len(POSITIONS)


@positions
def test_looking_further_ahead_only_narrows_the_bounds(position):
    search, state = BruteForce(), position.state()
    for plies in range(1, min(position.plies, 3)):
        nearer, further = search.actions(state, plies), search.actions(state, plies + 1)
        for action, bounds in further.items():
            assert all(before <= after for before, after in zip(nearer[action].low, bounds.low, strict=True))
            assert all(before >= after for before, after in zip(nearer[action].high, bounds.high, strict=True))


@pytest.mark.parametrize(("game", "players", "position"), TINY)
def test_exact_values_sum_to_nothing_and_tell_actions_apart(game, players, position):
    values = exact_values(engine.load_game(game, players).state_from_position(position))
    assert all(sum(returns) == 0 for returns in values.values())
    assert len(set(values.values())) > 1


def test_an_exact_value_is_the_one_worked_out_by_hand():
    """Stone and S against S and stone on the last turn: what has a pip less wins 10 fights of 36, and else all tie."""
    state = engine.load_game("pyramid_punch", 2).state_from_position("..SO@0,0/SO..@0,1 1 f 99")
    upset = Fraction(10, 36)
    values = {state.action_to_string(action): returns for action, returns in exact_values(state).items()}
    assert values["Ox0S"] == (-values["Ox0S"][1], upset - (1 - upset) * upset)
    assert values["Sx0O"] == (-values["Sx0O"][1], (1 - upset) * upset - upset)
