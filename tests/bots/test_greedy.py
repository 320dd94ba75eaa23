"""Greedy looks one ply ahead, and in compiled code just as by way of `State`."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from bots import make_bot
from bots.greedy import MOST_OUTCOMES, Greedy, compiled_values, look_ahead, systematic_sample
from bots.random_bot import Random
from bots.search.evaluation import evaluation, evaluation_kernel, score_margin
from tests.bots.built_in import kernel_games, label, load_race
from tests.bots.matches import decisions, immediate_returns, mean_return, wins_in_one
from tests.bots.plain import plain


def greedy_choice(state, seed=1):
    return make_bot(Greedy, state.game, state.current_player(), seed).choose(state)


@pytest.mark.parametrize("game", kernel_games(), ids=label)
def test_compiled_and_plain_look_ahead_give_the_same_values_to_the_last_bit(game):
    kernel = evaluation_kernel(game)
    compiled, rng = compiled_values(game), random.Random(5)
    for state in decisions(game, 40):
        seat, luck = state.current_player(), rng.getrandbits(32)
        assert compiled(state, seat, luck) == look_ahead(lambda s, i: kernel(s.record, i), state, seat, luck)


def test_a_game_in_plain_python_is_played_as_its_compiled_twin_when_neither_is_known():
    game = load_race(3)
    twin = plain(game)
    for state in decisions(game, 60):
        seat = state.current_player()
        twin_state = twin.new_initial_state()
        twin_state.inner = state
        expected = compiled_values(game)(state, seat, 99)
        assert look_ahead(evaluation(twin.name), twin_state, seat, 99) == expected
        bots = [make_bot(Greedy, kind, seat, 4) for kind in (game, twin)]
        assert bots[0].choose(state) == bots[1].choose(twin_state)


def test_a_roll_is_worth_the_mean_over_its_outcomes():
    game = load_race(2)
    state = game.state_from_position("4/4 2 0")
    walk, roll, leap = compiled_values(game)(state, 0, 0)
    assert walk == 1 / 11
    assert roll == pytest.approx(sum(margin / (margin + 10) for margin in range(6)) / 6)
    assert leap == pytest.approx((4 / 14) * 0.8 + (-4 / 14) * 0.2, abs=0.02)  # 100 outcomes, of which 64 are drawn


def test_a_roll_that_may_win_counts_the_win_in_full():
    game = load_race(2)
    state = game.state_from_position("9/4 2 0")
    _, roll, _ = compiled_values(game)(state, 0, 0)
    assert roll == pytest.approx((5 / 15 + 6 / 16 + 7 / 17 + 3 * 1.0) / 6)


outcome_lists = st.lists(st.integers(1, 50), min_size=MOST_OUTCOMES + 1, max_size=300).map(lambda w: list(enumerate(w)))


@given(outcomes=outcome_lists, luck=st.integers(0, 2**32 - 1))
def test_a_systematic_sample_holds_each_outcome_as_often_as_its_weight_asks_for(outcomes, luck):
    total = sum(weight for _, weight in outcomes)
    drawn = Counter(outcome for outcome, _ in systematic_sample(outcomes, luck))
    assert drawn.total() == MOST_OUTCOMES
    for outcome, weight in outcomes:
        assert abs(drawn[outcome] - MOST_OUTCOMES * weight / total) < 1


def test_systematic_samples_favour_no_outcome():
    outcomes = [(outcome, 1 + outcome % 3) for outcome in range(100)]
    total = sum(weight for _, weight in outcomes)
    drawn = Counter()
    for luck in range(0, 2**32, 2**32 // total):
        drawn.update(outcome for outcome, _ in systematic_sample(outcomes, luck))
    rounds = drawn.total() / MOST_OUTCOMES
    for outcome, weight in outcomes:
        assert drawn[outcome] == pytest.approx(rounds * MOST_OUTCOMES * weight / total, rel=0.05)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_win_in_one_is_taken(players):
    for state in wins_in_one(engine.load_game("epicycle", players), 20):
        assert immediate_returns(state)[greedy_choice(state)] == 1.0


def test_a_loss_in_one_is_avoided():
    found = 0
    for state in decisions(engine.load_game("epicycle", 2), 300):
        returns = immediate_returns(state)
        if -1.0 in returns.values() and set(returns.values()) != {-1.0}:
            found += 1
            assert returns[greedy_choice(state)] != -1.0
    assert found >= 50


def test_a_reply_that_must_lose_is_worth_more_than_one_that_need_not():
    """Two plies deep by its evaluation: it leaves the opponent without a safe play where it can."""
    found = 0
    for state in decisions(engine.load_game("epicycle", 2), 2000):
        children = {action: state.child(action) for action in state.legal_actions()}
        if any(child.is_terminal() for child in children.values()):
            continue
        dooming = {action for action, child in children.items() if set(immediate_returns(child).values()) == {-1.0}}
        if dooming and dooming != children.keys():
            found += 1
            assert greedy_choice(state) in dooming
    assert found >= 10


def test_equal_values_are_chosen_among_by_the_seed():
    state = plain(engine.load_game("epicycle", 3)).new_initial_state()  # unknown, without scores: all plays are equal
    assert score_margin(state, 0) == 0
    assert {greedy_choice(state, seed) for seed in range(20)} == set(state.legal_actions())


@pytest.mark.parametrize(("players", "at_least"), [(2, 0.85), (3, 0.6), (4, 0.6), (5, 0.6)])
def test_greedy_beats_random_clearly_at_epicycle(players, at_least):
    game = engine.load_game("epicycle", players)
    assert mean_return(game, (Greedy, {}), (Random, {}), rounds=100) > at_least


def test_greedy_beats_random_by_score_alone():
    assert mean_return(load_race(3), (Greedy, {}), (Random, {}), rounds=100) > 0.2
