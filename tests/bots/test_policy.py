"""Bots that play by a policy: what it is asked, and what becomes of its answers."""

from collections import Counter

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.policy import PolicyBot
from tests.bots.built_in import all_games, label, load_race
from tests.bots.matches import random_walk

FOUR = engine.load_game("connect_four", 2)
OBSERVED = [game for game in all_games() if PolicyBot.refusal(game) is None]


def player(policy, game=FOUR, seat=0, **params):
    """A prepared bot that plays by a function of observations and masks."""
    kind = type("Mine", (PolicyBot,), {"policy": staticmethod(policy), "__module__": __name__})
    return make_bot(kind, game, seat, 1, params)


def fixed(answer):
    return lambda observations, masks: answer


def after(*actions):
    state = FOUR.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


@pytest.mark.parametrize("game", OBSERVED, ids=label)
def test_a_policy_sees_the_observation_and_the_legal_actions_of_its_seat(game):
    asked = []

    def first_legal(observations, masks):
        asked.append((observations.copy(), masks.copy()))
        return masks.argmax(axis=1)

    seats = [player(first_legal, game, seat) for seat in range(game.players)]
    spec, actions = game.observation_spec(), game.num_distinct_actions
    for state in random_walk(game, seed=5, longest=25):
        seat = state.current_player()
        chosen = seats[seat].choose(state.clone())
        observation, mask = asked.pop()
        seen = spec.seen_actions(seat, actions)
        assert observation.dtype == np.float32 and mask.dtype == np.bool_
        assert (observation == state.observe(seat)[None]).all()
        assert sorted(np.flatnonzero(mask[0])) == sorted(seen[state.legal_actions()])
        assert chosen in state.legal_actions()
        assert seen[chosen] == mask[0].argmax()


def test_the_legal_action_of_the_highest_logit_is_played_and_the_first_of_equals():
    full = after(*[3] * 6)
    assert player(fixed(np.array([[0, 2, 1, 9, 2, -1, 0.5]]))).choose(full) == 1
    assert player(fixed(np.zeros((1, 7), np.float32))).choose(after()) == 0
    assert player(fixed(np.array([[-np.inf] * 6 + [-5.0]]))).choose(after()) == 6


def test_actions_are_played_as_they_are_given_also_where_they_are_not_legal():
    assert player(fixed(np.array([4]))).choose(after()) == 4
    assert player(fixed(np.array([3])), temperature=2.0).choose(after(*[3] * 6)) == 3


def test_a_temperature_draws_legal_actions_by_softmax_and_by_the_bots_own_generator():
    logits = np.array([[0.0, 1.0, 2.0, 50.0, -np.inf, 0.0, 1.0]])
    draws = 4_000
    state = after(*[3] * 6)
    one, other = player(fixed(logits), temperature=2.0), player(fixed(logits), temperature=2.0)
    chosen = [one.choose(state) for _ in range(draws)]
    assert chosen[:200] == [other.choose(state) for _ in range(200)]
    weights = np.where(np.arange(7) == 3, 0.0, np.exp(logits[0] / 2.0))
    expected = draws * weights / weights.sum()
    counts = np.array([Counter(chosen)[action] for action in range(7)])
    assert counts[3] == counts[4] == 0
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1e-9).all()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (np.full((1, 7), np.nan), "nan as its highest logit"),
        (np.array([[0, 0, np.nan, 0, 0, 0, 0.0]]), "nan as its highest logit"),
        (np.array([[0, 0, np.inf, 0, 0, 0, 0.0]]), "inf as its highest logit"),
        (np.full((1, 7), -np.inf), "-inf as its highest logit"),
        (np.zeros((1, 8)), r"not float64 \(1, 8\)"),
        (np.zeros(7), r"not float64 \(7,\)"),
        (np.array([7]), "chose action 7 of 7"),
        (np.array([-1]), "chose action -1 of 7"),
        (np.array(["a"]), "not <U1"),
        ((np.zeros((1, 7)), np.zeros((1, 3))), r"values of shape \(1, 2\), not \(1, 3\)"),
    ],
)
def test_an_answer_that_is_none_is_an_error_that_tells_why(answer, why):
    with pytest.raises(ValueError, match=why):
        player(fixed(answer)).choose(after())


@pytest.mark.parametrize("values", [np.array([0.25]), np.array([[0.25]]), np.array([[0.25, -0.25]])])
def test_values_are_the_expected_returns_from_the_seat_that_observes_on(values):
    first, second = (player(fixed((np.zeros((1, 7)), values)), seat=seat) for seat in (0, 1))
    first.choose(after())
    second.choose(after(0))
    assert first.evaluation == [0.25, -0.25]
    assert second.evaluation == [-0.25, 0.25]


def test_values_of_more_seats_follow_the_order_of_turns_and_are_cut_at_one():
    game = engine.load_game("epicycle", 3)
    values = np.array([[1.5, 0.25, -1.0]])
    bot = player(fixed((np.zeros((1, game.num_distinct_actions)), values)), game, seat=2)
    bot.choose(next(random_walk(game, seed=1)))
    assert bot.evaluation == [0.25, -1.0, 1.0]


def test_a_game_without_observations_is_refused():
    game = load_race(2)
    assert PolicyBot.refusal(game) == f"plays by observations, and {game.name} has none"
