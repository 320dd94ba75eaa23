"""Chance outcomes with the same key play alike, whatever happens after them."""

import random
from collections import defaultdict

import pytest

from bots.heuristics import heuristics_of
from bots.search.evaluation import evaluation_kernel
from tests.bots.built_in import kernel_games, label
from tests.bots.matches import roll

GAMES = [game for game in kernel_games() if hasattr(heuristics_of(game.name), "outcome_key")]

on_games = pytest.mark.parametrize("game", GAMES, ids=label)


def rolls(game, seed):
    """Return the chance nodes of a random match."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            yield state.clone()
            roll(state, rng)
        else:
            state.apply_action(rng.choice(state.legal_actions()))


def groups(state):
    """Return the outcomes of a chance node by their keys."""
    found = defaultdict(list)
    for outcome, _ in state.chance_outcomes():
        found[int(heuristics_of(state.game.name).outcome_key(state.record, outcome))].append(outcome)
    return found


def seen(state):
    """Return all that play can see of a state: who may do what, and what it is worth."""
    if state.is_terminal():
        return state.ranks(), state.scores(), state.ended
    worth = [evaluation_kernel(state.game)(state.record, seat) for seat in range(state.game.players)]
    return state.current_player(), state.legal_actions(), state.chance_outcomes(), worth, state.scores()


def assert_alike(one, other, rng):
    """Play both on in step, each in the same way at random, and check that they play alike."""
    assert seen(one) == seen(other)
    for _ in range(12):
        if one.is_terminal():
            return
        choices = one.legal_actions() or [outcome for outcome, _ in one.chance_outcomes()]
        choice = rng.choice(choices)
        one.apply_action(choice)
        other.apply_action(choice)
        assert seen(one) == seen(other)


@on_games
def test_outcomes_with_equal_keys_play_alike(game):
    rng = random.Random(3)
    compared = 0
    for seed in range(2):
        for state in rng.sample(list(rolls(game, seed)), 5):
            for outcomes in groups(state).values():
                one, *others = (state.child(outcome) for outcome in outcomes)
                for other in rng.sample(others, min(3, len(others))):
                    for action in one.legal_actions():
                        assert seen(one.child(action)) == seen(other.child(action))
                    assert_alike(one.clone(), other, rng)
                    compared += 1
    assert compared > 15


def test_dice_of_pyramid_punch_come_to_win_tie_or_loss():
    game = next(game for game in GAMES if game.name == "pyramid_punch")
    for state in rolls(game, 5):
        wins, ties, losses = (len(groups(state)[key]) for key in (1, 0, -1))
        assert wins + ties + losses == 36
        assert ties in (3, 4, 5, 6) and min(wins, losses) in (3, 6, 10, 15)


def test_rolls_of_magic_mids_with_one_key_allow_the_same_and_three_blanks_stand_apart():
    game = next(game for game in GAMES if game.name == "magic_mids")
    start, *_ = rolls(game, 1)
    numbers = {
        key: [start.action_to_string(outcome) for outcome in outcomes] for key, outcomes in groups(start).items()
    }
    assert ["bbb"] in numbers.values()
    assert ["bba", "baa", "aaa"] in numbers.values()
    assert ["aa2"] in numbers.values()
    assert ["a23", "a24", "a25", "a34", "a35", "a45", "234", "235", "245", "345"] in numbers.values()
    assert len(numbers) == 25
